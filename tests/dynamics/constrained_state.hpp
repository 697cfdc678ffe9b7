#pragma once

#include <gtest/gtest.h>

#include "dynamics/constrained_robot.hpp"
#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/differences.hpp"
#include "support/dual_dynamics.hpp"

namespace kempe::test {

/// Derivatives of a above λ, with respect to q, v and tau.
struct Derivatives {
  Eigen::MatrixXd byQ, byV, byTau;
  ConstraintReport report;
};

/// A model under constraints at a state, which may violate them.
class Constrained : public ConstrainedRobot {
 public:
  Constrained(const Mechanism& mechanism, std::uint64_t seed) : ConstrainedRobot(mechanism, seed) {
    for (std::size_t i = 0; i < robot.bodies.size(); i += 3) {
      FrameForce force;
      force.frame = model.frameIndex(robot.bodies[i].name);
      force.reference = static_cast<Reference>(external.size() % 3);
      for (double& x : force.wrench) {
        x = uniform(-1.0, 1.0);
      }
      external.push_back(force);
    }
  }

  /// The `skip`-th joint with one DoF.
  std::string scalar(std::size_t skip) {
    std::string found;
    for (const std::string& name : model.jointNames()) {
      if (velocitySize(robot.findJoint(name)->type) == 1) {
        found = name;
        if (skip-- == 0) {
          break;
        }
      }
    }
    return found;
  }

  [[nodiscard]] DynamicsOptions how() const { return {.external = external}; }

  Eigen::VectorXd solve(const Eigen::VectorXd& position, const Eigen::VectorXd& velocity,
                        const Eigen::VectorXd& force) {
    Eigen::VectorXd a = poisoned(model.nv()), lambda = poisoned(constraints.rows());
    constrainedForwardDynamics(model, data, constraints, time, position, velocity, force, a, lambda,
                               how(), &report);
    Eigen::VectorXd both(a.size() + lambda.size());
    both << a, lambda;
    return both;
  }
  Eigen::VectorXd moved(const Eigen::VectorXd& along, double by) {
    Eigen::VectorXd to(model.nq());
    integrate(model, data, q, along, by, to);
    return to;
  }

  Derivatives differentiate() {
    const int nv = model.nv(), rows = constraints.rows();
    Eigen::MatrixXd a[3], lambda[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = poisoned(nv, nv);
      lambda[i] = poisoned(rows, nv);
    }
    Derivatives result;
    constrainedForwardDynamicsDerivatives(model, data, constraints, time, q, v, tau, a[0], a[1],
                                          a[2], lambda[0], lambda[1], lambda[2], how(),
                                          &result.report);
    const auto stacked = [&](int i) {
      Eigen::MatrixXd both(nv + rows, nv);
      both << a[i], lambda[i];
      return both;
    };
    result.byQ = stacked(0);
    result.byV = stacked(1);
    result.byTau = stacked(2);
    return result;
  }

  Eigen::MatrixXd rows(const Eigen::VectorXd& position) {
    Eigen::MatrixXd K = poisoned(constraints.rows(), model.nv());
    constraintRows(model, data, constraints, time, position, K);
    return K;
  }

  /// ∂K along a direction, from the dual derivatives of φ̇ at unit velocities.
  Eigen::MatrixXd rowsAlong(const Eigen::VectorXd& alongQ) const {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
    const auto at = [&](const Eigen::VectorXd& velocity) {
      return test::rowsAlong(model, constraints.table(), time,
                             {q, velocity, zero, alongQ, zero, zero})
          .rate;
    };
    Eigen::MatrixXd dK(constraints.rows(), model.nv());
    for (int j = 0; j < model.nv(); ++j) {
      dK.col(j) = at(Eigen::VectorXd::Unit(model.nv(), j)) - at(zero);
    }
    return dK;
  }

