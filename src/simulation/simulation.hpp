#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kempe/simulator.hpp"
#include "simulation/checkpoint.hpp"
#include "simulation/failures.hpp"
#include "simulation/motion_watch.hpp"
#include "simulation/occupancy.hpp"
#include "simulation/robot_derivatives.hpp"
#include "simulation/state_forces.hpp"
#include "simulation/switch_events.hpp"
#include "simulation/turns.hpp"

namespace kempe::detail {

/// The implementation of Simulator: a motion (MotionState) that obeys equations (RobotEquations)
/// under forces (ActingForces) is advanced by steps (StepController) that end at events
/// (SwitchEvents, Turns), in coordinates that suit it (CoordinateChoices), and watched (MotionWatch).
/// Where a step fails, it returns to a Checkpoint and Failures name the cause.
class Simulation {
 public:
  Simulation(const Model& userModel, const SimulatorOptions& chosen);

  /// Sets the state, projected onto the constraints. If that fails, nothing changes.
  void setState(VectorIn q, VectorIn velocities, double time);
  void stepTo(double end);
  /// Rates at the state into first(), in coordinates that suit it.
  void refresh();
  /// The forces have changed, so that first() must be computed again.
  void changed() {
    motion_.fresh = false;
    watch_.interrupt();
  }
  /// Adds an armature to a joint, given by its index in the mechanism.
  void addArmature(std::size_t joint, double value);
  /// Allocates memory for elements that have been added.
  void resizeForElements();
  /// Replaces the constraints, and projects the state onto them. If that fails, nothing changes.
  void changeConstraints(const Constraints& next);
  [[nodiscard]] Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

  // --- at the state ---
  [[nodiscard]] const State& state() const { return motion_.state; }
  [[nodiscard]] const Rates& first() const { return *motion_.first; }
  [[nodiscard]] const Vector& v() const { return motion_.v; }
  [[nodiscard]] const Vector& velocities() const { return motion_.velocities; }
  [[nodiscard]] Work workNow() const { return motion_.work(); }
  Energy energyNow() { return equations_.energyOf(motion_.state); }
  double energyErrorNow();
  double loopErrorNow() { return equations_.loopError(motion_.state.q); }
  /// Accelerations of all tree joints.
  const Vector& spanningAccelerationsNow();
  /// Accelerations of the user's coordinates.
  const Vector& accelerationsNow();
  /// The largest |φ| of one of these constraints, if it is on.
  double constraintGap(const Constraints& of, int constraint) {
    return equations_.gapOf(of, constraint, motion_.state);
  }

  /// The forces at the state, after refresh().
  [[nodiscard]] StateForces& forces() { return forces_; }

  // --- linearize.cpp ---
  /// The derivatives of one step of h s from the state: A, 2 nv × 2 nv, and B, 2 nv × nv, in the
  /// user's tangents and velocities.
  void linearize(double h, MatrixOut A, MatrixOut B);
  /// Those of the rates at the state.
  void linearizeRates(MatrixOut A, MatrixOut B);

  // --- run.cpp ---
  [[nodiscard]] Recording emptyRecording(double dt) const;
  /// The sample of the state, without its choice of coordinates; also one of the energy balance.
  Recording::Sample sampleNow();
  void record(Recording& recording);

  [[nodiscard]] const CoordinateChoices& choices() const { return choices_; }
  [[nodiscard]] const RobotEquations& equations() const { return equations_; }
  [[nodiscard]] const StepController& steps() const { return steps_; }
  [[nodiscard]] MotionWatch& watch() { return watch_; }

  Model model;  ///< the user's coordinates
  const SimulatorOptions options;
  ActingForces acting;
  Simulator::Observer observer;
  std::function<void()> interruptCheck;
  Occupancy occupancy;

 private:
  /// Makes the user's coordinates the only choice, and allocates memory for any.
  void start(const Model& user);
  void setMotion(VectorIn q, VectorIn velocities, double time);
  /// Projects the state onto the constraints, after a change of either.
  void catchConstraints();
  /// Makes a change of the state between steps. If it throws, the state, the energy balance and the
  /// warnings are those before.
  template <typename Change>
  void allOrNothing(const Change& change);

  void advanceTo(double end);
  /// Makes the end of a step the state; every step is completed here.
  void completeStep(double time);
  /// Switches to coordinates that are better by `gain` at the state; false if there are none.
  bool exchangeCoordinates(double gain);
  /// The same if the present ones are poor there.
  void exchangePoorCoordinates();

  /// Called while an error of a step to `end` is handled, with the state before the step: throws an
  /// error that names the length of the steps if that is the cause.
  void throwIfStepIsTooLong(double end);

  // --- linearize.cpp ---
  void requireOutputs(const MatrixOut& A, const MatrixOut& B) const;
  /// Prepares derivatives_ at the state. Throws if there are none.
  void startDerivatives();
  /// Throws if step() would not make a step of h s in one go, with the same modes of friction and
  /// stops: before it is made, and after.
  void requireOneStep(double h);
  void requireSmoothStep();
  /// Includes the projection after the step that stepDerivatives_ is of.
  void projectDerivatives();
  /// From the current coordinates to the user's: [T 0; W T] of RobotDerivatives::toUsers().
  struct Transformation {
    Eigen::MatrixXd T, W;
    void apply(MatrixOut to) const;
    /// Of the columns.
    void applyInverse(MatrixOut to) const;
  };
  Transformation usersAt(const State& at);

  [[nodiscard]] Coordinates& work() { return choices_.current(); }
  [[nodiscard]] Switches& switches() { return acting.elements.switches; }

  std::uint64_t fingerprint_ = 0;  // of the model
  std::vector<Model> earlier_;     // without some armatures; users may hold references into them

  MotionState motion_;
  CoordinateChoices choices_;
  ChangePoints points_{choices_, motion_.heading};
  RobotEquations equations_;
  StepController steps_{options, equations_, motion_};
  MotionWatch watch_{model, options, motion_, steps_, acting.elements.switches};
  SwitchEvents events_{motion_, equations_, steps_, watch_.events()};
  Turns turns_{motion_, equations_, steps_};

  StateForces forces_{motion_, equations_, events_};
  Failures failures_{motion_, equations_, watch_};
  Checkpoint before_{motion_, choices_, steps_, acting.elements.switches};  // a step, or a change

  RobotDerivatives derivatives_{equations_};
  StepDerivatives stepDerivatives_;
  Vector unprojected_;

  Vector a_, spanningAccelerations_;
};

}  // namespace kempe::detail
