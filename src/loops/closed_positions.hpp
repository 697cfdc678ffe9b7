#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "loops/assembly.hpp"
#include "loops/cluster_problem.hpp"
#include "loops/random_positions.hpp"

namespace kempe::detail {

/// A position at which all loops of a cluster are closed, within the rounding of files.
struct ClosedPosition {
  std::vector<double> q;
  Eigen::MatrixXd K;  ///< all rows
  double gap = 0.0;   ///< relative, see assembly.hpp
};

/// Search for positions of one cluster that close its loops, from its start pose and from elsewhere.
/// All random numbers of the analysis come from here: it finds the same in every run.
class ClosedPositionSearch {
 public:
  /// Fills in the units of the cluster's rows and velocities (scales.hpp). Where the cluster is
  /// implicit, closes its loops with the joints of the start pose held, if that is possible, and starts
  /// from there.
  explicit ClosedPositionSearch(const ClusterProblem& problem);

  /// Where searches start, within the limits.
  [[nodiscard]] const std::vector<double>& start() const { return start_; }

  /// The first closed position that is found within the limits and closes all rows exactly; beyond
  /// the limits or, with rounded figures, not quite closed where there is no other.
  ClosedPosition nearStart();

  /// Throws ModelError: from so many starts the loops came to `closest`, at q.
  [[noreturn]] void failToClose(const Closure& closest, const std::vector<double>& q, int starts);

  /// Calls attempt(q, budget) with one start after the other until it returns true or the budget is
  /// spent; the number of starts.
  template <typename Attempt>
  int fromManyStarts(int most, const Attempt& attempt) {
    WorkBudget budget = budgetOf(kWork);
    int starts = 0;
    while (starts < most) {
      if (attempt(startOf(starts++), budget) || budget.isSpent()) {
        break;
      }
    }
    return starts;
  }

  /// Closes the loops from `q`, moving `movable`; q becomes the result.
  Closure close(std::vector<double>& q, const std::vector<int>& movable, Rows rows);
  /// The same with all coordinates, from afar.
  Closure assemble(std::vector<double>& q, const AssemblyOptions& options);
  /// The same with some coordinates.
  Closure assemble(std::vector<double>& q, const std::vector<int>& movable,
                   const AssemblyOptions& options);
  /// φ of all rows where loops were closed last.
  [[nodiscard]] const std::vector<double>& rows() const { return scratch_.phi; }

  /// K of all rows at positions q.
  Eigen::MatrixXd jacobianAt(const std::vector<double>& q);
  /// K in the units of scales.hpp.
  [[nodiscard]] Eigen::MatrixXd scaled(const Eigen::MatrixXd& K) const;

  [[nodiscard]] std::vector<int> allVelocities() const;
  [[nodiscard]] bool withinLimits(const std::vector<double>& q) const {
    return beyondLimits(q) <= 1e-9;
  }
  /// Largest difference of positions, in the units of the velocities.
  [[nodiscard]] double distance(const std::vector<double>& from,
                                const std::vector<double>& to) const;
  /// q ⊞ a step in the units of the velocities.
  [[nodiscard]] std::vector<double> moved(const std::vector<double>& q,
                                          const Eigen::VectorXd& way) const;
  /// A step of up to `spread` in each coordinate.
  Eigen::VectorXd randomWay(double spread);
  Random& random() { return random_; }

 private:
  /// The starts of one search may take so much work.
  static constexpr double kWork = 3e9;

  /// How far positions are beyond their limits, in radians or reaches.
  [[nodiscard]] double beyondLimits(const std::vector<double>& q) const;
  std::vector<double> randomPlace();
  void holdStartPose();
  /// The start, then places that move away from it little by little, then anywhere.
  std::vector<double> startOf(int attempt);
  [[nodiscard]] WorkBudget budgetOf(double work) const;
  /// " at a = 1, b = 2": some positions.
  [[nodiscard]] std::string positionsText(const std::vector<double>& q) const;
  /// Velocities that move the ends of a loop against each other, ascending.
  [[nodiscard]] std::vector<int> velocitiesOf(const LoopEntry<double>& loop) const;
  /// By how much each loop stays open when it alone is to close.
  std::string loopsTriedAlone();

  const ClusterProblem& problem_;
  const ModelTables<double>& tables_;
  const ClusterEntry& cluster_;
  LoopScratch<double> scratch_;
  Random random_;
  double reach_;
  std::vector<double> start_;
  bool limited_ = false;
};

}  // namespace kempe::detail
