#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "kempe/simulator.hpp"
#include "simulation/box_problem.hpp"
#include "simulation/change_points.hpp"
#include "simulation/effort_watch.hpp"
#include "simulation/energy_watch.hpp"
#include "simulation/error_watch.hpp"
#include "simulation/event_watch.hpp"
#include "simulation/forces.hpp"
#include "simulation/integrators.hpp"
#include "simulation/loads.hpp"
#include "simulation/motion_state.hpp"
#include "simulation/occupancy.hpp"
#include "simulation/prescribed_watch.hpp"
#include "simulation/tolerances.hpp"

namespace kempe::detail {

/// The implementation of Simulator.
class Simulation {
 public:
  Simulation(const Model& userModel, const SimulatorOptions& chosen);

  // --- evaluation.cpp ---
  /// Rates of a state; all accelerations are computed here. At a change point, their limit along
  /// the motion.
  void evaluate(double t, VectorIn q, VectorIn v, Rates& rates);
  Energy energyNow();
  double loopErrorNow();
  /// Accelerations of all tree joints at the state.
  const Vector& spanningAccelerationsNow();
  /// Accelerations of the user's coordinates at the state.
  const Vector& accelerationsNow();

  /// Whether there are constraints, or loops that are left cut.
  [[nodiscard]] bool isConstrained() const {
    return constraints.has_value() || !model.impl().cuts.entries.empty();
  }
  /// Projects the state onto the constraints: positions by the least motion, velocities by an
  /// impulse.
  void projectNow();
  /// The same after a change of state or constraints.
  void catchConstraints();
  /// Replaces the constraints, and projects the state onto them. If that fails, nothing changes.
  void changeConstraints(const Constraints& next);
  /// Throws AssemblyError if constraints contradict each other at the state.
  void requireCompatibleNow();
  /// The largest |φ| of one of these constraints, if it is on.
  double constraintGap(const Constraints& of, int constraint);

  // --- step_control.cpp ---
  /// One step of the integrator from the state to the next. Returns the error
  /// relative to the tolerances, 0 if it is not estimated.
  double attempt(double h);
  [[nodiscard]] Integrator integratorInUse() const {
    return options.integrator == Integrator::Auto ? stepControl_.inUse : options.integrator;
  }

  // --- simulation.cpp ---
  /// Sets the state, projected onto the constraints. If that fails, nothing changes.
  void setState(VectorIn q, VectorIn velocities, double time);
  void stepTo(double end);
  /// Rates at the state into first(), in coordinates that suit it.
  void refresh();
  /// The forces have changed, so that first() must be computed again.
  void changed() {
    motion_.fresh = false;
    errors_.interrupt();
  }
  /// Adds an armature to a joint, given by its index in the mechanism.
  void addArmature(std::size_t joint, double value);
  /// Allocates memory for elements that have been added.
  void resizeForElements();
  [[nodiscard]] Work workNow() const;
  [[nodiscard]] Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

  // --- balance.cpp ---
  double energyErrorNow();
  /// Where the balance is lost, the reason; otherwise empty.
  [[nodiscard]] std::string energyWarning() const;
  /// Where errors of steps of fixed length are large, the reason; otherwise empty.
  [[nodiscard]] std::string errorWarning() const;
  [[nodiscard]] std::vector<std::string> eventWarnings() const { return events_.warnings(); }
  /// Where steps with error control are much shorter than the motion suggests, the reason;
  /// otherwise empty.
  [[nodiscard]] std::string effortWarning() const;
  /// Where the motion is too small for the tolerances, a text that says so; otherwise empty.
  [[nodiscard]] std::string smallMotionWarning() const;
  /// Where a prescribed motion contradicts itself, a text that says so; otherwise empty.
  [[nodiscard]] const std::string& prescribedWarning() const { return prescribed_.warning(); }
  /// J, also within steps; see EnergyWatch.
  [[nodiscard]] double energyExchanged() const { return watch_.exchanged(); }
  /// The next sample is the first of the balance.
  void restartBalance();

  // --- loads.cpp ---
  /// The forces that act at the state.
  const Loads& loadsNow();
  /// Forces in joints and loops at the state; see Reactions.
  void jointForcesNow(MatrixOut result, const ForceOptions& how);
  void loopForcesNow(VectorOut result, const ForceOptions& how);

  // --- run.cpp ---
  [[nodiscard]] Recording emptyRecording(double dt) const;
  /// The sample of the state, without its choice of coordinates; also one of the energy balance.
  Recording::Sample sampleNow();
  void record(Recording& recording);

