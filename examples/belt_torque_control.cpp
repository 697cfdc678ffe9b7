/// Feed-forward torque control of a humanoid's leg whose knee and ankle are driven by belts: the
/// ankle motor is mounted on the thigh and turns with the sum of knee and ankle. Compares three
/// models in the controller; the simulated robot is always the exact one.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <kempe/kempe.hpp>
#include <numbers>
#include <utility>

namespace {

constexpr double kPeriod = 0.5, kStep = 5e-4, kStiffness = 80.0, kDamping = 4.0;
constexpr double kRate = 2 * std::numbers::pi / kPeriod;

/// The desired motion. All joints start at rest.
struct Swing {
  Eigen::VectorXd q, v, a;
};
Swing swingAt(double time) {
  Eigen::VectorXd offset(5), amplitude(5);  // yaw, roll and pitch of the hip, knee, ankle; rad
  offset << 0.0, 0.0, -0.4, 0.9, -0.4;
  amplitude << 0.1, 0.1, 0.5, 0.6, -0.4;
  const double phase = kRate * time;
  return {offset + amplitude * std::cos(phase), -amplitude * kRate * std::sin(phase),
          -amplitude * kRate * kRate * std::cos(phase)};
}

struct Outcome {
  double error = 0.0;                                 // largest of all joints, rad
  Eigen::VectorXd motors = Eigen::VectorXd::Zero(5);  // largest torques, N m
  double residual = 0.0;
};

/// One swing with the feed-forward torques of a method.
Outcome swing(const kempe::Model& model, const std::array<int, 5>& motors, kempe::Method method) {
  kempe::Data data(model);
  Eigen::VectorXd q = swingAt(0).q, v = swingAt(0).v, a(5), tau(5), forward(5), back(5);
  Eigen::VectorXd joints = Eigen::VectorXd::Zero(model.nvSpanning());
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  Outcome outcome;
  const int steps = static_cast<int>(std::lround(kPeriod / kStep));
  for (int step = 0; step < steps; ++step) {
    const Swing wanted = swingAt(step * kStep);
    outcome.error = std::max(outcome.error, (wanted.q - q).lpNorm<Eigen::Infinity>());
    kempe::inverseDynamics(model, data, wanted.q, wanted.v, wanted.a, forward, {.method = method});
    tau = forward + kStiffness * (wanted.q - q) + kDamping * (wanted.v - v);

    // τ = Mᵀ τ_motors, where M has the motors' rows of G. It is lower triangular, because the ankle
    // belt comes last.
    kempe::constraintJacobian(model, data, q, G);
    for (int k = 4; k >= 0; --k) {
      double torque = tau[k];
      for (int j = k + 1; j < 5; ++j) {
        torque -= G(motors[j], k) * joints[motors[j]];
      }
      joints[motors[k]] = torque / G(motors[k], k);
      outcome.motors[k] = std::max(outcome.motors[k], std::abs(joints[motors[k]]));
    }
    kempe::generalizedForces(model, data, q, joints, back);  // joint torques of these motor torques
    outcome.residual = std::max(outcome.residual, (back - tau).lpNorm<Eigen::Infinity>());

    kempe::forwardDynamics(model, data, q, v, back, a);
    v += kStep * a;
    kempe::integrate(model, data, q, v, kStep, q);
  }
  return outcome;
}

}  // namespace

int main() {
  const kempe::Model model = kempe::robots::load("mit_humanoid_leg");
  const std::array<int, 5> motors{
      model.jointVelocityIndex("base_to_hipz_rotor"),
      model.jointVelocityIndex("hipz_to_hipx_rotor"),
      model.jointVelocityIndex("hipx_to_hipy_rotor"),
      model.jointVelocityIndex("hipy_to_knee_rotor"),
      model.jointVelocityIndex("hipy_to_ankle_rotor"),
  };

  std::printf("One swing of %.1f s, with the same feedback.\n\n", kPeriod);
  std::printf("                        largest error   largest motor torques, N m\n");
  std::printf("feed-forward from       of a joint, deg  yaw   roll  pitch   knee  ankle\n");
  double residual = 0.0;
  for (const auto& [name, method] : {std::pair{"the exact model", kempe::Method::Cluster},
                                     std::pair{"reflected inertias", kempe::Method::Approximate},
                                     std::pair{"no rotors", kempe::Method::Unconstrained}}) {
    const Outcome outcome = swing(model, motors, method);
    std::printf("%-20s %14.2f   ", name, outcome.error * 180 / std::numbers::pi);
    for (const double torque : outcome.motors) {
      std::printf(" %6.2f", torque);
    }
    std::printf("\n");
    residual = std::max(residual, outcome.residual);
  }
  std::printf("\nMotor torques reproduce the desired joint torques to %.1e N m.\n", residual);
  return residual < 1e-12 ? 0 : 1;
}
