#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "kempe/kempe.hpp"
#include "simulation/coordinates.hpp"
#include "support/close_to.hpp"
#include "support/long_loops.hpp"
#include "support/random_mechanism.hpp"

// A position is placed once: forward dynamics and energies of the same Data use its loops.
namespace kempe::test {
namespace {

constexpr double kRounding = 1e-9;  // of accelerations of badly conditioned random mechanisms

Eigen::VectorXd numbers(Eigen::Index size, double first) {
  Eigen::VectorXd x(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    x[i] = std::sin(first + 1.7 * static_cast<double>(i));
  }
  return x;
}

Eigen::VectorXd accelerations(const Model& model, Data& data, VectorIn q, VectorIn v) {
  Eigen::VectorXd a = Eigen::VectorXd::Constant(model.nv(), std::nan(""));
  forwardDynamics(model, data, q, v, numbers(model.nv(), 0.5), a);
  return a;
}

/// Returns at how many of some positions loops were solved.
int comparePlacements(const Mechanism& robot) {
  const Model model(robot);
  const detail::LoopScales scales(model);
  detail::Coordinates placed(model, scales);
  Data other(model);
  std::vector<double> G(static_cast<std::size_t>(placed.ratios()), std::nan(""));
  placed.writeConstantRatios(G.data());
  Eigen::VectorXd positions(model.nqSpanning()), expected(model.nvSpanning()), rates(expected);
  const Eigen::VectorXd v = numbers(model.nv(), 0.2), elsewhere = model.randomConfiguration(9);
  int solved = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    if (placed.placeAt(q, G.data()) != detail::Standing::Regular) {
      continue;
    }
    solved += placed.data().impl().held.hasLoopsAt(q.data(), false) ? 1 : 0;
    placed.spread(G.data(), v, rates);
    spanning(model, other, q, v, positions, expected);
    EXPECT_TRUE(closeTo(rates, expected, kRounding));
    const Eigen::VectorXd a = accelerations(model, other, q, v);
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), q, v), a, kRounding));
    EXPECT_NEAR(energy(model, placed.data(), q, v).kinetic, energy(model, other, q, v).kinetic,
                kRounding * (1.0 + energy(model, other, q, v).kinetic));
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), q, v), a, kRounding));
    // What was solved at q is not used elsewhere, nor what was solved elsewhere at q.
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), elsewhere, v),
                        accelerations(model, other, elsewhere, v), kRounding));
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), q, v), a, kRounding));
    // The same ratios again, although other functions have used the memory.
    std::vector<double> again = G;
    EXPECT_EQ(placed.placeAt(q, again.data()), detail::Standing::Regular);
    EXPECT_EQ(again, G);
  }
  return solved;
}

class PlacedOnce : public ::testing::TestWithParam<MechanismCase> {};

