/// A slender arm with a load: how far it sags, how it rings after a fast move, and how input shaping
/// (Singer and Seering 1990) removes the ringing.

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <kempe/kempe.hpp>
#include <numbers>
#include <utility>
#include <vector>

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTarget = kPi / 3, kTime = 0.35;      // rad, s
constexpr double kStiffness = 15e3, kDamping = 180.0;  // of the servo: N m/rad, N m s/rad
constexpr double kDt = 0.002, kDuration = 1.5;         // s

/// An aluminium tube of 30 mm × 1.5 mm on a vertical shoulder axis, with 1 kg at its end.
kempe::Model build() {
  kempe::Mechanism arm("arm_that_bends");
  arm.addBody("world");
  kempe::BeamOptions beam;
  beam.length = 1.0;
  beam.E = 70e9;
  beam.density = 2700;
  beam.area = 1.343e-4;
  beam.Iy = beam.Iz = 1.367e-8;
  beam.modes = 8;
  beam.interface = {"end"};
  beam.damping = 0.005;
  arm.addBeam("arm", beam);
  // The inertia of motor and gearbox counts with the square of the ratio.
  kempe::Joint& shoulder = arm.addRevolute("shoulder").from("world").to("arm");
  shoulder.axis = {0, 0, 1};
  shoulder.armature = 1.0;
  kempe::Body& load = arm.addBody("load");
  load.mass = 1.0;
  load.inertia = {1e-3, 0, 0, 1e-3, 0, 1e-3};
  arm.addFixed("grip").from("arm", "end").to("load");
  return kempe::Model(arm);
}

struct Oscillation {
  double omega, zeta;  // natural frequency in rad/s, damping ratio
};

/// The slowest oscillation of the arm on its servo.
Oscillation slowestOscillation(const kempe::Model& model, const Eigen::VectorXd& q) {
  kempe::Data data(model);
  const int n = model.nv();
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(n);
  Eigen::MatrixXd H(n, n), K(n, n), D(n, n);
  kempe::inverseDynamicsDerivatives(model, data, q, still, still, K, D, H);
  K(0, 0) += kStiffness;
  D(0, 0) += kDamping;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  const Eigen::PartialPivLU<Eigen::MatrixXd> solver(H);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = -solver.solve(K);
  A.bottomRightCorner(n, n) = -solver.solve(D);
  Oscillation slowest{1e9, 0.0};
  const Eigen::VectorXcd poles = Eigen::EigenSolver<Eigen::MatrixXd>(A, false).eigenvalues();
  for (const std::complex<double>& pole : poles) {
    const double size = std::abs(pole);
    if (pole.imag() > 0 && -pole.real() < 0.2 * size && size < slowest.omega) {
      slowest = {size, -pole.real() / size};
    }
  }
  return slowest;
}

/// Position, velocity, acceleration: full acceleration, then full deceleration.
Eigen::Vector3d command(double t) {
  const double peak = 4 * kTarget / (kTime * kTime);
  if (t <= 0) {
    return Eigen::Vector3d::Zero();
  }
  if (t < kTime / 2) {
    return {peak * t * t / 2, peak * t, peak};
  }
  if (t < kTime) {
    const double left = kTime - t;
    return {kTarget - peak * left * left / 2, peak * left, -peak};
  }
  return {kTarget, 0.0, 0.0};
}

using Impulses = std::vector<std::pair<double, double>>;  // (share, delay)

struct Ringing {
  double after = 0.0, later = 0.0;  // m
};

/// Largest distance of the load from the arm's direction at the target, when the command comes in
/// parts.
Ringing ringing(const kempe::Model& model, const Eigen::VectorXd& start, const Impulses& impulses) {
  kempe::Data data(model);
  Eigen::MatrixXd H(model.nv(), model.nv());
  kempe::massMatrix(model, data, start, H);
  const double inertia = H(0, 0);  // of the straight arm about the shoulder
  kempe::Simulator simulator(model);
  simulator.setState(start, Eigen::VectorXd::Zero(model.nv()));
  simulator.setController(
      [&](double t, kempe::VectorIn q, kempe::VectorIn v, kempe::VectorOut tau) {
        Eigen::Vector3d goal = Eigen::Vector3d::Zero();
        for (const auto& [share, delay] : impulses) {
          goal += share * command(t - delay);
        }
        tau.setZero();
        tau[0] = kStiffness * (goal[0] - q[0]) + kDamping * (goal[1] - v[0]) + inertia * goal[2];
      });
  const double end = kTime + impulses.back().second;
  const int frame = model.frameIndex("load");
  Ringing result;
  for (int sample = 1; sample * kDt <= kDuration; ++sample) {
    const double t = sample * kDt;
    simulator.stepTo(t);
    const kempe::Vector3 p = kempe::framePlacement(model, data, simulator.q(), frame).p;
    const double across = std::abs(p.y * std::cos(kTarget) - p.x * std::sin(kTarget));
    result.after = t > end + 0.021 ? std::max(result.after, across) : result.after;
    result.later = t > end + 0.501 ? std::max(result.later, across) : result.later;
  }
  return result;
}

}  // namespace

int main() {
  const kempe::Model model = build();
  kempe::Data data(model);
  Eigen::VectorXd start(model.nq());
  kempe::staticDeflection(model, data, model.neutral(), Eigen::VectorXd::Zero(model.nv()), start);
  const double sag = -kempe::framePlacement(model, data, start, model.frameIndex("load")).p.z;
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd holding(model.nv());
  kempe::inverseDynamics(model, data, start, still, still, holding);
  const double residual = holding.tail(model.nv() - 1).cwiseAbs().maxCoeff();
  const auto [omega, zeta] = slowestOscillation(model, start);
  std::printf("The load sags by %.2f mm; its weight and bending balance to %.1e.\n", 1e3 * sag,
              residual);
  std::printf("On its servo the arm oscillates at %.2f Hz, damping ratio %.3f.\n\n",
              omega / (2 * kPi), zeta);

  // Half a period later the second part excites the opposite of what is left of the first.
  const double delay = kPi / (omega * std::sqrt(1 - zeta * zeta));
  const double decay = std::exp(-kPi * zeta / std::sqrt(1 - zeta * zeta));
  std::printf("command      ends after, s   ringing, mm   after 0.5 s more, mm\n");
  const Impulses plain{{1.0, 0.0}};
  const Impulses shaped{{1 / (1 + decay), 0.0}, {decay / (1 + decay), delay}};
  double left[2];
  int k = 0;
  for (const auto& [name, impulses] : {std::pair{"as it is", plain}, {"shaped", shaped}}) {
    const Ringing found = ringing(model, start, impulses);
    std::printf("%-12s %13.3f %13.2f %22.2f\n", name, kTime + impulses.back().second,
                1e3 * found.after, 1e3 * found.later);
    left[k++] = found.after;
  }
  return residual < 1e-6 && left[1] < 0.1 * left[0] ? 0 : 1;
}
