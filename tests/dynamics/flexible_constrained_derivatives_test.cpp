#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "dynamics/flexible_state.hpp"
#include "kempe/constrained_forward_dynamics_derivatives.hpp"
#include "kempe/project_velocities_derivatives.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"

/// Derivatives under constraints of mechanisms with bodies that bend, against differences.
namespace kempe::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class FlexibleConstraints : public ::testing::TestWithParam<Bending>, public FlexibleState {
 protected:
  FlexibleConstraints() : FlexibleState(GetParam()), constraints(model) {
    constraints.stabilize(4.0);
  }

  static LoopJoint ballOnNodes(const std::string& name) {
    LoopJoint joint{.name = name, .type = LoopType::Spherical};
    joint.from("arm").to("finger");
    joint.predecessor.node = "7";
    joint.successor.node = "2";
    return joint;
  }
  VectorXd solve(const VectorXd& at, const VectorXd& rates, const VectorXd& forces) {
    VectorXd both = poisoned(n + constraints.rows());
    VectorXd found = poisoned(n), multipliers = poisoned(constraints.rows());
    constrainedForwardDynamics(model, data, constraints, kTime, at, rates, forces, found,
                               multipliers, {.external = external});
    both << found, multipliers;
    return both;
  }
  VectorXd afterImpact(const VectorXd& at, const VectorXd& rates) {
    VectorXd both = poisoned(n + constraints.rows());
    VectorXd after = poisoned(n), impulses = poisoned(constraints.rows());
    projectVelocities(model, data, constraints, kTime, at, rates, after, impulses);
    both << after, impulses;
    return both;
  }
  /// Column j of both halves against the differences of `of(j)`, each by its own size.
  void expectColumns(const MatrixXd& motion, const MatrixXd& multipliers, double tolerance,
                     const std::function<VectorXd(const VectorXd&)>& of) {
    MatrixXd expected(n + constraints.rows(), n);
    for (int j = 0; j < n; ++j) {
      expected.col(j) = of(VectorXd::Unit(n, j));
    }
    expectClose(motion, expected.topRows(n), tolerance);
    expectClose(multipliers, expected.bottomRows(constraints.rows()), tolerance);
  }
  void expectDifferences() {
    const int rows = constraints.rows();
    const VectorXd tau = inverse(q, v, a, {.external = external});
    std::array<MatrixXd, 3> byA, byLambda;
    byA.fill(poisoned(n, n));
    byLambda.fill(poisoned(rows, n));
    constrainedForwardDynamicsDerivatives(model, data, constraints, kTime, q, v, tau, byA[0],
                                          byA[1], byA[2], byLambda[0], byLambda[1], byLambda[2],
                                          {.external = external});
    expectColumns(byA[0], byLambda[0], 1e-5, [&](const VectorXd& e) {
      return differentiated([&](double h) { return solve(moved(q, e, h), v, tau); }, 1e-4);
    });
    expectColumns(byA[1], byLambda[1], 1e-7, [&](const VectorXd& e) {
      return differentiated([&](double h) { return solve(q, v + h * e, tau); }, 0.1);
    });
    expectColumns(byA[2], byLambda[2], 1e-7, [&](const VectorXd& e) {
      return differentiated([&](double h) { return solve(q, v, tau + h * e); }, 1.0);
    });
  }
  void expectDifferencesOfImpulses() {
    const int rows = constraints.rows();
    MatrixXd byQ = poisoned(n, n), byV = byQ, ofQ = poisoned(rows, n), ofV = ofQ;
    projectVelocitiesDerivatives(model, data, constraints, kTime, q, v, byQ, byV, ofQ, ofV);
    expectColumns(byQ, ofQ, 1e-6, [&](const VectorXd& e) {
      return differentiated([&](double h) { return afterImpact(moved(q, e, h), v); }, 1e-4);
    });
    expectColumns(byV, ofV, 1e-7, [&](const VectorXd& e) {
      return differentiated([&](double h) { return afterImpact(q, v + h * e); }, 0.1);
    });
  }
  /// `check()` with each kind of rows.
  void forEachKind(const std::function<void()>& check) {
    const auto with = [&](const char* name, const std::function<void()>& add) {
      SCOPED_TRACE(name);
      constraints = Constraints(model);
      constraints.stabilize(4.0);
      add();
      check();
    };
    with("ball", [&] { constraints.add(ballOnNodes("ball")); });
    with("rod", [&] {
      constraints.add(
          Rod{.name = "rod"}.from("", {0.2, 0.1, 0.3}).to("tip", {0.1, 0, 0.2}).ofLength(1.1));
    });
    with("disc", [&] {
      constraints.add(Rolling{.name = "disc",
                              .body = "hand",
                              .center = {0.1, 0, 0},
                              .axle = {0.2, 0.9, -0.3},
                              .radius = 0.2,
                              .ball = false});
    });
    with("coordinates", [&] {
      constraints.add(Coupling{.name = "gear"}.plus(2.0, {"elbow"}).minus(0.7, {"arm/mode2"}));
      constraints.prescribe("driven", {"shoulder"}, [](double t) {
        return PrescribedMotion{std::sin(3 * t), 3 * std::cos(3 * t), -9 * std::sin(3 * t)};
      });
      constraints.addFunction("curve", {{"knuckle"}, {"finger/mode1"}}, 1,
                              [](const auto& x, const auto& t, auto& phi) {
                                phi[0] = x[0] * x[0] + 3.0 * x[1] - t * x[0];
                              });
    });
    with("lock", [&] { constraints.lock("locked", "axle", model.neutral()); });
  }

