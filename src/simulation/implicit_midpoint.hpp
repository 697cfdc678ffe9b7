#pragma once

#include <vector>

#include "simulation/stepper.hpp"

namespace kempe::detail {

/// The implicit midpoint rule, of order two. With the velocity v_m and the position q_m at the
/// middle,
///   v_m = v_0 + h/2 a(q_m, v_m),   q_m = q_0 ⊞ h/2 v_m,
///   v_1 = v_0 + h a(q_m, v_m),     q_1 = q_m ⊞ h/2 v_m.
/// The step back leads to the start again, so that energies of swinging robots stay bounded.
class ImplicitMidpoint : public Stepper {
 public:
  void resize(int nq, int nv) override;
  double step(EquationsOfMotion& motion, const Step& step) override;
  void linearize(EquationsOfMotion& motion, const Step& step, EquationDerivatives& derivatives,
                 StepDerivatives& result) override;
  [[nodiscard]] long long newtonIterations() const override { return newtonIterations_; }

 private:
  /// Rates at the middle of a step with the velocity `middle` there, into step.last; the position is
  /// in q_.
  void ratesAt(EquationsOfMotion& motion, const Step& step, const Eigen::VectorXd& middle);
  bool solve(EquationsOfMotion& motion, const Step& step);
  bool solveByNewton(EquationsOfMotion& motion, const Step& step);

  Eigen::VectorXd middle_;  // v_m
  Eigen::VectorXd residual_, y_, q_, startQ_;
  // Newton's method.
  Eigen::VectorXd trialV_, trial_, correction_, following_;
  std::vector<double> jacobian_;
  std::vector<int> pivots_;
  long long newtonIterations_ = 0;
  // Of linearize(): matrix and right-hand sides, by rows, and derivatives at the middle.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix_, sides_;
  Eigen::MatrixXd middleV_, middleTangent_, columns_;
};

}  // namespace kempe::detail
