#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "linkages.hpp"
#include "support/allocations.hpp"

namespace kempe::test {
namespace {

/// n + 1 rockers of 1 m, hinged 1 m apart, and n couplers: slender bars of 1 kg. All loops pass
/// their change points at the same time, when the ladder lies flat.
Mechanism ladder(int n, bool cut) {
  Mechanism robot = planar("ladder");
  for (int i = 0; i <= n; ++i) {
    const std::string number = std::to_string(i);
    addLink(robot, "rocker" + number, 1.0, 1.0);
    robot.addRevolute("hinge" + number)
        .from("ground")
        .to("rocker" + number)
        .at({static_cast<double>(i), 0, 0});
  }
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    addLink(robot, "coupler" + number, 1.0, 1.0);
    robot.addRevolute("knee" + number).from("rocker" + number).to("coupler" + number).at({1, 0, 0});
    robot.addLoop("pin" + number, LoopType::Revolute)
        .from("coupler" + number, at({1, 0, 0}))
        .to("rocker" + std::to_string(i + 1), at({1, 0, 0}));
    robot.loops.back().cut = cut;
  }
  return robot;
}

/// The pendulum that moves like the ladder's rockers, which stay parallel: the moment of inertia is
/// (n + 1)/3 + n, the moment of the weight g ((n + 1)/2 + n).
Mechanism pendulumLike(int n) {
  Mechanism robot = planar("pendulum");
  const double weight = 0.5 * (n + 1) + n, inertia = (n + 1) / 3.0 + n;
  const double own = inertia - 0.5 * weight;  // mass 2 weight at 0.5 m
  robot.addBody("bar").withMass(2.0 * weight).centeredAt({0.5, 0, 0}).withInertia(own, own, own);
  robot.addRevolute("hinge0").from("ground").to("bar");
  return robot;
}

/// Starts upright, with 1 m/s at the top.
void startUpright(Simulator& simulator) {
  const Model& model = simulator.model();
  Eigen::VectorXd q(model.nq()), velocities(model.nvSpanning());
  for (int i = 0; i < model.nq(); ++i) {
    const double side = model.qNames()[static_cast<std::size_t>(i)].starts_with("hinge") ? 1 : -1;
    q[i] = side * kPi / 2;
    velocities[i] = -side;
  }
  simulator.setSpanningState(q, velocities);
}

struct Errors {
  double position = 0.0, energy = 0.0, loops = 0.0, apart = 0.0;
};

/// Of 3 s, in which the ladder lies flat three times, against the pendulum at tight tolerances.
Errors errorsOf(const Mechanism& robot, int n, Integrator integrator, double dt) {
  Simulator exact(
      Model(pendulumLike(n)),
      {.integrator = Integrator::Adaptive, .relativeTolerance = 1e-13, .absoluteTolerance = 1e-13});
  Simulator simulator(
      Model(robot),
      {.integrator = integrator, .relativeTolerance = 1e-10, .absoluteTolerance = 1e-10});
  startUpright(exact);
  startUpright(simulator);
  const Energy start = simulator.energy();
  Errors errors;
  const auto steps = std::lround(3.0 / dt);
  for (long i = 1; i <= steps; ++i) {
    const double end = static_cast<double>(i) * dt;
    exact.stepTo(end);
    simulator.stepTo(end);
    const double angle = positionOf(simulator, "hinge0");
    errors.position = std::max(errors.position, std::abs(angle - positionOf(exact, "hinge0")));
    for (int k = 0; k < simulator.q().size(); ++k) {
      if (simulator.model().qNames()[static_cast<std::size_t>(k)].starts_with("hinge")) {
        errors.apart = std::max(errors.apart, std::abs(simulator.q()[k] - angle));
      }
    }
    const Energy now = simulator.energy();
    errors.energy = std::max(
        errors.energy, std::abs(now.kinetic + now.potential - start.kinetic - start.potential));
    errors.loops = std::max(errors.loops, simulator.loopError());
  }
  return errors;
}

/// Bounds of the errors that rounding adds in the flat position (change_points.hpp). Each loop is
/// closed to ε = 1e-15 only (kRounded in coordinates.cpp), so that accelerations carry ε v² / s³ at
/// a distance s. Within s = 0.04, where they are interpolated, Lagrange's weights w make that
/// Σ |w| / s³ ε v² = 2.9e4 ε v², which acts for 0.08 / v. With v = 5 rad/s, velocities change by
/// 1.2e-11 rad/s for each loop. The pendulum's linearised motion amplifies this to 20.6, 20.2 and
/// 0.3 rad per rad/s after the first, second and third passage.
struct Rounding {
  explicit Rounding(int n)
      : position(n * kKick * (20.6 + 20.2 + 0.3)),
        energy(3 * n * kKick * 5.0 * ((n + 1) / 3.0 + n)) {}
  static constexpr double kKick = 1.2e-11;
  double position, energy;
};

/// A ladder that passes its flat position is as accurate as the pendulum that moves like it with the
/// same integrator, apart from rounding in accelerations (docs/maths.md, "Change points").
TEST(ChangePoints, LadderIsAsAccurateAsItsPendulum) {
  for (const int n : {1, 2, 3, 5, 10}) {
    const Mechanism robot = ladder(n, false);
    const Rounding rounding(n);
    for (const double dt : {1e-3, 2e-3, 4e-3}) {
      const Errors one = errorsOf(pendulumLike(n), n, Integrator::RungeKutta4, dt);
      const Errors all = errorsOf(robot, n, Integrator::RungeKutta4, dt);
      EXPECT_LT(all.position, 3 * one.position + rounding.position) << n << " dt " << dt;
      EXPECT_LT(all.energy, 3 * one.energy + rounding.energy) << n << " dt " << dt;
      EXPECT_LT(all.apart, 1e-12) << n << " dt " << dt;
      EXPECT_LT(all.loops, 1e-13) << n << " dt " << dt;
    }
    const Errors one = errorsOf(pendulumLike(n), n, Integrator::Adaptive, 1e-2);
    const Errors all = errorsOf(robot, n, Integrator::Adaptive, 1e-2);
    EXPECT_LT(all.position, 3 * one.position + rounding.position) << n;
    EXPECT_LT(all.apart, 1e-12) << n;
  }
}

/// The same with loops that are left cut, whose multipliers are not determined in the flat position.
TEST(ChangePoints, LadderOfCutLoopsIsAsAccurateAsItsPendulum) {
  for (const int n : {1, 3, 10}) {
    const Mechanism robot = ladder(n, true);
    for (const double dt : {2e-3, 4e-3}) {
      const Errors one = errorsOf(pendulumLike(n), n, Integrator::RungeKutta4, dt);
      const Errors all = errorsOf(robot, n, Integrator::RungeKutta4, dt);
      EXPECT_LT(all.position, 1.5 * one.position + 1e-11) << n << " dt " << dt;
      EXPECT_LT(all.apart, 1e-11) << n << " dt " << dt;
      EXPECT_LT(all.loops, 1e-12) << n << " dt " << dt;
    }
    const Errors one = errorsOf(pendulumLike(n), n, Integrator::Adaptive, 1e-2);
    const Errors all = errorsOf(robot, n, Integrator::Adaptive, 1e-2);
    EXPECT_LT(all.position, 3 * one.position + 1e-11) << n;
    EXPECT_LT(all.apart, 1e-11) << n;
  }
}

/// Starts a near-parallelogram as a parallelogram whose crank turns at 9 rad/s.
void startParallel(Simulator& simulator) {
  const Model& model = simulator.model();
  const Eigen::VectorXd q = configuration(model, {{"crank", 0.7}, {"knee", -0.7}, {"pivot", 0.7}});
  Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
  v[std::ranges::find(model.vNames(), "crank") - model.vNames().begin()] = 9.0;
  simulator.setState(q, v);
}

/// The ladder with spacings and frames as in files of drawing programs: no number is exact.
Mechanism oddLadder(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-3.0, 3.0);
  Mechanism robot = planar("ladder");
  // A body whose frame is turned by `angle` to its link.
  const auto addTurned = [&](const std::string& name, double angle) {
    robot.addBody(name)
        .withMass(1.0)
        .centeredAt({0.5 * std::cos(angle), -0.5 * std::sin(angle), 0})
        .withInertia(0.1, 0.1, 0.1);
  };
  const auto tip = [](double angle) { return Vector3{std::cos(angle), -std::sin(angle), 0}; };
  std::vector<double> angles;
  const double apart = 0.7;
  for (int i = 0; i <= n; ++i) {
    const std::string number = std::to_string(i);
    angles.push_back(uniform(random));
    addTurned("rocker" + number, angles.back());
    robot.addRevolute("hinge" + number)
        .from("ground")
        .to("rocker" + number)
        .at({40.1 + apart * i, 0.3, 0}, {0, 0, angles.back()});
  }
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    const double angle = uniform(random);
    addTurned("coupler" + number, angle);
    robot.addRevolute("knee" + number)
        .from("rocker" + number)
        .to("coupler" + number)
        .at(tip(angles[i]), {0, 0, angle - angles[i]});
    robot.addLoop("pin" + number, LoopType::Spherical)
        .from("coupler" + number, at({apart * tip(angle).x, apart * tip(angle).y, 0}))
        .to("rocker" + std::to_string(i + 1), at(tip(angles[i + 1])));
  }
  return robot;
}

