#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "linkages.hpp"
#include "support/close_to.hpp"

namespace kempe::test {
namespace {

Simulator simulatorOf(const Mechanism& robot, Integrator integrator = Integrator::RungeKutta4) {
  return Simulator(Model(robot), {.integrator = integrator});
}

/// Starts with the crank at an angle and a speed, whatever the independent coordinates are.
void startCrank(Simulator& simulator, const Model& byCrank, double angle, double speed) {
  Data data(byCrank);
  const Eigen::VectorXd q = configuration(byCrank, {{"crank", angle}});
  Eigen::VectorXd positions(byCrank.nqSpanning()), velocities(byCrank.nvSpanning());
  spanning(byCrank, data, q, Eigen::VectorXd::Constant(1, speed), positions, velocities);
  simulator.setSpanningState(q, velocities);
}

TEST(DeadPoints, SliderCoordinateTurnsTheCrank) {
  const Model byCrank(crankSlider("crank"));
  Simulator reference(byCrank), simulator(Model(crankSlider("slide")));
  ASSERT_EQ(simulator.model().vNames(), std::vector<std::string>{"slide"});
  startCrank(reference, byCrank, 1.0, 12.0);
  startCrank(simulator, byCrank, 1.0, 12.0);
  const double energy = simulator.energy().kinetic + simulator.energy().potential;
  constexpr double kStep = 2.5e-4;
  double before = rateOf(simulator, "crank");
  for (int i = 0; i < 8000; ++i) {
    reference.step(kStep);
    simulator.step(kStep);
    ASSERT_LT(simulator.loopError(), 1e-12);
    ASSERT_NEAR(rateOf(simulator, "crank"), before, 0.5);
    before = rateOf(simulator, "crank");
    ASSERT_EQ(simulator.v()[0], rateOf(simulator, "slide"));
    ASSERT_TRUE(closeTo(simulator.q(), reference.q(), 1e-8)) << simulator.time();
    ASSERT_TRUE(closeTo(simulator.spanningVelocities(), reference.spanningVelocities(), 1e-7))
        << simulator.time();
    ASSERT_NEAR(simulator.energy().kinetic + simulator.energy().potential, energy, 1e-7);
  }
  EXPECT_GT(positionOf(simulator, "crank"), 4 * 2 * kPi);
  EXPECT_GE(simulator.coordinateChanges(), 1);
  EXPECT_EQ(reference.coordinateChanges(), 0);
}

TEST(DeadPoints, ParallelogramStaysOne) {
  Simulator simulator = simulatorOf(fourBar(0.5, 0.2, 0.5, 0.2));
  const Model& model = simulator.model();
  const Eigen::VectorXd q = configuration(model, {{"crank", 0.7}, {"knee", -0.7}, {"pivot", 0.7}});
  simulator.setState(q, Eigen::VectorXd::Constant(1, 9.0));
  ASSERT_NEAR(positionOf(simulator, "pivot"), 0.7, 1e-9);
  const double energy = simulator.energy().kinetic + simulator.energy().potential;
  double before = 9.0;
  for (int i = 0; i < 3000; ++i) {
    simulator.step(1e-3);
    ASSERT_NEAR(positionOf(simulator, "pivot"), positionOf(simulator, "crank"), 1e-6)
        << simulator.time();
    ASSERT_NEAR(rateOf(simulator, "pivot"), rateOf(simulator, "crank"), 1e-6);
    ASSERT_LT(simulator.loopError(), 1e-12);
    ASSERT_NEAR(simulator.v()[0], before, 0.2);
    before = simulator.v()[0];
    ASSERT_NEAR(simulator.energy().kinetic + simulator.energy().potential, energy, 1e-6);
  }
  EXPECT_GT(std::abs(positionOf(simulator, "crank")), 3 * 2 * kPi);
}

TEST(DeadPoints, StepsThatEndAtAChangePointGoOn) {
  // No gravity: the crank turns at a constant speed, and steps of π/2 / 8 end on the line exactly.
  Mechanism robot = fourBar(0.5, 0.2, 0.5, 0.2);
  robot.gravity = {};
  for (const Integrator integrator :
       {Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::ImplicitMidpoint,
        Integrator::Adaptive, Integrator::Radau}) {
    Simulator simulator = simulatorOf(robot, integrator);
    const Eigen::VectorXd q = configuration(
        simulator.model(), {{"crank", kPi / 2}, {"knee", -kPi / 2}, {"pivot", kPi / 2}});
    simulator.setState(q, Eigen::VectorXd::Constant(1, kPi / 2));
    for (int i = 1; i <= 80; ++i) {
      simulator.stepTo(i / 8.0);
      ASSERT_NEAR(simulator.v()[0], kPi / 2, 1e-6) << toString(integrator) << i;
      ASSERT_NEAR(positionOf(simulator, "crank"), kPi / 2 + i * kPi / 16, 1e-6);
      ASSERT_NEAR(positionOf(simulator, "pivot"), kPi / 2 + i * kPi / 16, 1e-5);
      ASSERT_LT(simulator.loopError(), 1e-12);
    }
  }
}

TEST(DeadPoints, RockerCoordinateTurnsTheCrank) {
  const Model byCrank(fourBar(0.5, 0.15, 0.4, 0.35));
  for (const Integrator integrator : {Integrator::RungeKutta4, Integrator::ImplicitMidpoint,
                                      Integrator::Adaptive, Integrator::Radau}) {
    const SimulatorOptions options{.integrator = integrator};
    Simulator reference(byCrank, {.integrator = Integrator::Adaptive,
                                  .relativeTolerance = 1e-11,
                                  .absoluteTolerance = 1e-12});
    Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35, "pivot")), options);
    startCrank(reference, byCrank, 0.8, 14.0);
    startCrank(simulator, byCrank, 0.8, 14.0);
    const double allowed = integrator == Integrator::ImplicitMidpoint ? 5e-2 : 1e-5;
    for (int i = 1; i <= 2000; ++i) {
      reference.stepTo(1e-3 * i);
      simulator.stepTo(1e-3 * i);
      ASSERT_TRUE(closeTo(simulator.q(), reference.q(), allowed)) << toString(integrator) << i;
      ASSERT_LT(simulator.loopError(), 1e-12);
    }
    EXPECT_GT(std::abs(positionOf(simulator, "crank")), 3 * 2 * kPi);
    EXPECT_GE(simulator.coordinateChanges(), 1);
  }
}

