#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkages.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

Body& addBrick(Mechanism& robot, std::string_view name = "brick") {
  return robot.addBody(name)
      .withMass(2)
      .centeredAt({0.1, -0.05, 0.2})
      .withInertia(0.02, 0.05, 0.06);
}

/// A brick that a joint carries, and that a rod ties down, if it does.
Mechanism brickOn(JointType type, bool tied) {
  Mechanism robot("brick");
  robot.addBody("world");
  addBrick(robot);
  robot.addJoint("joint", type).from("world").to("brick");
  if (tied) {
    robot.addRod("rod").from("world", {0.3, 0.4, -0.1}).to("brick", {0.2, 0.1, 0.3}).ofLength(0.6);
  }
  return robot;
}

Eigen::VectorXd someVelocity(const Model& model, double size = 1.0) {
  return Eigen::VectorXd::NullaryExpr(model.nv(), [&](Eigen::Index i) {
    return size * std::sin(1.0 + 2.0 * static_cast<double>(i));
  });
}

/// Ends of a run: positions as a step from a common start, and velocities.
Eigen::VectorXd endOf(const Model& model, Integrator integrator, double duration, int steps) {
  Simulator simulator(model, {.integrator = integrator});
  simulator.setState(model.randomConfiguration(3), someVelocity(model));
  for (int i = 1; i <= steps; ++i) {
    simulator.stepTo(duration * i / steps);
  }
  Eigen::VectorXd end(model.nq() + model.nv());
  end << simulator.q(), simulator.v();
  return end;
}

void withoutResistance(Mechanism& robot) {
  for (Joint& joint : robot.joints) {
    joint.damping = joint.friction = 0.0;
  }
}

struct OrderCase {
  const char* name;
  Mechanism robot;
};

std::vector<OrderCase> orderCases() {
  std::vector<OrderCase> cases{{"flying", brickOn(JointType::Free, false)},
                               {"ball", brickOn(JointType::Spherical, false)},
                               {"tied_ball", brickOn(JointType::Spherical, true)},
                               {"tied_flying", brickOn(JointType::Free, true)},
                               {"crank_slider", crankSlider("crank", 0.02)},
                               {"five_bar", fiveBar()}};
  cases.push_back({"mixed", randomMechanism({Family::Mixed, 3, 10})});
  cases.push_back({"rods", randomMechanism({Family::Rods, 3, 8})});
  for (OrderCase& one : cases) {
    withoutResistance(one.robot);
  }
  return cases;
}

TEST(Integrators, HaveTheirOrders) {
  struct {
    Integrator integrator;
    int order, coarse;
  } const kOrders[] = {{Integrator::SemiImplicitEuler, 1, 400},
                       {Integrator::RungeKutta4, 4, 8},
                       {Integrator::ImplicitMidpoint, 2, 20}};
  for (const OrderCase& one : orderCases()) {
    const Model model(one.robot);
    const double duration = 0.06;
    const Eigen::VectorXd exact = endOf(model, Integrator::RungeKutta4, duration, 160);
    for (const auto& [integrator, order, coarse] : kOrders) {
      const double far = (endOf(model, integrator, duration, coarse) - exact).norm();
      const double near = (endOf(model, integrator, duration, 2 * coarse) - exact).norm();
      EXPECT_NEAR(std::log2(far / near), order, 0.3)
          << one.name << " " << toString(integrator) << " " << far;
    }
  }
}

TEST(Integrators, AdaptiveIsOfOrderFive) {
  // Steps of the method itself, with tolerances that refuse none: halving them divides the error
  // by 32.
  for (const OrderCase& one : orderCases()) {
    const Model model(one.robot);
    const double duration = 0.12;
    const auto end = [&](int steps) {
      Simulator simulator(
          model,
          {.integrator = Integrator::Adaptive, .relativeTolerance = 1e3, .absoluteTolerance = 1e3});
      simulator.setState(model.randomConfiguration(3), someVelocity(model));
      constexpr int kParts = 5;  // all along the way, as errors change their sign
      Eigen::MatrixXd result(model.nq() + model.nv(), kParts);
      for (int i = 1; i <= steps; ++i) {
        simulator.stepTo(duration * i / steps);
        result.col((i * kParts - 1) / steps) << simulator.q(), simulator.v();
      }
      return result;
    };
    const Eigen::MatrixXd exact = end(120);
    const double far = (end(10) - exact).norm(), near = (end(20) - exact).norm();
    const double order = std::log2(far / near);
    EXPECT_GT(order, 4.5) << one.name << " " << far;
    EXPECT_LT(order, 7.0) << one.name << " " << far;
  }
}

