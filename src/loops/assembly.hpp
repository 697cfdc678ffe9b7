#pragma once

#include <span>

#include "loops/scratch.hpp"

/// Closing the loops of a cluster by damped Newton steps.
namespace kempe::detail {

/// Loops count as closed within this many metres or radians (times the size of the positions).
inline constexpr double kClosed = 1e-12;
/// Redundant rows may stay open by this much: files round their numbers.
inline constexpr double kRedundantClosed = 1e-6;

struct Closure {
  bool closed = false;
  double gap = 0.0;  ///< largest |φ| over the rows that count
  int worstRow = 0;  ///< the row, within the cluster, that has it
};

/// The rows that must close: all of the cluster, or those that its rowSlots keep.
enum class Rows { All, Kept };

/// Moves the freedoms `movable` until φ = 0. Positions are q = base ⊞ step: `step` holds the start
/// on entry (zero, or a prediction) and the solution on return, and so does scratch.q for q.
/// Entries of `step` that are not movable are held. Allocates nothing.
Closure closeLoops(const ModelTables<double>& tables, const Functions& functions,
                   const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
                   double* step, std::span<const int> movable, Rows rows);

/// q = base ⊞ step over the joints of a cluster.
void retractCluster(const ModelTables<double>& tables, const ClusterEntry& cluster,
                    const double* base, const double* step, double* q);

}  // namespace kempe::detail