  /// Derivatives along a direction from dense algebra on dual numbers: those of a from the saddle-point
  /// system with independent rows, those of λ = (Kᵀ)⁺ (H a + h − τ) from those of the pseudo-inverse.
  Eigen::VectorXd expected(const Eigen::VectorXd& alongQ, const Eigen::VectorXd& alongV,
                           const Eigen::VectorXd& alongTau) {
    const int nv = model.nv(), n = constraints.rows();
    const Eigen::VectorXd both = solve(q, v, tau), zero = Eigen::VectorXd::Zero(nv);
    const Eigen::VectorXd a = both.head(nv), lambda = both.tail(n);
    Eigen::MatrixXd H(nv, nv);
    massMatrix(model, data, q, H);
    Eigen::MatrixXd K = rows(q);
    const VaryingState state{q, v, a, alongQ, alongV, zero};
    const RowSlopes slopes = test::rowsAlong(model, constraints.table(), time, state);
    const double rate = constraints.stabilization();
    Eigen::VectorXd e = slopes.second;
    for (int i = 0; rate > 0.0 && i < n; ++i) {
      e[i] += (holonomic(i) ? 2.0 * rate : rate) * slopes.rate[i] + rate * rate * slopes.value[i];
    }
    const Eigen::MatrixXd dK = rowsAlong(alongQ);
    const Eigen::VectorXd ofForces =
        alongTau - inverseDynamicsAlong(model, state, external) + dK.transpose() * lambda;
    // The least-norm solution of K δa + e = 0 with H δa − Kᵀ δλ = ofForces, by two projections.
    const Eigen::VectorXd free = solveDefinite(H, ofForces);
    const Eigen::MatrixXd L = choleskyFactorOf(H);
    // x = Lᵀ δa: the nearest to Lᵀ free that satisfies (K L⁻ᵀ) x = −e.
    const Eigen::MatrixXd scaled = solveRegular(L, K.transpose()).transpose();
    const Eigen::VectorXd x = L.transpose() * free + leastNorm(scaled, -e - K * free, 1e-8).X;
    const Eigen::VectorXd da = solveRegular(L.transpose(), x);
    const Eigen::MatrixXd B = K.transpose();
    const Eigen::MatrixXd inverse = leastNorm(B, Eigen::MatrixXd::Identity(nv, nv), 1e-8).X;  // B⁺
    const Eigen::VectorXd missing = H * da - ofForces;  // Kᵀ δλ
    const Eigen::MatrixXd null = Eigen::MatrixXd::Identity(n, n) - inverse * B;
    const Eigen::VectorXd dlambda =
        inverse * missing + null * (dK * (inverse.transpose() * lambda));
    Eigen::VectorXd result(nv + n);
    result << da, dlambda;
    return result;
  }
  [[nodiscard]] bool holonomic(int row) const {
    for (int i = 0; i < constraints.count(); ++i) {
      const int r = row - constraints.firstRow(i);
      if (r >= 0 && r < constraints.rows(i)) {
        return constraints.name(i) != "edge" && !(constraints.name(i) == "wheel" && r < 2);
      }
    }
    return true;
  }

  /// How much of a relative error of one bit is left in λ.
  double rounding() {
    Eigen::MatrixXd H(model.nv(), model.nv());
    massMatrix(model, data, q, H);
    const Eigen::VectorXd values =
        singularValues(solveRegular(choleskyFactorOf(H), rows(q).transpose()));
    double least = values.size() > 0 ? values[0] : 1.0;
    for (const double x : values) {
      least = x > 1e-7 * values[0] ? std::min(least, x) : least;
    }
    return values.size() > 0 ? 1e-16 * std::pow(values[0] / least, 2) : 0.0;
  }

