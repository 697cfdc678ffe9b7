#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkages.hpp"
#include "support/close_to.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

/// A wheel of 0.5 kg m² about z.
Mechanism wheel() {
  Mechanism robot = planar("wheel");
  robot.addBody("disc").withMass(1).withInertia(0.3, 0.3, 0.5);
  robot.addJoint("axle", JointType::Continuous).from("ground").to("disc");
  return robot;
}

TEST(Elements, SpringAndDamperSwingAsTheyMust) {
  // x = e^(−δt) (cos ωt + δ/ω sin ωt), δ = d / 2m, ω² = k/m − δ².
  Simulator simulator{Model(block(2.0))};
  simulator.addSpring(JointSpring{.joint = "slide", .stiffness = 200.0, .rest = 0.3, .damping = 4});
  simulator.setState(one(1.3), one(0.0));
  const double delta = 4.0 / 4.0, omega = std::sqrt(200.0 / 2.0 - delta * delta);
  for (int i = 1; i <= 1000; ++i) {
    simulator.stepTo(1e-3 * i);
    const double t = simulator.time();
    ASSERT_NEAR(
        simulator.q()[0],
        0.3 + std::exp(-delta * t) * (std::cos(omega * t) + delta / omega * std::sin(omega * t)),
        1e-8);
  }
  const Energy energy = simulator.energy();
  EXPECT_NEAR(energy.kinetic + energy.potential + simulator.work().damping, 100.0, 1e-7);
}

TEST(Elements, PointSpringIsTheSameAsAJointSpringAlongItsLine) {
  Simulator points{Model(block(2.0))}, joint{Model(block(2.0))};
  points.addSpring(PointSpring{{"ground", {-1, 0, 0}}, {"block", {0.2, 0, 0}}, 50.0, 0.9, 3.0});
  joint.addSpring(JointSpring{"slide", 50.0, -0.3, 3.0});
  points.setState(one(0.4), one(1.0));
  joint.setState(one(0.4), one(1.0));
  for (int i = 0; i < 500; ++i) {
    points.step(1e-3);
    joint.step(1e-3);
    ASSERT_NEAR(points.q()[0], joint.q()[0], 1e-12);
    ASSERT_NEAR(points.energy().potential, joint.energy().potential, 1e-10);
    ASSERT_NEAR(points.work().damping, joint.work().damping, 1e-10);
  }
}

/// A body that hangs free on a spring swings with √(k/m), and turns where the spring pulls aside.
TEST(Elements, PointSpringHoldsAFreeBody) {
  Mechanism robot("hanging");
  robot.addBody("world");
  robot.addBody("brick").withMass(2).centeredAt({0.1, 0, 0}).withInertia(0.1, 0.2, 0.3);
  robot.addJoint("free", JointType::Free).from("world").to("brick");
  const Model model(robot);
  Simulator simulator(model);
  simulator.addSpring(PointSpring{{"world", {0, 0, 2}}, {"brick", {0.1, 0, 0}}, 80.0, 1.0, 0.0});
  const double equal = 1.0 + 2 * 9.81 / 80.0;
  Eigen::VectorXd q = model.neutral();
  q.head<3>() << -0.1, 0, 2 - equal - 0.05;
  simulator.setState(q, Eigen::VectorXd::Zero(6));
  const double period = 2 * std::numbers::pi / std::sqrt(80.0 / 2.0);
  for (int i = 1; i <= 1000; ++i) {
    simulator.stepTo(period * i / 1000);
    ASSERT_NEAR(simulator.q()[2], 2 - equal - 0.05 * std::cos(2 * std::numbers::pi * i / 1000.0),
                1e-9);
  }
}

TEST(Elements, SmoothFrictionCreeps) {
  // v₀² / 2a with a = F / m, then below slipSpeed against less than F.
  Simulator simulator{Model(block(2.0))};
  simulator.addFriction({.joint = "slide", .coulomb = 3.0, .slipSpeed = 1e-4});
  simulator.setState(one(0.0), one(2.0));
  for (int i = 0; i < 20000; ++i) {
    simulator.step(1e-4);
  }
  EXPECT_NEAR(simulator.q()[0], 2.0 * 2.0 / (2 * 1.5), 2e-4);
  EXPECT_LT(std::abs(simulator.v()[0]), 1e-6);
  EXPECT_NEAR(simulator.work().friction, 4.0, 1e-3);
  simulator.setForces(one(2.0));
  for (int i = 0; i < 10000; ++i) {
    simulator.step(1e-4);
  }
  EXPECT_NEAR(simulator.v()[0], 1e-4 * std::atanh(2.0 / 3.0), 1e-6);
}