TEST(Integrators, ErrorControlKeepsTolerances) {
  for (const OrderCase& one : orderCases()) {
    const Model model(one.robot);
    const Eigen::VectorXd exact = endOf(model, Integrator::RungeKutta4, 0.06, 400);
    for (const Integrator integrator :
         {Integrator::Adaptive, Integrator::Radau, Integrator::Auto}) {
      double before = 1e9;
      for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
        Simulator simulator(model, {.integrator = integrator,
                                    .relativeTolerance = tolerance,
                                    .absoluteTolerance = tolerance});
        simulator.setState(model.randomConfiguration(3), someVelocity(model));
        simulator.stepTo(0.06);  // in as many steps as it needs
        EXPECT_EQ(simulator.time(), 0.06);
        Eigen::VectorXd end(model.nq() + model.nv());
        end << simulator.q(), simulator.v();
        const double error = (end - exact).norm();
        EXPECT_LT(error, 200 * tolerance) << one.name << " " << toString(integrator);
        EXPECT_LE(error, before) << one.name << " " << toString(integrator);
        before = std::max(error, 1e-8);
      }
    }
  }
}

/// A sample interval says nothing about the motion: the controller is not asked about times far
/// ahead, and steps that are refused are few.
TEST(Integrators, FirstStepFitsTheMotion) {
  for (const OrderCase& one : orderCases()) {
    const Model model(one.robot);
    Simulator simulator(model, {.integrator = Integrator::Auto});
    for (const double start : {0.0, 5.0}) {  // a state that is set anew is a start, too
      simulator.setState(model.randomConfiguration(3), someVelocity(model), start);
      const double whole = 0.5;
      double asked = start;
      int evaluations = 0;
      simulator.setController([&](double t, VectorIn, VectorIn, VectorOut) {
        asked = ++evaluations <= 20 ? std::max(asked, t) : asked;
      });
      simulator.stepTo(start + whole);
      EXPECT_LT(asked, start + 0.3 * whole) << one.name;
    }
  }
}

/// θ̈ = −(g/l) sin θ: the period of large swings is 4 √(l/g) K(sin θ₀/2).
/// A push of 1 N·s within 0.2 ms, between the stages of steps of 1 ms.
TEST(Integrators, MaxStepCatchesShortPulses) {
  constexpr double kStart = 0.50035, kLength = 2e-4;
  const auto speedAfter = [](Integrator integrator, double maxStep) {
    Simulator simulator(Model(block(1.0)), {.integrator = integrator, .maxStep = maxStep});
    simulator.setController([](double t, VectorIn, VectorIn, VectorOut tau) {
      tau[0] = t > kStart && t < kStart + kLength ? 1.0 / kLength : 0.0;
    });
    static_cast<void>(simulator.run(1.0, 1e-3));
    return simulator.v()[0];
  };
  for (const Integrator integrator : {Integrator::Adaptive, Integrator::Radau, Integrator::Auto}) {
    EXPECT_NEAR(speedAfter(integrator, 0.5 * kLength), 1.0, 1e-5) << toString(integrator);
  }
  EXPECT_NEAR(speedAfter(Integrator::RungeKutta4, 1e-5), 1.0, 0.1);
  // Without it, the pulse is missed.
  EXPECT_EQ(speedAfter(Integrator::Adaptive, std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_THROW(Simulator(Model(block(1.0)), {.maxStep = 0.0}), std::invalid_argument);
}

TEST(Integrators, PendulumHasItsPeriod) {
  Mechanism robot = planar("pendulum");
  robot.addBody("bob").withMass(1).centeredAt({0.5, 0, 0}).withInertia(0, 0, 0);
  robot.addRevolute("hinge").from("ground").to("bob");
  const double amplitude = 1.2;
  const double period = 4.0 * std::sqrt(0.5 / 9.81) * std::comp_ellint_1(std::sin(0.5 * amplitude));
  for (const Integrator integrator : kIntegrators) {
    Simulator simulator(Model(robot), {.integrator = integrator});
    simulator.setState(Eigen::VectorXd::Constant(1, -std::numbers::pi / 2 + amplitude),
                       Eigen::VectorXd::Zero(1));
    const int steps = integrator == Integrator::SemiImplicitEuler ? 20000 : 2000;
    for (int i = 1; i <= steps; ++i) {
      simulator.stepTo(period * i / steps);
    }
    const bool low =
        integrator == Integrator::SemiImplicitEuler || integrator == Integrator::ImplicitMidpoint;
    const double allowed = low ? 1e-3 : 1e-7;
    EXPECT_NEAR(simulator.q()[0], -std::numbers::pi / 2 + amplitude, allowed);
    EXPECT_NEAR(simulator.v()[0], 0.0, 10 * allowed) << toString(integrator);
  }
}

TEST(Integrators, ImplicitMidpointBoundsEnergyForLong) {
  Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35)),
                      {.integrator = Integrator::ImplicitMidpoint});
  const Model& model = simulator.model();
  simulator.setState(configuration(model, {{"crank", 0.8}}), Eigen::VectorXd::Constant(1, 1.0));
  const double energy = simulator.energy().kinetic + simulator.energy().potential;
  double early = 0.0, late = 0.0;
  for (int i = 0; i < 40000; ++i) {
    simulator.step(2e-3);
    const double error =
        std::abs(simulator.energy().kinetic + simulator.energy().potential - energy);
    (i < 4000 ? early : late) = std::max(i < 4000 ? early : late, error);
  }
  EXPECT_GT(early, 1e-9);  // it is not exact
  EXPECT_LT(late, 2.0 * early);
}

