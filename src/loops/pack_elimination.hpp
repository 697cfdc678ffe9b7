#pragma once

#include "loops/pack_factorization.hpp"

namespace kempe::detail {

/// Solves A x = b of several states at once, in place for one right-hand side; A is overwritten.
/// Returns the absolute value of the smallest pivot, as eliminate() does.
template <typename T>
T packEliminate(T* a, int n, T* b) {
  using std::abs;
  T smallest(1);
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      const T swap = select(abs(a[i * n + j]) > abs(a[j * n + j]), T(1), T(0));
      exchangeWhere(swap, a + j * n, a + i * n, n);
      exchangeWhere(swap, b + j, b + i, 1);
    }
    const T size = abs(a[j * n + j]);
    smallest = j == 0 ? size : select(size < smallest, size, smallest);
    for (int i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] / a[j * n + j];
      for (int k = j + 1; k < n; ++k) {
        a[i * n + k] -= factor * a[j * n + k];
      }
      b[i] -= factor * b[j];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] = b[i] / a[i * n + i];
  }
  return smallest;
}

}  // namespace kempe::detail
