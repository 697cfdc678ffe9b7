#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "linkages.hpp"
#include "simulation/event_watch.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"

// Dry friction and end stops: stick, slip and impacts against closed forms, in every integrator.

namespace kempe::test {
namespace {

constexpr double kPi = std::numbers::pi;

constexpr Integrator kAll[] = {
    Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::ImplicitMidpoint,
    Integrator::Adaptive,          Integrator::Radau,       Integrator::Auto};

/// A bar of 0.4 m and 1 kg about z: gravity turns it with 1.962 N·m where it is level.
Mechanism pendulum() {
  Mechanism robot = planar("pendulum");
  addLink(robot, "bar", 0.4, 1.0);
  robot.addRevolute("hinge").from("ground").to("bar");
  return robot;
}

double total(const Simulator& simulator) {
  const Energy energy = simulator.energy();
  const Work work = simulator.work();
  return energy.kinetic + energy.potential - work.balance();
}

TEST(Friction, ABlockStopsWhereItMustAndStaysThere) {
  // v₀² / 2a with a = F / m, after v₀ / a.
  for (const Integrator integrator : kAll) {
    Simulator simulator(Model(block(2.0)), {.integrator = integrator});
    simulator.addFriction({.joint = "slide", .coulomb = 3.0});
    simulator.setState(one(0.0), one(2.0));
    for (int i = 0; i < 1500; ++i) {
      simulator.step(1e-3);
    }
    const double error = integrator == Integrator::SemiImplicitEuler ? 2e-3 : 1e-10;
    EXPECT_NEAR(simulator.q()[0], 4.0 / 3.0, error) << toString(integrator);
    EXPECT_EQ(simulator.v()[0], 0.0);
    EXPECT_NEAR(simulator.work().friction, 4.0, 4 * error);
    const double there = simulator.q()[0];
    // It holds against less than F, and gives way to more.
    simulator.setForces(one(2.999));
    for (int i = 0; i < 1000; ++i) {
      simulator.step(1e-3);
    }
    EXPECT_EQ(simulator.q()[0], there);
    simulator.setForces(one(4.0));
    for (int i = 0; i < 1000; ++i) {
      simulator.step(1e-3);
    }
    EXPECT_NEAR(simulator.v()[0], 0.5, 1e-9);
    EXPECT_NEAR(simulator.q()[0], there + 0.25, 1e-3);
  }
}

TEST(Friction, GivesWayWhenTheForceHasGrownEnough) {
  // Force 10 t against 3 N: from t = 0.3 on, v = ∫ (10 t − 3) / m.
  for (const Integrator integrator : kAll) {
    Simulator simulator(Model(block(2.0)), {.integrator = integrator});
    simulator.addFriction({.joint = "slide", .coulomb = 3.0});
    simulator.setController([](double t, VectorIn, VectorIn, VectorOut tau) { tau[0] = 10.0 * t; });
    for (int i = 1; i <= 70; ++i) {
      simulator.stepTo(0.01 * i);
    }
    const double error = integrator == Integrator::SemiImplicitEuler  ? 2e-2
                         : integrator == Integrator::ImplicitMidpoint ? 1e-4
                                                                      : 1e-8;
    EXPECT_NEAR(simulator.v()[0], 10.0 * 0.4 * 0.4 / 2 / 2, error) << toString(integrator);
  }
}

TEST(Friction, HoldsAPendulumForEver) {
  for (const Integrator integrator : kAll) {
    for (const bool inModel : {true, false}) {
      Mechanism robot = pendulum();
      if (inModel) {
        robot.joints.back().friction = 5.0;
      }
      Simulator simulator(Model(robot), {.integrator = integrator});
      if (!inModel) {
        simulator.addFriction({.joint = "hinge", .coulomb = 5.0});
      }
      simulator.setState(one(0.0), one(0.0));
      for (int i = 0; i < 1000; ++i) {
        simulator.step(1e-2);
      }
      EXPECT_EQ(simulator.q()[0], 0.0) << toString(integrator);
      EXPECT_EQ(simulator.v()[0], 0.0);
    }
  }
}

/// θ̈ = (−m g l/2 cos θ − F s) / J between turning points, by RK4 with tiny steps, until it sticks.
double whereItSticks(double angle, double friction) {
  const double J = 0.4 * 0.4 / 3, load = 9.81 * 0.2;
  double rate = 0.0;
  for (int half = 0; half < 1000; ++half) {
    const double gravity = -load * std::cos(angle);
    if (std::abs(gravity) <= friction) {
      return angle;
    }
    const double sign = gravity > 0 ? 1.0 : -1.0;
    const auto f = [&](double q) { return (-load * std::cos(q) - friction * sign) / J; };
    double h = 1e-4;
    for (;;) {
      const auto step = [&](double dt, double& q, double& v) {
        const double k1 = f(q), k2 = f(q + dt / 2 * v), k3 = f(q + dt / 2 * (v + dt / 2 * k1)),
                     k4 = f(q + dt * (v + dt / 2 * k2));
        q += dt * v + dt * dt / 6 * (k1 + k2 + k3);
        v += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      };
      double q = angle, v = rate;
      step(h, q, v);
      if (sign * v < 0) {
        double low = 0, high = h;
        for (int i = 0; i < 100; ++i) {
          q = angle;
          v = rate;
          step((low + high) / 2, q, v);
          (sign * v < 0 ? high : low) = (low + high) / 2;
        }
        angle = q;
        rate = 0.0;
        break;
      }
      angle = q;
      rate = v;
    }
  }
  return std::nan("");
}

TEST(Friction, APendulumSwingsAndSticks) {
  for (const Integrator integrator : kAll) {
    Mechanism robot = pendulum();
    robot.joints.back().friction = 0.2;
    Simulator simulator(Model(robot), {.integrator = integrator});
    simulator.setState(one(0.3), one(0.0));
    const double start = total(simulator);
    for (int i = 0; i < 5000; ++i) {
      simulator.step(1e-3);
    }
    const double error = integrator == Integrator::SemiImplicitEuler  ? 2e-2
                         : integrator == Integrator::ImplicitMidpoint ? 1e-4
                                                                      : 1e-7;
    EXPECT_LT(std::abs(simulator.v()[0]), 1e-15) << toString(integrator);
    EXPECT_NEAR(simulator.q()[0], whereItSticks(0.3, 0.2), error);
    EXPECT_NEAR(total(simulator), start, 3 * error);
  }
}

TEST(Friction, OfTheModelAndOfTheSimulatorAddUp) {
  Mechanism robot = block(2.0);
  robot.joints.back().friction = 2.0;
  Simulator simulator{Model(robot)};
  simulator.addFriction({.joint = "slide", .coulomb = 1.0, .viscous = 0.5});
  simulator.setForces(one(2.9));
  simulator.step(0.1);
  EXPECT_EQ(simulator.v()[0], 0.0);
  simulator.setForces(one(3.5));
  simulator.step(0.01);
  EXPECT_NEAR(simulator.v()[0], 0.01 * 0.25, 1e-5);
}

TEST(Friction, InEveryJointOfALoopHoldsTogether) {
  // A torque at the crank moves it where it exceeds Σ F_i |G_i|, gravity being off.
  for (const bool embed : {true, false}) {
    Mechanism robot = fourBar(0.5, 0.15, 0.4, 0.35);
    robot.gravity = {};
    const double friction[] = {0.1, 0.05, 0.2};
    for (std::size_t i = 0; i < 3; ++i) {
      robot.joints[i].friction = friction[i];
    }
    const Model embedded(robot);
    robot.loops.front().cut = !embed;
    const Model model(robot);
    Data data(embedded);
    const Eigen::VectorXd q = configuration(embedded, {{"crank", 0.8}});
    Eigen::VectorXd positions(embedded.nqSpanning()), rates(embedded.nvSpanning());
    spanning(embedded, data, q, one(1.0), positions, rates);
    double least = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const int velocity = embedded.jointVelocityIndex(robot.joints[i].name);
      least += friction[i] * std::abs(rates[velocity]);
    }
    for (const Integrator integrator : kAll) {
      for (const double part : {0.99, 1.01}) {
        Simulator simulator(model, {.integrator = integrator});
        simulator.setState(
            configuration(model, {{"crank", 0.8},
                                  {"knee", positions[embedded.jointPositionIndex("knee")]},
                                  {"pivot", positions[embedded.jointPositionIndex("pivot")]}}),
            Eigen::VectorXd::Zero(model.nv()));
        const double crank = positionOf(simulator, "crank");
        Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.nv());
        tau[model.jointVelocityIndex("crank")] = part * least;
        simulator.setForces(tau);
        for (int i = 0; i < 100; ++i) {
          simulator.step(1e-3);
        }
        const double moved = positionOf(simulator, "crank") - crank;
        if (part < 1.0) {
          EXPECT_LT(std::abs(moved), 1e-12) << toString(integrator) << " " << embed;
        } else {
          EXPECT_GT(moved, 1e-4) << toString(integrator) << " " << embed;
        }
      }
    }
  }
}

