#include <gtest/gtest.h>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/projected_oracle.hpp"

namespace kempe::test {
namespace {

/// Fig. 5 of Chignoli et al.: bodies 1, 2, 3 in series form a cluster; 4 on 1 and 5 on 4 another; 6
/// on 1 and 7 on 2 a third, whose bodies hang on two bodies of the first.
Mechanism figureFive() {
  Mechanism robot("figure_five");
  robot.addBody("ground");
  const auto add = [&](const char* name, const char* parent, const Vector3& origin,
                       const Vector3& axis) {
    robot.addBody(name).withMass(1.2).centeredAt({0.4, 0.1, -0.05}).withInertia(0.02, 0.09, 0.1);
    robot.addRevolute("to_" + std::string(name)).from(parent).to(name).at(origin).about(axis);
  };
  add("1", "ground", {0, 0, 0}, {0, 0, 1});
  add("2", "1", {1, 0, 0}, {0, 1, 0.3});
  add("3", "2", {1, 0, 0}, {1, 0, 1});
  add("4", "1", {0, 1, 0}, {0, 1, 1});
  add("5", "4", {1, 0, 0}, {0, 0, 1});
  add("6", "1", {0.5, 0, 0}, {0, 0.2, 1});
  add("7", "2", {0.5, 0, 0}, {0, 0, 1});
  robot.addCoupling("first").plus(1, "to_1").plus(1, "to_2").plus(1, "to_3");
  robot.addGear("second", "to_5", 2, "to_4");
  robot.addRod("third").from("6", {0.8, 0, 0}).to("7", {0.8, 0, 0.1}).ofLength(1.2);
  return robot;
}

TEST(TwoOutputs, DynamicsEqualTheOracles) {
  const Model model(figureFive());
  Data data(model);
  ProjectedOracle oracle(model);
  ASSERT_EQ(model.nv(), 4);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(4, -1.0, 0.7),
                          a = Eigen::VectorXd::LinSpaced(4, 0.3, -0.9);
    oracle.set(q, v);
    Eigen::VectorXd tau = poisoned(4), back = poisoned(4);
    Eigen::MatrixXd H = poisoned(4, 4);
    inverseDynamics(model, data, q, v, a, tau);
    EXPECT_TRUE(closeTo(tau, (oracle.massMatrix() * a + oracle.biasForces()).eval(), 1e-10));
    forwardDynamics(model, data, q, v, tau, back);
    EXPECT_TRUE(closeTo(back, a, 1e-10));
    massMatrix(model, data, q, H);
    EXPECT_TRUE(closeTo(H, oracle.massMatrix(), 1e-11));
  }
}

}  // namespace
}  // namespace kempe::test