TEST(DeadPoints, FiveBarFallsThroughItsStretchedArms) {
  Simulator simulator = simulatorOf(fiveBar());
  simulator.setState(simulator.model().randomConfiguration(3), Eigen::Vector2d(1.0, -1.0));
  const double energy = simulator.energy().kinetic + simulator.energy().potential;
  for (int i = 0; i < 3000; ++i) {
    simulator.step(5e-4);
    ASSERT_LT(simulator.loopError(), 1e-12);
    ASSERT_NEAR(simulator.energy().kinetic + simulator.energy().potential, energy, 1e-4)
        << simulator.time();
  }
  EXPECT_GE(simulator.coordinateChanges(), 1);
}

/// A kite passes its change point, where its short links fold onto each other and could as well
/// turn together, on a curved branch; with steps so short that many end close by.
TEST(DeadPoints, KitePassesWhereItFolds) {
  Mechanism robot = fourBar(0.5, 0.5, 0.2, 0.2, "pivot");
  robot.gravity = {};
  Eigen::VectorXd end;
  for (const double dt : {1e-4, 1e-3, 1e-2}) {
    Simulator simulator = simulatorOf(robot);
    const Eigen::VectorXd q = configuration(simulator.model(), {{"pivot", 0.8}, {"knee", -2.0}});
    simulator.setState(q, Eigen::VectorXd::Constant(1, 3.0));
    const double energy = simulator.energy().kinetic;
    int passed = 0;
    double before = positionOf(simulator, "crank");
    const int steps = static_cast<int>(std::lround(4.0 / dt));
    for (int i = 1; i <= steps; ++i) {
      simulator.stepTo(i * dt);
      const double crank = positionOf(simulator, "crank");
      passed += crank * before < 0.0 ? 1 : 0;
      before = crank;
      ASSERT_LT(simulator.loopError(), 1e-12);
      ASSERT_NEAR(simulator.energy().kinetic, energy, std::max(1e-6, 100 * dt * dt) * energy)
          << simulator.time() << " dt " << dt;
    }
    EXPECT_GT(passed, 2);
    if (end.size() == 0) {
      end = simulator.q();
    }
    EXPECT_TRUE(closeTo(simulator.q(), end, std::max(1e-6, 100 * dt * dt))) << dt;
  }
}

