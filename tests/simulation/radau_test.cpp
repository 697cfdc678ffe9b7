#include <gtest/gtest.h>

#include <cmath>

#include "linkages.hpp"
#include "support/allocations.hpp"

// Stiff motions: Radau IIA, and the choice between it and explicit steps.

namespace kempe::test {
namespace {

SimulatorOptions options(Integrator integrator, double tolerance) {
  return {.integrator = integrator,
          .relativeTolerance = tolerance,
          .absoluteTolerance = 1e-2 * tolerance};
}

Eigen::VectorXd stateOf(const Simulator& simulator) {
  Eigen::VectorXd state(simulator.q().size() + simulator.v().size());
  state << simulator.q(), simulator.v();
  return state;
}

/// A ball joint on a free body, with point springs: rotations in space.
Mechanism tumbling() {
  Mechanism robot("tumbling");
  robot.addBody("world");
  robot.addBody("brick").withMass(2).centeredAt({0.1, -0.05, 0.2}).withInertia(0.02, 0.05, 0.06);
  robot.addBody("tail").withMass(0.5).centeredAt({0, 0, -0.1}).withInertia(0.004, 0.003, 0.002);
  robot.addJoint("base", JointType::Free).from("world").to("brick");
  robot.addJoint("ball", JointType::Spherical).from("brick").to("tail");
  return robot;
}

struct Case {
  const char* name;
  Mechanism robot;
};

std::vector<Case> smoothCases() {
  return {{"tumbling", tumbling()},
          {"four_bar", fourBar(0.5, 0.15, 0.4, 0.35)},
          {"five_bar", fiveBar()}};
}

/// With errors proportional to h⁵, ten times smaller ones take 10^(1/5) times as many steps.
TEST(Radau, ErrorsFallWithTheFifthPowerOfSteps) {
  for (const Case& one : smoothCases()) {
    const Model model(one.robot);
    const auto run = [&](Integrator integrator, double tolerance) {
      Simulator simulator(model, options(integrator, tolerance));
      simulator.setState(model.randomConfiguration(3), Eigen::VectorXd::Constant(model.nv(), 2.0));
      simulator.stepTo(0.5);
      return std::pair(stateOf(simulator), static_cast<double>(simulator.statistics().steps));
    };
    const Eigen::VectorXd exact = run(Integrator::Adaptive, 1e-13).first;
    const auto [coarse, few] = run(Integrator::Radau, 1e-5);
    const auto [fine, many] = run(Integrator::Radau, 1e-9);
    const double order =
        std::log((coarse - exact).norm() / (fine - exact).norm()) / std::log(many / few);
    EXPECT_GT(order, 4.3) << one.name << " " << few << " " << many;
    EXPECT_LT(order, 7.0) << one.name << " " << few << " " << many;
    EXPECT_LT((fine - exact).norm(), 1e-6) << one.name;
  }
}

/// θ̈ = (−k θ − d θ̇ + gravity) / J with k = 1e8 N·m/rad: after its decay, the pendulum rests where the
/// spring balances gravity.
TEST(Radau, PendulumOnAStiffSpringTakesFewSteps) {
  Mechanism robot = planar("pendulum");
  robot.addBody("bar").withMass(1).centeredAt({0.5, 0, 0}).withInertia(0.001, 0.08, 0.08);
  robot.addRevolute("hinge").from("ground").to("bar");
  for (const Integrator integrator : {Integrator::Radau, Integrator::Auto}) {
    Simulator simulator(Model(robot), {.integrator = integrator});
    simulator.addSpring(
        JointSpring{.joint = "hinge", .stiffness = 1e8, .rest = 0.3, .damping = 1e4});
    simulator.setState(Eigen::VectorXd::Constant(1, 0.31), Eigen::VectorXd::Zero(1));
    const double start = simulator.energy().kinetic + simulator.energy().potential;
    simulator.stepTo(10.0);
    EXPECT_NEAR(simulator.q()[0], 0.3 - 0.5 * 9.81 * std::cos(0.3) / 1e8, 1e-12);
    EXPECT_NEAR(simulator.v()[0], 0.0, 1e-9);
    const double end = simulator.energy().kinetic + simulator.energy().potential;
    EXPECT_NEAR(end - start + simulator.work().damping, 0.0, 1e-5 * start);  // of 5000 J
    // Explicit steps are stable below 3.3 J / d = 1e-4 s, 600,000 evaluations.
    EXPECT_LT(simulator.statistics().evaluations, 3000) << toString(integrator);
    EXPECT_EQ(simulator.integratorInUse(), Integrator::Radau);
  }
}

/// A crank driven at constant speed through a stiff, damped coupling follows the drive with a lag
/// of d ω / k of a static solution, wherever that is slow; loops stay closed.
TEST(Radau, FourBarOnAStiffSpringFollowsItsDrive) {
  const auto run = [](Integrator integrator, double tolerance, double damping) {
    Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35)), options(integrator, tolerance));
    simulator.setController([=](double t, VectorIn q, VectorIn v, VectorOut tau) {
      tau[0] = 1e6 * (0.8 + t - q[0]) + damping * (1.0 - v[0]);
    });
    simulator.setState(configuration(simulator.model(), {{"crank", 0.8}}),
                       Eigen::VectorXd::Constant(1, 1.0));
    double open = 0.0;
    for (int i = 1; i <= 10; ++i) {
      simulator.stepTo(0.1 * i);
      open = std::max(open, simulator.loopError());
    }
    EXPECT_LT(open, 1e-12);
    EXPECT_NEAR(positionOf(simulator, "crank"), 1.8, 1e-4);
    return std::pair(stateOf(simulator), simulator.statistics());
  };
  const double damping = 1e3;
  const Eigen::VectorXd exact = run(Integrator::Radau, 1e-12, damping).first;
  const auto [state, effort] = run(Integrator::Radau, 1e-8, damping);
  EXPECT_LT((state - exact).norm(), 1e-7);
  const auto [explicitState, explicitEffort] = run(Integrator::Adaptive, 1e-8, damping);
  EXPECT_LT((explicitState - exact).norm(), 1e-7);
  EXPECT_LT(10 * effort.evaluations, explicitEffort.evaluations);
  const auto [automatic, automaticEffort] = run(Integrator::Auto, 1e-8, damping);
  EXPECT_LT((automatic - exact).norm(), 1e-7);
  EXPECT_LT(5 * automaticEffort.evaluations, explicitEffort.evaluations);
}

