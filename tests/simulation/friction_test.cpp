#include <gtest/gtest.h>

#include <cmath>

#include "linkages.hpp"

// Dry friction of joints: stick and slip against closed forms, in every integrator.

namespace kempe::test {
namespace {

TEST(Friction, ABlockStopsWhereItMustAndStaysThere) {
  // v₀² / 2a with a = F / m, after v₀ / a.
  for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
    Mechanism robot = pendulum();
    robot.joints.back().friction = 0.2;
    Simulator simulator(Model(robot), {.integrator = integrator});
    simulator.setState(one(0.3), one(0.0));
    const double start = balancedEnergy(simulator);
    for (int i = 0; i < 5000; ++i) {
      simulator.step(1e-3);
    }
    const double error = integrator == Integrator::SemiImplicitEuler  ? 2e-2
                         : integrator == Integrator::ImplicitMidpoint ? 1e-4
                                                                      : 1e-7;
    EXPECT_LT(std::abs(simulator.v()[0]), 1e-15) << toString(integrator);
    EXPECT_NEAR(simulator.q()[0], whereItSticks(0.3, 0.2), error);
    EXPECT_NEAR(balancedEnergy(simulator), start, 3 * error);
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
    for (const Integrator integrator : kIntegrators) {
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
  for (const Integrator integrator : kIntegrators) {
    Simulator simulator(Model(fiveBar()), {.integrator = integrator});
    for (const char* joint : {"left", "right", "left_elbow", "right_elbow"}) {
      simulator.addFriction({.joint = joint, .coulomb = 0.1, .breakaway = 0.12});
    }
    simulator.setState(configuration(simulator.model(), {{"left", 2.2}, {"right", 0.9}}),
                       Eigen::Vector2d(3.0, -2.0));
    const double start = balancedEnergy(simulator);
    for (int i = 0; i < 3000; ++i) {
      simulator.step(1e-3);
    }
    const double error = integrator == Integrator::SemiImplicitEuler  ? 0.2
                         : integrator == Integrator::ImplicitMidpoint ? 5e-3
                                                                      : 1e-5;
    EXPECT_NEAR(balancedEnergy(simulator), start, error) << toString(integrator);
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

}  // namespace
}  // namespace kempe::test
