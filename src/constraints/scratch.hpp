#pragma once

#include <vector>

#include "constraints/active.hpp"
#include "constraints/constraint_rows.hpp"
#include "tables/memory.hpp"

namespace kempe::detail {

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
  std::vector<T> registers;      ///< of the programs of functions
  CallMemory functions;          ///< of functions that are called back
  ActiveConstraints active;
  GrowingMemory kernel;  ///< of the kernel for constraints, or of derivatives under them

  void makeRoomForFunctions(const ConstraintTable& table) {
    for (const ConstraintEntry& entry : table.entries) {
      functions.makeRoomFor(entry.arguments(), entry.rows);
    }
    registers.resize(std::max(registers.size(), static_cast<std::size_t>(table.functionNumbers)));
  }
};

}  // namespace kempe::detail
