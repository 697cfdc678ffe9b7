#pragma once

#include <optional>

#include "simulation/motion_state.hpp"
#include "simulation/robot_equations.hpp"
#include "simulation/step_controller.hpp"

namespace kempe::detail {

/// Turns of loops onto another branch, near a change point that they miss by very little.
class Turns {
 public:
  Turns(MotionState& motion, RobotEquations& equations, StepController& steps)
      : motion_(motion), equations_(equations), steps_(steps) {}

  /// The cluster whose loops turn onto another branch during the step from the state to the next,
  /// −1 if there is none.
  int turningCluster();
  /// Shortens the step of length h so that it ends where that cluster turns. Returns its length.
  double stepTo(int cluster, double h);
  /// Turns, at the state, keeping energy and momentum.
  void turn(int cluster);

 private:
  /// Shortens the step to end at a way of the cluster from its singular point, which it reaches.
  double stepToWay(int cluster, double h, double goal, double tolerance);
  void turnAtState(int cluster);
  [[noreturn]] void throwCannotTurn(int cluster) const;
  [[nodiscard]] ChangePoints& points() const { return equations_.points(); }
  [[nodiscard]] Coordinates& work() const { return equations_.work(); }

  MotionState& motion_;
  RobotEquations& equations_;
  StepController& steps_;
  std::optional<SingularPoint::Turn> turn_;  // the one of turningCluster()
  Eigen::MatrixXd massHere_;
};

}  // namespace kempe::detail
