/// An arm catches a ball in flight and throws it. Constraints are switched during the run: brakes
/// that hold the arm, and a hand that grasps and releases, with the impulse of the catch.

#include <array>
#include <cmath>
#include <cstdio>
#include <kempe/kempe.hpp>

namespace {

constexpr double kGravity = 9.81;
constexpr double kUpper = 0.4, kFore = 0.35;  // metres
constexpr double kStep = 0.001;               // seconds
constexpr int kFlight = 300, kSwing = 200;    // steps

/// Everything moves in a plane: x forward, y up. At zero the arm hangs straight down.
kempe::Mechanism describeCatch() {
  kempe::Mechanism robot("catch");
  robot.gravity = {0, -kGravity, 0};
  robot.addBody("base");
  robot.addBody("upper_arm").withMass(1.2).centeredAt({0, -0.2, 0}).withInertia(0.02, 0.001, 0.02);
  robot.addBody("forearm").withMass(0.7).centeredAt({0, -0.15, 0}).withInertia(0.01, 0.001, 0.01);
  robot.addBody("ball").withMass(0.3).withInertia(3e-4, 3e-4, 3e-4);
  robot.addRevolute("shoulder").from("base").to("upper_arm");
  robot.addRevolute("elbow").from("upper_arm").to("forearm").at({0, -kUpper, 0});
  robot.addJoint("flight", kempe::JointType::Planar).from("base").to("ball");
  return robot;
}

/// The arm, the ball and their constraints, with time integration.
class Catch {
 public:
  Catch() : q(Eigen::VectorXd::Zero(model.nq())), v(Eigen::VectorXd::Zero(model.nv())) {}

  void solve() {
    kempe::constrainedForwardDynamics(model, data, constraints, 0.0, q, v, still, a, multipliers,
                                      {}, &report);
  }

  /// Integrates with the midpoint rule.
  void move(int steps) {
    for (int i = 0; i < steps; ++i) {
      solve();
      const Eigen::VectorXd start = q, speed = v, between = v + 0.5 * kStep * a;
      kempe::integrate(model, data, start, speed, 0.5 * kStep, q);
      v = between;
      solve();
      kempe::integrate(model, data, start, between, kStep, q);
      v = speed + kStep * a;
    }
  }

  double energy() {
    const kempe::Energy now = kempe::energy(model, data, q, v);
    return now.kinetic + now.potential;
  }

  double error() {
    Eigen::VectorXd errors(constraints.rows());
    kempe::constraintErrors(model, data, constraints, 0.0, q, errors);
    return errors.lpNorm<Eigen::Infinity>();
  }

  void tell(const char* when) const {
    std::printf("%-8s ball at (%6.3f, %6.3f) m with (%6.3f, %6.3f) m/s\n", when, q[ball],
                q[ball + 1], v[ball], v[ball + 1]);
  }

  kempe::Model model{describeCatch()};
  kempe::Data data{model};
  kempe::Constraints constraints{model};
  int shoulder = model.jointPositionIndex("shoulder"), elbow = model.jointPositionIndex("elbow");
  int ball = model.jointPositionIndex("flight");
  Eigen::VectorXd q, v, still = Eigen::VectorXd::Zero(model.nv()), a = still, multipliers;
  kempe::ConstraintReport report;
};

}  // namespace

int main() {
  Catch run;
  Eigen::VectorXd &q = run.q, &v = run.v;
  const int ball = run.ball;

  // The arm waits with a bent elbow; the ball is thrown to meet the hand after kFlight steps.
  q[run.shoulder] = 0.3;
  q[run.elbow] = 0.9;
  const double turned = q[run.shoulder] + q[run.elbow], time = kStep * kFlight;
  const Eigen::Vector2d fall(0, 0.5 * kGravity * time * time);
  const Eigen::Vector2d hand(kUpper * std::sin(0.3) + kFore * std::sin(turned),
                             -kUpper * std::cos(0.3) - kFore * std::cos(turned));
  v.segment(ball, 2) = Eigen::Vector2d(-2.5, 0.8);
  q.segment(ball, 2) = hand - time * v.segment(ball, 2) + fall;
  q[ball + 2] = turned;

  kempe::Constraints& constraints = run.constraints;
  const int shoulderBrake = constraints.lock("shoulder_brake", "shoulder", q);
  const int elbowBrake = constraints.lock("elbow_brake", "elbow", q);
  const int grasp =
      constraints.add(kempe::LoopJoint{.name = "grasp", .type = kempe::LoopType::Fixed}
                          .from("forearm", kempe::at({0, -kFore, 0}))
                          .to("ball"));
  constraints.enable(grasp, false);
  run.multipliers.resize(constraints.rows());

  run.solve();
  std::printf("The brakes hold the arm with %.3f and %.3f N m.\n", run.multipliers[0],
              run.multipliers[1]);
  run.tell("thrown:");
  run.move(kFlight);
  run.tell("arrives:");

  constraints.enable(shoulderBrake, false);
  constraints.enable(elbowBrake, false);
  constraints.enable(grasp);
  const double missed = run.error();
  double before = run.energy();
  Eigen::VectorXd after(run.model.nv()), impulses(constraints.rows());
  kempe::projectVelocities(run.model, run.data, constraints, 0.0, q, v, after, impulses);
  v = after;
  const std::array<double, 6> push =
      kempe::constraintWrench(run.model, run.data, constraints, grasp, 0.0, q, impulses);
  std::printf("The catch takes an impulse of (%.3f, %.3f) N s and %.3f J.\n", push[0], push[1],
              before - run.energy());
  run.tell("caught:");
  run.solve();
  std::printf("The grasp has %d rows, of which %d are independent in a plane.\n", run.report.rows,
              run.report.rank);

  before = run.energy();
  run.move(kSwing);
  const double drift = run.error(), gained = std::abs(run.energy() - before);
  run.tell("release:");

  constraints.enable(grasp, false);
  const Eigen::Vector2d start = q.segment(ball, 2), speed = v.segment(ball, 2);
  run.move(kFlight);
  run.tell("later:");
  const double off = (q.segment(ball, 2) - (start + time * speed - fall)).lpNorm<Eigen::Infinity>();
  std::printf("Missed by %.1e m, slipped by %.1e m, energy error %.1e J, parabola error %.1e m.\n",
              missed, drift, gained, off);
  return missed < 1e-12 && drift < 1e-4 && gained < 1e-4 && off < 1e-12 ? 0 : 1;
}
