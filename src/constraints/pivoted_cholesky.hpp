#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "spatial/scalar_lanes.hpp"

namespace kempe::detail {

/// How far a pivoted factorization can be trusted.
template <typename T>
struct PivotedRank {
  int rank = 0;
  T least = T(1);  ///< smallest pivot that was kept, relative to the scale of its row
  T error = T(0);  ///< estimated relative error of the solution, from the pivots that were kept
  /// Largest share of a row that was dropped, by that of its digits which are left: of the size of
  /// rounding where the row is implied.
  T dropped = T(0);
};

/// P A Pᵀ = L Lᵀ of a symmetric positive semidefinite matrix (n×n, row-major, lower triangle), in
/// place: the pivot is the row with the largest remaining fraction of its diagonal, and the
/// factorization ends when less than `tolerance` remains: the other rows are then redundant.
/// L has `rank` columns. `scale` is the size of the summands of the diagonal, before cancellation;
/// `diagonal` is scratch of n numbers.
template <typename T>
PivotedRank<T> pivotedCholesky(T* A, int n, T tolerance, const T* scale, int* order, T* diagonal) {
  using std::sqrt;
  PivotedRank<T> result;
  for (int i = 0; i < n; ++i) {
    order[i] = i;
    // The diagonal of a row that moves nothing is the square of rounding.
    const T own = A[i * n + i];
    diagonal[i] = own > tolerance * tolerance * scale[i] ? own : T(0);
  }
  for (int k = 0; k < n; ++k) {
    int best = -1;
    T most = tolerance;
    for (int i = k; i < n; ++i) {
      const T own = diagonal[order[i]];
      const T share = own > T(0) ? A[i * n + i] / own : T(0);
      if (share > most) {
        most = share;
        best = i;
      }
    }
    // The diagonal is a sum of squares: where numbers cancelled before, it lost digits by the root.
    const auto lost = [&](int i) {
      const T own = diagonal[order[i]], before = scale[order[i]];
      return before > own ? sqrt(before / own) : T(1);
    };
    if (best < 0) {
      for (int i = k; i < n; ++i) {
        const T own = diagonal[order[i]];
        const T share = own > T(0) ? A[i * n + i] / (own * lost(i)) : T(0);
        result.dropped = share > result.dropped ? share : result.dropped;
      }
      return result;
    }
    const T error =
        T(std::numeric_limits<typename Lanes<T>::Scalar>::epsilon()) * lost(best) / most;
    result.error = error > result.error ? error : result.error;
    const T left = A[best * n + best] / scale[order[best]];
    result.least = left < result.least ? left : result.least;
    result.rank = k + 1;
    if (best != k) {
      // Rows and columns k and best of the lower triangle.
      std::swap(order[k], order[best]);
      for (int j = 0; j < k; ++j) {
        std::swap(A[k * n + j], A[best * n + j]);
      }
      std::swap(A[k * n + k], A[best * n + best]);
      for (int i = k + 1; i < best; ++i) {
        std::swap(A[i * n + k], A[best * n + i]);
      }
      for (int i = best + 1; i < n; ++i) {
        std::swap(A[i * n + k], A[i * n + best]);
      }
    }
    const T root = sqrt(A[k * n + k]), inverse = T(1) / root;
    A[k * n + k] = root;
    for (int i = k + 1; i < n; ++i) {
      A[i * n + k] *= inverse;
    }
    for (int i = k + 1; i < n; ++i) {
      for (int j = k + 1; j <= i; ++j) {
        A[i * n + j] -= A[i * n + k] * A[j * n + k];
      }
    }
  }
  return result;
}

}  // namespace kempe::detail
