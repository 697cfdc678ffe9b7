#pragma once

#include <cmath>
#include <type_traits>

#include "kempe/spatial/host_device.hpp"
#include "kempe/spatial/select.hpp"

namespace kempe {

/// In-place Cholesky factorization a = L Lᵀ of a row-major n×n matrix; only the lower triangle is
/// read and written. Returns false if a is not positive definite; the factor is then not usable.
template <typename T>
KEMPE_HD bool choleskyFactor(T* a, int n) {
  using std::sqrt;
  for (int j = 0; j < n; ++j) {
    T d = a[j * n + j];
    for (int k = 0; k < j; ++k) {
      d -= a[j * n + k] * a[j * n + k];
    }
    if (!(d > T(0))) {
      return false;
    }
    const T root = sqrt(d);
    const T inverse = T(1) / root;
    a[j * n + j] = root;
    for (int i = j + 1; i < n; ++i) {
      T s = a[i * n + j];
      for (int k = 0; k < j; ++k) {
        s -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] = s * inverse;
    }
  }
  return true;
}

/// Solves L Lᵀ x = b in place, with L from choleskyFactor.
template <typename T>
KEMPE_HD void choleskySolve(const T* L, int n, T* b) {
  for (int i = 0; i < n; ++i) {
    T s = b[i];
    for (int k = 0; k < i; ++k) {
      s -= L[i * n + k] * b[k];
    }
    b[i] = s / L[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    T s = b[i];
    for (int k = i + 1; k < n; ++k) {
      s -= L[k * n + i] * b[k];
    }
    b[i] = s / L[i * n + i];
  }
}

/// In-place LU factorization with row pivoting of a row-major n×n matrix. Returns the ratio of the
/// smallest to the largest pivot, a cheap measure of how close a is to singular: for a singular
/// matrix it is usually of the order of the rounding error and rarely as large as its square root.
/// Returns 0 if a pivot is 0 or NaN; the factor is then not usable.
template <typename T>
KEMPE_HD T luFactor(T* a, int n, int* pivots) {
  using std::abs;
  // Up to this size, looking for rows with a zero takes as long as subtracting from them.
  constexpr int kMostlyDense = 16;
  T smallest(0), largest(0);
  for (int j = 0; j < n; ++j) {
    int best = j;
    for (int i = j + 1; i < n; ++i) {
      if (abs(a[i * n + j]) > abs(a[best * n + j])) {
        best = i;
      }
    }
    pivots[j] = best;
    const T pivot = a[best * n + j];
    const T size = abs(pivot);
    if (!(size > T(0))) {
      return T(0);
    }
    smallest = (j == 0 || size < smallest) ? size : smallest;
    largest = size > largest ? size : largest;
    if (best != j) {
      for (int k = 0; k < n; ++k) {
        const T swapped = a[j * n + k];
        a[j * n + k] = a[best * n + k];
        a[best * n + k] = swapped;
      }
    }
    const T inverse = T(1) / pivot;
    for (int i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] * inverse;
      a[i * n + j] = factor;
      // Large matrices are mostly those of many small loops. NaN is not zero, and neither is a
      // number with a derivative whose value is.
      if (std::is_floating_point_v<T> && n > kMostlyDense && factor >= T(0) && !(factor > T(0))) {
        continue;
      }
      for (int k = j + 1; k < n; ++k) {
        a[i * n + k] -= factor * a[j * n + k];
      }
    }
  }
  return n == 0 ? T(1) : smallest / largest;
}

/// Solves A x = b in place for `columns` right-hand sides (b row-major n×columns), after luFactor.
template <typename T>
KEMPE_HD void luSolve(const T* lu, int n, const int* pivots, T* b, int columns) {
  for (int j = 0; j < n; ++j) {
    if (pivots[j] != j) {
      for (int k = 0; k < columns; ++k) {
        const T swapped = b[j * columns + k];
        b[j * columns + k] = b[pivots[j] * columns + k];
        b[pivots[j] * columns + k] = swapped;
      }
    }
  }
  // luFactor swaps whole rows of L, so that all swaps come before the first elimination.
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      const T factor = lu[i * n + j];
      for (int k = 0; k < columns; ++k) {
        b[i * columns + k] -= factor * b[j * columns + k];
      }
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    const T inverse = T(1) / lu[i * n + i];
    for (int k = 0; k < columns; ++k) {
      T s = b[i * columns + k];
      for (int j = i + 1; j < n; ++j) {
        s -= lu[i * n + j] * b[j * columns + k];
      }
      b[i * columns + k] = s * inverse;
    }
  }
}

/// Solves A x = b in place for one right-hand side; A is overwritten. Returns the absolute value of
/// the smallest pivot; if it is 0 or NaN, x is not usable. It does not branch on numbers, so that
/// types that hold several of them exchange different rows in each.
template <typename T>
KEMPE_HD T eliminate(T* a, int n, T* b) {
  using std::abs;
  T smallest(1);
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      const auto larger = abs(a[i * n + j]) > abs(a[j * n + j]);
      const auto exchange = [&larger](T& x, T& y) {
        const T upper = x, lower = y;
        x = select(larger, lower, upper);
        y = select(larger, upper, lower);
      };
      for (int k = j; k < n; ++k) {
        exchange(a[j * n + k], a[i * n + k]);
      }
      exchange(b[j], b[i]);
    }
    const T size = abs(a[j * n + j]);
    smallest = j == 0 ? size : select(size > smallest, smallest, size);
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

/// Solves Aᵀ x = b in place for one right-hand side, after luFactor of A.
template <typename T>
KEMPE_HD void luSolveTransposed(const T* lu, int n, const int* pivots, T* b) {
  for (int i = 0; i < n; ++i) {
    T s = b[i];
    for (int k = 0; k < i; ++k) {
      s -= lu[k * n + i] * b[k];
    }
    b[i] = s / lu[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    T s = b[i];
    for (int k = i + 1; k < n; ++k) {
      s -= lu[k * n + i] * b[k];
    }
    b[i] = s;
  }
  for (int j = n - 1; j >= 0; --j) {
    if (pivots[j] != j) {
      const T swapped = b[j];
      b[j] = b[pivots[j]];
      b[pivots[j]] = swapped;
    }
  }
}

}  // namespace kempe
