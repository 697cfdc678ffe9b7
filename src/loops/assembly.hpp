#pragma once

#include <span>

#include "loops/scratch.hpp"

/// Closing the loops of a cluster by damped Newton steps.
///
/// Rows and velocities are measured in the units of TableArrays::rowScales and velocityScales, so
/// that all thresholds are relative to the size of the mechanism.
namespace kempe::detail {

/// Loops count as closed within this fraction of the cluster's size, or radians.
inline constexpr double kClosed = 1e-12;
/// Redundant rows may stay open by this much in the same units: files round their numbers.
inline constexpr double kRounding = 1e-4;

struct Closure {
  bool closed = false;
  double gap = 0.0;      ///< largest |φ| over the rows that count, relative (see above)
  double opening = 0.0;  ///< the same row's |φ|, in metres or radians
  int worstRow = 0;      ///< that row, within the cluster
};

/// The rows that must close: all of the cluster, or those that its rowSlots keep.
enum class Rows { All, Kept };

/// Moves the velocities `movable` until φ = 0. Positions are q = base ⊞ step: `step` holds the
/// start on entry (zero, or a prediction) and the solution on return, and so does scratch.q for q.
/// Entries of `step` that are not movable are held; `movable` ascends. Allocates nothing.
Closure closeLoops(const TablesView<double>& tables, const Functions& functions,
                   const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
                   double* step, std::span<const int> movable, Rows rows);

/// What searches for closed positions may still cost, in multiplications, roughly: a bound that is the
/// same on every machine and in every run, unlike one of time. A thousand million take about 0.4 s.
struct WorkBudget {
  double left = 0.0;

  void spend(double work) { left -= work; }
  [[nodiscard]] bool isSpent() const { return left <= 0.0; }
};

/// The cost of one step of assembleLoops over all velocities of a cluster.
double assemblyStepWork(const TablesView<double>& tables, const ClusterEntry& cluster);

/// How a mechanism is assembled when a model is compiled.
struct AssemblyOptions {
  const int* slots = nullptr;     ///< per row; those below 0 do not count; null: all count
  const double* lower = nullptr;  ///< limits of the cluster's positions; null: none
  const double* upper = nullptr;
  /// Pays for the steps; where it is spent, the loops stay as they are by then. Null: no bound.
  WorkBudget* budget = nullptr;
};

/// closeLoops() from a start that may be far away. Directions in which rows change by less than
/// rounding of the file explains are left alone: a redundant row that is open by rounding would
/// otherwise drag the mechanism to some distant position.
Closure assembleLoops(const TablesView<double>& tables, const Functions& functions,
                      const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
                      double* step, std::span<const int> movable, const AssemblyOptions& options);

/// q = base ⊞ step over the joints of a cluster.
template <typename Tables>
void retractCluster(const Tables& tables, const ClusterEntry& cluster, const double* base,
                    const double* step, double* q) {
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    const int position = body.firstPosition - cluster.firstPosition;
    const int velocity = body.firstVelocity - cluster.firstVelocity;
    jointRetract(body.type, base + position, step + velocity, q + position);
  }
}

/// The step that retractCluster() takes between two positions of a cluster's joints.
template <typename Tables>
void differenceOfCluster(const Tables& tables, const ClusterEntry& cluster, const double* from,
                         const double* to, double* step) {
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    const int position = body.firstPosition - cluster.firstPosition;
    jointDifference(body.type, from + position, to + position,
                    step + (body.firstVelocity - cluster.firstVelocity));
  }
}

}  // namespace kempe::detail
