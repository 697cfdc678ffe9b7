#include "simulation/box_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "constraints/pivoted_cholesky.hpp"

namespace kempe::detail {
namespace {

/// A variable of which others leave less than this is redundant: rounding of K H⁻¹ Kᵀ.
constexpr double kRedundant = 1e-11;
/// g of this fraction of its terms is zero. Terms count as large as they can be for a semidefinite A,
///   |Aᵢⱼ xⱼ| ≤ √Aᵢᵢ √Aⱼⱼ |xⱼ|,                                                              (1)
/// since entries that vanish are rounding of that size: where all terms of a row are, its g must not
/// count as a force.
constexpr double kZero = 1e-12;
/// g of a redundant variable that others leave above this fraction of its terms is no rounding
/// (kRedundant of the terms, times forces up to a hundred times theirs): rows contradict each other.
constexpr double kContradiction = 1e-9;
/// Rounds, for each variable and in all: none of two million random problems of up to 12 variables
/// took more than four for each.
constexpr int kRoundsEach = 20, kRounds = 100;

}  // namespace

void BoxProblem::resize(int n) {
  n_ = n;
  const auto size = static_cast<std::size_t>(n);
  A_.assign(size * size, 0.0);
  factor_.resize(size * size);
  for (std::vector<double>* list : {&b, &x, &g, &magnitude}) {
    list->assign(size, 0.0);
  }
  for (std::vector<double>* list : {&terms_, &step_, &scale_, &diagonal_, &right_}) {
    list->resize(size);
  }
  lower.assign(size, -std::numeric_limits<double>::infinity());
  upper.assign(size, std::numeric_limits<double>::infinity());
  free_.reserve(size);
  order_.resize(size);
  atBound_.assign(size, 0);
}

void BoxProblem::gradient() {
  double largest = 0.0;
  for (int j = 0; j < n_; ++j) {
    largest = std::max(largest, std::sqrt(matrix(j, j)) * std::abs(x[j]));
  }
  for (int i = 0; i < n_; ++i) {
    g[i] = b[i];
    magnitude[i] = std::abs(b[i]);
    for (int j = 0; j < n_; ++j) {
      g[i] += matrix(i, j) * x[j];
      magnitude[i] += std::abs(matrix(i, j) * x[j]);
    }
    terms_[i] = magnitude[i] + std::sqrt(matrix(i, i)) * largest;  // (1)
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
  rank_ =
      pivotedCholesky(factor_.data(), m, kRedundant, scale_.data(), order_.data(), diagonal_.data())
          .rank;
  // Redundant variables stay: the others can do what they could.
  for (int i = 0; i < rank_; ++i) {
    right_[i] = -g[free_[order_[i]]];
  }
  solveForPivots();
}

void BoxProblem::solveForPivots() {
  const int m = static_cast<int>(free_.size());
  for (int i = 0; i < rank_; ++i) {
    for (int j = 0; j < i; ++j) {
      right_[i] -= factor_[i * m + j] * right_[j];
    }
    right_[i] /= factor_[i * m + i];
  }
  for (int i = rank_ - 1; i >= 0; --i) {
    for (int k = i + 1; k < rank_; ++k) {
      right_[i] -= factor_[k * m + i] * right_[k];
    }
    right_[i] /= factor_[i * m + i];
    step_[free_[order_[i]]] = right_[i];
  }
}

bool BoxProblem::stepOfRedundant() {
  int worst = -1;
  double most = kContradiction;
  for (int k = rank_; k < static_cast<int>(free_.size()); ++k) {
    const int i = free_[order_[k]];
    const double share = terms_[i] > 0.0 ? std::abs(g[i]) / terms_[i] : 0.0;
    if (share > most) {
      most = share;
      worst = i;
    }
  }
  if (worst < 0) {
    return false;
  }
  // A d = 0 with d of the pivots from that of the redundant one.
  std::ranges::fill(step_, 0.0);
  step_[worst] = g[worst] > 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < rank_; ++k) {
    right_[k] = -matrix(free_[order_[k]], worst) * step_[worst];
  }
  solveForPivots();
  return true;
}

bool BoxProblem::follow(bool endless) {
  double part = endless ? std::numeric_limits<double>::infinity() : 1.0;
  int blocking = -1;
  for (int i = 0; i < n_; ++i) {
    const double room = std::abs((step_[i] > 0.0 ? upper[i] : lower[i]) - x[i]);
    if (step_[i] != 0.0 && room < std::abs(step_[i]) * part) {
      part = room / std::abs(step_[i]);
      blocking = i;
    }
  }
  if (endless && blocking < 0) {
    return false;
  }
  for (int i = 0; i < n_; ++i) {
    x[i] = std::clamp(x[i] + part * step_[i], lower[i], upper[i]);
  }
  if (blocking >= 0) {
    atBound_[blocking] = step_[blocking] > 0.0 ? 1 : -1;
    x[blocking] = atBound_[blocking] > 0 ? upper[blocking] : lower[blocking];
  }
  return blocking >= 0;
}

int BoxProblem::heldBack() const {
  int worst = -1;
  double most = kZero;
  for (int i = 0; i < n_; ++i) {
    const double back = atBound_[i] * g[i];  // > 0: x would rather leave the bound
    const double share = terms_[i] > 0.0 ? back / terms_[i] : 0.0;
    if (share > most) {
      most = share;
      worst = i;
    }
  }
  return worst;
}

void BoxProblem::solve() {
  for (int i = 0; i < n_; ++i) {
    x[i] = std::clamp(0.0, lower[i], upper[i]);
    atBound_[i] = 0;
  }
  for (int round = 0; round < kRounds + kRoundsEach * n_; ++round) {
    gradient();
    stepOfFree();
    if (follow(false)) {
      continue;
    }
    // At the minimum over the free ones, unless rows contradict each other.
    gradient();
    if (stepOfRedundant() && follow(true)) {
      continue;
    }
    const int held = heldBack();
    if (held < 0) {
      return;
    }
    atBound_[held] = 0;
  }
  gradient();
}

double BoxProblem::violation(int i) const {
  const double down = x[i] > lower[i] ? g[i] : 0.0, up = x[i] < upper[i] ? -g[i] : 0.0;
  return std::max({down, up, 0.0});
}

}  // namespace kempe::detail