TEST(Friction, InSeveralJointsLosesWhatItMust) {
  for (const Integrator integrator : kAll) {
    Simulator simulator(Model(fiveBar()), {.integrator = integrator});
    for (const char* joint : {"left", "right", "left_elbow", "right_elbow"}) {
      simulator.addFriction({.joint = joint, .coulomb = 0.1, .breakaway = 0.12});
    }
    simulator.setState(configuration(simulator.model(), {{"left", 2.2}, {"right", 0.9}}),
                       Eigen::Vector2d(3.0, -2.0));
    const double start = total(simulator);
    for (int i = 0; i < 3000; ++i) {
      simulator.step(1e-3);
    }
    const double error = integrator == Integrator::SemiImplicitEuler  ? 0.2
                         : integrator == Integrator::ImplicitMidpoint ? 5e-3
                                                                      : 1e-5;
    EXPECT_NEAR(total(simulator), start, error) << toString(integrator);
    EXPECT_LT(simulator.v().cwiseAbs().maxCoeff(), 1e-12) << toString(integrator);
    EXPECT_GT(simulator.work().friction, 0.01);
  }
}

TEST(Friction, BreakawayIsHigherThanSliding) {
  for (const double force : {4.9, 5.1}) {
    Simulator simulator{Model(block(2.0))};
    simulator.addFriction(
        {.joint = "slide", .coulomb = 3.0, .breakaway = 5.0, .stribeckSpeed = 1e-2});
    simulator.setForces(one(force));
    for (int i = 0; i < 500; ++i) {
      simulator.step(1e-3);
    }
    if (force < 5.0) {
      EXPECT_EQ(simulator.v()[0], 0.0);
    } else {
      EXPECT_GT(simulator.v()[0], 0.3);
    }
  }
}