TEST(ChangePoints, RoundingOfManyBodiesIsNoMiss) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Model model(oddLadder(8, seed));
    Simulator simulator(model);
    NamedValues upright;
    for (int i = 0; i <= 8; ++i) {
      upright["hinge" + std::to_string(i)] = {0.5 * kPi};
    }
    simulator.setState(upright, {{"hinge0", {1.0}}});
    const double before = simulator.energy().kinetic + simulator.energy().potential;
    for (int i = 0; i < 150; ++i) {
      simulator.step(0.01);
    }
    Eigen::VectorXd positions(model.nqSpanning());
    Data data(model);
    spanningPositions(model, data, simulator.q(), positions);
    for (int i = 1; i <= 8; ++i) {
      const int hinge = model.jointPositionIndex("hinge" + std::to_string(i));
      EXPECT_NEAR(positions[hinge], positions[model.jointPositionIndex("hinge0")], 1e-9);
    }
    EXPECT_NEAR(simulator.energy().kinetic + simulator.energy().potential, before, 1e-6);
  }
}

/// A parallelogram whose coupler is too long or too short by a relative length x turns over in its
/// change point, however small x is. Energy is kept, and the motion has a limit for small x.
TEST(ChangePoints, NearMissesKeepTheirEnergy) {
  for (const Integrator integrator :
       {Integrator::RungeKutta4, Integrator::Adaptive, Integrator::Radau}) {
    for (const double side : {1.0, -1.0}) {
      double limit = 0.0;
      for (const double x : {1e-14, 1.6e-13, 1e-12, 5e-12, 3e-11, 1e-10, 3e-10, 1e-9, 1e-7}) {
        Simulator simulator(Model(fourBar(0.5, 0.2, 0.5 * (1.0 + side * x), 0.2)),
                            {.integrator = integrator});
        startParallel(simulator);
        const Energy start = simulator.energy();
        double apart = 0.0;
        for (int i = 1; i <= 1000; ++i) {
          simulator.stepTo(2e-3 * i);
          const Energy now = simulator.energy();
          // Where in a fixed step the passage falls is a matter of rounding for the smallest x.
          ASSERT_NEAR(now.kinetic + now.potential, start.kinetic + start.potential,
                      2e-4 * start.kinetic)
              << toString(integrator) << " x " << side * x << " t " << simulator.time();
          ASSERT_LT(simulator.loopError(), 1e-12);
          apart = std::max(
              apart, std::abs(positionOf(simulator, "pivot") - positionOf(simulator, "crank")));
        }
        EXPECT_GT(apart, kPi) << x;
        limit = limit == 0.0 ? positionOf(simulator, "crank") : limit;
        EXPECT_NEAR(positionOf(simulator, "crank"), limit, 5e-4 + 20 * std::sqrt(x))
            << toString(integrator) << " x " << side * x;
      }
    }
  }
}