/// A coupler that is a little too long or too short keeps a parallelogram from its change point: it
/// turns over sharply there, and never makes a full turn as a parallelogram.
TEST(DeadPoints, NearMissesTurnOver) {
  for (const double miss : {1e-3, 1e-5, 1e-7, -1e-5, -1e-3}) {
    for (const Integrator integrator : {Integrator::Adaptive, Integrator::Radau}) {
      Simulator simulator = simulatorOf(fourBar(0.5, 0.2, 0.5 + miss, 0.2), integrator);
      const Eigen::VectorXd q =
          configuration(simulator.model(), {{"crank", 0.7}, {"knee", -0.7}, {"pivot", 0.7}});
      simulator.setState(q, Eigen::VectorXd::Constant(1, 9.0));
      const Energy start = simulator.energy();
      double apart = 0.0;
      for (int i = 1; i <= 1500; ++i) {
        simulator.stepTo(1e-3 * i);
        const Energy now = simulator.energy();
        ASSERT_NEAR(now.kinetic + now.potential, start.kinetic + start.potential, 1e-4) << miss;
        ASSERT_LT(simulator.loopError(), 1e-12);
        apart = std::max(apart,
                         std::abs(positionOf(simulator, "pivot") - positionOf(simulator, "crank")));
      }
      EXPECT_GT(apart, kPi) << miss;
    }
  }
}

/// What is given and seen stays in the model's coordinates: a constant force at the slider puts in
/// the work of its way.
TEST(DeadPoints, ForcesStayWhereTheyWere) {
  const Model byCrank(crankSlider("crank"));
  Simulator simulator(Model(crankSlider("slide")));
  startCrank(simulator, byCrank, 1.0, 12.0);
  simulator.setForces(Eigen::VectorXd::Constant(1, 2.0));
  const double start = positionOf(simulator, "slide");
  const double energy = simulator.energy().kinetic + simulator.energy().potential;
  for (int i = 0; i < 1500; ++i) {
    simulator.step(5e-4);
    const double work = 2.0 * (positionOf(simulator, "slide") - start);
    ASSERT_NEAR(simulator.work().controller, work, 1e-6);
    ASSERT_NEAR(simulator.energy().kinetic + simulator.energy().potential, energy + work, 1e-6);
  }
  EXPECT_GE(simulator.coordinateChanges(), 1);
}