TEST(Friction, NoStepPassesThePeakOfBreakawayUnseen) {
  // 20 sin 8t N on 1 kg, which sticks and turns round; the peak is 0.01 m/s wide and lasts 0.5 ms.
  //   v̇ = 20 sin 8t − sign(v) (2 + 2 exp(−(v/0.01)²)); sticks up to 4 N
  // SciPy's DOP853 at 1e-13, steps of 0.1 ms and located events.
  for (const Integrator integrator : {Integrator::Adaptive, Integrator::Radau, Integrator::Auto}) {
    for (const double dt : {0.1, 0.01, 0.001}) {
      Simulator simulator(Model(block(1.0)), {.integrator = integrator});
      simulator.addFriction({.joint = "slide", .coulomb = 2.0, .breakaway = 4.0});
      simulator.setController(
          [](double t, VectorIn, VectorIn, VectorOut tau) { tau[0] = 20.0 * std::sin(8.0 * t); });
      simulator.run(3.0, dt);
      EXPECT_NEAR(simulator.q()[0], 3.4666539159565, 3e-7) << toString(integrator) << " " << dt;
      EXPECT_NEAR(simulator.v()[0], -0.9009873214218, 3e-7) << toString(integrator) << " " << dt;
    }
  }
}

TEST(Stops, RigidOnesThrowBackByTheirRestitution) {
  for (const Integrator integrator : kAll) {
    Mechanism robot = block(2.0);
    robot.joints.back().limitedTo(-0.25, 0.5);
    Simulator simulator(Model(robot), {.integrator = integrator});
    EXPECT_EQ(simulator.addLimits(0.0, 0.0, 0.5), 1);
    simulator.setState(one(0.0), one(1.0));
    for (int i = 1; i <= 3000; ++i) {
      simulator.step(1e-3);
      ASSERT_LE(simulator.q()[0], 0.5 + 1e-12);
      ASSERT_GE(simulator.q()[0], -0.25 - 1e-12);
    }
    // 0.5 s there, 1.5 s back at half the speed, 1 s at a quarter.
    EXPECT_NEAR(simulator.q()[0], 0.0, 1e-9) << toString(integrator);
    EXPECT_NEAR(simulator.v()[0], 0.25, 1e-12);
    EXPECT_NEAR(simulator.work().limits, 1.0 - 0.0625, 1e-12);
  }
}

