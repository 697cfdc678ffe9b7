#pragma once

#include "simulation/coordinate_choices.hpp"
#include "simulation/motion_state.hpp"
#include "simulation/step_controller.hpp"
#include "simulation/switches.hpp"

namespace kempe::detail {

/// The state of a simulation to which it returns where a step or a change fails.
class Checkpoint {
 public:
  Checkpoint(MotionState& motion, CoordinateChoices& choices, StepController& steps,
             Switches& switches)
      : motion_(motion), choices_(choices), steps_(steps), switches_(switches) {}
  /// Allocates memory, after all others were started with another model.
  void resize() {
    state_ = motion_.state;
    v_ = motion_.v;
    velocities_ = motion_.velocities;
    heading_ = motion_.heading;
  }

  void keep() {
    switches_.saveModes();
    resize();
    choices_.save();
    stepControl_ = steps_.memory();
  }
  /// The rates must then be computed again.
  void restore() {
    motion_.state = state_;
    motion_.v = v_;
    motion_.velocities = velocities_;
    motion_.heading = heading_;
    choices_.restore();
    steps_.setMemory(stepControl_);
    switches_.restoreModes();
    motion_.fresh = false;
  }

 private:
  MotionState& motion_;
  CoordinateChoices& choices_;
  StepController& steps_;
  Switches& switches_;
  State state_;
  Vector v_, velocities_;
  Eigen::VectorXd heading_;
  StepControl stepControl_;
};

}  // namespace kempe::detail
