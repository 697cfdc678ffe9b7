#pragma once

#include <memory>

#include "simulation/motion_state.hpp"
#include "simulation/reactions.hpp"
#include "simulation/robot_equations.hpp"
#include "simulation/switch_events.hpp"

namespace kempe::detail {

/// The forces at the state of a simulation, whose rates are known: those that act, and those that
/// follow in joints and loops.
class StateForces {
 public:
  StateForces(const MotionState& motion, RobotEquations& equations, SwitchEvents& events)
      : motion_(motion), equations_(equations), events_(events) {}
  /// Another model is simulated.
  void restart() { reactions_.reset(); }

  /// The forces that act. NaN where the motion does not determine those of constraints or stops.
  const Loads& loads();
  /// As Reactions.
  void inJoints(MatrixOut result, const ForceOptions& how);
  void inLoops(VectorOut result, const ForceOptions& how);

 private:
  Reactions& reactions();
  /// Adds the forces of constraints to loads_.
  void addConstraintForces();
  [[nodiscard]] CoordinateChoices& choices() { return equations_.choices(); }

  const MotionState& motion_;
  RobotEquations& equations_;
  SwitchEvents& events_;
  Loads loads_;
  std::unique_ptr<Reactions> reactions_;  // from the first time that they are asked for
};

}  // namespace kempe::detail
