#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/dual_dynamics.hpp"

namespace kempe::test {

/// A function of a unit vector, for each of them, as columns.
template <typename Column>
Eigen::MatrixXd byColumns(int n, const Column& column) {
  Eigen::MatrixXd all(n, n);
  for (int j = 0; j < n; ++j) {
    all.col(j) = column(Eigen::VectorXd(Eigen::VectorXd::Unit(n, j)));
  }
  return all;
}

/// ∂ID/∂q and ∂ID/∂v by dual numbers.
inline std::array<Eigen::MatrixXd, 2> dualsOfInverseDynamics(
    const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
    const Eigen::VectorXd& a, std::span<const FrameForce> external = {}) {
  const int n = model.nv();
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
  return {byColumns(n,
                    [&](const Eigen::VectorXd& e) {
                      return inverseDynamicsAlong(model, {q, v, a, e, zero, zero}, external);
                    }),
          byColumns(n, [&](const Eigen::VectorXd& e) {
            return inverseDynamicsAlong(model, {q, v, a, zero, e, zero}, external);
          })};
}

/// `sum` is zero but for rounding of the terms whose sizes are `size`, entry by entry.
inline ::testing::AssertionResult vanishesBeside(const Eigen::MatrixXd& sum,
                                                 const Eigen::MatrixXd& size, double relative) {
  if (sum.size() == 0) {
    return ::testing::AssertionSuccess();
  }
  const double left = sum.cwiseAbs().maxCoeff(), allowed = relative * size.maxCoeff();
  if (sum.allFinite() && left <= allowed) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "left " << left << ", allowed " << allowed;
}

/// H ∂a/∂x + ∂ID/∂x = 0 at (q, v, a) and H ∂a/∂τ = 1, with ∂ID/∂x by dual numbers, for derivatives of
/// forward dynamics in double; beside the forces of unit accelerations, as ∂ID/∂x may vanish.
inline void expectEquationsOfMotion(const Model& model, Data& data, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v, const Eigen::VectorXd& tau,
                                    std::span<const FrameForce> external = {},
                                    double relative = 1e-11) {
  const int n = model.nv();
  Eigen::VectorXd a = poisoned(n);
  forwardDynamics(model, data, q, v, tau, a, {.external = external});
  Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), byTau = poisoned(n, n),
                  H = poisoned(n, n);
  forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, byTau, {.external = external});
  massMatrix(model, data, q, H);
  const auto [ofQ, ofV] = dualsOfInverseDynamics(model, q, v, a, external);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n), size = H.cwiseAbs();
  const auto sizeOf = [&](const Eigen::MatrixXd& by, const Eigen::MatrixXd& of) {
    return Eigen::MatrixXd(size * by.cwiseAbs() + of.cwiseAbs() + size);
  };
  EXPECT_TRUE(vanishesBeside(H * byQ + ofQ, sizeOf(byQ, ofQ), relative)) << "by q";
  EXPECT_TRUE(vanishesBeside(H * byV + ofV, sizeOf(byV, ofV), relative)) << "by v";
  EXPECT_TRUE(vanishesBeside(H * byTau - one, size * byTau.cwiseAbs(), relative)) << "by tau";
}

/// Random numbers between −1 and 1, and forces in all references on every `step`-th body.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}

  double number() { return uniform_(engine_); }
  Eigen::VectorXd vector(int size) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return number(); });
  }
  std::vector<FrameForce> forces(const Model& model, std::size_t step = 2) {
    std::vector<FrameForce> forces;
    const auto& bodies = model.mechanism().bodies;
    for (std::size_t i = 0; i < bodies.size(); i += step) {
      FrameForce force;
      force.frame = model.frameIndex(bodies[i].name);
      force.reference = static_cast<Reference>(forces.size() % 3);
      for (double& x : force.wrench) {
        x = number();
      }
      forces.push_back(force);
    }
    return forces;
  }

 private:
  std::mt19937_64 engine_;
  std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
};

}  // namespace kempe::test
