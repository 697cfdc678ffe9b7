#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/projected_oracle.hpp"

/// Clusters of many loops whose K_d is a band matrix (src/loops/band_factorization.hpp), against dense
/// projection by the oracle, which shares no code with it.
namespace kempe::test {
namespace {

/// Rockers of different lengths on a base, each joined to the next by a coupler.
Mechanism ladder(int loops) {
  Mechanism robot("ladder");
  robot.addBody("base").withMass(3).centeredAt({0.1, 0.2, -0.1}).withInertia(1, 1.2, 0.8);
  robot.addFloatingBase();
  const auto addLink = [&](const std::string& name) {
    robot.addBody(name).withMass(0.7).centeredAt({0.4, 0.1, 0.05}).withInertia(0.1, 0.12, 0.11);
  };
  constexpr double kUp = std::numbers::pi / 2;
  for (int i = 0; i <= loops; ++i) {
    const std::string rocker = "rocker" + std::to_string(i);
    addLink(rocker);
    robot.addRevolute(rocker).from("base").to(rocker).at({1.0 * i, 0, 0}, {0, 0, kUp - 0.2});
  }
  for (int i = 0; i < loops; ++i) {
    const std::string number = std::to_string(i), coupler = "coupler" + number;
    addLink(coupler);
    robot.addRevolute(coupler).from("rocker" + number).to(coupler).at({1, 0, 0}, {0, 0, 0.2 - kUp});
    robot.addLoop("pin" + number, LoopType::Revolute)
        .from(coupler, at({1, 0, 0}))
        .to("rocker" + std::to_string(i + 1), at({1, 0, 0}))
        .leftCut(false);
  }
  return robot;
}

TEST(Ladder, DynamicsEqualProjectionByOracle) {
  const Model model(ladder(12));
  Data data(model);
  ProjectedOracle oracle(model);
  for (const int choice : {1, 2}) {
    const Eigen::VectorXd q = model.randomConfiguration(choice);
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1.0, 1.0), tau = 3.0 * v;
    oracle.set(q, v);
    Eigen::VectorXd a = poisoned(model.nv()), back = poisoned(model.nv());
    forwardDynamics(model, data, q, v, tau, a);
    EXPECT_TRUE(
        closeTo(a, solveDefinite(oracle.massMatrix(), tau - oracle.biasForces()).eval(), 1e-9));
    inverseDynamics(model, data, q, v, a, back);
    EXPECT_TRUE(closeTo(back, tau, 1e-9));
    forwardDynamics(model, data, q, v, tau, back, {.method = Method::Lagrange});
    EXPECT_TRUE(closeTo(back, a, 1e-8));
  }
}

TEST(Ladder, JacobianEqualsOracle) {
  const Model model(ladder(12));
  Data data(model);
  const Eigen::VectorXd q = model.randomConfiguration(3);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1.0, 1.0);
  Eigen::MatrixXd G = poisoned(model.nvSpanning(), model.nv());
  constraintJacobian(model, data, q, G);
  ProjectedOracle oracle(model);
  oracle.set(q, v);
  EXPECT_TRUE(closeTo(G, oracle.G, 1e-9));
}

}  // namespace
}  // namespace kempe::test