/// The same with a second DoF in the loops: three more links from the coupler to the ground.
TEST(ChangePoints, LinkagesOfSeveralDegreesOfFreedomTurnOnce) {
  for (const double swing : {-10.0, -3.0, 3.0, 10.0}) {
    double limit = 0.0;
    for (const double x : {1e-12, 1e-11, 1e-10, 1e-9}) {
      Mechanism robot = fourBar(0.5, 0.2, 0.5 * (1.0 + x), 0.2);
      addLink(robot, "upper", 0.3, 0.3);
      addLink(robot, "lower", 0.4, 0.3);
      robot.addRevolute("shoulder").from("ground").to("lower").at({0.3, -0.5, 0}).independent();
      robot.addRevolute("elbow").from("lower").to("upper").at({0.4, 0, 0}).dependent();
      addLink(robot, "hand", 0.2, 0.2);
      robot.addRevolute("palm").from("upper").to("hand").at({0.3, 0, 0}).dependent();
      robot.addLoop("wrist", LoopType::Revolute)
          .from("hand", at({0.2, 0, 0}))
          .to("coupler", at({0.25, 0, 0}));
      Simulator simulator(Model(robot), {.integrator = Integrator::Adaptive});
      const Model& model = simulator.model();
      Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
      v[model.vNames()[0] == "crank" ? 0 : 1] = 9.0;
      v[model.vNames()[0] == "crank" ? 1 : 0] = swing;
      simulator.setState(configuration(model, {{"crank", 0.7},
                                               {"knee", -0.7},
                                               {"pivot", 0.7},
                                               {"shoulder", 2.2},
                                               {"elbow", -1.125},
                                               {"palm", -0.862}}),
                         v);
      const Energy start = simulator.energy();
      for (int i = 1; i <= 250; ++i) {
        simulator.stepTo(2e-3 * i);
      }
      const Energy now = simulator.energy();
      EXPECT_NEAR(now.kinetic + now.potential, start.kinetic + start.potential,
                  3e-3 * start.kinetic);
      const double end = positionOf(simulator, "pivot");
      limit = limit == 0.0 ? end : limit;
      EXPECT_NEAR(end, limit, 1e-3 + 100 * std::sqrt(x)) << "swing " << swing << " x " << x;
    }
  }
}

