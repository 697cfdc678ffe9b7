#include <gtest/gtest.h>

#include <cmath>

#include "simulation/linkages.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

/// Two bars of 1 m and 1 kg in line.
Mechanism doublePendulum() {
  Mechanism robot = planar("double_pendulum");
  addLink(robot, "upper", 1.0, 1.0);
  addLink(robot, "lower", 1.0, 1.0);
  robot.addRevolute("shoulder").from("ground").to("upper");
  robot.addRevolute("elbow").from("upper").to("lower").at({1.0, 0, 0});
  return robot;
}

/// Two carts of 1 kg and 2 kg on one rail, without gravity.
Mechanism carts() {
  Mechanism robot = planar("carts");
  robot.gravity = {0, 0, 0};
  robot.addBody("left").withMass(1.0).withInertia(1, 1, 1);
  robot.addBody("right").withMass(2.0).withInertia(1, 1, 1);
  robot.addPrismatic("left_slide").from("ground").to("left").along({1, 0, 0});
  robot.addPrismatic("right_slide").from("ground").to("right").along({1, 0, 0});
  return robot;
}

TEST(SimulatedConstraints, LockedElbowMakesOnePendulum) {
  const Model model(doublePendulum());
  Constraints constraints(model);
  constraints.lock("lock", "elbow", model.neutral());
  Simulator simulator(model);
  Eigen::VectorXd q(2), v = Eigen::VectorXd::Zero(2);
  q << -M_PI / 2 + 0.01, 0.0;
  simulator.setState(q, v);
  simulator.setConstraints(constraints);
  // A bar of length 2: ω² = 3 g / (2 · 2), small swings.
  const double quarter = 0.5 * M_PI / std::sqrt(0.75 * 9.81);
  for (int i = 0; i < 1000; ++i) {
    simulator.step(quarter / 1000);
  }
  EXPECT_NEAR(simulator.q()[0], -M_PI / 2, 1e-6);
  EXPECT_NEAR(simulator.q()[1], 0.0, 1e-11);
  EXPECT_EQ(simulator.multipliers().size(), 1);
  EXPECT_EQ(allocationsOf([&] { simulator.step(1e-3); }), 0);
}

TEST(SimulatedConstraints, GraspKeepsMomentumAndReleaseLetsGo) {
  const Model model(carts());
  Constraints constraints(model);
  const int grasp =
      constraints.add(Coupling{.name = "grasp"}.plus(1, "left_slide").minus(1, "right_slide"));
  constraints.enable(grasp, false);
  Simulator simulator(model);
  simulator.setState(Eigen::Vector2d(-1.0, 0.0), Eigen::Vector2d(3.0, 0.0));
  simulator.setConstraints(constraints);
  EXPECT_THROW(simulator.enableConstraint(grasp), AssemblyError);  // one metre apart
  simulator.stepTo(1.0 / 3.0);
  simulator.enableConstraint(grasp);
  EXPECT_TRUE(closeTo(simulator.v(), Eigen::Vector2d(1.0, 1.0), 1e-12));  // 3 kg m/s on 3 kg
  EXPECT_NEAR(simulator.energy().kinetic, 1.5, 1e-12);                    // of 4.5 J before
  simulator.setForces(Eigen::Vector2d(3.0, 0.0));
  simulator.step(0.5);
  EXPECT_TRUE(closeTo(simulator.v(), Eigen::Vector2d(1.5, 1.5), 1e-9));
  EXPECT_NEAR(simulator.multipliers()[0], -2.0, 1e-9);  // what the left cart keeps back
  simulator.enableConstraint(grasp, false);
  simulator.step(0.5);
  EXPECT_TRUE(closeTo(simulator.v(), Eigen::Vector2d(3.0, 1.5), 1e-9));
}