/// A stiff spring, for which plain iteration does not converge: Newton's method takes over.
TEST(Integrators, ImplicitMidpointTakesStiffSprings) {
  const Mechanism robot = block(1.0);
  Simulator simulator(Model(robot), {.integrator = Integrator::ImplicitMidpoint});
  simulator.addSpring(JointSpring{.joint = "slide", .stiffness = 1e8});
  simulator.setState(Eigen::VectorXd::Constant(1, 0.01), Eigen::VectorXd::Zero(1));
  for (int i = 0; i < 1000; ++i) {
    simulator.step(1e-3);  // ten radians of the swing
    const Energy energy = simulator.energy();
    ASSERT_NEAR(energy.kinetic + energy.potential, 5000.0, 1e-5);
  }
}

/// A hardening spring, −k q³, and friction that turns round within 1e-6 m/s: whole corrections of
/// Newton's method overshoot.
TEST(Integrators, ImplicitMidpointTakesStrongNonlinearity) {
  const Mechanism robot = block(1.0);
  Simulator hardening(Model(robot), {.integrator = Integrator::ImplicitMidpoint});
  hardening.setController(
      [](double, VectorIn q, VectorIn, VectorOut tau) { tau[0] = -1e12 * std::pow(q[0], 3); });
  hardening.setState(Eigen::VectorXd::Constant(1, 0.1), Eigen::VectorXd::Zero(1));
  for (int i = 0; i < 20; ++i) {
    hardening.step(1e-2);
  }
  EXPECT_EQ(hardening.statistics().refusedSteps, 0);
  EXPECT_EQ(hardening.statistics().steps, 20);

  Simulator braking(Model(robot), {.integrator = Integrator::ImplicitMidpoint});
  braking.setController(
      [](double, VectorIn, VectorIn v, VectorOut tau) { tau[0] = -5.0 * std::tanh(v[0] / 1e-6); });
  braking.setState(Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, 0.02));
  for (int i = 0; i < 20; ++i) {
    ASSERT_NO_THROW(braking.step(0.1));
    ASSERT_LE(std::abs(braking.v()[0]), 0.02 + 1e-9);
  }
}

TEST(Integrators, ImplicitStepsSayThatAForceJumps) {
  const Mechanism robot = block(1.0);
  Simulator simulator(Model(robot), {.integrator = Integrator::ImplicitMidpoint});
  simulator.setController([](double, VectorIn, VectorIn v, VectorOut tau) {
    tau[0] = v[0] > 0.0 ? -4.0 : 6.0;  // no velocity is at rest
  });
  simulator.setState(Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1));
  try {
    simulator.step(1e-2);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("a force jumps"), std::string::npos) << error.what();
  }
  EXPECT_EQ(simulator.time(), 0.0);
}

TEST(Integrators, StepBackLeadsToTheStart) {
  // Implicit midpoint is symmetric: the motion with velocities turned round goes the same way back.
  for (const OrderCase& one : orderCases()) {
    const Model model(one.robot);
    Simulator simulator(model, {.integrator = Integrator::ImplicitMidpoint});
    const Eigen::VectorXd q = model.randomConfiguration(1), v = someVelocity(model);
    simulator.setState(q, v);
    const Eigen::VectorXd start = simulator.q();
    simulator.step(0.01);
    simulator.setState(Eigen::VectorXd(simulator.q()), -Eigen::VectorXd(simulator.v()));
    simulator.step(0.01);
    EXPECT_TRUE(closeTo(simulator.v(), -v, 1e-9)) << one.name;
    Eigen::VectorXd way(model.nv());
    Data data(model);
    difference(model, data, start, simulator.q(), way);
    EXPECT_LT(way.cwiseAbs().maxCoeff(), 1e-9) << one.name;
  }
}

