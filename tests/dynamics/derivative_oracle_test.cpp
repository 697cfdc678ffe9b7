#include <gtest/gtest.h>

#include "dynamics/derivative_checks.hpp"
#include "support/derivative_oracle.hpp"
#include "support/random_mechanism.hpp"

/// Derivatives of dynamics against a dense computation that shares no code with the library.
namespace kempe::test {
namespace {

/// Of all states: none is left out as ill-conditioned, nor compared to more. The largest difference of all
/// mechanisms and robots is about 2e-13.
constexpr double kRelative = 1e-11;

void expectDerivativesOfOracle(const Model& model, std::uint64_t seed) {
  Data data(model);
  RandomNumbers random(seed);
  const int n = model.nv();
  const Eigen::VectorXd q = model.randomConfiguration(11), v = random.vector(n),
                        a = random.vector(n), tau = random.vector(n);
  const std::vector<FrameForce> forces = random.forces(model);
  const DynamicsOptions how{.external = forces};
  DerivativeOracle oracle(model);
  oracle.set(q, v, a, forces);

  // Beside the forces of unit accelerations: derivatives may vanish, in a parallelogram for one.
  Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), third = poisoned(n, n);
  inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, third, how);
  const DerivativeOracle::Matrices ofTau = oracle.derivatives();
  const Eigen::MatrixXd& H = ofTau.byA;
  const Eigen::MatrixXd size = H.cwiseAbs();
  EXPECT_TRUE(vanishesBeside(byQ - ofTau.byQ, ofTau.byQ.cwiseAbs() + size, kRelative)) << "by q";
  EXPECT_TRUE(vanishesBeside(byV - ofTau.byV, ofTau.byV.cwiseAbs() + size, kRelative)) << "by v";
  EXPECT_TRUE(vanishesBeside(third - H, size, kRelative)) << "by a";

  // H ∂a/∂x + ∂ID/∂x = 0 at the acceleration that tau causes
  Eigen::VectorXd caused = poisoned(n);
  forwardDynamics(model, data, q, v, tau, caused, how);
  oracle.set(q, v, caused, forces);
  const Eigen::VectorXd found = oracle.tau();
  EXPECT_TRUE(vanishesBeside(found - tau, size * caused.cwiseAbs() + found.cwiseAbs(), kRelative));
  const DerivativeOracle::Matrices of = oracle.derivatives();
  forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, third, how);
  const auto sizeOf = [&](const Eigen::MatrixXd& by, const Eigen::MatrixXd& ofForce) {
    return Eigen::MatrixXd(size * by.cwiseAbs() + ofForce.cwiseAbs() + size);
  };
  EXPECT_TRUE(vanishesBeside(H * byQ + of.byQ, sizeOf(byQ, of.byQ), kRelative)) << "by q";
  EXPECT_TRUE(vanishesBeside(H * byV + of.byV, sizeOf(byV, of.byV), kRelative)) << "by v";
  EXPECT_TRUE(vanishesBeside(H * third - Eigen::MatrixXd::Identity(n, n), size * third.cwiseAbs(),
                             kRelative))
      << "by tau";
}

class DerivativesOfOracle : public ::testing::TestWithParam<MechanismCase> {};

TEST_P(DerivativesOfOracle, AreThoseOfDynamics) {
  expectDerivativesOfOracle(Model(randomMechanism(GetParam())), GetParam().seed);
}

INSTANTIATE_TEST_SUITE_P(Random, DerivativesOfOracle, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

TEST(DerivativesOfOracleForRobots, AreThoseOfDynamics) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    expectDerivativesOfOracle(robots::load(name), 7);
  }
}

}  // namespace
}  // namespace kempe::test
