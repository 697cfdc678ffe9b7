#include "loops/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kempe/spatial/factorization.hpp"

namespace kempe::detail {
namespace {

constexpr int kMaxIterations = 100;
constexpr int kMaxTrials = 16;        // of damping, per iteration
constexpr double kLongestStep = 0.5;  // radians or metres: longer ones jump to other branches

/// One run of the damped Newton (Levenberg–Marquardt) method; holds what its steps share.
class Descent {
 public:
  Descent(const ModelTables<double>& tables, const Functions& functions,
          const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
          std::span<const int> movable, Rows rows)
      : tables_(tables),
        functions_(functions),
        cluster_(cluster),
        scratch_(scratch),
        base_(base),
        movable_(movable),
        slots_(rows == Rows::Kept ? tables.rowSlots.data() + cluster.firstRow : nullptr) {}

  Closure run(double* step) {
    const int n = cluster_.velocities;
    double cost = evaluate(step, scratch_.q.data());
    double damping = 0.0;
    bool polished = false;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      const Closure now = measure();
      if (!std::isfinite(cost)) {
        break;
      }
      const double tolerance = kClosed * scale();
      if (now.gap <= tolerance) {
        if (polished || now.gap <= 1e-2 * tolerance) {
          break;
        }
        polished = true;  // one more step takes the gap down to rounding
      }
      buildNormalEquations(step);
      bool improved = false;
      for (int trial = 0; trial < kMaxTrials && !improved; ++trial) {
        if (takeStep(damping, step)) {
          const double trialCost = evaluate(scratch_.trialStep.data(), scratch_.q.data());
          improved = trialCost < cost;
          if (improved) {
            cost = trialCost;
            std::copy_n(scratch_.trialStep.data(), n, step);
          }
        }
        // Damping appears only where the plain Newton step fails, so that it stays quadratic.
        damping = improved ? (damping > 1e-9 * largest_ ? 0.1 * damping : 0.0)
                           : std::max(10.0 * damping, 1e-6 * largest_);
      }
      if (!improved) {
        break;
      }
    }
    evaluate(step, scratch_.q.data());
    Closure result = measure();
    result.closed = result.gap <= kClosed * scale() &&
                    loopsRightWayRound(tables_, cluster_, scratch_.state(scratch_.q.data()));
    return result;
  }

 private:
  [[nodiscard]] bool counts(int row) const { return slots_ == nullptr || slots_[row] >= 0; }

  /// Σ φ² over the rows that count, at base ⊞ step.
  double evaluate(const double* step, double* q) {
    retractCluster(tables_, cluster_, base_, step, q);
    ClusterState<double> state = scratch_.state(q);
    placeCluster(tables_, cluster_, state);
    loopValues(tables_, functions_, cluster_, state, scratch_.forFunctions(), scratch_.phi.data());
    double cost = 0.0;
    for (int r = 0; r < cluster_.rows; ++r) {
      cost += counts(r) ? scratch_.phi[r] * scratch_.phi[r] : 0.0;
    }
    return cost;
  }

  [[nodiscard]] Closure measure() const {
    Closure result;
    for (int r = 0; r < cluster_.rows; ++r) {
      // What is not a number counts as open without bound.
      const double size = std::isfinite(scratch_.phi[r]) ? std::abs(scratch_.phi[r])
                                                         : std::numeric_limits<double>::infinity();
      if (counts(r) && size > result.gap) {
        result.gap = size;
        result.worstRow = r;
      }
    }
    return result;
  }

  /// Rounding of φ grows with the positions it is computed from (a rotor after many turns).
  [[nodiscard]] double scale() const {
    double largest = 1.0;
    for (int i = 0; i < cluster_.positions; ++i) {
      largest = std::max(largest, std::abs(scratch_.q[i]));
    }
    return largest;
  }