TEST(Elements, LimitsThrowBack) {
  // Without damping, all of the speed; half an oscillation at the stop.
  for (const double damping : {0.0, 30.0}) {
    Mechanism robot = block(2.0);
    robot.joints.back().limitedTo(-0.2, 0.5);
    Simulator simulator(Model(robot), {.integrator = Integrator::Adaptive});
    EXPECT_EQ(simulator.addLimits(2e4, damping), 1);
    simulator.setState(one(0.0), one(1.0));
    double furthest = 0.0, least = 0.0;
    for (int i = 1; i <= 1000; ++i) {
      simulator.stepTo(1e-3 * i);
      furthest = std::max(furthest, simulator.q()[0]);
      const Energy energy = simulator.energy();
      ASSERT_NEAR(energy.kinetic + energy.potential, 1.0 - simulator.work().limits, 1e-5);
      least = std::min(least, simulator.v()[0]);
    }
    if (damping == 0.0) {
      EXPECT_NEAR(furthest, 0.5 + std::sqrt(2.0 / 2e4), 2e-5);
      EXPECT_NEAR(least, -1.0, 1e-5);
      EXPECT_NEAR(simulator.q()[0], 0.5 - (0.5 - std::numbers::pi * std::sqrt(2.0 / 2e4)), 1e-4);
    } else {
      EXPECT_GT(simulator.work().limits, 0.1);
      EXPECT_GT(least, -0.9);
    }
  }
}

TEST(Elements, AStopNeverPulls) {
  // Leaving a strongly damped stop fast, the block is not held back.
  Simulator simulator{Model(block(2.0))};
  simulator.addLimit({.joint = "slide", .stiffness = 1e3, .damping = 1e4, .lower = 0.0});
  simulator.setState(one(-0.01), one(1.0));
  simulator.step(1e-4);
  EXPECT_NEAR(simulator.v()[0], 1.0, 1e-12);
}

TEST(Elements, MotorsAccelerateWithReflectedInertia) {
  Simulator simulator{Model(wheel())};
  const int motor = simulator.addMotor({.joint = "axle", .gear = 20.0, .rotorInertia = 1e-3});
  simulator.setMotorTorque(motor, 0.3);
  simulator.setState(one(0.0), one(0.0));
  const double acceleration = 20.0 * 0.3 / (0.5 + 400 * 1e-3);
  for (int i = 1; i <= 100; ++i) {
    simulator.step(1e-2);
  }
  EXPECT_NEAR(simulator.v()[0], acceleration, 1e-9);
  EXPECT_NEAR(simulator.q()[0], 0.5 * acceleration, 1e-9);
  EXPECT_NEAR(simulator.work().motors, simulator.energy().kinetic, 1e-9);
}

/// The reflected inertia of a motor on a fixed base is what a rotor as a body has.
TEST(Elements, ReflectedEqualsARotorBodyOnTheGround) {
  Mechanism geared = wheel();
  geared.addBody("rotor").withInertia(1e-3, 1e-3, 1e-3);
  geared.addJoint("rotor_joint", JointType::Continuous).from("ground").to("rotor");
  geared.addGear("gear", "rotor_joint", 20.0, "axle");
  geared.joints.front().independent();
  Simulator bodies{Model(geared)}, reflected{Model(wheel())};
  bodies.setMotorTorque(bodies.addMotor({.joint = "rotor_joint", .viscousFriction = 1e-4}), 0.3);
  reflected.setMotorTorque(
      reflected.addMotor(
          {.joint = "axle", .gear = 20.0, .rotorInertia = 1e-3, .viscousFriction = 1e-4}),
      0.3);
  bodies.step(0.1);
  reflected.step(0.1);
  EXPECT_TRUE(closeTo(bodies.v(), reflected.v(), 1e-12));
}

TEST(Elements, MotorsSaturate) {
  Simulator simulator{Model(wheel())};
  simulator.addMotor({.joint = "axle", .gear = 5.0, .torqueLimit = 0.2});
  for (const double command : {0.1, 0.5, -7.0}) {
    simulator.setMotorTorque(0, command);
    EXPECT_EQ(simulator.motorTorque(0), std::clamp(command, -0.2, 0.2));
  }
  Simulator stalling{Model(wheel())};
  stalling.addMotor({.joint = "axle", .stallTorque = 0.3});
  stalling.setMotorTorque(0, 1.0);
  EXPECT_EQ(stalling.motorTorque(0), 0.3);
  Simulator atJoint{Model(wheel())};
  atJoint.addMotor({.joint = "axle", .gear = 5.0, .commandAt = Motor::Side::Joint});
  atJoint.setMotorTorque(0, 2.0);
  EXPECT_DOUBLE_EQ(atJoint.motorTorque(0), 0.4);
}

TEST(Elements, MotorsFollowTheirTorqueSpeedLine) {
  // With full command J ω̇ = N τ₀ (1 − N ω / Ω₀): the speed comes to Ω₀ / N exponentially.
  Simulator simulator{Model(wheel())};
  simulator.addMotor({.joint = "axle", .gear = 4.0, .stallTorque = 0.5, .noLoadSpeed = 100.0});
  simulator.setMotorTorque(0, 1e3);
  simulator.setState(one(0.0), one(0.0));
  const double rate = 16.0 * 0.5 / 100.0 / 0.5;
  for (int i = 1; i <= 1000; ++i) {
    simulator.stepTo(1e-2 * i);
    ASSERT_NEAR(simulator.v()[0], 25.0 * (1 - std::exp(-rate * simulator.time())), 1e-8);
  }
  // Driven beyond its no-load speed it brakes, whatever is commanded.
  simulator.setState(one(0.0), one(30.0));
  EXPECT_NEAR(simulator.motorTorque(0), 0.5 * (1 - 1.2), 1e-12);
}

