#include "simulation/box_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "constraints/pivoted_cholesky.hpp"

namespace kempe::detail {
namespace {

/// A variable of which others leave less than this is redundant: rounding of K H⁻¹ Kᵀ.
constexpr double kRedundant = 1e-11;
/// g of this fraction of its terms is zero.
constexpr double kZero = 1e-12;

}  // namespace

void BoxProblem::resize(int n) {
  n_ = n;
  const auto size = static_cast<std::size_t>(n);
  A_.assign(size * size, 0.0);
  factor_.resize(size * size);
  for (std::vector<double>* list : {&b, &x, &g, &magnitude}) {
    list->assign(size, 0.0);
  }
  for (std::vector<double>* list : {&step_, &scale_, &diagonal_, &right_}) {
    list->resize(size);
  }
  lower.assign(size, -std::numeric_limits<double>::infinity());
  upper.assign(size, std::numeric_limits<double>::infinity());
  free_.reserve(size);
  order_.resize(size);
  atBound_.assign(size, 0);
}

void BoxProblem::gradient() {
  for (int i = 0; i < n_; ++i) {
    g[i] = b[i];
    magnitude[i] = std::abs(b[i]);
    for (int j = 0; j < n_; ++j) {
      g[i] += matrix(i, j) * x[j];
      magnitude[i] += std::abs(matrix(i, j) * x[j]);
    }
  }
}

void BoxProblem::stepOfFree() {
  std::ranges::fill(step_, 0.0);
  free_.clear();
  for (int i = 0; i < n_; ++i) {
    if (atBound_[i] == 0) {
      free_.push_back(i);
    }
  }
  const int m = static_cast<int>(free_.size());
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j <= i; ++j) {
      factor_[i * m + j] = matrix(free_[i], free_[j]);
    }
    scale_[i] = matrix(free_[i], free_[i]);
  }
  const int rank =
      pivotedCholesky(factor_.data(), m, kRedundant, scale_.data(), order_.data(), diagonal_.data())
          .rank;
  // Redundant variables stay: the others can do what they could.
  for (int i = 0; i < rank; ++i) {
    right_[i] = -g[free_[order_[i]]];
    for (int j = 0; j < i; ++j) {
      right_[i] -= factor_[i * m + j] * right_[j];
    }
    right_[i] /= factor_[i * m + i];
  }
  for (int i = rank - 1; i >= 0; --i) {
    for (int k = i + 1; k < rank; ++k) {
      right_[i] -= factor_[k * m + i] * right_[k];
    }
    right_[i] /= factor_[i * m + i];
    step_[free_[order_[i]]] = right_[i];
  }
}

bool BoxProblem::solve() {
  for (int i = 0; i < n_; ++i) {
    x[i] = std::clamp(0.0, lower[i], upper[i]);
    atBound_[i] = 0;
  }
  const int most = 100 + 20 * n_;
  for (int round = 0; round < most; ++round) {
    gradient();
    stepOfFree();
    double part = 1.0;
    int blocking = -1;
    for (int i = 0; i < n_; ++i) {
      const double bound = step_[i] > 0.0 ? upper[i] : lower[i];
      if (step_[i] != 0.0 && std::abs(step_[i]) * part > std::abs(bound - x[i])) {
        part = std::abs(bound - x[i]) / std::abs(step_[i]);
        blocking = i;
      }
    }
    for (int i = 0; i < n_; ++i) {
      x[i] = std::clamp(x[i] + part * step_[i], lower[i], upper[i]);
    }
    if (blocking >= 0) {
      atBound_[blocking] = step_[blocking] > 0.0 ? 1 : -1;
      x[blocking] = atBound_[blocking] > 0 ? upper[blocking] : lower[blocking];
      continue;
    }
    // At the minimum over the free ones: free the bound that holds back most.
    gradient();
    int worst = -1;
    double mostHeld = 0.0;
    for (int i = 0; i < n_; ++i) {
      const double back = atBound_[i] * g[i];  // > 0: x would rather leave the bound
      const double share = magnitude[i] > 0.0 ? back / magnitude[i] : 0.0;
      if (share > std::max(kZero, mostHeld)) {
        mostHeld = share;
        worst = i;
      }
    }
    if (worst < 0) {
      return true;
    }
    atBound_[worst] = 0;
  }
  return false;
}

}  // namespace kempe::detail
