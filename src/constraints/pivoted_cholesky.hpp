#pragma once

#include <cmath>
#include <utility>

namespace kempe::detail {

/// P A Pᵀ = L Lᵀ of a symmetric positive semidefinite matrix (n×n, row-major, lower triangle), in
/// place: pivots are chosen by what is left of each row's own diagonal, and the factorization ends
/// where less than `tolerance` of it is left, which is where rows are implied by those before.
/// L has `rank` columns. `scale` is the size of what the diagonal was summed from, before parts of
/// it cancelled; `diagonal` is scratch of n numbers. Returns the rank.
template <typename T>
int pivotedCholesky(T* A, int n, T tolerance, const T* scale, int* order, T* diagonal) {
  using std::sqrt;
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
    if (best < 0) {
      return k;
    }
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
  return n;
}

}  // namespace kempe::detail
