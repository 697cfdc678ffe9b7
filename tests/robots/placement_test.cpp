// Linkages and chains stand upright, so that gravity moves them; the published placement is kept
// as an option.

#include <gtest/gtest.h>

#include <map>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

namespace kempe {
namespace {

using robots::Placement;

class PlanarRobot : public ::testing::TestWithParam<const char*> {};

TEST_P(PlanarRobot, HasAxesAlongGravityAsPublished) {
  const Model model = robots::load(GetParam(), 0, {}, Placement::Published);
  Data data(model);
  Eigen::VectorXd tau = Eigen::VectorXd::Constant(model.nv(), NAN);
  for (int seed = 0; seed < 5; ++seed) {
    gravityForces(model, data, model.randomConfiguration(seed), tau);
    EXPECT_LT(tau.lpNorm<Eigen::Infinity>(), 1e-12) << "seed " << seed;
  }
}

TEST_P(PlanarRobot, IsUprightAsIfGravityHadBeenTurned) {
  Mechanism turned = robots::mechanism(GetParam(), 0, Placement::Published);
  turned.gravity = {0, -9.81, 0};
  const Model expected(turned), upright = robots::load(GetParam());
  EXPECT_EQ(upright.gravity(), (Vector3{0, 0, -9.81}));
  Data expectedData(expected), data(upright);
  Eigen::VectorXd a = Eigen::VectorXd::Constant(upright.nv(), NAN), b = a;
  for (int seed = 0; seed < 5; ++seed) {
    const Eigen::VectorXd q = upright.randomConfiguration(seed);
    gravityForces(expected, expectedData, q, a);
    gravityForces(upright, data, q, b);
    EXPECT_TRUE(test::closeTo(b, a, 1e-9)) << "seed " << seed;
    EXPECT_GT(b.lpNorm<Eigen::Infinity>(), 0.01) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, PlanarRobot,
                         ::testing::Values("four_bar", "six_bar", "planar_leg", "geared_chain",
                                           "belt_chain"));

TEST(Placement, IsOneAndTheSameForRobotsInSpace) {
  for (const char* name : {"tello", "five_bar"}) {
    const Model upright = robots::load(name),
                published = robots::load(name, 0, {}, Placement::Published);
    Data data(upright), publishedData(published);
    const Eigen::VectorXd q = upright.randomConfiguration(1);
    Eigen::VectorXd a(upright.nv()), b(upright.nv());
    gravityForces(upright, data, q, a);
    gravityForces(published, publishedData, q, b);
    EXPECT_EQ(a, b) << name;
  }
}

}  // namespace
}  // namespace kempe