/// Van der Pol's equation ÿ = μ (1 − y²) ẏ − y with μ = 1000: slow, except where it jumps.
TEST(Radau, FollowsVanDerPol) {
  constexpr double kStiffness = 1000.0;
  const auto run = [](Integrator integrator, double tolerance) {
    Simulator simulator(Model(block(1.0)), options(integrator, tolerance));
    simulator.setController([](double, VectorIn q, VectorIn v, VectorOut tau) {
      tau[0] = kStiffness * (1.0 - q[0] * q[0]) * v[0] - q[0];
    });
    simulator.setState(Eigen::VectorXd::Constant(1, 2.0), Eigen::VectorXd::Zero(1));
    simulator.stepTo(2000.0);  // more than one period, two jumps
    return std::pair(stateOf(simulator), simulator.statistics());
  };
  const Eigen::VectorXd exact = run(Integrator::Radau, 1e-12).first;
  // Problem VDPOL of Mazzia and Magherini, Test Set for Initial Value Problem Solvers, release 2.4:
  // the same equation with time divided by μ, and ε = 1 / μ² = 1e-6.
  EXPECT_NEAR(exact[0], 1.7061677321, 1e-9);
  for (const Integrator integrator : {Integrator::Radau, Integrator::Auto}) {
    double before = 1.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
      const auto [state, effort] = run(integrator, tolerance);
      const double error = (state - exact).norm();
      EXPECT_LT(error, 20 * tolerance) << toString(integrator);
      EXPECT_LT(error, before) << toString(integrator);
      before = error;
      // Explicit steps are stable below 3.3 / (3 μ): two million steps.
      EXPECT_LT(effort.evaluations, 40000) << toString(integrator);
    }
  }
}

/// Attempts are repeatable: steps that are refused leave no trace in the result but rounding.
TEST(Radau, TakesTinySteps) {
  for (const Case& one : smoothCases()) {
    const Model model(one.robot);
    for (const Integrator integrator : {Integrator::Radau, Integrator::Adaptive}) {
      Simulator simulator(model, options(integrator, 1e-8));
      const Eigen::VectorXd v = Eigen::VectorXd::Constant(model.nv(), 1.0);
      simulator.setState(model.randomConfiguration(3), v);
      const Eigen::VectorXd start = stateOf(simulator);
      simulator.step(1e-13);
      EXPECT_LT((stateOf(simulator) - start).norm(), 1e-9) << one.name;
      EXPECT_EQ(simulator.statistics().steps, 1) << one.name;
      simulator.step(1e-3);
    }
  }
}

TEST(Auto, StaysExplicitWhereTheMotionIsSmooth) {
  for (const Case& one : smoothCases()) {
    const Model model(one.robot);
    const auto run = [&](Integrator integrator) {
      Simulator simulator(model, options(integrator, 1e-8));
      simulator.setState(model.randomConfiguration(3), Eigen::VectorXd::Constant(model.nv(), 2.0));
      for (int i = 1; i <= 50; ++i) {
        simulator.stepTo(0.01 * i);
      }
      EXPECT_EQ(simulator.integratorInUse(), Integrator::Adaptive);
      EXPECT_EQ(simulator.statistics(Integrator::Radau).steps, 0);
      return stateOf(simulator);
    };
    EXPECT_EQ(run(Integrator::Auto), run(Integrator::Adaptive)) << one.name;
  }
}

