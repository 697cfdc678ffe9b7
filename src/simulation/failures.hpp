#pragma once

#include "simulation/motion_state.hpp"
#include "simulation/motion_watch.hpp"
#include "simulation/robot_equations.hpp"

namespace kempe::detail {

/// Finds the causes of steps that fail, at the state before the step, and throws errors that name
/// them.
class Failures {
 public:
  Failures(const MotionState& motion, RobotEquations& equations, MotionWatch& watch)
      : motion_(motion), equations_(equations), watch_(watch) {}

  /// Throws if velocities so large that they need steps of h s suggest that they grow for ever.
  void throwIfDiverging(double h);
  /// Throws if hardly anything that has mass moves at the state, so that velocities have no bound.
  void throwIfInertiaVanishes();
  /// Throws SingularityError if a loop is near a singular position at the state.
  void throwIfSingular();

 private:
  [[nodiscard]] const Model& user() { return equations_.choices().user(); }

  const MotionState& motion_;
  RobotEquations& equations_;
  MotionWatch& watch_;
};

}  // namespace kempe::detail
