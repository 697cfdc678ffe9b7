#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "model/model_impl.hpp"
#include "simulation/loop_scales.hpp"

namespace kempe::detail {

/// The point near a configuration of one cluster at which its K loses rank, and the shape of the
/// loops there (Lyapunov–Schmidt reduction, docs/maths.md).
///
/// Complete pivoting splits the rows and columns of K into r regular ones and the rest, with c rows
/// and m + c columns b. The regular rows determine the other columns, a = a(b), and leave the
/// reduced equations
///
///   f(b) = 0,    F = ∂f/∂b, the Schur complement of K's regular part           (1)
///
/// The singular point is the b* where F = 0. There f(b* + β) = f* + ½ βᵀ B β + …; f* is the relative
/// length by which the loops miss a change point. Since F = 0, errors of b* enter it squared, so
/// that it is right to rounding although K is singular.
class SingularPoint {
 public:
  SingularPoint(const Model& model, const LoopScales& scales, int cluster);

  /// Searches from these positions of the cluster. False if there is no such point nearby.
  bool locate(const double* from);
  /// Whether the last search holds for these positions too.
  [[nodiscard]] bool isKnownNear(const double* positions);
  [[nodiscard]] bool found() const { return found_; }
  /// Whether a point was found near these positions.
  [[nodiscard]] bool isNear(const double* positions);

  /// Largest |f*| of all reduced equations.
  [[nodiscard]] double miss() const { return miss_; }
  /// Whether only the rows that the model keeps lose rank at the point, while all rows of the loops
  /// do not: the loops go straight on there, whatever rounding of their dimensions makes of f*.
  [[nodiscard]] bool isOfKeptRows() const { return ofKeptRows_; }
  /// Positions of the singular point.
  [[nodiscard]] const std::vector<double>& positions() const { return q_; }
  /// The distance from the point to positions of the cluster along a direction of its velocities, in
  /// units of that direction's largest entry (in radians or lengths of the cluster). Motion along a
  /// crease, which leads to other such points, does not count.
  double distanceAlong(const double* direction, const double* positions);

  /// Loops that miss the point with one reduced equation (c = 1) turn there from the branch along
  /// one direction to another.
  struct Turn {
    Eigen::VectorXd after;   ///< velocities along the other branch; the largest, scaled, is 1
    Eigen::MatrixXd crease;  ///< m − 1 columns: velocities along which the branches meet
    double width = 0.0;      ///< distance of the turn's vertex from the point, in the same units
  };
  /// That of a motion which comes along this direction of all velocities of the cluster; nothing if
  /// the branches do not meet in this way. After locate().
  [[nodiscard]] std::optional<Turn> turn(const double* direction) const;
  /// Writes the closed positions at a distance along a branch from the point. Throws AssemblyError.
  void placeBeside(double distance, const Eigen::VectorXd& branch, double* positions);

 private:
  /// K and φ at q_, scaled, in the order of pivots, reduced by Gauss–Jordan steps on the regular
  /// part: [1, −T, A⁻¹φ; 0, F, f].
  void reduce(const double* q);
  bool choosePivots();
  /// Newton steps on the regular rows, with b fixed, and reduce() at the result.
  void closeRegularRows(std::vector<double>& q);
  /// q moves by β in b and by T β in a.
  void moveFree(const Eigen::VectorXd& beta, std::vector<double>& q);
  void differentiate();
  void findCrease();
  /// The smallest singular value that counts of all rows, scaled, at some positions.
  double regularityOfAllRows(const double* q);
  double distance(const std::vector<double>& from, const double* positions);
  void difference(const double* from, const double* to, double* step) const;
  [[nodiscard]] Eigen::VectorXd spread(const Eigen::VectorXd& beta) const;

  [[nodiscard]] const ClusterEntry& cluster() const {
    return model_.impl().tables.clusters[index_];
  }
  [[nodiscard]] int regular() const { return cluster().kept - corank_; }
  [[nodiscard]] int free() const { return cluster().velocities - regular(); }

  Model model_;
  const LoopScales& scales_;
  int index_;
  LoopScratch<double> scratch_;
  std::vector<double> q_, aside_, moved_, searched_;  // positions
  std::vector<double> step_;
  std::vector<int> rows_, columns_;  // in the order of pivots
  std::vector<int> all_;             // velocities
  Eigen::MatrixXd reduced_;          // kept × (n + 1)
  std::vector<Eigen::MatrixXd> B_;   // per reduced equation
  Eigen::MatrixXd crease_;           // orthonormal, per length of each velocity
  Eigen::VectorXd across_;           // a direction without its part along the crease
  int corank_ = 0;
  double miss_ = 0.0;
  bool found_ = false;
  bool ofKeptRows_ = false;
};

}  // namespace kempe::detail