TEST(SimulatedConstraints, PrescribedMotionIsFollowedAndItsWorkCounted) {
  const Model model(carts());
  Constraints constraints(model);
  constraints.prescribe("drive", "left_slide", [](double t) {
    return PrescribedMotion{std::sin(2 * t), 2 * std::cos(2 * t), -4 * std::sin(2 * t)};
  });
  Simulator simulator(model);
  simulator.setState(Eigen::Vector2d(0.0, 0.0), Eigen::Vector2d(2.0, 0.0));
  simulator.setConstraints(constraints);
  const double start = simulator.energy().kinetic;
  for (int i = 0; i < 500; ++i) {
    simulator.step(1e-3);
  }
  EXPECT_NEAR(simulator.q()[0], std::sin(1.0), 1e-11);
  EXPECT_NEAR(simulator.v()[0], 2 * std::cos(1.0), 1e-11);
  EXPECT_NEAR(simulator.multipliers()[0], -4 * std::sin(1.0), 1e-9);
  EXPECT_NEAR(simulator.work().external, simulator.energy().kinetic - start, 1e-8);
}

TEST(SimulatedConstraints, DeadPointsArePassedUnderConstraints) {
  // The slider's own coordinate, and a lock on nothing that moves the crank: a rod to the ground.
  const Model model(crankSlider("slide"));
  Constraints constraints(model);
  constraints.add(
      Rod{.name = "spoke"}.from("ground", {0, 0, 0}).to("crank_link", {0.1, 0, 0}).ofLength(0.1));
  Simulator simulator(model), free(model);
  const Eigen::VectorXd q = configuration(model, {{"crank", 1.0}});
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(1, -1.5);
  simulator.setState(q, v);
  simulator.setConstraints(constraints);
  free.setState(q, v);
  for (int i = 0; i < 1000; ++i) {
    simulator.step(1e-3);
    free.step(1e-3);
  }
  EXPECT_GT(simulator.coordinateChanges(), 0);
  EXPECT_TRUE(closeTo(simulator.q(), free.q(), 1e-7));  // the spoke changes nothing
}

TEST(SimulatedConstraints, RejectedOnesChangeNothing) {
  const Model model(carts());
  const auto rest = [](double) { return PrescribedMotion{0, 0, 0}; };
  const auto steady = [](double t) { return PrescribedMotion{t, 1, 0}; };
  Constraints contradiction(model), allowed(model);
  for (Constraints* each : {&contradiction, &allowed}) {
    each->prescribe("rest", "left_slide", rest);
    each->prescribe("steady", "left_slide", steady);
  }
  allowed.enable(0, false);
  allowed.enable(1, false);
  Simulator simulator(model), other(model);
  for (Simulator* each : {&simulator, &other}) {
    each->setState(Eigen::Vector2d(0.0, 1.0), Eigen::Vector2d(0.5, 3.0));
    each->setForces(Eigen::Vector2d(1.0, -2.0));
  }
  const auto expectSameMotion = [&] {
    EXPECT_EQ(simulator.q(), other.q());
    EXPECT_EQ(simulator.v(), other.v());
    EXPECT_EQ(simulator.a(), other.a());
    simulator.step(0.1);
    other.step(0.1);
    EXPECT_EQ(simulator.q(), other.q());
    EXPECT_EQ(simulator.energyError(), other.energyError());
  };
  simulator.setState(Eigen::Vector2d(0.0, 1.0), Eigen::Vector2d(0.5, 3.0));
  EXPECT_THROW(simulator.setConstraints(contradiction), AssemblyError);
  EXPECT_EQ(simulator.constraints(), nullptr);
  expectSameMotion();

  // One after the other is switched on, with the same outcome for those that were in force before.
  simulator.setState(Eigen::Vector2d(0.0, 1.0), Eigen::Vector2d(0.5, 3.0));
  simulator.setConstraints(allowed);
  simulator.enableConstraint("rest");
  const Eigen::VectorXd q = simulator.q(), v = simulator.v();
  EXPECT_THROW(simulator.enableConstraint("steady"), AssemblyError);
  EXPECT_THROW(simulator.setConstraints(contradiction), AssemblyError);
  EXPECT_TRUE(simulator.constraints()->enabled(0) && !simulator.constraints()->enabled(1));
  EXPECT_EQ(simulator.q(), q);
  EXPECT_EQ(simulator.v(), v);
  simulator.step(0.1);
  EXPECT_NEAR(simulator.q()[0], 0.0, 1e-12);

  // A state that constraints do not allow.
  Constraints rods(model);
  rods.add(Rod{.name = "short"}.from("ground", {0, 1, 0}).to("left", {}).ofLength(0.5));
  Simulator rodless(model);
  rodless.setState(Eigen::Vector2d(0.3, 1.0), Eigen::Vector2d(0.5, 3.0));
  EXPECT_THROW(rodless.setConstraints(rods), AssemblyError);  // 1 m away at least
  EXPECT_EQ(rodless.q(), Eigen::Vector2d(0.3, 1.0));
  EXPECT_EQ(rodless.v(), Eigen::Vector2d(0.5, 3.0));
}

