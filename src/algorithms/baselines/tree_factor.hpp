#pragma once

#include <cmath>

#include "model/open_tree.hpp"

/// H = Lᵀ L of a matrix with the pattern of a tree (Featherstone 2008, §6.5): L has the pattern of
/// H's lower triangle, so that the cost is the sum of squared depths, not the cube of the size.
/// Row-major, n numbers from row to row; the diagonal of the factor holds 1 / L_ii.
namespace kempe::detail {

/// In place, reading and writing the pattern's part of the lower triangle. Returns the DoF
/// whose pivot is not above `least` of its diagonal, or −1. `diagonal` is scratch of n numbers.
template <typename T>
int treeFactor(const TreePattern& pattern, T least, T* H, T* diagonal) {
  using std::sqrt;
  const int n = static_cast<int>(pattern.parent.size());
  for (int k = 0; k < n; ++k) {
    diagonal[k] = H[k * n + k];
  }
  for (int k = n - 1; k >= 0; --k) {
    T* row = H + k * n;
    if (!(row[k] > least * diagonal[k])) {
      return k;
    }
    const T inverse = T(1) / sqrt(row[k]);
    row[k] = inverse;
    const int* ancestors = pattern.ancestors.data() + pattern.first[k];
    const int depth = pattern.first[k + 1] - pattern.first[k];
    for (int i = 0; i < depth; ++i) {
      row[ancestors[i]] *= inverse;
    }
    for (int i = 0; i < depth; ++i) {
      T* target = H + ancestors[i] * n;
      const T factor = row[ancestors[i]];
      for (int j = i; j < depth; ++j) {
        target[ancestors[j]] -= factor * row[ancestors[j]];
      }
    }
  }
  return -1;
}

/// L⁻ᵀ x in place.
template <typename T>
void treeSolveTransposed(const TreePattern& pattern, const T* L, T* x) {
  const int n = static_cast<int>(pattern.parent.size());
  for (int i = n - 1; i >= 0; --i) {
    const T* row = L + i * n;
    x[i] *= row[i];
    for (int a = pattern.first[i]; a < pattern.first[i + 1]; ++a) {
      x[pattern.ancestors[a]] -= row[pattern.ancestors[a]] * x[i];
    }
  }
}

/// L⁻¹ x in place.
template <typename T>
void treeSolve(const TreePattern& pattern, const T* L, T* x) {
  const int n = static_cast<int>(pattern.parent.size());
  for (int i = 0; i < n; ++i) {
    const T* row = L + i * n;
    T sum = x[i];
    for (int a = pattern.first[i]; a < pattern.first[i + 1]; ++a) {
      sum -= row[pattern.ancestors[a]] * x[pattern.ancestors[a]];
    }
    x[i] = sum * row[i];
  }
}

/// One step of L⁻ᵀ X for the right-hand sides first to last − 1 of `columns` at once (X row-major):
/// DoF i.
template <typename T>
void treeEliminate(const TreePattern& pattern, const T* L, int i, T* X, int columns, int first,
                   int last) {
  const T* row = L + i * static_cast<int>(pattern.parent.size());
  T* x = X + i * columns;
  for (int c = first; c < last; ++c) {
    x[c] *= row[i];
  }
  for (int a = pattern.first[i]; a < pattern.first[i + 1]; ++a) {
    const int j = pattern.ancestors[a];
    const T factor = row[j];
    T* target = X + j * columns;
    for (int c = first; c < last; ++c) {
      target[c] -= factor * x[c];
    }
  }
}

/// L Lᵀ of a matrix whose row i begins at column first[i], row-major; the diagonal of the factor
/// holds 1 / L_ii. Returns the row whose pivot is not above `least` of its diagonal, or −1.
template <typename T>
int profileFactor(int n, const int* first, T least, T* A) {
  using std::sqrt;
  for (int i = 0; i < n; ++i) {
    T* row = A + i * n;
    for (int j = first[i]; j <= i; ++j) {
      const T* other = A + j * n;
      T sum = row[j];
      for (int k = first[i] > first[j] ? first[i] : first[j]; k < j; ++k) {
        sum -= row[k] * other[k];
      }
      if (j < i) {
        row[j] = sum * other[j];
      } else if (sum > least * row[i]) {
        row[i] = T(1) / sqrt(sum);
      } else {
        return i;
      }
    }
  }
  return -1;
}

/// L⁻¹ x in place.
template <typename T>
void profileSolve(int n, const int* first, const T* L, T* x) {
  for (int i = 0; i < n; ++i) {
    T sum = x[i];
    for (int k = first[i]; k < i; ++k) {
      sum -= L[i * n + k] * x[k];
    }
    x[i] = sum * L[i * n + i];
  }
}

/// L⁻ᵀ x in place.
template <typename T>
void profileSolveTransposed(int n, const int* first, const T* L, T* x) {
  for (int i = n - 1; i >= 0; --i) {
    x[i] *= L[i * n + i];
    for (int k = first[i]; k < i; ++k) {
      x[k] -= L[i * n + k] * x[i];
    }
  }
}

}  // namespace kempe::detail