/// A stiff damper that is applied for a time, like a brake.
TEST(Auto, ChangesToImplicitStepsAndBack) {
  Simulator simulator(Model(block(1.0)), options(Integrator::Auto, 1e-8));
  simulator.setController([](double t, VectorIn q, VectorIn v, VectorOut tau) {
    const double brake = t > 1.0 && t < 2.0 ? 1e5 : 0.0;
    tau[0] = std::cos(20.0 * t) - q[0] - brake * v[0];
  });
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Adaptive);
  simulator.stepTo(1.0);
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Adaptive);
  simulator.stepTo(1.9);
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Radau);
  EXPECT_EQ(simulator.snapshot().stepControl.inUse, Integrator::Radau);
  simulator.stepTo(12.0);
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Adaptive);
  const IntegratorStatistics all = simulator.statistics();
  const IntegratorStatistics pair = simulator.statistics(Integrator::Adaptive);
  const IntegratorStatistics radau = simulator.statistics(Integrator::Radau);
  EXPECT_EQ(all.steps, pair.steps + radau.steps);
  EXPECT_EQ(all.evaluations, pair.evaluations + radau.evaluations);
  EXPECT_GT(radau.newtonIterations, radau.steps);
  EXPECT_GT(radau.jacobians, 0);
  EXPECT_EQ(pair.newtonIterations, 0);
  // The brake alone would take 1e5 / 3.3 explicit steps.
  EXPECT_LT(all.evaluations, 20000);
}

/// Loops that are left cut, and a constraint that moves with time, take part in implicit steps.
TEST(Radau, HoldsCutLoopsAndConstraints) {
  Mechanism closed = fourBar(0.5, 0.15, 0.4, 0.35), open = closed;
  open.loops.front().leftCut();
  const auto run = [](const Mechanism& robot) {
    Simulator simulator(Model(robot), options(Integrator::Radau, 1e-10));
    const Model byCrank(fourBar(0.5, 0.15, 0.4, 0.35));
    Simulator start(byCrank);
    start.setState(configuration(byCrank, {{"crank", 0.8}}), Eigen::VectorXd::Constant(1, 2.0));
    simulator.addSpring(JointSpring{.joint = "pivot",
                                    .stiffness = 1e5,
                                    .rest = positionOf(start, "pivot") + 0.05,
                                    .damping = 1e3});
    const Model& model = simulator.model();
    Eigen::VectorXd q(model.nq()), velocities(model.nvSpanning());
    for (int i = 0; i < 3; ++i) {  // in the order of either model
      q[i] = positionOf(start, model.qNames()[i]);
      velocities[i] = rateOf(start, model.spanningVelocityNames()[i]);
    }
    simulator.setSpanningState(q, velocities);
    simulator.stepTo(0.3);
    EXPECT_LT(simulator.loopError(), 1e-9);
    EXPECT_LT(simulator.statistics().evaluations, 10000);
    return Eigen::Vector3d(positionOf(simulator, "crank"), positionOf(simulator, "knee"),
                           positionOf(simulator, "pivot"));
  };
  EXPECT_LT((run(closed) - run(open)).norm(), 1e-7);

  const Model model(fiveBar());
  Constraints constraints(model);
  constraints.prescribe("drive", "left", [](double t) {
    return PrescribedMotion{2.2 + 0.1 * std::sin(5 * t), 0.5 * std::cos(5 * t),
                            -2.5 * std::sin(5 * t)};
  });
  Simulator simulator(model, options(Integrator::Radau, 1e-8));
  simulator.setState(configuration(model, {{"left", 2.2}, {"right", 0.9}}),
                     Eigen::Vector2d(0.5, 0.0));
  simulator.setConstraints(constraints);
  simulator.stepTo(0.4);
  EXPECT_NEAR(positionOf(simulator, "left"), 2.2 + 0.1 * std::sin(2.0), 1e-10);
  EXPECT_NEAR(rateOf(simulator, "left"), 0.5 * std::cos(2.0), 1e-9);
}