  /// All derivatives against dual numbers and dense algebra.
  void expectDual(double tolerance) {
    tolerance = std::max(tolerance, 100.0 * rounding());
    const Derivatives actual = differentiate();
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
    Eigen::MatrixXd byQ(actual.byQ.rows(), model.nv()), byV = byQ, byTau = byQ;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(model.nv(), j);
      byQ.col(j) = expected(e, zero, zero);
      byV.col(j) = expected(zero, e, zero);
      byTau.col(j) = expected(zero, zero, e);
    }
    EXPECT_TRUE(closeParts(actual.byQ, byQ, tolerance));
    EXPECT_TRUE(closeParts(actual.byV, byV, tolerance));
    EXPECT_TRUE(closeParts(actual.byTau, byTau, tolerance));
  }
  /// The same against differences of the dynamics.
  void expectDifferences(double tolerance) {
    const Derivatives actual = differentiate();
    Eigen::MatrixXd byQ(actual.byQ.rows(), model.nv()), byV = byQ, byTau = byQ;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(model.nv(), j);
      byQ.col(j) = differentiated([&](double x) { return solve(moved(e, x), v, tau); });
      byV.col(j) = differentiated([&](double x) { return solve(q, v + x * e, tau); });
      byTau.col(j) = differentiated([&](double x) { return solve(q, v, tau + x * e); }, 0.1);
    }
    EXPECT_TRUE(closeParts(actual.byQ, byQ, tolerance));
    EXPECT_TRUE(closeParts(actual.byV, byV, tolerance));
    EXPECT_TRUE(closeParts(actual.byTau, byTau, tolerance));
  }
  /// Derivatives of v⁺ above Λ.
  struct Impulses {
    Eigen::MatrixXd byQ, byV;
  };
  Impulses differentiateImpulse() {
    const int nv = model.nv(), n = constraints.rows();
    Eigen::MatrixXd A = poisoned(nv, nv), B = poisoned(nv, nv), C = poisoned(n, nv),
                    D = poisoned(n, nv);
    projectVelocitiesDerivatives(model, data, constraints, time, q, v, A, B, C, D);
    Impulses result{Eigen::MatrixXd(nv + n, nv), Eigen::MatrixXd(nv + n, nv)};
    result.byQ << A, C;
    result.byV << B, D;
    return result;
  }
  Eigen::VectorXd projected(const Eigen::VectorXd& position, const Eigen::VectorXd& velocity) {
    Eigen::VectorXd after = poisoned(model.nv()), impulses = poisoned(constraints.rows());
    projectVelocities(model, data, constraints, time, position, velocity, after, impulses);
    Eigen::VectorXd both(after.size() + impulses.size());
    both << after, impulses;
    return both;
  }
  /// Λ = A⁺ b with b = −φ̇(q, v), differentiated as a product: dA from dual numbers.
  void expectImpulses(double tolerance) {
    const int nv = model.nv(), n = constraints.rows();
    const Impulses actual = differentiateImpulse();
    // A⁺ acts twice where rows contradict each other.
    const double bit = rounding();
    tolerance = std::max({tolerance, 100.0 * bit, 1e17 * bit * bit});
    const Eigen::VectorXd both = projected(q, v), zero = Eigen::VectorXd::Zero(nv);
    const Eigen::VectorXd impulse = both.tail(n);
    Eigen::MatrixXd H(nv, nv);
    massMatrix(model, data, q, H);
    const Eigen::MatrixXd K = rows(q), response = solveDefinite(H, K.transpose());
    // A = M Mᵀ with M = K L⁻ᵀ, whose pseudo-inverse is more accurate.
    const Eigen::MatrixXd M = solveRegular(choleskyFactorOf(H), K.transpose()).transpose();
    const Eigen::MatrixXd ofM = leastNorm(M, Eigen::MatrixXd::Identity(n, n), 1e-7).X;
    const Eigen::MatrixXd inverse = ofM.transpose() * ofM;
    const Eigen::MatrixXd null = Eigen::MatrixXd::Identity(n, n) - M * ofM;
    Eigen::VectorXd b = poisoned(n);
    constraintVelocityErrors(model, data, constraints, time, q, v, b);
    b = -b;
    Eigen::MatrixXd byQ(nv + n, nv), byV(nv + n, nv);
    for (int j = 0; j < nv; ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(nv, j);
      const Eigen::MatrixXd dK = rowsAlong(e);
      Eigen::MatrixXd dH(nv, nv);
      for (int k = 0; k < nv; ++k) {
        dH.col(k) =
            inverseDynamicsAlong(model, {q, zero, Eigen::VectorXd::Unit(nv, k), e, zero, zero}) -
            inverseDynamicsAlong(model, {q, zero, zero, e, zero, zero});
      }
      const Eigen::MatrixXd dResponse = solveDefinite(H, dK.transpose() - dH * response);
      const Eigen::MatrixXd dA = dK * response + K * dResponse;
      const Eigen::VectorXd db =
          -test::rowsAlong(model, constraints.table(), time, {q, v, zero, e, zero, zero}).rate;
      const Eigen::VectorXd change = inverse * (db - dA * impulse) +
                                     inverse * (inverse * (dA * (null * b))) +
                                     null * (dA * (inverse * impulse));
      byQ.col(j) << dResponse * impulse + response * change, change;
      const Eigen::VectorXd byRate = -inverse * K.col(j);
      byV.col(j) << e + response * byRate, byRate;
    }
    EXPECT_TRUE(closeParts(actual.byQ, byQ, tolerance));
    EXPECT_TRUE(closeParts(actual.byV, byV, tolerance));
  }

  /// Accelerations and multipliers, each by their own size.
  [[nodiscard]] ::testing::AssertionResult closeParts(const Eigen::MatrixXd& actual,
                                                      const Eigen::MatrixXd& wanted,
                                                      double tolerance) const {
    const int nv = model.nv();
    const auto motion = closeTo(actual.topRows(nv), wanted.topRows(nv), tolerance);
    return motion ? closeTo(actual.bottomRows(constraints.rows()),
                            wanted.bottomRows(constraints.rows()), tolerance)
                  : motion;
  }

  double time = 0.3;
  std::vector<FrameForce> external;
  ConstraintReport report;
};

}  // namespace kempe::test
