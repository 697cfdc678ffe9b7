#pragma once

#include <vector>

namespace kempe::detail {

/// min ½ xᵀ A x + bᵀ x for lower ≤ x ≤ upper, A symmetric positive semidefinite: the forces x of
/// dry friction and one-sided stops, where g = A x + b are the accelerations along them. A force
/// between its bounds allows no acceleration (g = 0); at a bound it is too weak to prevent it.
///
/// g is unique even if A is singular, x is not: where rows are redundant, some solution.
class BoxProblem {
 public:
  /// Makes room, and sets A, b and x to zero and the bounds to ±∞.
  void resize(int n);

  /// An entry of A.
  double& matrix(int i, int j) { return A_[static_cast<std::size_t>(i * n_ + j)]; }
  std::vector<double> b, lower, upper;

  /// Primal active-set method: the objective falls in every round, so that it ends. Returns false
  /// if it did not within a generous number of rounds.
  bool solve();
  std::vector<double> x;
  std::vector<double> g;          ///< A x + b
  std::vector<double> magnitude;  ///< Σ |terms| of g, to tell zero from rounding

 private:
  void gradient();
  /// The step to the minimum over the variables that are not at a bound, into step_.
  void stepOfFree();

  int n_ = 0;
  std::vector<double> A_, factor_, step_, scale_, diagonal_, right_;
  std::vector<int> free_, order_;
  std::vector<signed char> atBound_;  // −1, 0, 1
};

}  // namespace kempe::detail
