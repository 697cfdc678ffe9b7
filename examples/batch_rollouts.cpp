/// Finds the fastest kick of a leg by simulating 1,024 kicks at once. The leg winds up and then
/// kicks with full motor torque; the times at which hip and knee reverse are varied. Kicks that
/// overextend the knee do not count.

#include <cstddef>
#include <cstdio>
#include <kempe/kempe.hpp>
#include <vector>

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kPerJoint = 32, kKicks = kPerJoint * kPerJoint, kSteps = 350, kCompared = 777;
constexpr double kStep = 1e-3, kHipTorque = 12.0, kKneeTorque = 4.0;

/// The k-th choice of the time at which a joint reverses.
double turn(int k) {
  return 0.05 + 0.2 * k / (kPerJoint - 1);
}

}  // namespace

int main() {
  const kempe::Model model = kempe::robots::load("mit_humanoid_leg");
  const int hip = 2, knee = 3;  // indices in model.vNames()
  const std::vector<int> foot{model.frameIndex("ankle_link")};

  Rows q = Rows::Zero(kKicks, model.nq()), v = Rows::Zero(kKicks, model.nv());
  Rows tau = Rows::Zero(kKicks, model.nv()), a(kKicks, model.nv());
  Rows place(kKicks, 12), before(kKicks, 12);
  q.col(knee).setConstant(0.3);  // standing with a slightly bent knee
  Eigen::VectorXd fastest = Eigen::VectorXd::Zero(kKicks);
  Eigen::Array<bool, Eigen::Dynamic, 1> fair = Eigen::Array<bool, Eigen::Dynamic, 1>::Ones(kKicks);

  kempe::Data data(model);
  Eigen::VectorXd oneQ = q.row(kCompared), oneV = v.row(kCompared), oneA(model.nv());

  kempe::Batch batch(model);
  kempe::forwardKinematics(model, batch, q, foot, place);
  for (int step = 0; step < kSteps; ++step) {
    for (int k = 0; k < kKicks; ++k) {
      const double time = step * kStep;
      tau(k, hip) = time < turn(k / kPerJoint) ? kHipTorque : -kHipTorque;
      tau(k, knee) = time < turn(k % kPerJoint) ? kKneeTorque : -kKneeTorque;
    }
    kempe::forwardDynamics(model, batch, q, v, tau, a);
    v += kStep * a;
    kempe::integrate(model, batch, q, v, kStep, q);
    before = place;
    kempe::forwardKinematics(model, batch, q, foot, place);
    const Eigen::VectorXd speed = (place.col(9) - before.col(9)) / kStep;  // forward
    fair = fair && q.col(knee).array() > 0;
    fastest = fair.select(speed.array().max(fastest.array()), fastest.array());

    // One state computed alone, for comparison.
    kempe::forwardDynamics(model, data, oneQ, oneV, tau.row(kCompared).transpose(), oneA);
    oneV += kStep * oneA;
    kempe::integrate(model, data, oneQ, oneV, kStep, oneQ);
  }

  Eigen::Index best = 0;
  const double speed = fastest.maxCoeff(&best);
  std::printf("%d kicks of %.2f s, %d steps each.\n", kKicks, kSteps * kStep, kSteps);
  std::printf("The knee overextends in %td of them.\n",
              static_cast<std::ptrdiff_t>((!fair).count()));
  std::printf("Fastest: %.2f m/s. The hip reverses after %.3f s, the knee after %.3f s.\n", speed,
              turn(static_cast<int>(best) / kPerJoint), turn(static_cast<int>(best) % kPerJoint));
  std::printf("Hip and knee at the same time: %.2f m/s at best.\n",
              fastest(Eigen::seqN(0, kPerJoint, kPerJoint + 1)).maxCoeff());
  const double residual = (q.row(kCompared).transpose() - oneQ).lpNorm<Eigen::Infinity>();
  std::printf("Kick %d computed alone ends in the same position to %.1e rad.\n", kCompared,
              residual);
  return residual < 1e-9 ? 0 : 1;
}
