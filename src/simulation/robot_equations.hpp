#pragma once

#include <optional>

#include "kempe/constraints.hpp"
#include "kempe/momentum.hpp"
#include "simulation/acting_forces.hpp"
#include "simulation/change_points.hpp"
#include "simulation/stepper.hpp"

namespace kempe::detail {

/// The equations of motion of a robot, in the current choice of coordinates: all accelerations are
/// computed here. At a change point, they are limits along the motion, whose heading is given.
class RobotEquations : public EquationsOfMotion {
 public:
  /// `stabilizationRate` is that of Baumgarte's method, 0 if it is not used.
  RobotEquations(ActingForces& acting, CoordinateChoices& choices, ChangePoints& points,
                 const Eigen::VectorXd& heading, double stabilizationRate)
      : acting_(acting),
        choices_(choices),
        points_(points),
        heading_(heading),
        stabilizationRate_(stabilizationRate) {}
  /// Allocates memory, after all others were started with another model.
  void start();
  /// Allocates memory for elements that have been added.
  void resizeForElements() { node_.resizeForElements(acting_.elements); }

  void evaluate(double t, VectorIn q, VectorIn v, Rates& rates) override;
  void follow(VectorIn q0, const double* G, VectorIn y, VectorOut q) override {
    work().follow(q0, G, y, q);
  }
  void chartRates(VectorIn q0, VectorIn y, VectorIn q, VectorIn v, VectorIn velocities,
                  VectorOut rates) override {
    work().chartRates(q0, y, q, v, velocities, rates);
  }
  [[nodiscard]] std::size_t choice() const override { return choices_.index(); }
  [[nodiscard]] long long evaluations() const override { return evaluations_; }

  Energy energyOf(const State& state);
  /// Accelerations of all tree joints.
  void spanningAccelerations(const State& state, const Rates& rates, VectorOut accelerations);
  /// Largest |φ| of all loops.
  double loopError(VectorIn q);
  /// Puts a state onto the branch that it follows through a change point.
  void straighten(State& state, const Rates& rates);

  /// Whether there are constraints, or loops that are left cut.
  [[nodiscard]] bool isConstrained() const {
    return constraints.has_value() || !choices_.user().impl().cuts.entries.empty();
  }
  /// Projects a state onto the constraints: positions by the least motion, velocities by an impulse.
  void project(State& state);
  /// Throws AssemblyError if constraints contradict each other at the state that was evaluated last.
  void requireCompatibleAt(const State& state);
  /// The largest |φ| of one of these constraints, if it is on.
  double gapOf(const Constraints& of, int constraint, const State& state);
  /// Learns the rank of the rows of loops that are left cut, once, from a position near a state,
  /// which may be a change point itself. `rates` are those of the state.
  void learnUsualRank(const State& state, Rates& rates);

  /// What is known of the rows of loops that are left cut and constraints, from states before.
  struct KnownRows {
    int count = 0;
    int rank = 0;             ///< the largest
    double regularity = 0.0;  ///< the largest
    bool learned = false;     ///< the rank is not that of the first state only
    bool miss = false;        ///< the change point that they are near
  };
  [[nodiscard]] const KnownRows& knownRows() const { return known_; }
  void setKnownRows(const KnownRows& rows) { known_ = rows; }

  /// The generalised forces at the state that was evaluated last, but for those on bodies.
  [[nodiscard]] const Eigen::VectorXd& tau() const { return tau_; }
  [[nodiscard]] ActingForces& acting() { return acting_; }
  [[nodiscard]] Switches& switches() { return acting_.elements.switches; }
  [[nodiscard]] CoordinateChoices& choices() { return choices_; }
  [[nodiscard]] ChangePoints& points() { return points_; }
  [[nodiscard]] Coordinates& work() { return choices_.current(); }
  [[nodiscard]] double stabilizationRate() const { return stabilizationRate_; }
  /// Scratch: rates of a position near a change point.
  [[nodiscard]] Rates& node() { return node_; }

  std::optional<Constraints> constraints;
  Vector multipliers;  ///< of constraints, at the state that was evaluated last

 private:
  [[nodiscard]] const ConstraintTable* table() const {
    return constraints ? &constraints->table() : nullptr;
  }
  void evaluateAt(double t, VectorIn q, VectorIn v, Rates& rates);
  void accelerate(double t, VectorIn q, VectorIn v, Rates& rates);
  Energy energyAt(VectorIn q, VectorIn v);

  // --- equations_at_change_points.cpp ---
  /// evaluateAt() and energyAt() near a change point: their limits along the motion.
  void evaluateAcross(double t, VectorIn q, VectorIn v, Rates& rates);
  Energy energyAcross(const State& state);
  /// Adds the bias g = Ġ v of the state there.
  void addBiasAcross(const State& state, VectorOut sum);
  /// evaluateAt() with loops that are left cut or constraints, which may pass a change point.
  void evaluateConstrained(double t, VectorIn q, VectorIn v, Rates& rates);
  void evaluateAcrossRows(double t, VectorIn q, VectorIn v, double way, Rates& rates);
  /// How far loops that are left cut are open on the branch that was interpolated.
  double gapAcrossRows(VectorIn q, const Rates& rates);
  /// The way from the point at which rows lose rank, near q; nothing if there is none.
  std::optional<double> wayFromRows(double t, VectorIn q, VectorIn v);
  /// The state a way along the heading from (q, v), on all rows, into nodeQ_ and nodeV_.
  void moveAlongRows(double t, VectorIn q, VectorIn v, double way);

  ActingForces& acting_;
  CoordinateChoices& choices_;
  ChangePoints& points_;
  const Eigen::VectorXd& heading_;
  double stabilizationRate_;
  long long evaluations_ = 0;

  KnownRows known_;
  double rowRegularity_ = 1.0;  // at the last accelerations; 0 where rows lose rank
  bool redundantRows_ = false;  // constraints have them, at the state that was evaluated last

  Rates node_;
  Eigen::VectorXd tau_, bias_, rows_, nodeQ_, nodeV_, nodeWay_, cutRows_;
};

}  // namespace kempe::detail
