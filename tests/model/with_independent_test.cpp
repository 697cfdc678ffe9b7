#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <random>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

class EveryMechanism : public ::testing::TestWithParam<MechanismCase> {};

/// Coordinates of every cluster in which the rows of G are far from dependent, drawn at random.
std::vector<std::string> otherCoordinates(const Model& model, const Eigen::MatrixXd& G,
                                          std::mt19937_64& engine) {
  std::vector<std::string> names;
  Eigen::Index firstRow = 0, firstColumn = 0;
  for (const ClusterInfo& cluster : model.clusters()) {
    Eigen::Index rows = 0;
    for (const std::string& joint : cluster.joints) {
      rows += velocitySize(model.mechanism().findJoint(joint)->type);
    }
    std::vector<Eigen::Index> order;
    for (Eigen::Index i = 0; i < rows; ++i) {
      order.push_back(firstRow + i);
    }
    std::ranges::shuffle(order, engine);
    std::vector<Eigen::Index> picked;
    for (const Eigen::Index row : order) {
      picked.push_back(row);
      const Eigen::MatrixXd part = G(picked, Eigen::seqN(firstColumn, cluster.mobility));
      if (static_cast<int>(picked.size()) > cluster.mobility ||
          singularValues(part).minCoeff() < 0.1) {
        picked.pop_back();
      }
    }
    if (static_cast<int>(picked.size()) == cluster.mobility) {
      for (const Eigen::Index row : picked) {
        names.push_back(model.spanningVelocityNames()[static_cast<std::size_t>(row)]);
      }
    }
    firstRow += rows;
    firstColumn += cluster.mobility;
  }
  return names;
}

/// The entries of `all` that are called `names`.
Eigen::VectorXd named(const Eigen::VectorXd& all, const std::vector<std::string>& allNames,
                      const std::vector<std::string>& names) {
  Eigen::VectorXd some(static_cast<Eigen::Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    some[static_cast<Eigen::Index>(i)] =
        all[std::ranges::find(allNames, names[i]) - allNames.begin()];
  }
  return some;
}

/// Accelerations of all joints that forces at all joints cause.
Eigen::VectorXd accelerations(const Model& model, const Eigen::VectorXd& q,
                              const Eigen::VectorXd& v, const Eigen::VectorXd& forces) {
  Data data(model);
  Eigen::VectorXd tau = poisoned(model.nv()), a = poisoned(model.nv());
  Eigen::VectorXd g = poisoned(model.nvSpanning());
  Eigen::MatrixXd G = poisoned(model.nvSpanning(), model.nv());
  generalizedForces(model, data, q, forces, tau);
  forwardDynamics(model, data, q, v, tau, a);
  constraintJacobian(model, data, q, G);
  constraintBias(model, data, q, v, g);
  return G * a + g;
}

TEST_P(EveryMechanism, MovesTheSameInOtherCoordinates) {
  const Model model(randomMechanism(GetParam()));
  std::mt19937_64 engine(GetParam().seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto random = [&](int size) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return uniform(engine); }).eval();
  };
  Data data(model);
  const Eigen::VectorXd q = model.randomConfiguration(4), v = random(model.nv());
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  constraintJacobian(model, data, q, G);
  const Model other = model.withIndependent(otherCoordinates(model, G, engine));
  EXPECT_EQ(other.nv(), model.nv());
  EXPECT_EQ(other.spanningVelocityNames(), model.spanningVelocityNames());

  Eigen::VectorXd positions(model.nqSpanning()), velocities(model.nvSpanning());
  spanning(model, data, q, v, positions, velocities);
  const Eigen::VectorXd otherQ = named(positions, model.spanningPositionNames(), other.qNames());
  const Eigen::VectorXd otherV = named(velocities, model.spanningVelocityNames(), other.vNames());
  Data otherData(other);
  Eigen::VectorXd otherPositions = poisoned(model.nqSpanning());
  Eigen::VectorXd otherVelocities = poisoned(model.nvSpanning());
  spanning(other, otherData, otherQ, otherV, otherPositions, otherVelocities);
  EXPECT_TRUE(closeTo(otherPositions, positions, 1e-12));
  EXPECT_TRUE(closeTo(otherVelocities, velocities, 1e-9));
  const Eigen::VectorXd forces = random(model.nvSpanning());
  EXPECT_TRUE(closeTo(accelerations(other, otherQ, otherV, forces),
                      accelerations(model, q, v, forces), 1e-8));

  // The neutral position is closed and regular in the new coordinates.
  Eigen::VectorXd residual(other.nLoopRows());
  loopResidual(other, otherData, other.neutral(), residual);
  EXPECT_TRUE(residual.size() == 0 || residual.cwiseAbs().maxCoeff() < 1e-9);
  EXPECT_NO_THROW(constraintJacobian(other, otherData, other.neutral(), G));
}

INSTANTIATE_TEST_SUITE_P(Random, EveryMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

TEST(WithIndependent, CoordinatesThatDoNotDetermineTheOthersAreRefused) {
  // Two pendulums that are geared to each other, and a third one that is free.
  Mechanism robot("three");
  robot.addBody("ground");
  for (const std::string name : {"a", "b", "c"}) {
    robot.addBody(name).withMass(1).withInertia(1, 1, 1);
    robot.addRevolute("to_" + name).from("ground").to(name).at({0, name[0] * 0.01, 0});
  }
  robot.addGear("gear", "to_b", 2.0, "to_a");
  robot.addCoupling("tie").plus(1, "to_a").minus(0, "to_c").equals(0);
  const Model model(robot);
  ASSERT_EQ(model.nv(), 1);
  EXPECT_NE(refusal([&] {
              static_cast<void>(model.withIndependent({"to_a"}));
            }).find("do not determine the others"),
            std::string::npos);
  EXPECT_EQ(model.withIndependent({"to_c"}).vNames(), std::vector<std::string>{"to_c"});
}

}  // namespace
}  // namespace kempe::test
