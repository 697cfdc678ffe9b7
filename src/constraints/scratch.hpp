#pragma once

#include <vector>

#include "constraints/constraint_rows.hpp"

namespace kempe::detail {

/// A constraint that is on, and where its rows begin among those that are on.
struct ActiveConstraint {
  const ConstraintEntry* entry = nullptr;
  int firstRow = 0;     ///< among those that are on
  int firstSlope = 0;   ///< in the scratch
  int firstOutput = 0;  ///< among those of all constraints of the caller
};

/// Scratch of constraints; grows with the most rows that it has seen.
template <typename T>
struct ConstraintScratch {
  std::vector<ConstraintRow<T>> rows;  ///< of those that are on, one after the other
  std::vector<T> slopes;               ///< of constraints on coordinates
  std::vector<T> unit;                 ///< u_r, nv each
  std::vector<T> A, least;  ///< K H⁻¹ Kᵀ and its factor; LᵀL where rows are dependent
  std::vector<T> scale, diagonal, lambda, rightSide, beta;
  std::vector<T> uFree, free;    ///< nv: L⁻¹ u and ÿ without constraints
  std::vector<T> accelerations;  ///< nv
  std::vector<T> q, trial;       ///< configurations
  std::vector<T> K;              ///< nv each, normalised, and made orthogonal to one another
  std::vector<int> order;
  std::vector<int> independent;  ///< rows of K that do not depend on one another
  TimedFunctionScratch functions;
  std::vector<ActiveConstraint> active;
};

}  // namespace kempe::detail
