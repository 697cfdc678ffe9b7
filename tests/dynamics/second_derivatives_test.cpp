#include <gtest/gtest.h>

#include <random>

#include "dynamics/derivative_checks.hpp"
#include "kempe/inverse_dynamics_second_derivatives.hpp"
#include "support/allocations.hpp"
#include "support/derivative_oracle.hpp"
#include "support/differences.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

/// Without dry friction, τ is linear in a and quadratic in v: differences of first derivatives are exact over
/// steps of any length.
void expectThoseOfLinearParts(Mechanism robot, std::uint64_t seed) {
  for (Joint& joint : robot.joints) {
    joint.withFriction(0);
  }
  const Model model(robot);
  Data data(model);
  const int n = model.nv();
  RandomNumbers random(seed);
  const Eigen::VectorXd q = model.randomConfiguration(11), v = random.vector(n),
                        a = random.vector(n), lambda = random.vector(n);
  const std::vector<FrameForce> forces = random.forces(model);
  Eigen::MatrixXd qq = poisoned(n, n), qv = poisoned(n, n), vv = poisoned(n, n),
                  qa = poisoned(n, n);
  inverseDynamicsSecondDerivatives(model, data, q, v, a, lambda, qq, qv, vv, qa,
                                   {.external = forces});
  double size = 0.0;
  const auto gradient = [&](const Eigen::VectorXd& rates, const Eigen::VectorXd& accelerations) {
    Eigen::MatrixXd byQ(n, n), byV(n, n), H(n, n), both(n, 2);
    inverseDynamicsDerivatives(model, data, q, rates, accelerations, byQ, byV, H,
                               {.external = forces});
    both << byQ.transpose() * lambda, byV.transpose() * lambda;
    size = std::max(size, (byQ.cwiseAbs() + byV.cwiseAbs() + H.cwiseAbs()).maxCoeff());
    return both;
  };
  Eigen::MatrixXd ofQV(n, n), ofVV(n, n), ofQA(n, n);
  for (int k = 0; k < n; ++k) {
    const Eigen::VectorXd e = Eigen::VectorXd::Unit(n, k);
    const Eigen::MatrixXd byV = 0.5 * (gradient(v + e, a) - gradient(v - e, a));
    ofQV.col(k) = byV.col(0);
    ofVV.col(k) = byV.col(1);
    ofQA.col(k) = 0.5 * (gradient(v, a + e) - gradient(v, a - e)).col(0);
  }
  const Eigen::MatrixXd allowed = Eigen::MatrixXd::Constant(1, 1, size);
  EXPECT_TRUE(vanishesBeside(qv - ofQV, allowed, 1e-11)) << "qv";
  EXPECT_TRUE(vanishesBeside(vv - ofVV, allowed, 1e-11)) << "vv";
  EXPECT_TRUE(vanishesBeside(qa - ofQA, allowed, 1e-11)) << "qa";
}

/// Against derivatives of derivatives of the dense oracle, which shares no code with the library: of both
/// functions, multiplied from both sides by random directions.
void expectThoseOfOracle(const Mechanism& robot, std::uint64_t seed) {
  const Model model(robot);
  Data data(model);
  const int n = model.nv();
  RandomNumbers random(seed);
  const Eigen::VectorXd q = model.randomConfiguration(12), v = random.vector(n),
                        a = random.vector(n), lambda = random.vector(n), zero = 0.0 * lambda;
  const DerivativeOracle::Direction left{random.vector(n), random.vector(n), random.vector(n)},
      right{random.vector(n), random.vector(n), random.vector(n)};
  const std::vector<FrameForce> forces = random.forces(model);
  const DynamicsOptions how{.external = forces};
  Eigen::MatrixXd qq = poisoned(n, n), qv = poisoned(n, n), vv = poisoned(n, n),
                  qa = poisoned(n, n);
  inverseDynamicsSecondDerivatives(model, data, q, v, a, lambda, qq, qv, vv, qa, how);
  Eigen::VectorXd byQ = poisoned(n), byV = poisoned(n), byA = poisoned(n);
  inverseDynamicsHessianProduct(model, data, q, v, a, lambda, right.q, right.v, right.a, byQ, byV,
                                byA, how);
  DerivativeOracle oracle(model);
  oracle.set(q, v, a, forces);
  const Eigen::MatrixXd size =
      static_cast<double>(n) * (qq.cwiseAbs() + qv.cwiseAbs() + vv.cwiseAbs() + qa.cwiseAbs());
  const auto expectOracle = [&](const char* what, double found,
                                const DerivativeOracle::Direction& one,
                                const DerivativeOracle::Direction& then) {
    const double expected = lambda.dot(oracle.along(one, then));
    EXPECT_TRUE(vanishesBeside(Eigen::MatrixXd::Constant(1, 1, found - expected), size, 1e-11))
        << what << ": " << found << " instead of " << expected;
  };
  expectOracle("qq", left.q.dot(qq * right.q), {left.q, zero, zero}, {right.q, zero, zero});
  expectOracle("qv", left.q.dot(qv * right.v), {left.q, zero, zero}, {zero, right.v, zero});
  expectOracle("vv", left.v.dot(vv * right.v), {zero, left.v, zero}, {zero, right.v, zero});
  expectOracle("qa", left.q.dot(qa * right.a), {left.q, zero, zero}, {zero, zero, right.a});
  expectOracle("product", left.q.dot(byQ) + left.v.dot(byV) + left.a.dot(byA), left, right);
}

