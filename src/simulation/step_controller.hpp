#pragma once

#include <array>
#include <cstddef>

#include "kempe/recording.hpp"
#include "kempe/simulator.hpp"
#include "simulation/integrators.hpp"
#include "simulation/motion_state.hpp"

namespace kempe::detail {

/// The explicit pair is stable for h times an eigenvalue on the imaginary axis up to this: above it,
/// stability and not accuracy limits its steps.
inline constexpr double kStable = 1.0;

/// Makes the steps of a motion: chooses the integrator, if it may, and the lengths of its steps, and
/// keeps account of its effort.
class StepController {
 public:
  StepController(const SimulatorOptions& options, EquationsOfMotion& equations, MotionState& motion)
      : options_(options), equations_(equations), motion_(motion), asked_(options.integrator) {}
  /// Allocates memory for steps of this model.
  void resize(const Model& model);

  /// One step of the integrator from the state of the motion to the next. Returns the error relative
  /// to the tolerances, 0 if it is not estimated.
  double attempt(double h);

  /// The same step, with its derivative (Stepper::linearize).
  void linearize(double h, EquationDerivatives& derivatives, StepDerivatives& result);

  [[nodiscard]] Integrator inUse() const {
    return asked_ == Integrator::Auto ? memory_.inUse : asked_;
  }
  /// Whether the integrator chooses the lengths of its steps.
  [[nodiscard]] bool controlsError() const {
    return inUse() == Integrator::Adaptive || inUse() == Integrator::Radau;
  }
  [[nodiscard]] Tolerances tolerances() const {
    return {options_.relativeTolerance, options_.absoluteTolerance};
  }
  [[nodiscard]] const Integrators& integrators() const { return integrators_; }

  // --- memory of earlier steps ---
  [[nodiscard]] const StepControl& memory() const { return memory_; }
  /// Returns to a memory of this controller.
  void setMemory(const StepControl& memory);
  /// Goes on from a snapshot, which may be of another integrator.
  void restore(const StepControl& memory);
  /// Forgets everything: a motion starts.
  void restart();
  /// An interval between samples starts: a motion continued from a snapshot has no more memory.
  void startInterval();
  /// The memory of earlier steps does not apply to the next: the motion is not smooth here.
  void forgetSteps();

  // --- lengths of steps, with error control ---
  /// The length of the next step towards the end of an interval.
  double proposedStep(double interval);
  /// The length with which to repeat a step of h seconds, whose error was above the tolerances.
  [[nodiscard]] double shorterStep(double h, double error) const;
  /// Takes note of a step of h seconds that was completed, `proposed` being the longest that was
  /// thought possible. Returns the length of the next.
  double acceptStep(double h, double proposed, double error);
  /// After an implicit step without a solution: whether Integrator::Auto goes on with explicit ones,
  /// because shorter implicit ones had none either.
  bool leaveImplicitSteps();

  // --- effort ---
  void countStep() { ++effort().steps; }
  void countRefusal() { ++effort().refusedSteps; }
  /// Effort of an integrator, or of all for Integrator::Auto.
  [[nodiscard]] IntegratorStatistics statistics(Integrator integrator) const;

  /// While it lives, another integrator is at work, without memory.
  class Instead {
   public:
    Instead(StepController& controller, Integrator other);
    ~Instead();
    Instead(const Instead&) = delete;
    Instead& operator=(const Instead&) = delete;

   private:
    StepController& of_;
    Integrator asked_;
  };

 private:
  double firstStep(double most);
  /// Integrator::Auto: weighs explicit against implicit steps, after one of h seconds, which could
  /// have been longer if it was cut.
  void chooseMethod(double h, bool cut);
  void changeMethod(Integrator next);
  /// Puts the evaluations so far down to the integrator in use, before another one is.
  void settle();
  /// That of the integrator in use.
  IntegratorStatistics& effort() {
    settle();
    return efforts_[static_cast<std::size_t>(inUse())];
  }

  const SimulatorOptions& options_;
  EquationsOfMotion& equations_;
  MotionState& motion_;
  Integrators integrators_;
  Integrator asked_;
  StepControl memory_;

  std::array<IntegratorStatistics, static_cast<std::size_t>(Integrator::Auto)> efforts_{};
  long long settled_ = 0;           // evaluations that efforts_ have
  double interval_ = 0.0;           // between samples, or the longest step
  long long evaluationsSoFar_ = 0;  // at the last step that was completed
  int unsolved_ = 0;                // implicit steps in a row that found no solution
  // Scratch of firstStep().
  Eigen::VectorXd q_, v_, a_, y_, slope_;
};

}  // namespace kempe::detail