TEST(Elements, MotorControllersSetAllMotors) {
  Simulator simulator{Model(fiveBar())};
  simulator.addMotor({.joint = "left"});
  simulator.addMotor({.joint = "right"});
  simulator.setMotorController([](double t, VectorIn, VectorIn, VectorOut torques) {
    torques[0] = t + 1.0;
    torques[1] = -2.0;
  });
  EXPECT_EQ(simulator.motorTorque(0), 1.0);
  EXPECT_EQ(simulator.motorTorque(1), -2.0);
}

TEST(Elements, ForcesAtDependentJointsCount) {
  // A torque at the knee through a motor there is that of generalizedForces.
  const Model model(fourBar(0.5, 0.15, 0.4, 0.35));
  Simulator motor(model), force(model);
  motor.addMotor({.joint = "knee"});
  motor.setMotorTorque(0, 0.7);
  Data data(model);
  force.setController([&](double, VectorIn q, VectorIn, VectorOut tau) {
    Eigen::VectorXd joints = Eigen::VectorXd::Zero(model.nvSpanning());
    joints[model.jointVelocityIndex("knee")] = 0.7;
    generalizedForces(model, data, q, joints, tau);
  });
  for (Simulator* simulator : {&motor, &force}) {
    simulator->setState(configuration(model, {{"crank", 0.8}}), one(2.0));
    for (int i = 0; i < 20; ++i) {
      simulator->step(1e-3);
    }
  }
  EXPECT_TRUE(closeTo(motor.q(), force.q(), 1e-12));
  EXPECT_NEAR(motor.work().motors, force.work().controller, 1e-12);
}

TEST(Elements, WrongOnesAreRefused) {
  Simulator simulator{Model(block(2.0))};
  const auto says = [](const std::function<void()>& action, const std::string& text) {
    const std::string refused = refusal(action);
    EXPECT_NE(refused.find(text), std::string::npos) << refused;
  };
  says([&] { simulator.addSpring(JointSpring{.joint = "nobody"}); }, "\"nobody\"");
  says([&] { simulator.addSpring(JointSpring{.joint = "slide", .stiffness = -1}); },
       "stiffness must be zero or more");
  says([&] { simulator.addSpring(JointSpring{.joint = {"slide", 1}}); }, "component 1");
  says(
      [&] {
        simulator.addSpring(PointSpring{{"block", {}}, {"nobody", {}}, 1, 1, 1});
      },
      "\"nobody\"");
  says(
      [&] {
        simulator.addSpring(PointSpring{{"block", {}}, {"slide", {}}, 1, 1, 1});
      },
      "both ends are on one body");
  says([&] { simulator.addLimit({.joint = "slide", .stiffness = 1}); }, "Give lower or upper");
  says([&] { simulator.addLimit({.joint = "slide", .stiffness = 1, .lower = 1, .upper = 0}); },
       "not below");
  says([&] { simulator.addLimit({.joint = "slide", .damping = 1, .lower = 1}); }, "rigid");
  says([&] { simulator.addLimit({.joint = "slide", .lower = 1, .restitution = 2}); },
       "restitution");
  says(
      [&] {
        simulator.addLimit({.joint = "slide", .stiffness = 1, .lower = 1, .restitution = 0.5});
      },
      "rigid stops");
  says([&] { simulator.addFriction({.joint = "slide", .coulomb = 1, .slipSpeed = -1}); },
       "the slip speed");
  says([&] { simulator.addFriction({.joint = "slide", .coulomb = 2, .breakaway = 1}); },
       "breakaway");
  says([&] { simulator.addMotor({.joint = "slide", .gear = 0}); }, "gear");
  says([&] { simulator.addMotor({.joint = "slide", .torqueLimit = 0}); }, "the torque limit");
  says([&] { simulator.addMotor({.joint = "slide", .noLoadSpeed = 3}); }, "needs a stall torque");
  says([&] { simulator.setMotorTorque(0, 1.0); }, "there are 0 motors");
  simulator.addSpring(PointSpring{{"ground", {}}, {"block", {}}, 1, 1, 1});
  says([&] { simulator.step(0.1); }, "its length is zero");
  Mechanism ball = planar("ball");
  ball.addBody("brick").withMass(1).withInertia(1, 1, 1);
  ball.addJoint("ball", JointType::Spherical).from("ground").to("brick");
  Simulator turning{Model(ball)};
  says([&] { turning.addSpring(JointSpring{.joint = "ball"}); }, "scalar positions");
  says([&] { turning.addMotor({.joint = "ball"}); }, "scalar positions");
}

}  // namespace
}  // namespace kempe::test