/// Loops that are left cut turn as embedded ones do.
TEST(ChangePoints, CutLoopsTurnLikeEmbeddedOnes) {
  for (const double x : {1e-4, -1e-4, 1e-6}) {
    Mechanism robot = fourBar(0.5, 0.2, 0.5 * (1.0 + x), 0.2);
    Simulator embedded(Model(robot), {.integrator = Integrator::Adaptive});
    startParallel(embedded);
    robot.loops.back().cut = true;
    for (const Stabilization stabilization :
         {Stabilization::Projection, Stabilization::Baumgarte}) {
      Simulator simulator(Model(robot),
                          {.integrator = Integrator::RungeKutta4, .stabilization = stabilization});
      startParallel(embedded);
      Eigen::VectorXd velocities(3);
      for (int i = 0; i < 3; ++i) {
        velocities[i] = rateOf(embedded, simulator.model().vNames()[static_cast<std::size_t>(i)]);
      }
      Eigen::VectorXd q(3);
      for (int i = 0; i < 3; ++i) {
        q[i] = positionOf(embedded, simulator.model().qNames()[static_cast<std::size_t>(i)]);
      }
      simulator.setSpanningState(q, velocities);
      const Energy start = simulator.energy();
      // Baumgarte's loops open by more, and their forces then do work.
      const double allowed = stabilization == Stabilization::Projection ? 1e-4 : 1e-3;
      double apart = 0.0;
      for (int i = 1; i <= 250; ++i) {
        embedded.stepTo(4e-3 * i);
        simulator.stepTo(4e-3 * i);
        const Energy now = simulator.energy();
        ASSERT_NEAR(now.kinetic + now.potential, start.kinetic + start.potential,
                    allowed * start.kinetic)
            << x << " " << i;
        apart = std::max(apart,
                         std::abs(positionOf(simulator, "pivot") - positionOf(simulator, "crank")));
        ASSERT_NEAR(positionOf(simulator, "pivot"), positionOf(embedded, "pivot"), 1e-3)
            << x << " " << i;
      }
      EXPECT_GT(apart, 0.5) << x;
    }
  }
}

