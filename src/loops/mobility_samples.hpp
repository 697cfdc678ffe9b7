#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "loops/closed_positions.hpp"

namespace kempe::detail {

/// Good conditioning: a smallest singular value of this part of the largest.
inline constexpr double kWellConditioned = 1e-3;

/// Closed positions of an implicit cluster at which its mobility and its redundant rows are judged.
class MobilitySamples {
 public:
  MobilitySamples(const ClusterProblem& problem, ClosedPositionSearch& search)
      : problem_(problem), cluster_(problem.cluster), search_(search) {}

  /// Fills the list with a closed position near the start, and others that the mechanism reaches
  /// from there. Other ways to assemble the same parts may have another mobility and do not count.
  /// Returns a warning where branches of the motion meet at all of them, otherwise nothing.
  std::string collect();

  /// Samples on a branch on which the coordinates that are marked independent determine the others,
  /// instead of those found; false where there is none. A kite whose crank lies on the ground link
  /// has another branch, on which only its other two links turn.
  bool findBranchOfMarked(const RowSelection& rows, int mobility);

  [[nodiscard]] const std::vector<ClosedPosition>& list() const { return samples_; }

 private:
  [[nodiscard]] int mobilityAt(const ClosedPosition& sample) const;
  /// The position found is a rigid one: other ways to assemble the parts may move.
  void lookForMobility();
  /// Adds a sample some way from another, along a direction that the loops allow there; false where
  /// none is found.
  bool walkFrom(const ClosedPosition& from, int mobility);
  /// Whether the loops let the mechanism move in all directions that they allow to first order.
  bool movesFreely(const ClosedPosition& from, int mobility);
  /// Adds a sample beside another with one coordinate moved and held: where branches meet, the sum
  /// of directions of several branches leads nowhere.
  bool stepAside(const ClosedPosition& from);
  /// Closes the loops from `way` beside a sample with `movable` coordinates, and adds
  /// the result if it is so far away.
  bool addSampleNear(const ClosedPosition& from, const Eigen::VectorXd& way,
                     const std::vector<int>& movable, double far);

  const ClusterProblem& problem_;
  const ClusterEntry& cluster_;
  ClosedPositionSearch& search_;
  std::vector<ClosedPosition> samples_;
};

}  // namespace kempe::detail
