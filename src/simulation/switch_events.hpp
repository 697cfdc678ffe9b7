#pragma once

#include <limits>
#include <vector>

#include "simulation/box_problem.hpp"
#include "simulation/event_watch.hpp"
#include "simulation/motion_state.hpp"
#include "simulation/robot_equations.hpp"
#include "simulation/step_controller.hpp"

namespace kempe::detail {

struct SwitchRows;

/// Dry friction and end stops along a motion: where their modes end within a step, impacts, and the
/// modes that follow. At a change point, rows, mobilities and forces are their limits along the
/// motion.
class SwitchEvents {
 public:
  SwitchEvents(MotionState& motion, RobotEquations& equations, StepController& steps,
               EventWatch& watch)
      : motion_(motion),
        equations_(equations),
        steps_(steps),
        watch_(watch),
        switches_(equations.switches()) {}
  /// Allocates memory for all switches in the current coordinates.
  void makeRoom();

  /// Chooses the modes at the state, and evaluates it again. `event` is the switch whose mode ended,
  /// or −1.
  void chooseModes(int event);
  /// Impacts on rigid stops. Returns whether there were any; modes must then be chosen.
  bool collide();
  /// After a step: joints that hold have neither moved nor a velocity, but for rounding.
  void keepHeld();
  /// After a step of h s in which events were ignored: what they do follows here.
  void catchUp(double h);

  /// A step from the state to the next is about to be tried.
  void startStep();
  /// The first event of the step.
  SwitchEvent ofStep(double h);
  /// Repeats a step in which an event was found so that it ends there. Returns its length and error.
  double locate(SwitchEvent event, double h, double& error);
  /// The switch of the event at which the step ends; −1 if there is none.
  [[nodiscard]] int located() const { return located_; }
  /// The step ends before the event.
  void clearLocated() { located_ = -1; }

  /// Steps on elastic stops that integrators without error control can take, s.
  [[nodiscard]] double longestStep() const { return longestStep_; }
  /// Adds the forces of switches that hold, within their bounds, per spanning velocity.
  void addHoldingForces(VectorOut sum);

 private:
  /// Of the switches that hold, finds those that must give way (BoxProblem), and releases them
  /// unless `onlyAsk`. Returns whether there are any.
  bool release(double t, VectorIn q, VectorIn v, const Rates& rates, bool onlyAsk);
  /// After box_ was solved: releases stops whose joints leave them for good, and excludes these from
  /// box_. Returns whether there were any.
  bool releaseLeaving(const SwitchRows& rows, const Rates& rates);
  /// Brings joints that hold back to where they were at the start of the step, by the smallest
  /// motion (errors of the integrator in dependent joints). Returns whether they had moved.
  bool holdPositions(const Readings& start);
  /// Moves the state so that joints whose rows are enabled come to these positions.
  void movePositions(const Readings& to);
  /// Moves joints that have passed rigid stops back to them. Returns the longest way.
  double returnToStops();
  /// Removes what errors have left of the velocities that are held, by an impulse.
  void holdVelocities();
  /// Takes note of forces of the BoxProblem that do not fulfil their conditions, relative to
  /// size(row).
  template <typename Size>
  void reportImbalance(double t, const SwitchRows& rows, const Size& size);
  /// Throws if a constraint or loop drives a joint on into the rigid stop that it has hit.
  void throwIfDriven(const SwitchRows& rows);
  void limitElasticSteps();

  // --- switch_balance.cpp ---
  /// Makes box_ and the numbers of rows zero.
  void startRows(int count);
  /// Throws SingularityError where loops that are left cut pass a change point at the state: their
  /// rows lose rank there, so that impulses along them are not determined.
  void requireRank() const;
  /// Adds K H⁻¹ Kᵀ of placed rows to box_.
  void addMobilities(const SwitchRows& rows, double weight);
  void clearImmobileRows();
  /// K H⁻¹ Kᵀ of the rows that are enabled, into box_, their rates and values, and response_.
  /// Returns whether loops pass a change point.
  bool placeRows(VectorIn q, VectorIn v);
  /// Adds the velocities that the impulses x of box_ cause, after placeRows().
  void addImpulses(VectorOut v);
  /// Solves for the forces of the rows that are enabled under those of `acting`, or those of the
  /// present modes if it is null, into box_. Returns as placeRows().
  bool balanceRows(double t, VectorIn q, VectorIn v, const Rates* acting, double stabilization);

  MotionState& motion_;
  RobotEquations& equations_;
  StepController& steps_;
  EventWatch& watch_;
  Switches& switches_;

  int located_ = -1;
  double longestStep_ = std::numeric_limits<double>::infinity();
  Readings lowReadings_;
  BoxProblem box_;
  std::vector<char> rowsWanted_;  // per switch
  std::vector<double> rowRates_, rowValues_;
  std::vector<double> rowMobilities_;  // of the terms of the interpolation
  Eigen::MatrixXd response_;           // H⁻¹ Kᵀ, nv × rows
  Eigen::VectorXd tau_, y_, q_;        // scratch
};

}  // namespace kempe::detail
