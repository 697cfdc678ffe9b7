#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <random>
#include <thread>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/projected_oracle.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

class EveryMechanism : public ::testing::TestWithParam<MechanismCase> {
 protected:
  EveryMechanism()
      : robot(randomMechanism(GetParam())),
        model(robot),
        unfolded(robot, {.foldRotors = false}),
        data(model),
        oracle(model),
        engine_(GetParam().seed) {
    q = model.randomConfiguration(11);
    v = randomVector();
    a = randomVector();
    tau = randomVector();
    oracle.set(q, v);
  }

  Eigen::VectorXd randomVector() {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine_); });
  }

  /// Forces on a few frames, in all references, with what the oracle makes of them.
  std::vector<FrameForce> randomForces() {
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    std::vector<FrameForce> forces;
    int reference = 0;
    for (std::size_t i = 0; i < robot.bodies.size(); i += 2) {
      FrameForce force;
      force.frame = model.frameIndex(robot.bodies[i].name);
      force.reference = static_cast<Reference>(reference++ % 3);
      for (double& x : force.wrench) {
        x = uniform(engine_);
      }
      forces.push_back(force);
    }
    return forces;
  }

  Eigen::VectorXd generalizedByOracle(const std::vector<FrameForce>& forces) const {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(model.nv());
    for (const FrameForce& force : forces) {
      const std::string& body = model.frameNames()[static_cast<std::size_t>(force.frame)];
      const Oracle::Motion m =
          oracle.oracle.motion(body, {0, 0, 0}, oracle.positions, oracle.rates);
      Eigen::Vector3d f(force.wrench[0], force.wrench[1], force.wrench[2]);
      Eigen::Vector3d n(force.wrench[3], force.wrench[4], force.wrench[5]);
      if (force.reference == Reference::Local) {
        f = m.R * f;
        n = m.R * n;
      } else if (force.reference == Reference::World) {
        n -= m.p.cross(f);  // about the frame's origin
      }
      sum += oracle.G.transpose() * (m.linear.transpose() * f + m.angular.transpose() * n);
    }
    return sum;
  }

  Mechanism robot;
  Model model, unfolded;
  Data data;
  ProjectedOracle oracle;
  Eigen::VectorXd q, v, a, tau;

 private:
  std::mt19937_64 engine_;
};

TEST_P(EveryMechanism, InverseDynamicsEqualsProjectionByOracle) {
  Eigen::VectorXd actual = poisoned(model.nv());
  inverseDynamics(model, data, q, v, a, actual);
  const Eigen::VectorXd expected = oracle.massMatrix() * a + oracle.biasForces();
  EXPECT_TRUE(closeTo(actual, expected, 1e-10));

  const std::vector<FrameForce> forces = randomForces();
  inverseDynamics(model, data, q, v, a, actual, {.external = forces});
  EXPECT_TRUE(closeTo(actual, (expected - generalizedByOracle(forces)).eval(), 1e-10));
}

TEST_P(EveryMechanism, MassMatrixEqualsProjectionByOracle) {
  Eigen::MatrixXd H = poisoned(model.nv(), model.nv());
  massMatrix(model, data, q, H);
  EXPECT_TRUE(closeTo(H, oracle.massMatrix(), 1e-11));
  EXPECT_TRUE(closeTo(H, H.transpose(), 0.0));
  EXPECT_TRUE(isPositiveDefinite(H));
}

TEST_P(EveryMechanism, ForwardDynamicsEqualsProjectionByOracle) {
  const std::vector<FrameForce> forces = randomForces();
  Eigen::VectorXd actual = poisoned(model.nv());
  forwardDynamics(model, data, q, v, tau, actual, {.external = forces});
  const Eigen::VectorXd expected =
      solveDefinite(oracle.massMatrix(), tau + generalizedByOracle(forces) - oracle.biasForces());
  EXPECT_TRUE(closeTo(actual, expected, 1e-9));
}

TEST_P(EveryMechanism, ForwardUndoesInverse) {
  Eigen::VectorXd force = poisoned(model.nv()), back = poisoned(model.nv());
  inverseDynamics(model, data, q, v, a, force);
  forwardDynamics(model, data, q, v, force, back);
  EXPECT_TRUE(closeTo(back, a, 1e-9));
}