  static constexpr double kTime = 0.3;
  Constraints constraints;
};

TEST_P(FlexibleConstraints, DerivativesAreThoseOfDifferences) {
  forEachKind([&] { expectDifferences(); });
}

TEST_P(FlexibleConstraints, DerivativesOfImpulsesAreThoseOfDifferences) {
  forEachKind([&] { expectDifferencesOfImpulses(); });
}

TEST_P(FlexibleConstraints, RedundantRowsShareTheirForces) {
  constraints.add(ballOnNodes("ball"));
  constraints.add(ballOnNodes("again"));
  expectDifferences();
  expectDifferencesOfImpulses();
}

TEST_P(FlexibleConstraints, AllocateNothingAfterTheFirstCall) {
  constraints.add(ballOnNodes("ball"));
  constraints.add(ballOnNodes("again"));
  const int rows = constraints.rows();
  MatrixXd A(n, n), B(n, n), C(n, n), D(rows, n), E(rows, n), F(rows, n);
  const auto all = [&] {
    constrainedForwardDynamicsDerivatives(model, data, constraints, kTime, q, v, a, A, B, C, D, E,
                                          F, {.external = external});
    projectVelocitiesDerivatives(model, data, constraints, kTime, q, v, A, B, D, E);
  };
  all();
  EXPECT_EQ(allocationsOf(all), 0);
}

INSTANTIATE_TEST_SUITE_P(Random, FlexibleConstraints,
                         ::testing::Values(Bending{2, true}, Bending{4, false, true, true},
                                           Bending{.seed = 7, .hung = true, .pair = true}));

/// Loops that are left cut, for one state and in batches.
TEST(FlexibleCutLoops, DerivativesAreThoseOfDifferences) {
  Mechanism robot = flexibleTree({.seed = 4, .floats = true, .loop = true});
  robot.loops.front().cut = true;
  const Model model(robot);
  Data data(model);
  const int n = model.nv();
  const VectorXd q = model.randomConfiguration(1), v = VectorXd::LinSpaced(n, -1.0, 1.0),
                 tau = VectorXd::LinSpaced(n, 0.5, -0.5);
  const auto solve = [&](const VectorXd& at, const VectorXd& rates) {
    VectorXd found = poisoned(n);
    forwardDynamics(model, data, at, rates, tau, found);
    return found;
  };
  MatrixXd byQ = poisoned(n, n), byV = byQ, byTau = byQ, expectedByQ(n, n), expectedByV(n, n);
  forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, byTau);
  for (int j = 0; j < n; ++j) {
    const VectorXd e = VectorXd::Unit(n, j);
    expectedByQ.col(j) = differentiated(
        [&](double h) {
          VectorXd at(model.nq());
          integrate(model, data, q, e, h, at);
          return solve(at, v);
        },
        1e-4);
    expectedByV.col(j) = differentiated([&](double h) { return solve(q, v + h * e); }, 0.1);
  }
  EXPECT_TRUE(closeTo(byQ, expectedByQ, 1e-6));
  EXPECT_TRUE(closeTo(byV, expectedByV, 1e-7));
  Batch batch(model, {.threads = 1});
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Rows Q = q.transpose(), V = v.transpose(), T = tau.transpose();
  Rows ofQ(1, n * n), ofV(1, n * n), ofTau(1, n * n);
  forwardDynamicsDerivatives(model, batch, Q, V, T, ofQ, ofV, ofTau);
  EXPECT_TRUE(closeTo(Eigen::Map<const Rows>(ofQ.data(), n, n), byQ, 1e-13));
  EXPECT_TRUE(closeTo(Eigen::Map<const Rows>(ofTau.data(), n, n), byTau, 1e-13));
}

}  // namespace
}  // namespace kempe::test