TEST(Stops, BouncingEnds) {
  // From height 1 m with restitution e: all bounces take √(2h/g) (1 + e) / (1 − e).
  for (const Integrator integrator : kAll) {
    Simulator simulator(Model(block(2.0, 9.81)), {.integrator = integrator});
    simulator.addLimit({.joint = "slide", .lower = 0.0, .restitution = 0.6});
    simulator.setState(one(1.0), one(0.0));
    const double ends = std::sqrt(2.0 / 9.81) * 1.6 / 0.4;
    const double error = integrator == Integrator::SemiImplicitEuler ? 3e-3 : 1e-5;
    const double start = total(simulator);
    while (simulator.time() < ends + 2.0) {
      simulator.step(1e-3);
      if (simulator.time() > ends + error) {
        ASSERT_NEAR(simulator.q()[0], 0.0, 1e-5) << toString(integrator);
      }
    }
    EXPECT_LT(std::abs(simulator.v()[0]), 1e-20) << toString(integrator);
    EXPECT_NEAR(total(simulator), start, integrator == Integrator::SemiImplicitEuler ? 0.2 : 1e-6);
  }
}

TEST(Stops, HoldALinkageAndLetItGo) {
  // The rocker of a four-bar is stopped; a force away from the stop frees it.
  const Model model(fourBar(0.5, 0.15, 0.4, 0.35));
  for (const Integrator integrator : kAll) {
    Simulator simulator(model, {.integrator = integrator});
    const Eigen::VectorXd q = configuration(model, {{"crank", 0.8}});
    simulator.setState(q, one(-3.0));
    const double pivot = positionOf(simulator, "pivot");
    const double sign = rateOf(simulator, "pivot") > 0 ? 1.0 : -1.0;
    const double bound = pivot + sign * 0.05;
    simulator.addLimit(
        {.joint = "pivot", .lower = sign < 0 ? bound : -1e3, .upper = sign > 0 ? bound : 1e3});
    simulator.setForces(one(-5.0));
    const double start = total(simulator);
    for (int i = 0; i < 500; ++i) {
      simulator.step(1e-3);
      ASSERT_LE(sign * (positionOf(simulator, "pivot") - bound), 1e-11) << toString(integrator);
    }
    EXPECT_NEAR(positionOf(simulator, "pivot"), bound, 1e-10) << toString(integrator);
    EXPECT_LT(std::abs(rateOf(simulator, "crank")), 1e-11);
    EXPECT_NEAR(total(simulator), start, integrator == Integrator::SemiImplicitEuler ? 0.05 : 1e-3);
    simulator.setForces(one(5.0));
    simulator.step(1e-2);
    EXPECT_GT(sign * (bound - positionOf(simulator, "pivot")), 1e-6);
  }
}

TEST(Stops, ElasticOnesNeverCreateEnergy) {
  for (const Integrator integrator : kAll) {
    for (const double stiffness : {1e4, 1e6}) {
      Mechanism robot = planar("link");
      addLink(robot, "bar", 0.3, 0.3);
      robot.addRevolute("hinge").from("ground").to("bar").limitedTo(-0.5, 2.0);
      Simulator simulator(Model(robot), {.integrator = integrator});
      simulator.addLimits(stiffness, 10.0);
      simulator.setState(one(0.3), one(0.0));
      const double start = total(simulator);
      double most = 0.0;
      for (int i = 0; i < 1000; ++i) {
        simulator.step(1e-3);
        const Energy energy = simulator.energy();
        most = std::max(most, energy.kinetic + energy.potential - start);
      }
      const double error = integrator == Integrator::SemiImplicitEuler ? 3e-2 : 1e-4;
      EXPECT_LT(most, 0.1 * error) << toString(integrator) << " " << stiffness;
      EXPECT_NEAR(total(simulator), start, error) << toString(integrator) << " " << stiffness;
    }
  }
}

TEST(Stops, ShortTouchesWithinOneStepAreFound) {
  // A long step would jump over the bound and back.
  Simulator simulator(Model(block(2.0, 9.81)));
  simulator.addLimit({.joint = "slide", .upper = 1.0});
  // Thrown up so that it would rise to 1.01 m.
  simulator.setState(one(0.0), one(std::sqrt(2 * 9.81 * 1.01)));
  double highest = 0.0;
  for (int i = 0; i < 3; ++i) {
    simulator.step(0.3);
    highest = std::max(highest, simulator.q()[0]);
  }
  EXPECT_GT(simulator.work().limits, 0.05);
}

