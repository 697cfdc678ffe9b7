#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "linkages.hpp"
#include "simulation/event_watch.hpp"
#include "support/close_to.hpp"

// End stops: impacts, rest and rebounds against closed forms, in every integrator.

namespace kempe::test {
namespace {

TEST(Stops, RigidOnesThrowBackByTheirRestitution) {
  for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
    Simulator simulator(Model(block(2.0, 9.81)), {.integrator = integrator});
    simulator.addLimit({.joint = "slide", .lower = 0.0, .restitution = 0.6});
    simulator.setState(one(1.0), one(0.0));
    const double ends = std::sqrt(2.0 / 9.81) * 1.6 / 0.4;
    const double error = integrator == Integrator::SemiImplicitEuler ? 3e-3 : 1e-5;
    const double start = balancedEnergy(simulator);
    while (simulator.time() < ends + 2.0) {
      simulator.step(1e-3);
      if (simulator.time() > ends + error) {
        ASSERT_NEAR(simulator.q()[0], 0.0, 1e-5) << toString(integrator);
      }
    }
    EXPECT_LT(std::abs(simulator.v()[0]), 1e-20) << toString(integrator);
    EXPECT_NEAR(balancedEnergy(simulator), start,
                integrator == Integrator::SemiImplicitEuler ? 0.2 : 1e-6);
  }
}

TEST(Stops, HoldALinkageAndLetItGo) {
  // The rocker of a four-bar is stopped; a force away from the stop frees it.
  const Model model(fourBar(0.5, 0.15, 0.4, 0.35));
  for (const Integrator integrator : kIntegrators) {
    Simulator simulator(model, {.integrator = integrator});
    const Eigen::VectorXd q = configuration(model, {{"crank", 0.8}});
    simulator.setState(q, one(-3.0));
    const double pivot = positionOf(simulator, "pivot");
    const double sign = rateOf(simulator, "pivot") > 0 ? 1.0 : -1.0;
    const double bound = pivot + sign * 0.05;
    simulator.addLimit(
        {.joint = "pivot", .lower = sign < 0 ? bound : -1e3, .upper = sign > 0 ? bound : 1e3});
    simulator.setForces(one(-5.0));
    const double start = balancedEnergy(simulator);
    for (int i = 0; i < 500; ++i) {
      simulator.step(1e-3);
      ASSERT_LE(sign * (positionOf(simulator, "pivot") - bound), 1e-11) << toString(integrator);
    }
    EXPECT_NEAR(positionOf(simulator, "pivot"), bound, 1e-10) << toString(integrator);
    EXPECT_LT(std::abs(rateOf(simulator, "crank")), 1e-11);
    EXPECT_NEAR(balancedEnergy(simulator), start,
                integrator == Integrator::SemiImplicitEuler ? 0.05 : 1e-3);
    simulator.setForces(one(5.0));
    simulator.step(1e-2);
    EXPECT_GT(sign * (bound - positionOf(simulator, "pivot")), 1e-6);
  }
}

TEST(Stops, ElasticOnesNeverCreateEnergy) {
  for (const Integrator integrator : kIntegrators) {
    for (const double stiffness : {1e4, 1e6}) {
      Mechanism robot = planar("link");
      addLink(robot, "bar", 0.3, 0.3);
      robot.addRevolute("hinge").from("ground").to("bar").limitedTo(-0.5, 2.0);
      Simulator simulator(Model(robot), {.integrator = integrator});
      simulator.addLimits(stiffness, 10.0);
      simulator.setState(one(0.3), one(0.0));
      const double start = balancedEnergy(simulator);
      double most = 0.0;
      for (int i = 0; i < 1000; ++i) {
        simulator.step(1e-3);
        const Energy energy = simulator.energy();
        most = std::max(most, energy.kinetic + energy.potential - start);
      }
      const double error = integrator == Integrator::SemiImplicitEuler ? 3e-2 : 1e-4;
      EXPECT_LT(most, 0.1 * error) << toString(integrator) << " " << stiffness;
      EXPECT_NEAR(balancedEnergy(simulator), start, error)
          << toString(integrator) << " " << stiffness;
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
  for (const Integrator integrator : kIntegrators) {
    for (const bool friction : {true, false}) {
      Simulator simulator(Model(stack()), {.integrator = integrator});
      simulator.addLimit({.joint = "a", .lower = -0.1, .restitution = 0.5});
      if (friction) {
        simulator.addFriction({.joint = "b", .coulomb = 1e-6});
      } else {
        simulator.addLimit({.joint = "b", .upper = 0.0});
      }
      simulator.setState(Eigen::Vector2d(0, 0), Eigen::Vector2d(-1, 0));
      const double start = balancedEnergy(simulator);
      simulator.stepTo(0.2);
      EXPECT_TRUE(closeTo(simulator.v(), Eigen::Vector2d(0.5, -1.5), 1e-5)) << simulator.v();
      EXPECT_NEAR(balancedEnergy(simulator), start, 1e-6) << toString(integrator);
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
    const double before = balancedEnergy(simulator);
    for (int i = 0; i < 150; ++i) {
      simulator.step(0.02);
      ASSERT_LT(simulator.statistics().evaluations, 40000) << "chain " << chain << ", step " << i;
    }
    EXPECT_NEAR(balancedEnergy(simulator), before, 1e-7) << "chain " << chain;
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
  for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
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

}  // namespace
}  // namespace kempe::test
