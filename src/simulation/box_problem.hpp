#pragma once

#include <vector>

namespace kempe::detail {

/// min ½ xᵀ A x + bᵀ x for lower ≤ x ≤ upper, A symmetric positive semidefinite: the forces x of
/// dry friction and one-sided stops, where g = A x + b are the accelerations along them. A force
/// between its bounds allows no acceleration (g = 0); at a bound it is too weak to prevent it.
///
/// g is unique even if A is singular, x is not: where rows are redundant, some solution. There is
/// none where rows contradict each other and no bound ends their forces: violation() tells.
class BoxProblem {
 public:
  /// Makes room, and sets A, b and x to zero and the bounds to ±∞.
  void resize(int n);

  /// An entry of A.
  double& matrix(int i, int j) { return A_[static_cast<std::size_t>(i * n_ + j)]; }
  std::vector<double> b, lower, upper;

  /// Primal active-set method for semidefinite A. Every round lowers the objective or puts a
  /// variable at its bound, so that it ends; if rounding prevents that, after a generous number of
  /// rounds, and violation() tells.
  void solve();
  std::vector<double> x;
  std::vector<double> g;          ///< A x + b
  std::vector<double> magnitude;  ///< Σ |terms| of g, to tell zero from rounding

  /// How far variable i is from the conditions of a minimum: the part of |g| that it could lower by
  /// moving within its bounds. In the units of g; rounding of magnitude for a solution.
  [[nodiscard]] double violation(int i) const;

 private:
  void gradient();
  /// The step to the minimum over the variables that are not at a bound, into step_.
  void stepOfFree();
  /// Solves the pivots' part of A among the free ones for right_, into their entries of step_.
  void solveForPivots();
  /// The step along which the objective falls without end, into step_: variables that are redundant,
  /// but whose g the others did not bring to zero. False if there is none.
  bool stepOfRedundant();
  /// Follows step_, at most all of it (or without end if `endless`), up to the first bound. Returns
  /// whether there was one.
  bool follow(bool endless);
  /// The variable whose bound holds back most, −1 if none does.
  [[nodiscard]] int heldBack() const;

  int n_ = 0;
  std::vector<double> A_, factor_, terms_, step_, scale_, diagonal_, right_;
  std::vector<int> free_, order_;
  int rank_ = 0;                      // of A among the free ones, in the order of order_
  std::vector<signed char> atBound_;  // −1, 0, 1
};

}  // namespace kempe::detail