  Model model;  ///< the user's coordinates
  SimulatorOptions options;
  ForceElements elements;
  Simulator::Controller controller;
  Simulator::ExternalForces externalFunction;
  Simulator::MotorController motorController;
  Simulator::Observer observer;
  std::function<void()> interruptCheck;
  Occupancy occupancy;
  std::vector<FrameForce> externalForces;
  Eigen::VectorXd forces;    ///< constant tau
  Eigen::VectorXd commands;  ///< of motors
  std::optional<Constraints> constraints;
  Vector multipliers;  ///< of constraints, at the state that was evaluated last
  int coordinateChanges = 0;
  /// Effort of an integrator, or of all for Integrator::Auto.
  [[nodiscard]] IntegratorStatistics statistics(Integrator integrator) const;

  [[nodiscard]] const State& state() const { return motion_.state; }
  [[nodiscard]] const Rates& first() const { return *motion_.first; }
  [[nodiscard]] const Vector& v() const { return motion_.v; }
  [[nodiscard]] const Vector& velocities() const { return motion_.velocities; }
  [[nodiscard]] const Coordinates& coordinates() const { return choices_.current(); }

 private:
  /// The equations of motion in the coordinates that are chosen.
  class Equations : public EquationsOfMotion {
   public:
    explicit Equations(Simulation& simulation) : of_(simulation) {}

    void evaluate(double t, VectorIn q, VectorIn v, Rates& rates) override {
      of_.evaluate(t, q, v, rates);
    }
    void follow(VectorIn q0, const double* G, VectorIn y, VectorOut q) override {
      of_.work().follow(q0, G, y, q);
    }
    void chartRates(VectorIn q0, VectorIn y, VectorIn q, VectorIn v, VectorIn velocities,
                    VectorOut rates) override {
      of_.work().chartRates(q0, y, q, v, velocities, rates);
    }
    [[nodiscard]] std::size_t choice() const override { return of_.choices_.index(); }

   private:
    Simulation& of_;
  };

  void evaluateAt(double t, VectorIn q, VectorIn v, Rates& rates);
  Energy energyAt(VectorIn q, VectorIn v);
  /// All forces of a state but those that hold joints, into tau_ and rates.
  void gatherForces(double t, VectorIn q, VectorIn v, Rates& rates);
  void accelerate(double t, VectorIn q, VectorIn v, Rates& rates);

  Reactions& reactions();
  /// Adds the forces of constraints to loads_.
  void addConstraintForces();
  /// Rate of Baumgarte's method, 0 if it is not used.
  [[nodiscard]] double stabilizationRate() const {
    return options.stabilization == Stabilization::Baumgarte ? options.baumgarteRate : 0.0;
  }

  // --- evaluation_across.cpp ---
  /// evaluateAt() and energyAt() near a change point: their limits along the motion.
  void evaluateAcross(double t, VectorIn q, VectorIn v, Rates& rates);
  Energy energyAcross();
  /// Adds the bias g = Ġ v of the state there.
  void addBiasAcross(VectorOut sum);
  /// evaluateAt() with loops that are left cut or constraints, which may pass a change point.
  void evaluateConstrained(double t, VectorIn q, VectorIn v, Rates& rates);
  /// Learns the rank of the rows of loops that are left cut from a position near the state, which may
  /// be a change point itself.
  void learnUsualRank();
  /// How far loops that are left cut are open on the branch that was interpolated.
  double gapAcrossRows(VectorIn q, const Rates& rates);
  void evaluateAcrossRows(double t, VectorIn q, VectorIn v, double way, Rates& rates);
  /// The way from the point at which rows lose rank, near q along the heading; nothing if there is none.
  std::optional<double> wayFromRows(double t, VectorIn q, VectorIn v);
  /// The state a way along the heading from (q, v), on all rows, into nodeQ_ and nodeV_.
  void moveAlongRows(double t, VectorIn q, VectorIn v, double way);
  /// Puts the state onto the branch that it follows through a change point.
  void straighten();

  // --- turns.cpp ---
  /// The cluster whose loops turn onto another branch during the step of length h from the state to the
  /// next, −1 if there is none.
  int turningCluster();
  /// Shortens the step from the state to the next of length h so that it ends where the cluster turns.
  double stepToTurn(int cluster, double h);
  /// The same to a way of the cluster from its singular point, which it reaches within the step.
  double stepToWay(int cluster, double h, double goal, double tolerance);
  /// Turns, at the state, keeping energy and momentum.
  void turn(int cluster);
  [[noreturn]] void throwCannotTurn(int cluster) const;
  /// Throws SingularityError if a loop is near a singular position at the state.
  void throwIfSingular() const;