  /// KᵀK and Kᵀφ over the movable columns, K with respect to `step`.
  void buildNormalEquations(const double* step) {
    const int n = cluster_.velocities;
    const int m = static_cast<int>(movable_.size());
    ClusterState<double> state = scratch_.state(scratch_.q.data());
    placeCluster(tables_, cluster_, state);
    loopJacobian(tables_, functions_, cluster_, state, scratch_.forFunctions(), nullptr,
                 cluster_.rows, scratch_.K.data());
    differentiateRetraction(step);
    largest_ = 0.0;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0.0;
        for (int r = 0; r < cluster_.rows; ++r) {
          const double* row = scratch_.K.data() + r * n;
          sum += counts(r) ? row[movable_[i]] * row[movable_[j]] : 0.0;
        }
        scratch_.normal[i * m + j] = sum;
      }
      double slope = 0.0;
      for (int r = 0; r < cluster_.rows; ++r) {
        slope += counts(r) ? scratch_.K[r * n + movable_[i]] * scratch_.phi[r] : 0.0;
      }
      scratch_.gradient[i] = slope;
      largest_ = std::max(largest_, scratch_.normal[i * m + i]);
    }
  }

  /// K was with respect to velocities; for balls and free joints that is not yet the step.
  void differentiateRetraction(const double* step) {
    const int n = cluster_.velocities;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      if (hasScalarCoordinates(body.type)) {
        continue;
      }
      const int first = body.firstVelocity - cluster_.firstVelocity;
      const int size = velocitySize(body.type);
      double J[36];
      retractJacobian(body.type, step + first, J);
      for (int r = 0; r < cluster_.rows; ++r) {
        double* row = scratch_.K.data() + r * n + first;
        double turned[6];
        for (int j = 0; j < size; ++j) {
          turned[j] = 0.0;
          for (int i = 0; i < size; ++i) {
            turned[j] += row[i] * J[i * size + j];
          }
        }
        std::copy_n(turned, size, row);
      }
    }
  }

  /// Writes the damped step from `step` to trialStep; false where the equations are singular.
  bool takeStep(double damping, const double* step) {
    const int m = static_cast<int>(movable_.size());
    std::copy_n(scratch_.normal.data(), m * m, scratch_.factor.data());
    for (int i = 0; i < m; ++i) {
      // A breath of damping even in the plain step: redundant freedoms then stay where they are.
      scratch_.factor[i * m + i] += damping + 1e-12 * largest_;
      scratch_.rightSide[i] = -scratch_.gradient[i];
    }
    if (!choleskyFactor(scratch_.factor.data(), m)) {
      return false;
    }
    choleskySolve(scratch_.factor.data(), m, scratch_.rightSide.data());
    double longest = 0.0;
    for (int i = 0; i < m; ++i) {
      longest = std::max(longest, std::abs(scratch_.rightSide[i]));
    }
    const double shorten = longest > kLongestStep ? kLongestStep / longest : 1.0;
    std::copy_n(step, cluster_.velocities, scratch_.trialStep.data());
    for (int i = 0; i < m; ++i) {
      scratch_.trialStep[movable_[i]] += shorten * scratch_.rightSide[i];
    }
    return std::isfinite(longest);
  }

  const ModelTables<double>& tables_;
  const Functions& functions_;
  const ClusterEntry& cluster_;
  LoopScratch<double>& scratch_;
  const double* base_;
  std::span<const int> movable_;
  const int* slots_;
  double largest_ = 0.0;  // of the diagonal of KᵀK
};

}  // namespace

void retractCluster(const ModelTables<double>& tables, const ClusterEntry& cluster,
                    const double* base, const double* step, double* q) {
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    const int position = body.firstPosition - cluster.firstPosition;
    const int velocity = body.firstVelocity - cluster.firstVelocity;
    jointRetract(body.type, base + position, step + velocity, q + position);
  }
}

Closure closeLoops(const ModelTables<double>& tables, const Functions& functions,
                   const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
                   double* step, std::span<const int> movable, Rows rows) {
  const auto descend = [&](Rows which) {
    return Descent(tables, functions, cluster, scratch, base, movable, which).run(step);
  };
  const Closure all = descend(Rows::All);
  if (all.closed || rows == Rows::All || !(all.gap < kRedundantClosed)) {
    return all;
  }
  // All rows close up to what rounded figures leave open: close the kept ones exactly.
  return descend(Rows::Kept);
}

}  // namespace kempe::detail