TEST(Stops, AStateBeyondARigidOneIsRefused) {
  Simulator simulator{Model(block(2.0))};
  simulator.addLimit({.joint = "slide", .upper = 1.0});
  simulator.setState(one(1.5), one(0.0));
  EXPECT_THROW(simulator.step(1e-3), std::invalid_argument);
}

/// A block of 1 kg on the ground and one of 2 kg on it, both along x, without gravity.
Mechanism stack() {
  Mechanism robot = planar("stack");
  robot.gravity = {};
  robot.addBody("lower").withMass(1).withInertia(1, 1, 1);
  robot.addBody("upper").withMass(2).withInertia(1, 1, 1);
  robot.addPrismatic("a").from("ground").to("lower").along({1, 0, 0});
  robot.addPrismatic("b").from("lower").to("upper").along({1, 0, 0});
  return robot;
}

TEST(Stops, ImpactsOvercomeFrictionAndLiftOffOtherStops) {
  // The lower block is thrown back at half its speed; the upper one goes on at −1 m/s.
  for (const Integrator integrator : kAll) {
    for (const bool friction : {true, false}) {
      Simulator simulator(Model(stack()), {.integrator = integrator});
      simulator.addLimit({.joint = "a", .lower = -0.1, .restitution = 0.5});
      if (friction) {
        simulator.addFriction({.joint = "b", .coulomb = 1e-6});
      } else {
        simulator.addLimit({.joint = "b", .upper = 0.0});
      }
      simulator.setState(Eigen::Vector2d(0, 0), Eigen::Vector2d(-1, 0));
      const double start = total(simulator);
      simulator.stepTo(0.2);
      EXPECT_TRUE(closeTo(simulator.v(), Eigen::Vector2d(0.5, -1.5), 1e-5)) << simulator.v();
      EXPECT_NEAR(total(simulator), start, 1e-6) << toString(integrator);
    }
  }
}

TEST(Stops, ThatLiftEachOthersJointsComeToRest) {
  // An impact on one stop lifts another joint off its stop, which falls back, and the reverse: ever
  // faster, until rounding of positions, which are far from zero here, sets the pace.
  std::mt19937 random(3);
  const auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  for (int chain = 0; chain < 100; ++chain) {
    Mechanism robot = planar("chain");
    std::string parent = "ground";
    Eigen::Vector3d q;
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::to_string(i);
      robot.addBody(name)
          .withMass(uniform(0.2, 2.0))
          .centeredAt({uniform(0.1, 0.5), 0, 0})
          .withInertia(0.01, 0.05, 0.05);
      const double lower = uniform(-0.5, 0.1) - 10.0, upper = lower + uniform(0.1, 1.5);
      robot.addRevolute("joint" + name)
          .from(parent)
          .to(name)
          .at({i == 0 ? 0.0 : 0.5, 0, 0}, {0, 0, -10.0})
          .about({0, 0, -1})
          .limitedTo(lower, upper);
      q[i] = uniform(lower, upper);
      parent = name;
    }
    Simulator simulator(Model(robot), {.integrator = Integrator::Adaptive});
    simulator.addLimits();
    simulator.setState(q, Eigen::Vector3d::Zero());
    const double before = total(simulator);
    for (int i = 0; i < 150; ++i) {
      simulator.step(0.02);
      ASSERT_LT(simulator.statistics().evaluations, 40000) << "chain " << chain << ", step " << i;
    }
    EXPECT_NEAR(total(simulator), before, 1e-7) << "chain " << chain;
  }
}

TEST(Stops, AConstraintThatIsSwitchedOnOvercomesFriction) {
  Simulator simulator{Model(stack())};
  simulator.addFriction({.joint = "b", .coulomb = 1e-6});
  Constraints constraints(simulator.model());
  const int lock = constraints.lock("lock", "a", Eigen::Vector2d(0, 0));
  constraints.enable(lock, false);
  simulator.setConstraints(constraints);
  simulator.setState(Eigen::Vector2d(0, 0), Eigen::Vector2d(-1, 0));
  simulator.enableConstraint(lock);
  EXPECT_TRUE(closeTo(simulator.v(), Eigen::Vector2d(0, -1), 1e-9)) << simulator.v();
}