  // --- events.cpp ---
  struct Rows;
  /// Chooses the modes of friction and stops at the state, and evaluates it again. `event` is the
  /// switch whose mode ended, or −1.
  void chooseModes(int event);
  /// Of the switches that hold, finds those that must give way (BoxProblem), and releases them
  /// unless `onlyAsk`. Returns whether there are any.
  bool releaseSwitches(double t, VectorIn q, VectorIn v, const Rates& rates, bool onlyAsk);
  /// After box_ was solved: releases stops whose joints leave them for good, and excludes these from
  /// box_. Returns whether there were any.
  bool releaseLeaving(const Rows& rows, const Rates& rates);
  /// Brings joints that hold back to where they were at the start of the step, by the smallest
  /// motion (errors of the integrator in dependent joints). Returns whether they had moved.
  bool holdPositions(const Readings& start);
  /// Moves the state so that joints whose rows are enabled come to these positions.
  void movePositions(const Readings& to);
  /// Moves joints that have passed rigid stops back to them. Returns the longest way.
  double returnToStops();
  /// After a step of h s in which events were ignored: what they do follows here.
  void catchUpWithEvents(double h);
  /// Removes what errors have left of the velocities that are held, by an impulse.
  void holdVelocities();
  /// Sets the numbers of coordinates that are held to zero exactly, if they are independent.
  void holdExactly(VectorOut x);
  /// Takes note of forces of the BoxProblem that do not fulfil their conditions, relative to
  /// size(row).
  template <typename Size>
  void reportImbalance(double t, const Rows& rows, const Size& size);
  /// Throws if a constraint or loop drives a joint on into the rigid stop that it has hit.
  void throwIfDriven(const Rows& rows);
  /// Impacts on rigid stops. Returns whether there were any; modes must then be chosen.
  bool collide();
  /// Steps on elastic stops that integrators without error control can take.
  void limitElasticSteps();
  /// The first event of the step from the state to the next.
  SwitchEvent eventOfStep(double h);
  /// Repeats a step in which an event was found so that it ends there. Returns its length and error,
  /// and the switch in located_.
  double locate(SwitchEvent event, double h, double& error);
  /// The rank of the rows of loops that are left cut, and of constraints.
  int rankOfRows(VectorIn q);
  [[nodiscard]] double speed() const { return motion_.speed(); }

  // --- switch_rows.cpp ---
  // At a change point, rows, mobilities and forces are their limits along the motion.
  /// Allocates memory for all rows of switches in the current coordinates.
  void makeRoomForRows();
  /// Makes box_ and the numbers of rows zero.
  void startRows(int count);
  /// Adds K H⁻¹ Kᵀ of placed rows to box_.
  void addMobilities(const Rows& rows, double weight);
  void clearImmobileRows();
  /// K H⁻¹ Kᵀ of the rows that are enabled, into box_, their rates and values, and response_.
  /// Returns whether loops pass a change point.
  bool placeRows(VectorIn q, VectorIn v);
  /// Adds the velocities that the impulses x of box_ cause, after placeRows().
  void addImpulses(VectorOut v);
  /// Solves for the forces of the rows that are enabled under those of `acting`, or those of the
  /// present modes if it is null, into box_. Returns as placeRows().
  bool balanceRows(double t, VectorIn q, VectorIn v, const Rates* acting, double stabilization);
  /// Adds the forces of switches that hold, within their bounds, per spanning velocity.
  void addHoldingForces(VectorOut sum);

  // --- step_control.cpp ---
  /// Whether the integrator chooses the lengths of its steps.
  [[nodiscard]] bool controlsError() const {
    return integratorInUse() == Integrator::Adaptive || integratorInUse() == Integrator::Radau;
  }
  [[nodiscard]] Tolerances tolerances() const {
    return {options.relativeTolerance, options.absoluteTolerance};
  }
  /// The length of the next step towards the end of an interval.
  double proposedStep(double interval);
  double firstStep(double most);
  /// The memory of earlier steps does not apply to the next: the motion is not smooth here.
  void forgetSteps();
  /// The length with which to repeat a step of h seconds, whose error was above the tolerances.
  [[nodiscard]] double shorterStep(double h, double error) const;
  /// Takes note of a step of h seconds that was completed, `proposed` being the longest that was
  /// thought possible; proposedStep() is then that of the next.
  void acceptStep(double h, double proposed, double error);
  /// Integrator::Auto: weighs explicit against implicit steps, after one of h seconds, which could
  /// have been longer if it was cut.
  void chooseMethod(double h, bool cut);
  void changeMethod(Integrator next);
  /// After an implicit step of h seconds without a solution: whether Integrator::Auto goes on with
  /// explicit ones, because shorter implicit ones had none either.
  bool leaveImplicitSteps();
  IntegratorStatistics& effort() { return efforts_[static_cast<std::size_t>(integratorInUse())]; }

