#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kempe::detail {

/// A x = b with a dense symmetric A that need not be definite, as of [H Kᵀ; K 0]: scaled to entries
/// of at most one, factored with complete pivoting, and solutions improved by their residual.
/// Allocates where it is larger than ever before.
class SaddlePoint {
 public:
  /// Makes room for size × size numbers, all zero.
  void resize(int size) {
    size_ = size;
    const auto n = static_cast<std::size_t>(size);
    matrix_.assign(n * n, 0.0);
    factors_.resize(n * n);
    for (std::vector<double>* vector : {&scale_, &rightSide_, &x_, &change_, &swapped_}) {
      vector->resize(n);
    }
    rows_.resize(n);
    columns_.resize(n);
  }
  double& at(int row, int column) { return matrix_[index(row, column)]; }

  /// Returns an unknown that the equations do not determine, pivots below a share `rounding` of the
  /// largest being rounding, or −1.
  int factorize(double rounding) {
    scale();
    for (int i = 0; i < size_; ++i) {
      rows_[i] = columns_[i] = i;
      for (int j = 0; j < size_; ++j) {
        factors_[index(i, j)] = scale_[i] * matrix_[index(i, j)] * scale_[j];
      }
    }
    double first = 0.0;
    for (int k = 0; k < size_; ++k) {
      const auto [row, column] = largestFrom(k);
      const double size = std::abs(factors_[index(row, column)]);
      first = std::max(first, size);
      if (!(size > rounding * first)) {
        return *std::min_element(columns_.begin() + k, columns_.end());
      }
      exchange(k, row, column);
      eliminate(k);
    }
    return -1;
  }

  /// Solves for b in place, after factorize. Returns the relative error that is left, estimated by
  /// the last improvement.
  double solve(double* b) {
    constexpr int kImprovements = 2;
    double error = 0.0;
    for (int i = 0; i < size_; ++i) {
      rightSide_[i] = scale_[i] * b[i];
      x_[i] = 0.0;
    }
    for (int step = 0; step <= kImprovements; ++step) {
      residual();
      substitute();
      double largest = 0.0, change = 0.0;
      for (int i = 0; i < size_; ++i) {
        x_[i] += change_[i];
        largest = std::max(largest, std::abs(x_[i]));
        change = std::max(change, std::abs(change_[i]));
      }
      error = largest > 0.0 ? change / largest : 0.0;
    }
    for (int i = 0; i < size_; ++i) {
      b[i] = scale_[i] * x_[i];
    }
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
  }

 private:
  [[nodiscard]] std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(column);
  }

  /// Rows and columns alike, so that the largest number of each is about one.
  void scale() {
    constexpr int kSweeps = 6;
    std::ranges::fill(scale_, 1.0);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (int i = 0; i < size_; ++i) {
        double largest = 0.0;
        for (int j = 0; j < size_; ++j) {
          largest = std::max(largest, std::abs(scale_[i] * matrix_[index(i, j)] * scale_[j]));
        }
        change_[i] = largest > 0.0 ? 1.0 / std::sqrt(largest) : 1.0;
      }
      for (int i = 0; i < size_; ++i) {
        scale_[i] *= change_[i];
      }
    }
  }

  [[nodiscard]] std::pair<int, int> largestFrom(int k) const {
    std::pair<int, int> place{k, k};
    double largest = -1.0;
    for (int i = k; i < size_; ++i) {
      for (int j = k; j < size_; ++j) {
        const double size = std::abs(factors_[index(i, j)]);
        if (size > largest) {
          largest = size;
          place = {i, j};
        }
      }
    }
    return place;
  }

  void exchange(int k, int row, int column) {
    std::swap(rows_[k], rows_[row]);
    std::swap(columns_[k], columns_[column]);
    for (int j = 0; j < size_; ++j) {
      std::swap(factors_[index(k, j)], factors_[index(row, j)]);
    }
    for (int i = 0; i < size_; ++i) {
      std::swap(factors_[index(i, k)], factors_[index(i, column)]);
    }
  }

  void eliminate(int k) {
    for (int i = k + 1; i < size_; ++i) {
      const double factor = factors_[index(i, k)] /= factors_[index(k, k)];
      for (int j = k + 1; factor != 0.0 && j < size_; ++j) {
        factors_[index(i, j)] -= factor * factors_[index(k, j)];
      }
    }
  }

  /// change = right side − A x.
  void residual() {
    for (int i = 0; i < size_; ++i) {
      double sum = rightSide_[i];
      for (int j = 0; j < size_; ++j) {
        sum -= scale_[i] * matrix_[index(i, j)] * scale_[j] * x_[j];
      }
      change_[i] = sum;
    }
  }

  /// change = A⁻¹ change.
  void substitute() {
    for (int i = 0; i < size_; ++i) {
      double sum = change_[rows_[i]];
      for (int j = 0; j < i; ++j) {
        sum -= factors_[index(i, j)] * swapped_[j];
      }
      swapped_[i] = sum;
    }
    for (int i = size_ - 1; i >= 0; --i) {
      double sum = swapped_[i];
      for (int j = i + 1; j < size_; ++j) {
        sum -= factors_[index(i, j)] * swapped_[j];
      }
      swapped_[i] = sum / factors_[index(i, i)];
    }
    for (int i = 0; i < size_; ++i) {
      change_[columns_[i]] = swapped_[i];
    }
  }

  int size_ = 0;
  std::vector<double> matrix_, factors_, scale_, rightSide_, x_, change_, swapped_;
  std::vector<int> rows_, columns_;
};

}  // namespace kempe::detail
