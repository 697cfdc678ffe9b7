#pragma once

#include "simulation/chart_derivatives.hpp"
#include "simulation/robot_equations.hpp"

namespace kempe::detail {

/// How to make friction smooth, for messages.
inline constexpr const char* kSmoothFriction =
    "slip_speed of add_friction, and friction_slip_speed of the simulator for friction that the "
    "file "
    "gives; in C++ slipSpeed and frictionSlipSpeed; --slip-speed of kempe linearize";

/// The derivatives of RobotEquations. Functions of the user (controllers, external forces) are
/// constant: their forces at a state do not change with it. Friction and end stops keep their modes.
class RobotDerivatives : public EquationDerivatives {
 public:
  explicit RobotDerivatives(RobotEquations& equations) : equations_(equations) {}

  /// Prepares for the current choice of coordinates. Throws std::invalid_argument if the motion
  /// cannot be differentiated.
  void start();
  void ofPosition(const Stage& stage, StageDerivatives& result) override;
  void ofRates(const Stage& stage, Rates& rates, StageDerivatives& result) override;
  /// The accelerations alone.
  void ofAccelerations(double t, VectorIn q, VectorIn v, Rates& rates, StageDerivatives& result);

  /// Projects the derivatives of the end of a step as RobotEquations::project() does the end, which
  /// lies on the constraints.
  void project(const State& end, StepDerivatives& step);

  /// The user's tangent and velocities from those of the current choice: η_u = T η,
  /// δv_u = W η + T δv, with G at q.
  void toUsers(VectorIn q, VectorIn v, const double* G, MatrixOut T, MatrixOut W);
  /// G at q, in the current choice. Throws SingularityError at dead points and change points.
  const double* ratiosAt(VectorIn q);

 private:
  void differentiateUnderConstraints(double t, VectorIn q, VectorIn v, const Rates& rates,
                                     StageDerivatives& result);
  /// Adds the changes of forces at joints and of springs between points.
  void addJointForces(VectorIn v, const Rates& rates, StageDerivatives& result);
  void addPointSprings(VectorIn q, VectorIn v, const Rates& rates, StageDerivatives& result);
  [[nodiscard]] Coordinates& work() { return equations_.work(); }

  RobotEquations& equations_;
  ChartDerivatives charts_;
  RatioDerivatives ratios_;
  std::vector<double> G_;
  JointSlopes slopes_;
  Eigen::VectorXd atJoints_, unit_, spanning_, picked_;
  Eigen::MatrixXd inverse_, byQ_, byV_;  // nv × nv: ∂a/∂τ, ∂τ/∂q, ∂τ/∂v
  Eigen::MatrixXd projection_;           // nv × nv: of positions
  Columns projected_;
  Eigen::MatrixXd from_, to_;                // Jacobians of frames
  Eigen::MatrixXd line_, force_;             // 3 × nv
  std::vector<Eigen::MatrixXd> pointRates_;  // per spring: of the velocities of its ends, 3 × nv
};

}  // namespace kempe::detail