/// Motions that agree at the start and differ in their velocities, accelerations, or only later.
TEST(SimulatedConstraints, ContradictionsAreReportedUnderEveryStabilization) {
  const Model model(carts());
  const auto rest = [](double) { return PrescribedMotion{0, 0, 0}; };
  const auto steady = [](double t) { return PrescribedMotion{t, 1, 0}; };
  const auto faster = [](double t) { return PrescribedMotion{0.5 * t * t, t, 1}; };
  const auto later = [](double t) { return PrescribedMotion{std::pow(t, 3), 3 * t * t, 6 * t}; };
  for (const Stabilization stabilization :
       {Stabilization::Projection, Stabilization::Baumgarte, Stabilization::None}) {
    SCOPED_TRACE(static_cast<int>(stabilization));
    const auto report = [&](const auto& first, const auto& second) -> std::string {
      Constraints constraints(model);
      constraints.prescribe("one way", "left_slide", first);
      constraints.prescribe("other way", "left_slide", second);
      Simulator simulator(model, {.stabilization = stabilization});
      try {
        simulator.setConstraints(constraints);
        for (int i = 0; i < 100; ++i) {
          simulator.step(1e-3);
        }
      } catch (const AssemblyError& error) {
        return error.what();
      }
      return "nothing";
    };
    EXPECT_EQ(
        report(rest, steady),
        "constraints \"one way\", \"other way\" contradict each other at t = 0 s: an error of "
        "0.5 remains in their velocities, whatever the motion. Switch one of them off, or "
        "change it.");
    EXPECT_NE(report(rest, faster).find("way\""), std::string::npos);
    EXPECT_NE(report(rest, later).find("way\""), std::string::npos);
    EXPECT_EQ(report(later, later), "nothing");
  }
}

/// A rod that the loops of a cluster already hold, with another length.
TEST(SimulatedConstraints, AContradictionWithLoopsNamesTheConstraint) {
  const Model model(fourBar(0.4, 0.1, 0.35, 0.3));
  const Eigen::VectorXd q = configuration(model, {{"crank", 1.0}, {"pivot", 1.0}});
  for (const Stabilization stabilization : {Stabilization::Baumgarte, Stabilization::None}) {
    Constraints constraints(model);
    constraints.add(Rod{.name = "spoke"}
                        .from("ground", {0, 0, 0})
                        .to("crank_link", {0.1, 0, 0})
                        .ofLength(0.11));
    Simulator simulator(model, {.stabilization = stabilization});
    simulator.setState(q, Eigen::VectorXd::Constant(1, 1.0));
    EXPECT_THROW(simulator.setConstraints(constraints), AssemblyError);
  }
}

TEST(SimulatedConstraints, ConstraintsOfOtherModelsAreRefused) {
  const Model model(carts()), other(doublePendulum());
  Simulator simulator(model);
  EXPECT_EQ(refusal([&] { simulator.setConstraints(Constraints(other)); }),
            "constraints were made for another model");
  EXPECT_EQ(refusal([&] { simulator.enableConstraint(0); }),
            "constraint 0: the simulator has no constraints; see setConstraints()");
}

}  // namespace
}  // namespace kempe::test
