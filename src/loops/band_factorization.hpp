#pragma once

#include <type_traits>

#include "loops/pack_factorization.hpp"

/// LU factorization with row pivoting of band matrices, such as those of many loops of which each
/// shares joints with few others: entries below the diagonal are within `lower` rows, above it within
/// `upper` columns. They are stored as dense matrices (row-major n×n), of which columns i − lower to
/// i + lower + upper of row i are used; pivoting fills the last ones. Rows are exchanged together
/// with the elimination (Golub and Van Loan, Matrix Computations, section 4.3), so that L stays
/// within its band. T holds one state, or several that exchange rows lane by lane.
namespace kempe::detail {

struct Band {
  int n = 0, lower = 0, upper = 0;

  /// One past the last row below the diagonal of column j.
  [[nodiscard]] KEMPE_HD int rowsEnd(int j) const { return j + lower + 1 < n ? j + lower + 1 : n; }
  /// One past the last column of row i after elimination.
  [[nodiscard]] KEMPE_HD int columnsEnd(int i) const {
    return i + lower + upper + 1 < n ? i + lower + upper + 1 : n;
  }
  [[nodiscard]] KEMPE_HD int firstColumn(int i) const { return i > lower ? i - lower : 0; }
  /// The first row above the diagonal of column j after elimination.
  [[nodiscard]] KEMPE_HD int firstRow(int j) const {
    return j > lower + upper ? j - lower - upper : 0;
  }
};

/// The exchanges of rows of one state: the pivot's row of each column.
template <typename T>
struct RowExchanges {
  int* pivots = nullptr;

  /// Brings the largest entry of column j onto the diagonal.
  KEMPE_HD void choose(T* a, const Band& band, int j) {
    using std::abs;
    int best = j;
    for (int i = j + 1; i < band.rowsEnd(j); ++i) {
      best = abs(a[i * band.n + j]) > abs(a[best * band.n + j]) ? i : best;
    }
    pivots[j] = best;
    apply(a, band, j, band.n, j, band.columnsEnd(j));
  }
  /// The same exchange in columns `first` to `end` − 1 of a matrix with `stride` columns.
  KEMPE_HD void apply(T* a, const Band&, int j, int stride, int first, int end) const {
    for (int k = first; pivots[j] != j && k < end; ++k) {
      const T upper = a[j * stride + k];
      a[j * stride + k] = a[pivots[j] * stride + k];
      a[pivots[j] * stride + k] = upper;
    }
  }
  KEMPE_HD void undo(T* b, const Band& band, int j) const { apply(b, band, j, 1, 0, 1); }
};

/// Those of several states: for each column `lower` numbers, 1 where a lane exchanges.
template <typename T>
struct LaneExchanges {
  T* swaps = nullptr;

  void choose(T* a, const Band& band, int j) {
    using std::abs;
    for (int i = j + 1; i < band.rowsEnd(j); ++i) {
      T& swap = swaps[j * band.lower + i - j - 1];
      swap = select(abs(a[i * band.n + j]) > abs(a[j * band.n + j]), T(1), T(0));
      exchangeWhere(swap, a + j * band.n + j, a + i * band.n + j, band.columnsEnd(j) - j);
    }
  }
  void apply(T* a, const Band& band, int j, int stride, int first, int end) const {
    for (int i = j + 1; i < band.rowsEnd(j); ++i) {
      exchangeWhere(swaps[j * band.lower + i - j - 1], a + j * stride + first,
                    a + i * stride + first, end - first);
    }
  }
  void undo(T* b, const Band& band, int j) const {
    for (int i = band.rowsEnd(j) - 1; i > j; --i) {
      exchangeWhere(swaps[j * band.lower + i - j - 1], b + j, b + i, 1);
    }
  }
};

/// In place. Returns the ratio of the smallest to the largest pivot, as luFactor does; NaN where the
/// matrix is not finite.
template <typename T, typename Exchanges>
KEMPE_HD T bandFactor(T* a, const Band& band, Exchanges exchanges) {
  using std::abs;
  const int n = band.n;
  T smallest(1), largest(1), finite(0);  // the last stays 0
  for (int j = 0; j < n; ++j) {
    exchanges.choose(a, band, j);
    const T pivot = a[j * n + j], size = abs(pivot);
    smallest = j == 0 ? size : select(size < smallest, size, smallest);
    largest = j == 0 ? size : select(size > largest, size, largest);
    finite += T(0) * size;
    const T inverse = T(1) / pivot;
    for (int i = j + 1; i < band.rowsEnd(j); ++i) {
      const T factor = a[i * n + j] * inverse;
      a[i * n + j] = factor;
      for (int k = j + 1; k < band.columnsEnd(j); ++k) {
        a[i * n + k] -= factor * a[j * n + k];
      }
    }
  }
  return smallest / largest + finite;
}

/// A⁻¹ b in place for `columns` right-hand sides (b row-major n×columns), after bandFactor.
template <typename T, typename Exchanges>
KEMPE_HD void bandSolve(const T* lu, const Band& band, const Exchanges& exchanges, T* b,
                        int columns) {
  const int n = band.n;
  for (int j = 0; j < n; ++j) {
    exchanges.apply(b, band, j, columns, 0, columns);
    for (int i = j + 1; i < band.rowsEnd(j); ++i) {
      const T factor = lu[i * n + j];
      for (int k = 0; k < columns; ++k) {
        b[i * columns + k] -= factor * b[j * columns + k];
      }
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    const T inverse = T(1) / lu[i * n + i];
    for (int k = 0; k < columns; ++k) {
      T sum = b[i * columns + k];
      for (int j = i + 1; j < band.columnsEnd(i); ++j) {
        sum -= lu[i * n + j] * b[j * columns + k];
      }
      b[i * columns + k] = sum * inverse;
    }
  }
}

/// A⁻ᵀ b in place for one right-hand side, after bandFactor.
template <typename T, typename Exchanges>
KEMPE_HD void bandSolveTransposed(const T* lu, const Band& band, const Exchanges& exchanges, T* b) {
  const int n = band.n;
  for (int i = 0; i < n; ++i) {
    T sum = b[i];
    for (int k = band.firstRow(i); k < i; ++k) {
      sum -= lu[k * n + i] * b[k];
    }
    b[i] = sum / lu[i * n + i];
  }
  for (int j = n - 2; j >= 0; --j) {
    for (int i = j + 1; i < band.rowsEnd(j); ++i) {
      b[j] -= lu[i * n + j] * b[i];
    }
    exchanges.undo(b, band, j);
  }
}

}  // namespace kempe::detail