TEST(Stops, AreNeverPassedHoweverManyImpactsAStepHas) {
  for (const double gap : {0.1, 1e-6}) {
    Simulator simulator{Model(block(2.0))};
    simulator.addLimit({.joint = "slide", .lower = 0.0, .upper = gap, .restitution = 1.0});
    simulator.setState(one(0.5 * gap), one(1.0));
    try {
      simulator.step(gap == 0.1 ? 2000.0 : 0.1);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("end stop"), std::string::npos) << error.what();
    }
    EXPECT_GE(simulator.q()[0], -1e-9);
    EXPECT_LE(simulator.q()[0], gap + 1e-9);
  }
}

TEST(Stops, ImpactsTooFastToBeLocatedAreReported) {
  // Between stops 1 µm apart, a million impacts per second: not worth locating in a step of 10 s.
  Simulator simulator{Model(block(2.0))};
  simulator.addLimit({.joint = "slide", .lower = 0.0, .upper = 1e-6, .restitution = 1.0});
  simulator.setState(one(0.5e-6), one(1.0));
  simulator.step(10.0);
  const std::vector<std::string> warnings = simulator.warnings();
  ASSERT_EQ(warnings.size(), 2);
  EXPECT_NE(warnings[0].find("too fast to be located, first at joint \"slide\" at t = "),
            std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[1].find("they end at events of friction and end stops, the last of joint "),
            std::string::npos)
      << warnings[1];
  simulator.setState(one(0.5e-6), one(0.0));
  EXPECT_TRUE(simulator.warnings().empty());
}

TEST(Stops, BouncingThatEndsIsNotReported) {
  for (const Integrator integrator : kAll) {
    for (const double restitution : {0.5, 0.98}) {
      for (const double dt : {1e-3, 25.0}) {
        if (dt > 1.0 && integrator != Integrator::Adaptive && integrator != Integrator::Auto) {
          continue;
        }
        Simulator simulator(Model(block(2.0, 9.81)), {.integrator = integrator});
        simulator.addLimit({.joint = "slide", .lower = 0.0, .restitution = restitution});
        simulator.setState(one(0.04), one(0.0));
        while (simulator.time() < 25.0 - 1e-9) {
          simulator.step(dt);
        }
        EXPECT_NEAR(simulator.q()[0], 0.0, 1e-9) << toString(integrator) << restitution;
        EXPECT_TRUE(integrator == Integrator::SemiImplicitEuler || simulator.warnings().empty())
            << toString(integrator) << " " << restitution << ": " << simulator.warnings()[0];
      }
    }
  }
}

TEST(Stops, AJointThatAConstraintDrivesIntoItsStopIsNamed) {
  for (const Integrator integrator : kAll) {
    const Model model(block(2.0));
    Simulator simulator(model, {.integrator = integrator});
    simulator.addLimit({.joint = "slide", .lower = -1.0, .upper = 0.05});
    Constraints constraints(model);
    constraints.prescribe("drive", "slide", [](double t) { return PrescribedMotion{t, 1, 0}; });
    simulator.setConstraints(constraints);
    try {
      for (int i = 0; i < 100; ++i) {
        simulator.step(1e-3);
      }
      FAIL() << toString(integrator);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what())
                    .find("joint \"slide\" cannot be stopped by its rigid end stop at 0.05: "
                          "\"drive\" drives it on with 1 "),
                std::string::npos)
          << toString(integrator) << ": " << error.what();
    }
    EXPECT_NEAR(simulator.time(), 0.05, 1.1e-3);
  }
}

/// A prescribed motion whose acceleration contradicts the stop that the joint rests on, though its
/// position does not.
TEST(Stops, ForcesThatCannotBeBalancedAreReported) {
  for (const Integrator integrator : kAll) {
    const Model model(block(2.0));
    Simulator simulator(model, {.integrator = integrator});
    simulator.addLimit({.joint = "slide", .lower = -1.0, .upper = 0.05});
    simulator.setState(one(0.05), one(0.0));
    Constraints constraints(model);
    double acceleration = 1.0;
    constraints.prescribe("drive", "slide", [&](double) {
      return PrescribedMotion{0.05, 0.0, acceleration};
    });
    simulator.setConstraints(constraints);
    simulator.step(1e-3);
    ASSERT_EQ(simulator.warnings().size(), 2U) << toString(integrator);
    EXPECT_NE(simulator.warnings()[0].find("\"drive\" contradicts itself"), std::string::npos)
        << simulator.warnings()[0];
    EXPECT_NE(simulator.warnings()[1].find("could not be balanced at \"slide\" at t = 0 s"),
              std::string::npos)
        << simulator.warnings()[1];
    acceleration = 0.0;
    simulator.setState(one(0.05), one(0.0));
    simulator.step(1e-3);
    EXPECT_TRUE(simulator.warnings().empty()) << simulator.warnings()[0];
  }
}

