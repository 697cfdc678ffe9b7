#pragma once

#include <vector>

#include "simulation/stepper.hpp"

namespace kempe::detail {

/// Coefficients of an explicit Runge-Kutta method.
struct Tableau {
  int stages = 0;
  const double* nodes = nullptr;
  const double* A = nullptr;        ///< stages × stages, row-major
  const double* weights = nullptr;  ///< of the result
  /// Weights less those of the embedded method, whose last two stages are at the end of the step,
  /// the last at the result; null for none.
  const double* errors = nullptr;
};

/// Explicit Runge-Kutta methods, with error control if they have an embedded one.
class RungeKutta : public Stepper {
 public:
  /// Refers to the tableau.
  explicit RungeKutta(const Tableau& tableau) : tableau_(tableau) {}

  void resize(int nq, int nv) override;
  double step(EquationsOfMotion& motion, const Step& step) override;
  void linearize(EquationsOfMotion& motion, const Step& step, EquationDerivatives& derivatives,
                 StepDerivatives& result) override;

  /// Accelerations at the last stage of the last step.
  [[nodiscard]] const Eigen::VectorXd& lastStage() const { return accelerations_.back(); }
  /// Of a method with an embedded one: h times the largest eigenvalue of the motion, in the last step.
  [[nodiscard]] double stiffness() const { return stiffness_; }

 private:
  /// y and v of a stage, from the slopes of those before.
  void setStage(int stage, const Step& step);
  /// Root mean square of the estimated errors relative to their tolerances.
  [[nodiscard]] double errorOf(const Step& step) const;

  const Tableau& tableau_;
  std::vector<Eigen::VectorXd> slopes_, accelerations_;  // per stage
  std::vector<Power> powers_;                            // per stage
  Eigen::VectorXd y_, v_, q_;                            // of a stage
  Eigen::VectorXd otherY_, otherV_;                      // of the last stage but one
  double stiffness_ = 0.0;
  // Of linearize(): derivatives per stage, and of one.
  std::vector<Eigen::MatrixXd> slopeColumns_, accelerationColumns_;
  Eigen::MatrixXd yColumns_, vColumns_, tangentColumns_;
};

/// The classical method of order four.
extern const Tableau kClassicTableau;
/// Dormand and Prince 1980, order 5 with an embedded method of order 4.
extern const Tableau kDormandPrinceTableau;

}  // namespace kempe::detail