  [[nodiscard]] Coordinates& work() { return choices_.current(); }
  /// Evaluates the state, after a change of it, and shows its velocities.
  void evaluateState() {
    evaluate(motion_.state.time, motion_.state.q, motion_.state.v, *motion_.first);
    motion_.show();
  }
  void start(const Model& user);
  void setMotion(VectorIn q, VectorIn velocities, double time);
  /// Makes a change of the state between steps. If it throws, the state, the energy balance and the
  /// warnings are those before.
  template <typename Change>
  void allOrNothing(const Change& change);
  void addModelFriction();
  /// Switches to coordinates that are better by `gain` at the state; false if there are none.
  bool exchangeCoordinates(double gain);
  void advanceTo(double end);
  /// Makes next_ and last_ the state; every step is completed here.
  void completeStep(double time);
  /// Adds the state to the balance.
  void watchEnergy(const Energy& energy);
  /// Keeps the least regularity of the loops since the last sample.
  void watchLoops();
  [[nodiscard]] bool balanceIsLost() const;
  [[nodiscard]] std::string lostBalance() const;
  /// Called while an error of a step to `end` is handled, with the state before the step: throws an
  /// error that names the length of the steps if that is the cause.
  void throwIfStepIsTooLong(double end);
  /// Throws if velocities so large that they need steps of h s suggest that they grow for ever.
  void throwIfDiverging(double h);
  /// Takes note of a step of h seconds near a singular position, which was limited by that or not.
  /// Throws if the motion cannot pass it, or runs along such positions.
  void watchSingularity(double h, bool limited);
  /// The loops of a cluster, or those that are left cut (−1), as a part of messages.
  [[nodiscard]] std::string loopsOf(int cluster) const;
  /// The remedy of those that act on the robot.
  [[nodiscard]] std::string divergenceRemedy() const;
  /// Throws if hardly anything that has mass moves at the state, so that velocities have no bound.
  void throwIfInertiaVanishes();
  void keepBefore();
  void returnToBefore();

  std::uint64_t fingerprint_ = 0;  // of the model
  std::vector<Model> earlier_;     // without some armatures; users may hold references into them
  MotionState motion_;
  CoordinateChoices choices_;
  ChangePoints points_{choices_, motion_.heading};
  std::optional<SingularPoint::Turn> turn_;  // the one of turningCluster()
  bool dissipates_ = false;                  // some joint has a damper

  Rates node_;
  struct UsualRows {  // of loops that are left cut, and constraints
    int count = 0;
    int rank = 0;             // the largest
    double regularity = 0.0;  // the largest
    bool learned = false;     // the rank is not that of the first state only
  };
  UsualRows usualRows_;
  bool rowsMiss_ = false;       // the change point that they are near
  double rowRegularity_ = 1.0;  // at the last accelerations; 0 where they lose rank
  bool redundantRows_ = false;  // constraints have them, at the state that was evaluated last
  StepControl stepControl_;

  ErrorWatch errors_;  // of steps of fixed length
  EventWatch events_;
  EffortWatch effort_;  // of steps with error control
  PrescribedWatch prescribed_;

  struct Before {  // a step
    State state;
    Vector v, velocities;
    Eigen::VectorXd heading;
    StepControl stepControl;
    int coordinateChanges = 0;
  };
  Before before_;

  std::array<IntegratorStatistics, static_cast<std::size_t>(Integrator::Auto)> efforts_{};
  double interval_ = 0.0;           // between samples, or the longest step
  long long evaluationsSoFar_ = 0;  // at the last step that was completed
  int unsolved_ = 0;                // implicit steps in a row that found no solution
  Equations equations_{*this};
  Integrators integrators_;

  EnergyWatch watch_;
  double leastRegularity_ = 1.0;  // of the loops of a cluster, since the last sample
  int leastRegular_ = -1;         // that cluster
  int alongSingular_ = 0;         // steps in a row near a singular position
  double stepLength_ = 0.0;       // the longest since the balance started
  Vector a_, spanningAccelerations_;
  Loads loads_;
  std::unique_ptr<Reactions> reactions_;  // from the first time that they are asked for
  Eigen::VectorXd bias_;                  // of these

  int located_ = -1;  // the switch of the event that locate() found
  double longestStep_ = std::numeric_limits<double>::infinity();  // on elastic stops
  Readings lowReadings_;
  BoxProblem box_;
  std::vector<char> rowsWanted_;  // per switch
  std::vector<double> rowRates_, rowValues_;
  std::vector<double> rowMobilities_;  // of the terms of the interpolation
  Eigen::MatrixXd response_;           // H⁻¹ Kᵀ, nv × rows

  // Scratch.
  Eigen::VectorXd spanningForces_, tau_, stageQ_, stageV_, stageA_, y_, slope_, nodeQ_;
  Eigen::MatrixXd massHere_;
  Eigen::VectorXd nodeV_, nodeWay_, cutRows_;
  Eigen::VectorXd rows_;  // of all loops
};

}  // namespace kempe::detail
