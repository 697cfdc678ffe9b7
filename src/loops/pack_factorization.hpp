#pragma once

#include "spatial/scalar_lanes.hpp"

/// LU factorization of several matrices at once, one in each lane of T. Rows are exchanged lane by
/// lane: wherever a row further down has the larger entry it takes the pivot's place.
namespace kempe::detail {

template <typename T>
void exchangeWhere(const T& swap, T* a, T* b, int count) {
  for (int k = 0; k < count; ++k) {
    const T upper = a[k], lower = b[k];
    a[k] = select(swap > T(0.5), lower, upper);
    b[k] = select(swap > T(0.5), upper, lower);
  }
}

/// In place, row-major n×n; `swaps` has room for n (n − 1) / 2 numbers, 1 where rows were
/// exchanged. Returns the ratio of the smallest to the largest pivot, as luFactor does.
template <typename T>
T packFactor(T* a, int n, T* swaps) {
  using std::abs;
  T smallest(1), largest(1);
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      *swaps = select(abs(a[i * n + j]) > abs(a[j * n + j]), T(1), T(0));
      exchangeWhere(*swaps++, a + j * n, a + i * n, n);
    }
    const T size = abs(a[j * n + j]);
    smallest = j == 0 ? size : select(size < smallest, size, smallest);
    largest = j == 0 ? size : select(size > largest, size, largest);
    const T inverse = T(1) / a[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] * inverse;
      a[i * n + j] = factor;
      for (int k = j + 1; k < n; ++k) {
        a[i * n + k] -= factor * a[j * n + k];
      }
    }
  }
  return smallest / largest;
}

/// A⁻¹ b in place for `columns` right-hand sides (b row-major n×columns), after packFactor.
template <typename T>
void packSolve(const T* lu, int n, const T* swaps, T* b, int columns) {
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      exchangeWhere(*swaps++, b + j * columns, b + i * columns, columns);
    }
  }
  for (int i = 1; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < columns; ++k) {
        b[i * columns + k] -= lu[i * n + j] * b[j * columns + k];
      }
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    const T inverse = T(1) / lu[i * n + i];
    for (int k = 0; k < columns; ++k) {
      T sum = b[i * columns + k];
      for (int j = i + 1; j < n; ++j) {
        sum -= lu[i * n + j] * b[j * columns + k];
      }
      b[i * columns + k] = sum * inverse;
    }
  }
}

/// A⁻ᵀ b in place for one right-hand side, after packFactor.
template <typename T>
void packSolveTransposed(const T* lu, int n, const T* swaps, T* b) {
  for (int i = 0; i < n; ++i) {
    T sum = b[i];
    for (int k = 0; k < i; ++k) {
      sum -= lu[k * n + i] * b[k];
    }
    b[i] = sum / lu[i * n + i];
  }
  for (int i = n - 2; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      b[i] -= lu[k * n + i] * b[k];
    }
  }
  const T* swap = swaps + n * (n - 1) / 2;
  for (int j = n - 2; j >= 0; --j) {
    for (int i = n - 1; i > j; --i) {
      exchangeWhere(*--swap, b + j, b + i, 1);
    }
  }
}

}  // namespace kempe::detail