TEST_P(PlacedOnce, GivesTheSameDynamics) {
  comparePlacements(randomMechanism(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Random, PlacedOnce, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& p) { return nameOf(p.param); });

TEST(SolvedLoops, OfTwinsAndLongChains) {
  EXPECT_GT(comparePlacements(robots::load("tello").mechanism()), 0);
  EXPECT_GT(comparePlacements(longLoops()), 0);
}

/// A coupling between the first coordinates of the first and the last joint that have one.
Constraints someConstraints(const Model& model) {
  Constraints constraints(model);
  std::string first, last;
  for (const Joint& joint : model.mechanism().joints) {
    if (joint.type == JointType::Revolute || joint.type == JointType::Continuous) {
      (first.empty() ? first : last) = joint.name;
    }
  }
  if (!last.empty()) {
    constraints.add(Coupling{.name = "tied"}.plus(1, first).minus(0.7, last));
  }
  return constraints;
}

/// Returns at how many of some positions the loops were used that had been solved.
int compareUnderConstraints(const Mechanism& robot) {
  const Model model(robot);
  const detail::LoopScales scales(model);
  detail::Coordinates placed(model, scales);
  Data other(model);
  std::vector<double> G(static_cast<std::size_t>(placed.ratios()), std::nan(""));
  placed.writeConstantRatios(G.data());
  const Constraints constraints = someConstraints(model);
  const Eigen::VectorXd v = numbers(model.nv(), 0.2), tau = numbers(model.nv(), 0.5);
  const auto accelerations = [&](Data& data, const Eigen::VectorXd& q) {
    Eigen::VectorXd a = Eigen::VectorXd::Constant(model.nv(), std::nan(""));
    Eigen::VectorXd lambda = Eigen::VectorXd::Constant(constraints.rows(), std::nan(""));
    constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, a, lambda);
    return a;
  };
  int used = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    if (placed.placeAt(q, G.data()) != detail::Standing::Regular) {
      continue;
    }
    const bool solved = placed.data().impl().held.hasLoopsAt(q.data(), false);
    const Eigen::VectorXd a = accelerations(other, q);
    for (int again = 0; again < 2; ++again) {
      EXPECT_TRUE(closeTo(accelerations(placed.data(), q), a, kRounding));
      EXPECT_EQ(placed.data().impl().held.hasLoopsAt(q.data(), false), solved);
    }
    used += solved ? 1 : 0;
  }
  return used;
}

TEST_P(PlacedOnce, GivesTheSameDynamicsUnderConstraints) {
  compareUnderConstraints(randomMechanism(GetParam()));
}

TEST(SolvedLoops, AreUsedUnderConstraints) {
  EXPECT_GT(compareUnderConstraints(robots::load("tello").mechanism()), 0);
  EXPECT_GT(compareUnderConstraints(longLoops()), 0);
}

/// A pendulum whose second link follows the first by a function that counts its calls, and a third
/// link that constraints may act on.
Mechanism countingRobot(long& calls) {
  Mechanism robot("counting");
  robot.gravity = {0, 0, 0};
  robot.addBody("ground");
  for (const char* name : {"a", "b", "c"}) {
    robot.addBody(name).withMass(1.1).centeredAt({0.3, 0.1, 0}).withInertia(0.02, 0.07, 0.08);
  }
  robot.addRevolute("to_a").from("ground").to("a").about({0, 1, 0}).independent();
  robot.addRevolute("to_b").from("a").to("b").at({0.5, 0, 0}).about({0, 1, 0}).dependent();
  robot.addRevolute("to_c").from("b").to("c").at({0.5, 0, 0}).about({0, 1, 0});
  Function& cam = robot.addFunction("cam", {"to_a", "to_b"}, 1, [&calls](const auto& q, auto& phi) {
    using std::sin;
    ++calls;
    phi[0] = 2.0 * q[1] - sin(q[0]) - 0.1;
  });
  cam.symbolic = nullptr;
  cam.cut = false;
  return robot;
}

/// Calls of the function while a robot is at rest, so that all stages are at one position. Constraints
/// do not change how often it is needed: where rows act, stages use the same solved loops.
TEST(SolvedLoops, AreSolvedOnceWhereRowsAct) {
  long calls = 0;
  const Model model(countingRobot(calls));
  const auto callsOf = [&](const std::function<void(Simulator&)>& prepare) {
    Simulator simulator(
        model, {.integrator = Integrator::RungeKutta4, .stabilization = Stabilization::Baumgarte});
    prepare(simulator);
    simulator.step(1e-3);
    calls = 0;
    for (int i = 0; i < 10; ++i) {
      simulator.step(1e-3);
    }
    return calls;
  };
  const long free = callsOf([](Simulator& /*simulator*/) {});
  EXPECT_GT(free, 0);
  const long tied = callsOf([&](Simulator& simulator) {
    Constraints constraints(model);
    constraints.lock("lock", "to_c", model.neutral());
    simulator.setConstraints(constraints);
  });
  EXPECT_EQ(tied, free);
}

}  // namespace
}  // namespace kempe::test