/// No robot is known whose impacts do not end; a box problem that is not solved would lead there.
TEST(EventWatch, ImpactsWithoutEndAreReportedWithTheFirst) {
  detail::EventWatch watch;
  EXPECT_TRUE(watch.warnings().empty());
  watch.addEndlessImpacts(0.5, "hip");
  watch.addEndlessImpacts(0.7, "knee");
  ASSERT_EQ(watch.warnings().size(), 1U);
  EXPECT_EQ(watch.warnings()[0],
            "impacts on end stops did not come to an end at joint \"hip\" at t = 0.5 s (first of 2 "
            "times); some stops are still being hit. Give the stops a lower restitution, or a "
            "stiffness.");
  watch.restart();
  EXPECT_TRUE(watch.warnings().empty());
}

TEST(Friction, AtRestInFreeFallCostsNothing) {
  // All forces are rounding; a joint and its rotor both have friction.
  Mechanism robot("falling");
  robot.addBody("base").withMass(5).withInertia(0.1, 0.1, 0.1);
  robot.addBody("link").withMass(1).centeredAt({0.1, 0, -0.2}).withInertia(0.01, 0.01, 0.01);
  robot.addBody("rotor").withMass(0.1).withInertia(1e-4, 1e-4, 1e-4);
  robot.addRevolute("joint").from("base").to("link").about({0, 1, 0});
  robot.addRevolute("motor").from("base").to("rotor").about({0, 1, 0});
  robot.addGear("gear", "motor", 6.0, "joint");
  robot.addFloatingBase();
  Simulator simulator{Model(robot)};
  simulator.addFriction({.joint = "joint", .coulomb = 0.5});
  simulator.addFriction({.joint = "motor", .coulomb = 0.5});
  int evaluations = 0;
  simulator.setController([&](double, VectorIn, VectorIn, VectorOut) { ++evaluations; });
  for (int i = 0; i < 10; ++i) {
    simulator.step(1e-3);
  }
  EXPECT_LT(evaluations, 200);
  EXPECT_LT(std::abs(rateOf(simulator, "joint")), 1e-12);
}

/// A scissor of two stages, all bars 1 m and 1 kg, with its foot on a slide.
Mechanism scissor(double angle) {
  Mechanism robot = planar("scissor");
  const double turn = kPi - 2.0 * angle;
  for (const char* name : {"A0", "B0", "A1", "B1"}) {
    addLink(robot, name, 1.0, 1.0);
  }
  robot.bodies[2].centeredAt({0, 0, 0});  // B0 turns about its middle
  robot.addBody("slider").withMass(0.1).withInertia(1e-4, 1e-4, 1e-4);
  robot.addRevolute("pA0").from("ground").to("A0").at({0, 0, 0}, {0, 0, angle}).independent();
  robot.addRevolute("pB0").from("A0").to("B0").at({0.5, 0, 0}, {0, 0, turn});
  robot.addRevolute("pA1").from("B0").to("A1").at({0.5, 0, 0}, {0, 0, -turn});
  robot.addRevolute("pB1").from("A0").to("B1").at({1, 0, 0}, {0, 0, turn});
  robot.addPrismatic("slide")
      .from("ground")
      .to("slider")
      .at({std::cos(angle), 0, 0})
      .along({1, 0, 0});
  robot.addLoop("foot", LoopType::Revolute).from("B0", at({-0.5, 0, 0})).to("slider");
  robot.addLoop("middle", LoopType::Revolute).from("A1", at({0.5, 0, 0})).to("B1", at({0.5, 0, 0}));
  return robot;
}

