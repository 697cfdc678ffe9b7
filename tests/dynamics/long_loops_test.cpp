#include <gtest/gtest.h>

#include <numbers>
#include <random>
#include <string>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/projected_oracle.hpp"

/// Loops of one open chain that carries nothing (src/kernels/chain_clusters.hpp), against dense
/// projection by the oracle, which shares no code with it.
namespace kempe::test {
namespace {

enum class Closing { Hinge, Ball, Rod, Function };

struct Chain {
  int links = 8;
  Closing closing = Closing::Hinge;
  bool floats = false, spatial = false, slides = false;
  double light = 1.0;  ///< factor of the inertia of one link

  friend std::ostream& operator<<(std::ostream& out, const Chain& c) {
    return out << c.links << " links, closing " << static_cast<int>(c.closing)
               << (c.floats ? ", floating" : "") << (c.spatial ? ", spatial" : "")
               << (c.slides ? ", sliding" : "") << ", light " << c.light;
  }
};

/// A chain from one side of a base to the other, closed in its neutral position: a polygon.
Mechanism closedChain(const Chain& c, unsigned seed) {
  std::mt19937 engine(seed);
  const auto number = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(engine);
  };
  Mechanism robot("chain");
  robot.addBody("base").withMass(3).centeredAt({0.1, 0.2, -0.1}).withInertia(1, 1.2, 0.8);
  if (c.floats) {
    robot.addFloatingBase();
  }
  const double turn = 2 * std::numbers::pi / (c.links + 1);
  std::string parent = "base";
  for (int i = 0; i < c.links; ++i) {
    const std::string link = "link" + std::to_string(i);
    const double size = i == c.links / 2 ? c.light : 1.0;
    robot.addBody(link)
        .withMass(size * number(0.5, 2))
        .centeredAt({number(0.2, 0.8), number(-0.2, 0.2), number(-0.1, 0.1)})
        .withInertia(size * number(0.1, 0.15), size * number(0.1, 0.15), size * number(0.1, 0.15));
    const bool slides = c.slides && i == 2;
    auto& joint =
        robot.addJoint("to_" + link, slides ? JointType::Prismatic : JointType::Continuous)
            .from(parent)
            .to(link)
            .at({i == 0 ? 0.0 : 1.0, 0, 0}, {0, 0, turn})
            .about(slides ? Vector3{1, 0, 0}
                          : (c.spatial ? Vector3{number(-0.5, 0.5), number(-0.5, 0.5), 1}
                                       : Vector3{0, 0, 1}))
            .withArmature(i == 1 ? 0.3 : 0.0)
            .withDamping(i == 2 ? 0.2 : 0.0);
    if (i == 0) {
      joint.withSpring(2.0, 0.1);
    }
    parent = link;
  }
  const Pose tip = at({1, 0, 0}), end = at({-1, 0, 0});
  switch (c.closing) {
    case Closing::Hinge:
      robot.addLoop("closure", LoopType::Revolute).from(parent, tip).to("base", end).leftCut(false);
      break;
    case Closing::Ball:
      robot.addLoop("closure", LoopType::Spherical)
          .from(parent, tip)
          .to("base", end)
          .leftCut(false);
      break;
    case Closing::Rod:
      robot.addRod("closure")
          .from(parent, {0.2, 0, 0})
          .to("base", {-1, 0, 0})
          .ofLength(0.8)
          .leftCut(false);
      break;
    case Closing::Function:
      robot
          .addFunction("closure", {"to_link0", "to_link" + std::to_string(c.links - 1)}, 1,
                       [](const auto& q, auto& phi) {
                         using std::sin;
                         phi[0] = sin(q[0]) - q[1] * q[1] - 0.5 * q[1];
                       })
          .cut = false;
      break;
  }
  return robot;
}

class LongLoops : public ::testing::TestWithParam<Chain> {};

TEST_P(LongLoops, ForwardDynamicsEqualsProjectionByOracle) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Model model(closedChain(GetParam(), seed));
    Data data(model);
    ProjectedOracle oracle(model);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const auto random = [&] {
      return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); }).eval();
    };
    for (unsigned state = 1; state <= 3; ++state) {
      const Eigen::VectorXd q = model.randomConfiguration(state), v = random(), tau = random();
      oracle.set(q, v);
      const Eigen::VectorXd expected =
          solveDefinite(oracle.massMatrix(), tau - oracle.biasForces());
      Eigen::VectorXd actual = poisoned(model.nv());
      forwardDynamics(model, data, q, v, tau, actual);
      EXPECT_TRUE(closeTo(actual, expected, 1e-9)) << "seed " << seed << ", state " << state;
      Eigen::VectorXd inPlace = tau;
      forwardDynamics(model, data, q, v, inPlace, inPlace);
      EXPECT_TRUE(closeTo(inPlace, actual, 0.0));
    }
  }
}

TEST_P(LongLoops, ForwardUndoesInverseUnderExternalForces) {
  const Model model(closedChain(GetParam(), 5));
  Data data(model);
  const Eigen::VectorXd q = model.randomConfiguration(5);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1.0, 1.0), a = 2.0 * v;
  std::vector<FrameForce> forces(2);
  forces[0].frame = model.frameIndex("link2");
  forces[0].wrench = {1, -2, 0.5, 0.3, 0.2, -1};
  forces[1].frame = model.frameIndex("link4");
  forces[1].wrench = {-0.4, 1, 2, 0.1, -0.7, 0.6};
  Eigen::VectorXd tau = poisoned(model.nv()), back = poisoned(model.nv());
  inverseDynamics(model, data, q, v, a, tau, {.external = forces});
  forwardDynamics(model, data, q, v, tau, back, {.external = forces});
  EXPECT_TRUE(closeTo(back, a, 1e-8));
}

/// Light links, positions near dead points: whatever is returned is accurate.
TEST(LongLoopsSingular, EveryStateIsAccurateOrReported) {
  const Model model(closedChain({.links = 8}, 1));
  Data data(model);
  ProjectedOracle oracle(model);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1.0, 1.0);
  int solved = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    Eigen::VectorXd a = poisoned(model.nv());
    try {
      forwardDynamics(model, data, q, v, v, a);
    } catch (const SingularityError&) {
      continue;
    }
    ++solved;
    oracle.set(q, v);
    EXPECT_TRUE(
        closeTo(a, solveDefinite(oracle.massMatrix(), v - oracle.biasForces()).eval(), 1e-8));
  }
  EXPECT_GT(solved, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Random, LongLoops,
    ::testing::Values(Chain{.links = 5}, Chain{.links = 8}, Chain{.links = 21},
                      Chain{.links = 8, .floats = true},
                      Chain{.links = 12, .floats = true, .slides = true},
                      Chain{.links = 9, .closing = Closing::Ball, .spatial = true},
                      Chain{.links = 9, .closing = Closing::Ball, .floats = true, .spatial = true},
                      Chain{.links = 13, .closing = Closing::Hinge, .spatial = true},
                      Chain{.links = 6, .closing = Closing::Rod, .floats = true},
                      Chain{.links = 7, .closing = Closing::Function, .floats = true},
                      // Light links, which need D.
                      Chain{.links = 8, .light = 1e-5}, Chain{.links = 8, .light = 1e-9},
                      Chain{.links = 8, .floats = true, .light = 0.0}),
    [](const auto& given) { return "Chain" + std::to_string(given.index); });

}  // namespace
}  // namespace kempe::test
