// Every bundled robot moves: from random starts, with its loops closed and its energy kept, and
// under gravity alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kempe/kempe.hpp"

namespace kempe {
namespace {

/// Robots by name; chains are short, to be quick.
Mechanism robotNamed(const std::string& name) {
  return robots::mechanism(name, name.ends_with("chain") ? 4 : 0);
}

/// The robot on a test stand.
Mechanism held(Mechanism robot) {
  for (Joint& joint : robot.joints) {
    if (joint.type == JointType::Free) {
      joint.type = JointType::Fixed;
    }
  }
  return robot;
}

class EveryRobotMoves : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryRobotMoves, FromRandomStarts) {
  const Model model(robotNamed(GetParam()));
  for (int seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulator simulator(model, {.integrator = Integrator::Adaptive});
    const Eigen::VectorXd rates = Eigen::VectorXd::LinSpaced(model.nv(), -0.5, 0.5);
    simulator.setState(model.randomConfiguration(seed), rates);
    const Energy start = simulator.energy();
    double moved = start.kinetic, error = 0.0;
    for (int i = 1; i <= 20; ++i) {
      simulator.stepTo(0.01 * i);
      const Energy now = simulator.energy();
      moved = std::max({moved, now.kinetic, std::abs(now.potential - start.potential)});
      error =
          std::max(error, std::abs(now.kinetic + now.potential - start.kinetic - start.potential));
      ASSERT_TRUE(simulator.q().allFinite() && simulator.v().allFinite());
      ASSERT_LT(simulator.loopError(), 1e-9);
    }
    EXPECT_LT(error, 1e-5 * moved);
  }
}

/// The largest way of a joint in half a second, from rest.
double swingOf(const Model& model, const Eigen::VectorXd& q) {
  Simulator simulator(model, {.integrator = Integrator::Adaptive});
  simulator.setState(q, Eigen::VectorXd::Zero(model.nv()));
  Data data(model);
  Eigen::VectorXd first(model.nqSpanning()), now(model.nqSpanning());
  spanningPositions(model, data, q, first);
  double swing = 0.0;
  for (int i = 1; i <= 10; ++i) {
    simulator.stepTo(0.05 * i);
    spanningPositions(model, data, simulator.q(), now);
    swing = std::max(swing, (now - first).lpNorm<Eigen::Infinity>());
  }
  return swing;
}

TEST_P(EveryRobotMoves, UnderGravity) {
  const Model model(held(robotNamed(GetParam())));
  for (int seed = 0; seed < 2; ++seed) {
    EXPECT_GT(swingOf(model, model.randomConfiguration(seed)), 0.2) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, EveryRobotMoves, ::testing::ValuesIn(robots::names()),
                         [](const auto& test) { return test.param; });

TEST(LinkagesAndChains, SwingFromTheirNeutralPosition) {
  for (const char* name :
       {"four_bar", "six_bar", "five_bar", "planar_leg", "geared_chain", "belt_chain"}) {
    const Model model(robotNamed(name));
    EXPECT_GT(swingOf(model, model.neutral()), 0.2) << name;
  }
}

}  // namespace
}  // namespace kempe