TEST(Friction, TurnsRoundAtAChangePoint) {
  // The slide is farthest out where the scissor lies flat, a change point. Its angle θ from 0.5 rad:
  //   T = ½ M θ̇², M = Σ 2 (¼ sin² + (i + ½)² cos² + 1/12) + 0.1 sin², V = 4 g sin θ,
  // friction of 0.05 N against ẋ = −sin θ θ̇; SciPy's DOP853 at tolerances of 1e-13, event ẋ = 0.
  constexpr double kAngle = -3.1024917786498465, kRate = -2.7565702451281364;
  for (const Integrator integrator :
       {Integrator::Adaptive, Integrator::Radau, Integrator::RungeKutta4}) {
    Simulator simulator(Model(scissor(0.5)), {.integrator = integrator});
    simulator.addFriction({.joint = "slide", .coulomb = 0.05});
    ASSERT_NO_THROW(simulator.run(1.0, 0.005)) << toString(integrator);
    EXPECT_NEAR(positionOf(simulator, "pA0") + 0.5, kAngle, 1e-6) << toString(integrator);
    EXPECT_NEAR(rateOf(simulator, "pA0"), kRate, 1e-6) << toString(integrator);
  }
}

TEST(Stops, AreHitAtAChangePoint) {
  // The coupler of a parallelogram moves in parallel: it is a pendulum with
  // I = (0.5 + 0.6) 0.3²/3 + 0.4 · 0.3² and the moment of weight g ((0.5 + 0.6) 0.15 + 0.4 · 0.3).
  const double moment = 1.1 * 0.15 + 0.4 * 0.3, inertia = 1.1 * 0.09 / 3 + 0.4 * 0.09;
  Mechanism bar = planar("bar");
  const double own = inertia - moment * 0.15;
  bar.addBody("bar").withMass(moment / 0.15).centeredAt({0.15, 0, 0}).withInertia(own, own, own);
  bar.addRevolute("crank").from("ground").to("bar");
  for (const double restitution : {0.8, 0.0}) {
    for (const Integrator integrator :
         {Integrator::Adaptive, Integrator::Radau, Integrator::RungeKutta4}) {
      Simulator exact(Model(bar), {.integrator = Integrator::Adaptive,
                                   .relativeTolerance = 1e-12,
                                   .absoluteTolerance = 1e-12});
      const Model model(fourBar(0.7, 0.3, 0.7, 0.3));
      Simulator simulator(model, {.integrator = integrator});
      simulator.setState(configuration(model, {{"crank", 1.5}, {"knee", -1.5}, {"pivot", 1.5}}),
                         one(6.0));
      exact.setState(one(1.5), one(6.0));
      for (Simulator* each : {&simulator, &exact}) {
        each->addLimit({.joint = "crank", .lower = 0.0, .upper = kPi, .restitution = restitution});
      }
      for (int i = 1; i <= 300; ++i) {
        exact.stepTo(0.01 * i);
        ASSERT_NO_THROW(simulator.stepTo(0.01 * i)) << toString(integrator);
        ASSERT_NEAR(positionOf(simulator, "crank"), exact.q()[0], 1e-6)
            << toString(integrator) << " " << i;
        ASSERT_NEAR(positionOf(simulator, "pivot"), exact.q()[0], 1e-6) << toString(integrator);
      }
      EXPECT_GT(exact.work().limits, 0.1);
      EXPECT_NEAR(simulator.work().limits, exact.work().limits, 1e-6);
    }
  }
}

TEST(Stops, AtAChangePointOfLoopsLeftCutAreReported) {
  Mechanism robot = fourBar(0.7, 0.3, 0.7, 0.3);
  robot.loops.back().cut = true;
  const Model model(robot);
  Simulator simulator(model);
  Eigen::VectorXd q(3), v(3);
  for (int i = 0; i < 3; ++i) {
    const double side = model.vNames()[static_cast<std::size_t>(i)] == "knee" ? -1.0 : 1.0;
    q[i] = 1.5 * side;
    v[i] = 6.0 * side;
  }
  simulator.setState(q, v);
  simulator.addLimit({.joint = "crank", .lower = 0.0, .upper = kPi, .restitution = 0.5});
  std::string why;
  try {
    simulator.run(1.0, 0.01);
  } catch (const SimulationError& error) {
    why = error.what();
  }
  EXPECT_NE(why.find("\"closure\", which is left cut, is at a change point"), std::string::npos)
      << why;
}

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
  for (const Integrator integrator : kAll) {
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