class SecondDerivatives : public ::testing::TestWithParam<MechanismCase> {
 protected:
  SecondDerivatives()
      : robot(randomMechanism(GetParam())), model(robot), data(model), n(model.nv()) {
    std::mt19937_64 engine(GetParam().seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const auto random = [&] {
      return Eigen::VectorXd(Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(engine); }));
    };
    q = model.randomConfiguration(11);
    v = random();
    a = random();
    lambda = random();
    alongQ = random();
    alongV = random();
    alongA = random();
    for (std::size_t i = 0; i < robot.bodies.size(); i += 2) {
      FrameForce force;
      force.frame = model.frameIndex(robot.bodies[i].name);
      force.reference = static_cast<Reference>(forces.size() % 3);
      for (double& x : force.wrench) {
        x = uniform(engine);
      }
      forces.push_back(force);
    }
  }

  /// [λᵀ ∂τ/∂q, λᵀ ∂τ/∂v, λᵀ H] at the state moved by x along parts of the direction.
  Eigen::VectorXd gradientAt(double x, bool ofQ, bool ofV, bool ofA) {
    Eigen::VectorXd moved = q;
    if (ofQ) {
      integrate(model, data, q, alongQ, x, moved);
    }
    Eigen::MatrixXd byQ(n, n), byV(n, n), H(n, n);
    inverseDynamicsDerivatives<double>(model, data, moved, v + (ofV ? x : 0.0) * alongV,
                                       a + (ofA ? x : 0.0) * alongA, byQ, byV, H,
                                       {.external = forces});
    Eigen::VectorXd all(3 * n);
    all << byQ.transpose() * lambda, byV.transpose() * lambda, H.transpose() * lambda;
    return all;
  }
  Eigen::VectorXd differences(bool ofQ, bool ofV, bool ofA) {
    return differentiated([&](double x) { return gradientAt(x, ofQ, ofV, ofA); });
  }

  Mechanism robot;
  Model model;
  Data data;
  int n;
  Eigen::VectorXd q, v, a, lambda, alongQ, alongV, alongA;
  std::vector<FrameForce> forces;
};

TEST_P(SecondDerivatives, OfAProductIsThatOfDifferencesOfFirstOnes) {
  Eigen::VectorXd byQ = poisoned(n), byV = poisoned(n), byA = poisoned(n);
  inverseDynamicsHessianProduct(model, data, q, v, a, lambda, alongQ, alongV, alongA, byQ, byV, byA,
                                {.external = forces});
  const Eigen::VectorXd expected = differences(true, true, true);
  EXPECT_TRUE(closeTo(byQ, expected.head(n), 1e-6));
  EXPECT_TRUE(closeTo(byV, expected.segment(n, n), 1e-6));
  EXPECT_TRUE(closeTo(byA, expected.tail(n), 1e-6));
}

TEST_P(SecondDerivatives, AsMatricesAreThoseOfDifferencesOfFirstOnes) {
  Eigen::MatrixXd qq = poisoned(n, n), qv = poisoned(n, n), vv = poisoned(n, n),
                  qa = poisoned(n, n);
  inverseDynamicsSecondDerivatives(model, data, q, v, a, lambda, qq, qv, vv, qa,
                                   {.external = forces});
  const Eigen::VectorXd ofQ = differences(true, false, false);
  EXPECT_TRUE(closeTo(qq * alongQ, ofQ.head(n), 1e-6));
  EXPECT_TRUE(closeTo(qv.transpose() * alongQ, ofQ.segment(n, n), 1e-6));
  EXPECT_TRUE(closeTo(qa.transpose() * alongQ, ofQ.tail(n), 1e-6));
  const Eigen::VectorXd ofV = differences(false, true, false);
  EXPECT_TRUE(closeTo(qv * alongV, ofV.head(n), 1e-9));
  EXPECT_TRUE(closeTo(vv * alongV, ofV.segment(n, n), 1e-9));
  EXPECT_TRUE(closeTo(vv, vv.transpose(), 1e-12));
  const Eigen::VectorXd ofA = differences(false, false, true);
  EXPECT_TRUE(closeTo(qa * alongA, ofA.head(n), 1e-9));
  EXPECT_TRUE(closeTo(Eigen::VectorXd::Zero(2 * n), ofA.tail(2 * n), 1e-9));
}

