#pragma once

#include <string>
#include <vector>

#include "kempe/momentum.hpp"
#include "simulation/change_points.hpp"
#include "simulation/effort_watch.hpp"
#include "simulation/energy_watch.hpp"
#include "simulation/error_watch.hpp"
#include "simulation/event_watch.hpp"
#include "simulation/motion_state.hpp"
#include "simulation/prescribed_watch.hpp"
#include "simulation/step_controller.hpp"

namespace kempe::detail {

/// Watches a motion, and warns where it may be wrong: all warnings of a simulator come from here.
class MotionWatch {
 public:
  MotionWatch(const Model& model, const SimulatorOptions& options, const MotionState& motion,
              const StepController& steps, const Switches& switches)
      : model_(model), options_(options), motion_(motion), steps_(steps), switches_(switches) {}
  void resize(const Model& model) { account_.errors.resize(model.nv()); }

  /// Everything that was noticed.
  struct Account {
    EnergyWatch energy;
    ErrorWatch errors;  ///< of steps of fixed length
    EventWatch events;
    EffortWatch effort;  ///< of steps with error control
    PrescribedWatch prescribed;
    double stepLength = 0.0;       ///< the longest
    double leastRegularity = 1.0;  ///< of the loops of a cluster, since the last sample
    int leastRegular = -1;         ///< that cluster
    int alongSingular = 0;         ///< steps in a row near a singular position
  };
  [[nodiscard]] const Account& account() const { return account_; }
  void setAccount(const Account& account) { account_ = account; }
  [[nodiscard]] EventWatch& events() { return account_.events; }

  /// Forgets everything: the next sample is the first of the balance.
  void restart();
  /// The forces or the velocities jump at the state.
  void interrupt() { account_.errors.interrupt(); }
  [[nodiscard]] bool hasSamples() const { return account_.energy.started(); }
  /// Adds the state to the energy balance.
  void addSample(const Energy& energy);
  /// An interval between samples starts, with these constraints, if any.
  void startInterval(double end, const ConstraintTable* constraints);
  /// A step from the state to the next, which ends at `time`, is about to be completed.
  void addStep(double time, std::size_t choice);
  /// It is completed; `crossing` are the clusters that pass a change point.
  void addState(const std::vector<char>& crossing);
  /// A step of h seconds with error control, with this error relative to the tolerances.
  void addControlledStep(double h, double error);
  void addRefusal() { account_.effort.addRefusal(); }
  /// A step that ended at an event of this switch.
  void addEvent(int which);
  /// A step of h seconds near a singular position, which was limited by that or not. Throws if the
  /// motion cannot pass it, or runs along such positions.
  void addSingularStep(double h, bool limited, const ChangePoints& points);
  [[nodiscard]] bool isAlongSingular() const { return account_.alongSingular > 0; }

  /// Energy − energy at the first sample − work + losses at the state, J.
  [[nodiscard]] double energyError(const Energy& energy) const;
  /// J, also within steps; see EnergyWatch.
  [[nodiscard]] double energyExchanged() const { return account_.energy.exchanged(); }
  [[nodiscard]] bool balanceIsLost() const;
  /// As parts of messages.
  [[nodiscard]] std::string lostBalance() const;
  [[nodiscard]] std::string stepsAreTooLong() const;

  /// All warnings so far.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Where steps with error control are much shorter than the motion suggests, the reason;
  /// otherwise empty.
  [[nodiscard]] std::string effortWarning() const;

 private:
  /// Where the balance is lost, the reason; otherwise empty.
  [[nodiscard]] std::string energyWarning() const;
  /// Where errors of steps of fixed length are large, the reason; otherwise empty.
  [[nodiscard]] std::string errorWarning() const;
  /// Where the motion is too small for the tolerances, a text that says so; otherwise empty.
  [[nodiscard]] std::string smallMotionWarning() const;
  /// The loops of a cluster, or those that are left cut (−1), as a part of messages.
  [[nodiscard]] std::string loopsOf(int cluster) const;

  const Model& model_;
  const SimulatorOptions& options_;
  const MotionState& motion_;
  const StepController& steps_;
  const Switches& switches_;
  Account account_;
};

}  // namespace kempe::detail