class EveryMechanism : public ::testing::TestWithParam<MechanismCase> {};

/// Long enough for many of them to pass dead points.
TEST_P(EveryMechanism, KeepsEnergyAndLoops) {
  Mechanism robot = randomMechanism(GetParam());
  withoutResistance(robot);
  const Model model(robot);
  Simulator simulator(model, {.integrator = Integrator::Adaptive});
  simulator.setState(model.randomConfiguration(3), someVelocity(model));
  const Energy start = simulator.energy();
  double moved = 0.0;
  for (int i = 1; i <= 40; ++i) {
    simulator.stepTo(0.01 * i);
    const Energy now = simulator.energy();
    moved = std::max(moved, now.kinetic);
    ASSERT_NEAR(now.kinetic + now.potential, start.kinetic + start.potential, 1e-6 * (1.0 + moved))
        << simulator.time();
    ASSERT_LT(simulator.loopError(), 1e-9);
  }
}

/// Springs, friction, motors, external forces and a controller on a mechanism.
void addAllThatActs(Simulator& simulator) {
  const Mechanism robot = simulator.model().mechanism();
  int scalar = 0;
  for (const std::string& name : simulator.model().jointNames()) {
    const JointType type = robot.findJoint(name)->type;
    if (!hasScalarCoordinates(type)) {
      continue;
    }
    if (++scalar % 3 == 0) {
      simulator.addSpring(JointSpring{name, 20.0, 0.1, 0.3});
    } else if (scalar % 3 == 1) {
      simulator.addFriction({.joint = name, .coulomb = 0.2, .slipSpeed = 0.5, .viscous = 0.01});
    } else if (velocitySize(type) == 1) {
      const int motor = simulator.addMotor(
          {.joint = name, .gear = 3.0, .rotorInertia = 1e-3, .viscousFriction = 1e-3});
      simulator.setMotorTorque(motor, 0.2);
    }
  }
  simulator.addSpring(PointSpring{{robot.bodies.front().name, {0.1, 0.2, 0.3}},
                                  {robot.bodies.back().name, {0.05, 0, 0}},
                                  30.0,
                                  0.2,
                                  0.5});
  FrameForce push;
  push.frame = simulator.model().frameIndex(robot.bodies.back().name);
  push.wrench = {1.0, -0.5, 2.0, 0.1, 0.2, -0.1};
  push.reference = Reference::Local;
  simulator.setExternalForces({push});
  simulator.setController([](double t, VectorIn, VectorIn v, VectorOut tau) {
    tau = -0.1 * v;
    tau[0] += std::sin(10.0 * t);
  });
}

TEST_P(EveryMechanism, BalancesEnergyWithAllThatActs) {
  Simulator simulator(
      Model(randomMechanism(GetParam())),
      {.integrator = Integrator::Adaptive, .relativeTolerance = 1e-8, .absoluteTolerance = 1e-9});
  addAllThatActs(simulator);
  const Model& model = simulator.model();
  simulator.setState(model.randomConfiguration(2), someVelocity(model, 0.5));
  const Energy start = simulator.energy();
  for (int i = 1; i <= 10; ++i) {
    simulator.stepTo(0.005 * i);
    const Energy now = simulator.energy();
    EXPECT_NEAR(now.kinetic + now.potential - start.kinetic - start.potential,
                simulator.work().balance(),
                1e-6 * (1.0 + now.kinetic) + 1e-9 * std::abs(simulator.work().balance()))
        << i;
  }
  EXPECT_GT(simulator.work().damping, 0.0);
}

TEST_P(EveryMechanism, StepsAllocateNothing) {
  const Model model(randomMechanism(GetParam()));
  for (const Integrator integrator : kIntegrators) {
    for (const bool acted : {false, true}) {
      Simulator simulator(model, {.integrator = integrator});
      if (acted) {
        addAllThatActs(simulator);
      }
      simulator.setState(model.randomConfiguration(2), someVelocity(model, 0.1));
      simulator.step(1e-4);
      EXPECT_EQ(allocationsOf([&] { simulator.step(1e-4); }), 0) << toString(integrator) << acted;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, EveryMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& p) { return nameOf(p.param); });

}  // namespace
}  // namespace kempe::test
