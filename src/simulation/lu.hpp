#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace kempe::detail {

/// A square matrix of real or complex numbers and its LU factors with row pivoting, in memory that
/// is allocated once.
template <typename T>
class Lu {
 public:
  void resize(int n) {
    n_ = n;
    entries_.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    pivots_.resize(static_cast<std::size_t>(n));
  }
  [[nodiscard]] T& operator()(int i, int j) { return entries_[at(i, j)]; }

  /// Replaces the matrix by its factors. Returns false if it is singular or not finite.
  bool factor() {
    for (int j = 0; j < n_; ++j) {
      int best = j;
      double largest = std::abs(entries_[at(j, j)]);
      for (int i = j + 1; i < n_; ++i) {
        const double size = std::abs(entries_[at(i, j)]);
        if (size > largest) {
          largest = size;
          best = i;
        }
      }
      if (!(largest > 0.0) || !std::isfinite(largest)) {
        return false;
      }
      pivots_[static_cast<std::size_t>(j)] = best;
      for (int k = 0; best != j && k < n_; ++k) {
        std::swap(entries_[at(j, k)], entries_[at(best, k)]);
      }
      const T inverse = T(1) / entries_[at(j, j)];
      for (int i = j + 1; i < n_; ++i) {
        const T factor = entries_[at(i, j)] * inverse;
        entries_[at(i, j)] = factor;
        for (int k = j + 1; k < n_; ++k) {
          entries_[at(i, k)] -= factor * entries_[at(j, k)];
        }
      }
    }
    return true;
  }

  /// Replaces b by the solution of A x = b.
  void solve(T* b) const {
    for (int j = 0; j < n_; ++j) {
      std::swap(b[j], b[pivots_[static_cast<std::size_t>(j)]]);
    }
    for (int i = 0; i < n_; ++i) {
      for (int k = 0; k < i; ++k) {
        b[i] -= entries_[at(i, k)] * b[k];
      }
    }
    for (int i = n_ - 1; i >= 0; --i) {
      for (int k = i + 1; k < n_; ++k) {
        b[i] -= entries_[at(i, k)] * b[k];
      }
      b[i] /= entries_[at(i, i)];
    }
  }

 private:
  [[nodiscard]] std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j);
  }

  int n_ = 0;
  std::vector<T> entries_;  // row-major
  std::vector<int> pivots_;
};

}  // namespace kempe::detail