TEST_P(SecondDerivatives, OfLinearPartsAreThoseOfWholeSteps) {
  expectThoseOfLinearParts(robot, GetParam().seed);
}

TEST_P(SecondDerivatives, AreThoseOfTheOracle) {
  expectThoseOfOracle(robot, GetParam().seed);
}

/// Where all independent coordinates are plain numbers, directions commute.
TEST_P(SecondDerivatives, OfPlainCoordinatesAreSymmetric) {
  for (const Joint& joint : robot.joints) {
    if (joint.type == JointType::Free || joint.type == JointType::Spherical) {
      return;
    }
  }
  Eigen::MatrixXd qq = poisoned(n, n), qv(n, n), vv(n, n), qa(n, n);
  inverseDynamicsSecondDerivatives(model, data, q, v, a, lambda, qq, qv, vv, qa);
  EXPECT_TRUE(closeTo(qq, qq.transpose(), 1e-10));
}

TEST_P(SecondDerivatives, AllocateNothingAfterTheFirstCall) {
  Eigen::MatrixXd qq(n, n), qv(n, n), vv(n, n), qa(n, n);
  Eigen::VectorXd byQ(n), byV(n), byA(n);
  const auto call = [&] {
    inverseDynamicsSecondDerivatives(model, data, q, v, a, lambda, qq, qv, vv, qa,
                                     {.external = forces});
    inverseDynamicsHessianProduct(model, data, q, v, a, lambda, alongQ, alongV, alongA, byQ, byV,
                                  byA);
  };
  call();
  EXPECT_EQ(allocationsOf(call), 0);
}

INSTANTIATE_TEST_SUITE_P(Random, SecondDerivatives, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

/// A pendulum: τ = m l² a + m g l sin q, so that ∂²τ/∂q² = −m g l sin q and all others vanish.
TEST(SecondDerivativesOfRobots, AreThoseOfAPendulum) {
  Mechanism robot("pendulum");
  robot.addBody("ground");
  robot.addBody("bob").withMass(1.5).centeredAt({0, 0, -0.8});
  robot.addRevolute("pivot").from("ground").to("bob").about({0, 1, 0});
  const Model model(robot);
  Data data(model);
  const auto one = [](double x) { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, x)); };
  Eigen::MatrixXd qq = poisoned(1, 1), qv = poisoned(1, 1), vv = poisoned(1, 1),
                  qa = poisoned(1, 1);
  inverseDynamicsSecondDerivatives(model, data, one(0.7), one(2.0), one(-1.0), one(3.0), qq, qv, vv,
                                   qa);
  EXPECT_NEAR(qq(0, 0), -3.0 * 1.5 * 9.81 * 0.8 * std::sin(0.7), 1e-12);
  EXPECT_NEAR(qv(0, 0), 0.0, 1e-12);
  EXPECT_NEAR(vv(0, 0), 0.0, 1e-12);
  EXPECT_NEAR(qa(0, 0), 0.0, 1e-12);
}

TEST(SecondDerivativesOfRobots, OfLinearPartsAreThoseOfWholeSteps) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    expectThoseOfLinearParts(robots::mechanism(name), 3);
  }
}

TEST(SecondDerivativesOfRobots, AreThoseOfTheOracle) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    expectThoseOfOracle(robots::mechanism(name), 4);
  }
}

TEST(SecondDerivativesOfRobots, RefuseWrongArguments) {
  const Model model = robots::load("four_bar");
  Data data(model);
  Eigen::MatrixXd one(1, 1), wrong(2, 1);
  const Eigen::VectorXd q = model.neutral(), x = Eigen::VectorXd::Zero(1);
  EXPECT_THROW(inverseDynamicsSecondDerivatives(model, data, q, x, x, x, one, wrong, one, one),
               std::invalid_argument);
  EXPECT_THROW(inverseDynamicsSecondDerivatives(
                   model, data, q, x, x, Eigen::VectorXd::Constant(1, NAN), one, one, one, one),
               std::invalid_argument);
}

}  // namespace
}  // namespace kempe::test