/// The same on a cart: the turn is an impulse between the links, and keeps the momentum of all.
TEST(ChangePoints, TurnsKeepMomentum) {
  const auto onCart = [](double x) {
    Mechanism robot = fourBar(0.5, 0.2, 0.5 * (1.0 + x), 0.2);
    robot.gravity = {};
    robot.addBody("cart").withMass(2.0).withInertia(0.1, 0.1, 0.1);
    for (Joint& joint : robot.joints) {
      joint.parent = joint.parent == "ground" ? "cart" : joint.parent;
    }
    robot.addPrismatic("rail").from("ground").to("cart").along({1, 0, 0});
    return Model(robot);
  };
  for (const double side : {1.0, -1.0}) {
    double limit = 0.0;
    for (const double x : {1e-12, 1e-10, 1e-8}) {
      Simulator simulator(onCart(side * x), {.integrator = Integrator::Adaptive});
      startParallel(simulator);
      const Model& model = simulator.model();
      const auto rail = std::ranges::find(model.vNames(), "rail") - model.vNames().begin();
      const auto momentumNow = [&] {
        Data data(model);
        Eigen::MatrixXd H(model.nv(), model.nv());
        massMatrix(model, data, simulator.q(), H);
        return (H * simulator.v())[rail];
      };
      const double momentum = momentumNow(), energy = simulator.energy().kinetic;
      double apart = 0.0;
      for (int i = 1; i <= 500; ++i) {
        simulator.stepTo(2e-3 * i);
        ASSERT_NEAR(simulator.energy().kinetic, energy, 1e-4 * energy) << x << " " << i;
        ASSERT_NEAR(momentumNow(), momentum, 1e-5) << x << " " << i;
        apart = std::max(apart,
                         std::abs(positionOf(simulator, "pivot") - positionOf(simulator, "crank")));
      }
      EXPECT_GT(apart, kPi) << x;
      limit = limit == 0.0 ? positionOf(simulator, "rail") : limit;
      EXPECT_NEAR(positionOf(simulator, "rail"), limit, 1e-4 + 2 * std::sqrt(x)) << x;
    }
  }
}

/// Once the change point is found, steps across it allocate nothing, whatever acts.
TEST(ChangePoints, StepsAcrossAllocateNothing) {
  Simulator simulator(Model(fourBar(0.5, 0.2, 0.5, 0.2)), {.integrator = Integrator::RungeKutta4});
  const Model& model = simulator.model();
  simulator.addSpring(
      PointSpring{.from = {.frame = "crank_link"}, .to = {.frame = "rocker"}, .stiffness = 3.0});
  std::vector<FrameForce> forces;
  for (int frame = 0; frame < static_cast<int>(model.frameNames().size()); ++frame) {
    forces.push_back({.frame = frame, .wrench = {0.1, 0.2, 0, 0, 0, 0.01}});
  }
  simulator.setExternalForces(forces);
  simulator.setState(configuration(model, {{"crank", -0.03}, {"knee", 0.03}, {"pivot", -0.03}}),
                     one(5.0));
  simulator.step(1e-3);
  EXPECT_EQ(allocationsOf([&] {
              for (int i = 0; i < 10; ++i) {
                simulator.step(1e-3);
              }
            }),
            0);
  EXPECT_GT(positionOf(simulator, "crank"), 0.01);
  EXPECT_NEAR(positionOf(simulator, "crank"), positionOf(simulator, "pivot"), 1e-12);
}

/// The flat position of a parallelogram whose loop is left cut: branches meet, and none is followed.
TEST(ChangePoints, CutLoopsAtRestThereAreReported) {
  Mechanism robot = fourBar(0.5, 0.2, 0.5, 0.2);
  robot.loops.back().cut = true;
  for (const Integrator integrator : {Integrator::RungeKutta4, Integrator::Auto}) {
    Simulator simulator(Model(robot), {.integrator = integrator});
    const Recording recording = simulator.run(1e-3, 1e-3);
    ASSERT_FALSE(recording.warnings.empty());
    EXPECT_NE(recording.warnings[0].find("at rest in a change point at t = 0 s"), std::string::npos)
        << recording.warnings[0];
    Simulator still(Model(robot), {.integrator = integrator});
    Eigen::VectorXd forces(still.model().nLoopForces());
    EXPECT_THROW(still.loopForces(forces), SingularityError);
    // Elsewhere nothing is reported.
    Simulator other(Model(robot), {.integrator = integrator});
    const Eigen::Vector3d q =
        configuration(other.model(), {{"crank", 0.7}, {"knee", -0.7}, {"pivot", 0.7}});
    other.setSpanningState(q, Eigen::Vector3d::Zero());
    EXPECT_TRUE(other.run(1e-3, 1e-3).warnings.empty());
    other.loopForces(forces);
    EXPECT_TRUE(forces.allFinite());
  }
}

}  // namespace
}  // namespace kempe::test
