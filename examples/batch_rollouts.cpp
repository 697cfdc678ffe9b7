/// A kick, by trying 1,024 of them at once. A leg winds up and then kicks as hard as its motors
/// can; when hip and knee turn round is what is looked for. A kick that stretches the knee beyond
/// straight does not count.

#include <cstddef>
#include <cstdio>
#include <kempe/kempe.hpp>
#include <vector>

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kPerJoint = 32, kKicks = kPerJoint * kPerJoint, kSteps = 350, kCompared = 777;
constexpr double kStep = 1e-3, kHipTorque = 12.0, kKneeTorque = 4.0;

/// The time at which a joint turns round, of its k-th choice.
double turn(int k) {
  return 0.05 + 0.2 * k / (kPerJoint - 1);
}

}  // namespace

int main() {
  const kempe::Model model = kempe::robots::load("mit_humanoid_leg");
  const int hip = 2, knee = 3;  // of model.vNames()
  const std::vector<int> foot{model.frameIndex("ankle_link")};

  Rows q = Rows::Zero(kKicks, model.nq()), v = Rows::Zero(kKicks, model.nv());
  Rows tau = Rows::Zero(kKicks, model.nv()), a(kKicks, model.nv());
  Rows place(kKicks, 12), before(kKicks, 12);
  q.col(knee).setConstant(0.3);  // standing with a soft knee
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

    // One of them by itself, to see that it is the same.
    kempe::forwardDynamics(model, data, oneQ, oneV, tau.row(kCompared).transpose(), oneA);
    oneV += kStep * oneA;
    kempe::integrate(model, data, oneQ, oneV, kStep, oneQ);
  }

  Eigen::Index best = 0;
  const double speed = fastest.maxCoeff(&best);
  std::printf("%d kicks of %.2f s, %d steps each.\n", kKicks, kSteps * kStep, kSteps);
  std::printf("The knee goes beyond straight in %td of them, sooner or later.\n",
              static_cast<std::ptrdiff_t>((!fair).count()));
  std::printf("The fastest: %.2f m/s. The hip turns round after %.3f s, the knee after %.3f s.\n",
              speed, turn(static_cast<int>(best) / kPerJoint),
              turn(static_cast<int>(best) % kPerJoint));
  std::printf("Hip and knee together: %.2f m/s at best.\n",
              fastest(Eigen::seqN(0, kPerJoint, kPerJoint + 1)).maxCoeff());
  const double residual = (q.row(kCompared).transpose() - oneQ).lpNorm<Eigen::Infinity>();
  std::printf("Kick %d by itself ends in the same place to %.1e rad.\n", kCompared, residual);
  return residual < 1e-9 ? 0 : 1;
}