TEST(DeadPoints, RestAtAChangePointIsRefused) {
  Simulator simulator = simulatorOf(fourBar(0.5, 0.2, 0.5, 0.2));
  Eigen::VectorXd q = Eigen::VectorXd::Zero(3);
  EXPECT_THROW(simulator.setState(q, Eigen::VectorXd::Zero(1)), SingularityError);
  simulator.setSpanningState(q, Eigen::VectorXd::Zero(3));
  EXPECT_THROW(simulator.step(1e-3), SingularityError);
  // A little beside it, it falls as any other linkage does.
  const double aside = 1e-4;
  for (int i = 0; i < 3; ++i) {
    q[i] = simulator.model().qNames()[i] == "knee" ? -aside : aside;
  }
  simulator.setState(q, Eigen::VectorXd::Zero(1));
  simulator.step(1e-2);
  EXPECT_LT(positionOf(simulator, "crank"), 0.0);
  EXPECT_NEAR(positionOf(simulator, "pivot"), positionOf(simulator, "crank"), 1e-6);
  q.setZero();
  // Moving, it knows where to go.
  Eigen::VectorXd velocities(3);
  for (int i = 0; i < 3; ++i) {
    velocities[i] = simulator.model().spanningVelocityNames()[i] == "knee" ? -2.0 : 2.0;
  }
  simulator.setSpanningState(q, velocities);
  simulator.step(1e-2);
  EXPECT_NEAR(positionOf(simulator, "pivot"), positionOf(simulator, "crank"), 1e-6);
  EXPECT_GT(positionOf(simulator, "crank"), 0.01);
}

TEST(DeadPoints, OtherCoordinatesAreTheSameModel) {
  const Model byCrank(fourBar(0.5, 0.15, 0.4, 0.35));
  const Model byPivot = byCrank.withIndependent({"pivot"});
  const Model compiled(fourBar(0.5, 0.15, 0.4, 0.35, "pivot"));
  EXPECT_EQ(byPivot.vNames(), compiled.vNames());
  EXPECT_EQ(byPivot.clusters()[0].independent, std::vector<std::string>{"pivot"});
  Data one(byPivot), other(compiled);
  const Eigen::VectorXd q = byCrank.randomConfiguration(2);
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(1, 0.7);
  Eigen::VectorXd a = poisoned(1), b = poisoned(1);
  forwardDynamics(byPivot, one, q, v, v, a);
  forwardDynamics(compiled, other, q, v, v, b);
  EXPECT_TRUE(closeTo(a, b, 1e-12));
  EXPECT_THROW(static_cast<void>(byCrank.withIndependent({"nobody"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(byCrank.withIndependent({"crank", "pivot"})),
               std::invalid_argument);
}

TEST(DeadPoints, CouplingsCanBeTurnedRound) {
  Mechanism robot = planar("gears");
  addLink(robot, "arm", 0.5, 1.0);
  addLink(robot, "rotor", 0.1, 0.2);
  robot.addRevolute("joint").from("ground").to("arm").independent();
  robot.addRevolute("motor").from("ground").to("rotor").dependent();
  robot.addGear("gear", "motor", 6.0, "joint").equals(0.3);
  const Model byJoint(robot), byMotor = byJoint.withIndependent({"motor"});
  Data one(byJoint), other(byMotor);
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, 0.4), v = Eigen::VectorXd::Constant(1, 2);
  Eigen::VectorXd positions(2), velocities(2);
  spanning(byJoint, one, q, v, positions, velocities);
  const int motor = byJoint.jointVelocityIndex("motor");
  Eigen::VectorXd positions2(2), velocities2(2);
  spanning(byMotor, other, positions.segment(motor, 1), velocities.segment(motor, 1), positions2,
           velocities2);
  EXPECT_TRUE(closeTo(positions2, positions, 1e-14));
  EXPECT_TRUE(closeTo(velocities2, velocities, 1e-14));
  Eigen::VectorXd a(1), b(1);
  forwardDynamics(byJoint, one, q, v, Eigen::VectorXd::Constant(1, 6.0), a);
  forwardDynamics(byMotor, other, positions.segment(motor, 1), velocities.segment(motor, 1),
                  Eigen::VectorXd::Constant(1, 1.0), b);
  EXPECT_TRUE(closeTo(b, 6.0 * a, 1e-12));
}

}  // namespace
}  // namespace kempe::test