TEST_P(EveryMechanism, InverseMassMatrixIsTheInverse) {
  Eigen::MatrixXd H = poisoned(model.nv(), model.nv()), inverse = poisoned(model.nv(), model.nv());
  massMatrix(model, data, q, H);
  inverseMassMatrix(model, data, q, inverse);
  EXPECT_TRUE(
      closeTo((H * inverse).eval(), Eigen::MatrixXd::Identity(model.nv(), model.nv()), 1e-8));
  Eigen::VectorXd x = poisoned(model.nv());
  applyInverseMassMatrix(model, data, q, tau, x);
  EXPECT_TRUE(closeTo(x, (inverse * tau).eval(), 1e-10));
}

TEST_P(EveryMechanism, FoldedAndUnfoldedRotorsGiveTheSame) {
  Data other(unfolded);
  Eigen::VectorXd x = poisoned(model.nv()), y = poisoned(model.nv());
  Eigen::MatrixXd H = poisoned(model.nv(), model.nv()), K = H;
  const std::vector<FrameForce> forces = randomForces();
  inverseDynamics(model, data, q, v, a, x, {.external = forces});
  inverseDynamics(unfolded, other, q, v, a, y, {.external = forces});
  EXPECT_TRUE(closeTo(x, y, 1e-12));
  forwardDynamics(model, data, q, v, tau, x, {.external = forces});
  forwardDynamics(unfolded, other, q, v, tau, y, {.external = forces});
  EXPECT_TRUE(closeTo(x, y, 1e-9));
  massMatrix(model, data, q, H);
  massMatrix(unfolded, other, q, K);
  EXPECT_TRUE(closeTo(H, K, 1e-13));
}

TEST_P(EveryMechanism, FloatAgreesToItsPrecision) {
  DataF floatData(model);
  Eigen::VectorXf force(model.nv()), acceleration(model.nv());
  Eigen::VectorXd expected(model.nv());
  inverseDynamics(model, floatData, q.cast<float>(), v.cast<float>(), a.cast<float>(), force);
  inverseDynamics(model, data, q, v, a, expected);
  EXPECT_TRUE(closeTo(force.cast<double>(), expected, 1e-3));
  // Well-posed in float: a force that asks for accelerations of size one.
  forwardDynamics(model, floatData, q.cast<float>(), v.cast<float>(), expected.cast<float>(),
                  acceleration);
  const double condition = [&] {
    Eigen::MatrixXd H(model.nv(), model.nv());
    massMatrix(model, data, q, H);
    const Eigen::VectorXd values = eigenvalues(H);
    return values.maxCoeff() / values.minCoeff();
  }();
  EXPECT_TRUE(closeTo(acceleration.cast<double>(), a, std::max(1e-3, 1e-6 * condition)));
}

TEST_P(EveryMechanism, AllocatesNothing) {
  Eigen::VectorXd x(model.nv()), spanning = Eigen::VectorXd::Ones(model.nvSpanning());
  Eigen::MatrixXd H(model.nv(), model.nv());
  const std::vector<FrameForce> forces = randomForces();
  const auto evaluate = [&] {
    inverseDynamics(model, data, q, v, a, x, {.external = forces});
    forwardDynamics(model, data, q, v, tau, x, {.external = forces});
    biasForces(model, data, q, v, x);
    gravityForces(model, data, q, x);
    generalizedForces(model, data, q, spanning, x);
    massMatrix(model, data, q, H);
    inverseMassMatrix(model, data, q, H);
    applyInverseMassMatrix(model, data, q, tau, x);
  };
  evaluate();  // first calls allocate
  EXPECT_EQ(allocationsOf(evaluate), 0);
}

/// Otherwise folded and unfolded rotors are compared where nothing folds.
TEST(RandomMotorsInLoops, FoldInMostMechanisms) {
  int mechanisms = 0, folding = 0;
  for (const MechanismCase& choice : everyMechanism()) {
    if (choice.family != Family::MotorsInLoops) {
      continue;
    }
    const Model model(randomMechanism(choice));
    const std::vector<std::string>& rotors = model.foldedRotors();
    const bool folds = std::ranges::any_of(model.clusters(), [&](const ClusterInfo& cluster) {
      return cluster.implicit && std::ranges::any_of(cluster.bodies, [&](const std::string& body) {
               return std::ranges::find(rotors, body) != rotors.end();
             });
    });
    ++mechanisms;
    folding += folds ? 1 : 0;
  }
  EXPECT_GT(2 * folding, mechanisms);
}

INSTANTIATE_TEST_SUITE_P(Random, EveryMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
