#pragma once

#include "tables/kernel_arguments.hpp"

namespace kempe::detail {

struct ActiveConstraint;  // constraints/active.hpp

/// The constraints of forward dynamics, and its results beside ÿ.
template <typename T>
struct ConstraintRequest {
  const ActiveConstraint* active = nullptr;
  int count = 0, rows = 0, slopes = 0;
  int functionNumbers = 0;  ///< registers of the largest program of a function
  FunctionScratch functions{};
  double time = 0.0, stabilization = 0.0;
  std::byte* memory = nullptr;        ///< of the size that the kernels ask for
  T* lambda = nullptr;                ///< of each row
  int* ranks = nullptr;               ///< of each state
  double* inconsistencies = nullptr;  ///< of each state, see ConstraintReport
  /// If they are wanted: of each state, how far its independent rows are from losing rank
  /// (ConstraintSolver::regularity()), and the `slopes` slopes of constraints on coordinates.
  double* regularities = nullptr;
  T* slopesAlong = nullptr;
};

}  // namespace kempe::detail
