#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "dynamics/flexible_mechanisms.hpp"

namespace kempe::test {

/// A random mechanism with bodies that bend, at a random state.
class FlexibleState {
 protected:
  using MatrixXd = Eigen::MatrixXd;
  using VectorXd = Eigen::VectorXd;

  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  explicit FlexibleState(const Bending& choice)
      : robot(flexibleTree(choice)), model(robot), data(model), n(model.nv()) {
    std::mt19937 engine(choice.seed + 100);
    std::normal_distribution<double> normal;
    q = model.randomConfiguration(choice.seed);
    const auto draw = [&] {
      return VectorXd(VectorXd::NullaryExpr(n, [&] { return normal(engine); }));
    };
    v = draw();
    a = draw();
    external.push_back({model.frameIndex("arm/7"), {1, -2, 3, 0.4, -0.5, 0.6}, Reference::Local});
    external.push_back({model.frameIndex("tip"), {-3, 2, 1, 0.1, 0.2, 0.3}});
  }

  VectorXd moved(const VectorXd& from, const VectorXd& along, double by) {
    VectorXd to(model.nq());
    integrate(model, data, from, along, by, to);
    return to;
  }
  /// The state after `by` of a motion with velocity v and acceleration a, to second order.
  VectorXd qAt(double by) { return moved(q, v + 0.5 * by * a, by); }
  VectorXd vAt(double by) { return v + by * a; }

  VectorXd inverse(const VectorXd& at, const VectorXd& rates, const VectorXd& accelerations,
                   const DynamicsOptions& how = {}) {
    VectorXd tau = VectorXd::Constant(n, kNaN);
    inverseDynamics(model, data, at, rates, accelerations, tau, how);
    return tau;
  }
  MatrixXd massMatrixAt(const VectorXd& at) {
    MatrixXd matrix = MatrixXd::Constant(n, n, kNaN);
    massMatrix(model, data, at, matrix);
    return matrix;
  }
  static void expectClose(const MatrixXd& found, const MatrixXd& expected, double tolerance) {
    EXPECT_LT((found - expected).norm(), tolerance * (1.0 + expected.norm()));
  }

  Mechanism robot;
  Model model;
  Data data;
  int n;
  VectorXd q, v, a;
  std::vector<FrameForce> external;
};

}  // namespace kempe::test