/// A stiff drive that cannot be seen at the start, where it is at its target and all falls freely:
/// the first explicit steps are far too long, and stages beyond all bounds are refused.
TEST(Auto, RecoversFromStagesThatDiverge) {
  Mechanism robot("hanging");
  robot.addBody("world");
  robot.addBody("box").withMass(1).withInertia(0.1, 0.1, 0.1);
  robot.addBody("arm").withMass(0.01).centeredAt({0.01, 0, 0}).withInertia(1e-6, 1e-6, 1e-6);
  robot.addPrismatic("fall").from("world").to("box").along({0, 0, 1});
  robot.addRevolute("hinge").from("box").to("arm").about({0, 1, 0});
  Simulator simulator(Model(robot), options(Integrator::Auto, 1e-8));
  simulator.setController([](double t, VectorIn q, VectorIn v, VectorOut tau) {
    tau[1] = 1e6 * (0.1 * std::pow(t, 4) - q[1]) - 1e5 * v[1];
  });
  simulator.setState(Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2));
  simulator.stepTo(1.0);
  // q̇ = (0.1 t⁴ − q) / s from zero: q = 0.1 (t⁴ − 4 s t³ + 12 s² t² − 24 s³ t + 24 s⁴ (1 −
  // e^(−t/s))).
  const double s = 0.1;
  EXPECT_NEAR(simulator.q()[1],
              0.1 * (1 - 4 * s + 12 * s * s - 24 * s * s * s +
                     24 * s * s * s * s * (1 - std::exp(-1.0 / s))),
              1e-7);
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Radau);
  EXPECT_LT(simulator.statistics().evaluations, 2000);
}

/// Friction 2 sign(v) of a controller, from 0.5 s on, holds the block against a force of 1. Implicit
/// steps have no solution there, and corrections by a Jacobian that spans the jump are small: short
/// steps must find the rest all the same, which lasts from 0.5001 s.
Simulator jumping(Integrator integrator, double tolerance) {
  Simulator simulator(Model(block(1.0)), options(integrator, tolerance));
  simulator.setController([](double t, VectorIn, VectorIn v, VectorOut tau) {
    const double dry = t > 0.5 ? 2.0 : 0.0;
    tau[0] = 1.0 - 1e4 * v[0] - (v[0] > 0.0 ? dry : -dry);
  });
  simulator.setState(Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, 1.0));
  simulator.stepTo(0.49);
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Radau);
  return simulator;
}

TEST(Radau, IsNotFooledByForcesThatJump) {
  Simulator simulator = jumping(Integrator::Radau, 1e-4);
  for (int i = 1; i <= 10; ++i) {
    simulator.stepTo(0.5002 + 2e-5 * i);
    EXPECT_NEAR(simulator.v()[0], 0.0, 1e-5);
  }
}

TEST(Auto, ReturnsToExplicitStepsWhereImplicitOnesHaveNoSolution) {
  Simulator simulator = jumping(Integrator::Auto, 1e-6);
  simulator.stepTo(0.51);
  EXPECT_EQ(simulator.integratorInUse(), Integrator::Adaptive);
  EXPECT_GT(simulator.statistics(Integrator::Adaptive).steps, 500);
  EXPECT_NEAR(simulator.v()[0], 0.0, 2e-5);
}

/// A stiff drive whose method changes on the way.
TEST(Auto, GoesOnFromASnapshotToTheLastBit) {
  const auto made = [] {
    Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35)), options(Integrator::Auto, 1e-8));
    simulator.setController([=](double t, VectorIn q, VectorIn v, VectorOut tau) {
      const double gain = t > 0.1 ? 1e6 : 10.0;
      tau[0] = gain * (0.8 + t - q[0]) + 1e-3 * gain * (1.0 - v[0]);
    });
    simulator.setState(configuration(simulator.model(), {{"crank", 0.8}}),
                       Eigen::VectorXd::Constant(1, 1.0));
    return simulator;
  };
  Simulator simulator = made();
  const Recording whole = simulator.run(0.5, 1.0 / 64);
  ASSERT_EQ(whole.samples.front().stepControl.inUse, Integrator::Adaptive);
  ASSERT_EQ(whole.samples.back().stepControl.inUse, Integrator::Radau);
  for (std::size_t i = 0; i + 1 < whole.samples.size(); ++i) {
    Simulator again = made();
    again.restore(whole.snapshot(i));
    again.stepTo(whole.samples[i + 1].time);
    ASSERT_EQ(again.q(), whole.samples[i + 1].q) << i;
    ASSERT_EQ(again.v(), whole.samples[i + 1].v) << i;
    ASSERT_EQ(again.snapshot().stepControl, whole.samples[i + 1].stepControl) << i;
  }
}

TEST(Auto, AllocatesNothingInImplicitSteps) {
  Simulator simulator(Model(fiveBar()), options(Integrator::Auto, 1e-8));
  simulator.setController([](double, VectorIn, VectorIn v, VectorOut tau) { tau = -1e4 * v; });
  simulator.setState(configuration(simulator.model(), {{"left", 2.2}, {"right", 0.9}}),
                     Eigen::VectorXd::Zero(2));
  simulator.step(0.1);
  ASSERT_EQ(simulator.integratorInUse(), Integrator::Radau);
  EXPECT_EQ(allocationsOf([&] { simulator.step(0.1); }), 0);
}

}  // namespace
}  // namespace kempe::test
