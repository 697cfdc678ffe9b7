#include <gtest/gtest.h>

#include "linkages.hpp"
#include "support/allocations.hpp"

// Dry friction and end stops together: snapshots and memory.

namespace kempe::test {
namespace {

TEST(Switches, ContinueFromSnapshotsToTheLastBit) {
  Simulator simulator{Model(fiveBar())};
  for (const char* joint : {"left", "right", "left_elbow", "right_elbow"}) {
    simulator.addFriction({.joint = joint, .coulomb = 0.04});
  }
  simulator.addLimit({.joint = "left", .lower = 1.8, .restitution = 0.3});
  simulator.setState(configuration(simulator.model(), {{"left", 2.2}, {"right", 0.9}}),
                     Eigen::Vector2d(-3.0, -2.0));
  for (int i = 0; i < 400; ++i) {
    simulator.step(1e-3);
    if (i % 40 == 0) {
      const Snapshot snapshot = simulator.snapshot();
      simulator.step(1e-3);
      const Eigen::VectorXd q = simulator.q(), v = simulator.v();
      simulator.restore(snapshot);
      simulator.step(1e-3);
      ASSERT_TRUE(simulator.q() == q && simulator.v() == v) << i;
    }
  }
}

TEST(Switches, ContinueFromSnapshotsOnAStopWithFriction) {
  const Model model(fourBar(0.6, 0.2, 0.5, 0.4));
  const auto make = [&] {
    Simulator simulator(model);
    simulator.addFriction({.joint = "knee", .coulomb = 0.05});
    simulator.addFriction({.joint = "crank", .coulomb = 0.02});
    simulator.addLimit({.joint = "pivot", .lower = -5.0, .upper = 1.8, .restitution = 0.6});
    simulator.setState(configuration(model, {{"crank", 0.7}, {"pivot", 1.2}}), one(-2.0));
    return simulator;
  };
  Simulator simulator = make();
  for (int i = 0; i < 200; ++i) {
    const Snapshot snapshot = simulator.snapshot();
    simulator.step(0.01);
    Simulator other = make();
    other.restore(snapshot);
    other.step(0.01);
    // To rounding: the modes of friction on a stop are found from those before, which the forces
    // of a restored state do not remember (docs/simulation.md).
    ASSERT_LT((simulator.q() - other.q()).cwiseAbs().maxCoeff(), 1e-12) << i;
    ASSERT_LT((simulator.v() - other.v()).cwiseAbs().maxCoeff(), 1e-10) << i;
    ASSERT_LT((simulator.spanningVelocities() - other.spanningVelocities()).cwiseAbs().maxCoeff(),
              1e-10)
        << i;
  }
}

TEST(Switches, AllocateNothingInSteps) {
  Mechanism robot = pendulum();
  addLink(robot, "second", 0.3, 0.5);
  robot.addRevolute("elbow").from("bar").to("second").at({0.4, 0, 0}).limitedTo(-0.5, 0.5);
  robot.joints.back().friction = 0.1;
  for (const Integrator integrator : kIntegrators) {
    Simulator simulator(Model(robot), {.integrator = integrator});
    simulator.addFriction({.joint = "hinge", .coulomb = 0.3});
    simulator.addLimits(0.0, 0.0, 0.3);
    simulator.setState(Eigen::Vector2d(0.4, 0.1), Eigen::Vector2d(1.0, -3.0));
    simulator.step(1e-3);
    const long count = allocationsOf([&] {
      for (int i = 0; i < 2000; ++i) {
        simulator.step(1e-3);
      }
    });
    EXPECT_EQ(count, 0) << toString(integrator);
    EXPECT_GT(simulator.work().limits, 0.0);
  }
}

}  // namespace
}  // namespace kempe::test
