#pragma once

#include <algorithm>
#include <limits>

#include "constraints/multipliers.hpp"
#include "kernels/constraint_forces.hpp"
#include "kernels/forward_dynamics.hpp"
#include "tables/constraint_request.hpp"

/// C-ABA under constraints (see constraint_forces.hpp for the equations). States whose rows are
/// clearly independent are solved together; where rows of one may be redundant, each on its own.
namespace kempe::detail {

/// The motion that C-ABA leaves of the bodies and coordinates that rows act on. It stores only the
/// velocities that it needs again.
template <typename T, typename R>
struct CondensedMotion {
  const TablesView<R>& tables;
  const WorkView<T>& work;
  const T* v;

  [[nodiscard]] EndMotion<T> end(const ConstraintEnd& end) const {
    const Transform<T> X = placed(work.X[end.body], end.frame);
    if (end.body != kWorld) {
      const BodyEntry<R>& body = tables.bodies[end.body];
      const ClusterEntry& cluster = tables.clusters[body.cluster];
      if (!body.carrier && shapeOf(cluster, work) == ClusterShape::Single) {
        const Motion<T> outputV = work.v[cluster.output];
        const Motion<T> relative = v[cluster.firstV] * work.S[body.firstS];
        return {X, outputV + relative, work.a[cluster.output] + cross(outputV, relative)};
      }
    }
    return {X, work.v[end.body], work.a[end.body]};
  }
  [[nodiscard]] T position(int i) const { return work.positions[i]; }
  [[nodiscard]] T rate(const ConstraintEntry& entry, int t) const {
    const ClusterEntry& cluster = tables.clusters[entry.clusters[t]];
    const int velocity = entry.terms[t].velocity;
    switch (cluster.kind) {
      case ClusterKind::Tree:
        return v[cluster.firstV + velocity - cluster.firstVelocity];
      case ClusterKind::Explicit:
        return alongRatios<0>(cluster.nv, constantRatios(tables, cluster, velocity),
                              v + cluster.firstV);
      case ClusterKind::Implicit:
        break;
    }
    return work.rates[velocity];
  }
  [[nodiscard]] T acceleration(const ConstraintEntry& entry, int t) const {
    const bool implicit = tables.clusters[entry.clusters[t]].kind == ClusterKind::Implicit;
    return implicit ? work.accelerations[entry.terms[t].velocity] : T(0);
  }
};

/// `One` holds one state, T those of the call.
template <typename T, typename One>
class ConstrainedDynamicsKernel {
 public:
  using R = typename Lanes<T>::Scalar;
  using Tolerances = RowTolerances<R>;

  ConstrainedDynamicsKernel(const TablesView<R>& tables, const WorkView<T>& work,
                            const ConstraintRequest<R>& request, Carver& carver)
      : tables_(tables), work_(work), request_(request) {
    const int rows = request.rows, nv = tables.nv;
    const int square = rows * rows;
    c_ = {request.active,
          request.count,
          rows,
          carver.take<ConstraintRow<T>>(rows),
          carver.take<T>(request.slopes),
          carver.take<T>(rows * nv),
          carver.take<T>(rows)};
    registers_ = carver.take<T>(request.functionNumbers);
    A_ = carver.take<T>(square);
    factor_ = carver.take<T>(square);
    inverse_ = carver.take<T>(rows);
    rightSide_ = carver.take<T>(rows);
    size_ = carver.take<T>(rows);
    uFree_ = carver.take<T>(nv);
    terms_ = carver.take<T>(nv);
    shared_ = carver.take<int>(tables.clusterCount);
    marks_ = carver.take<int>(tables.clusterCount);
    one_ = {rows,
            carver.take<One>(square),
            carver.take<One>(square),
            carver.take<One>(rows),
            carver.take<One>(rows),
            carver.take<int>(rows),
            {}};
    oneRightSide_ = carver.take<One>(rows);
    oneLambda_ = carver.take<One>(rows);
    oneUnits_ = carver.take<One>(rows * nv);
    oneLeft_ = carver.take<One>(nv);
  }

  /// Returns false where a state needs a closer look: it is singular, its rows are not finite, or it
  /// is in doubt whether they are redundant. `slopes` (null: not wanted) are those of the request.
  template <typename Order, typename Loops>
  bool run(Loops& loops, const T* q, const T* v, const T* tau, const ExternalForces<T, R>& external,
           T* lambda, T* slopes, T* ydd) {
    if (condenseDynamics<Order>(tables_, work_, loops, q, v, tau, external) >= 0 ||
        findIndefinite(tables_, work_) >= 0) {
      return false;
    }
    for (int i = 0; i < tables_.nv; ++i) {
      uFree_[i] = work_.u[i];
    }
    evaluate(q, v);
    if (!rowsAreFinite()) {
      return false;
    }
    propagateForces(tables_, work_, c_);
    assemble();
    // Only pivots tell how far the rows are from losing rank.
    const bool together = request_.regularities == nullptr && solveTogether(lambda);
    if (!together && !solveOneByOne(lambda)) {
      return false;
    }
    for (int i = 0; slopes != nullptr && i < request_.slopes; ++i) {
      slopes[i] = c_.slopes[i];
    }
    return accelerate(lambda, ydd);
  }

 private:
  void evaluate(const T* q, const T* v) const {
    for (int k = 0; k < c_.count; ++k) {
      for (const int p : c_.active[k].entry->clusters) {
        expandCluster(tables_, tables_.clusters[p], q, work_.positions);  // folded rotors too
      }
    }
    evaluateConstraints(c_, CondensedMotion<T, R>{tables_, work_, v}, request_.time,
                        request_.functions, registers_);
  }

  bool rowsAreFinite() const {
    T sum(0);  // stays 0 where all is finite
    for (int r = 0; r < c_.rows; ++r) {
      sum += T(0) * (c_.row[r].value + c_.row[r].rate + c_.row[r].bias);
    }
    return !any(select(sum >= T(0), T(0), T(1)) > T(0.5));
  }

  /// The clusters on the paths of both constraints, into shared_.
  int findShared(int k, const ConstraintEntry& other) const {
    int count = 0;
    for (const int p : other.path) {
      if (marks_[p] == k) {
        shared_[count++] = p;
      }
    }
    return count;
  }

  /// Σ x Δ⁻¹ y along the first `count` clusters of shared_.
  T alongShared(const T* x, const T* y, int count) const {
    T sum(0);
    for (int p = 0; p < count; ++p) {
      const ClusterEntry& cluster = tables_.clusters[shared_[p]];
      for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
        sum += (work_.dInverse[i] * x[i]) * y[i];
      }
    }
    return sum;
  }

  /// K H⁻¹ Kᵀ and the right-hand side of (2).
  void assemble() const {
    const int n = c_.rows, nv = tables_.nv;
    for (int p = 0; p < tables_.clusterCount; ++p) {
      marks_[p] = -1;
    }
    const T gamma(request_.stabilization);
    for (int k = 0; k < c_.count; ++k) {
      const ActiveConstraint& own = c_.active[k];
      for (const int p : own.entry->path) {
        marks_[p] = k;
      }
      for (int other = 0; other <= k; ++other) {
        const ActiveConstraint& before = c_.active[other];
        const int count = findShared(k, *before.entry);
        for (int r = own.firstRow; r < own.firstRow + own.entry->rows; ++r) {
          const int last = before.firstRow + before.entry->rows - 1;
          for (int s = before.firstRow; s <= (last < r ? last : r); ++s) {
            A_[r * n + s] = alongShared(c_.unit + r * nv, c_.unit + s * nv, count);  // (1)
          }
        }
      }
      // shared_ is now the path of constraint k.
      const int count = static_cast<int>(own.entry->path.size());
      for (int r = own.firstRow; r < own.firstRow + own.entry->rows; ++r) {
        using std::abs;
        const T free = alongShared(c_.unit + r * nv, uFree_, count);
        const T beta = stabilizedBias(own, r - own.firstRow, c_.row[r], gamma);
        rightSide_[r] = -(free + beta);  // (2)
        size_[r] = abs(free) + abs(beta);
      }
    }
  }

  /// λ of all states if all their rows are clearly independent.
  bool solveTogether(T* lambda) const {
    const int n = c_.rows;
    for (int r = 0; r < n; ++r) {
      for (int s = 0; s <= r; ++s) {
        factor_[r * n + s] = A_[r * n + s];
      }
      lambda[r] = rightSide_[r];
    }
    factorize<0>(n, factor_, inverse_);
    // The estimate of pivotedCholesky(), squared: ε² scale / diagonal ≤ (tolerated share)².
    constexpr R kLost = std::numeric_limits<R>::epsilon() / Tolerances::kTolerated;
    T doubtful(0);
    for (int r = 0; r < n; ++r) {
      const T diagonal = A_[r * n + r];
      const T share = T(1) / (inverse_[r] * diagonal);
      const auto accurate = (diagonal * share) * share > T(kLost * kLost) * c_.scale[r];
      doubtful += select(share > T(Tolerances::kClearlyIndependent), T(0), T(1)) +
                  select(accurate, T(0), T(1));
    }
    if (any(doubtful > T(0.5))) {
      return false;
    }
    forwardSubstitute<0>(n, factor_, lambda);
    for (int r = 0; r < n; ++r) {
      lambda[r] = lambda[r] * inverse_[r];
    }
    backSubstitute<0>(n, factor_, lambda);
    for (int lane = 0; lane < Lanes<T>::count; ++lane) {
      request_.ranks[lane] = n;
      request_.inconsistencies[lane] = 0.0;
    }
    return true;
  }

  bool solveOneByOne(T* lambda) {
    const int n = c_.rows;
    for (int lane = 0; lane < Lanes<T>::count; ++lane) {
      const auto number = [&](const T& x) { return One(Lanes<T>::get(x, lane)); };
      One size(0), left(0);
      for (int r = 0; r < n; ++r) {
        for (int s = 0; s <= r; ++s) {
          one_.A[r * n + s] = number(A_[r * n + s]);
        }
        one_.scale[r] = number(c_.scale[r]);
        oneRightSide_[r] = number(rightSide_[r]);
        const One own = number(size_[r]);
        size = own > size ? own : size;
      }
      one_.factorize();
      one_.solve(oneRightSide_, oneLambda_);
      for (int r = 0; r < n; ++r) {
        using std::abs;
        Lanes<T>::set(lambda[r], lane, Lanes<One>::get(oneLambda_[r], 0));
        const One own = abs(oneRightSide_[r]);
        left = own > left ? own : left;
      }
      if ((one_.inDoubt(left > One(Tolerances::kConsistent) * size) && !areImplied(lane)) ||
          !(one_.factored.error <= One(Tolerances::kTolerated))) {
        return false;
      }
      request_.ranks[lane] = one_.factored.rank;
      request_.inconsistencies[lane] = static_cast<double>(Lanes<One>::get(left, 0));
      if (request_.regularities != nullptr) {
        using std::sqrt;
        request_.regularities[lane] =
            static_cast<double>(Lanes<One>::get(sqrt(one_.factored.least), 0));
      }
    }
    return true;
  }

  /// Whether the rows that were dropped of one state depend on the others whatever the masses.
  [[gnu::noinline]] bool areImplied(int lane) const {
    const int nv = tables_.nv;
    std::fill_n(oneUnits_, c_.rows * nv, One(0));
    for (int k = 0; k < c_.count; ++k) {
      const ActiveConstraint& active = c_.active[k];
      for (const int p : active.entry->path) {
        const ClusterEntry& cluster = tables_.clusters[p];
        for (int r = active.firstRow; r < active.firstRow + active.entry->rows; ++r) {
          for (int i = r * nv + cluster.firstV; i < r * nv + cluster.firstV + cluster.nv; ++i) {
            oneUnits_[i] = One(Lanes<T>::get(c_.unit[i], lane));
          }
        }
      }
    }
    return one_.areImplied(
        nv, [&](int r) { return oneUnits_ + r * nv; }, oneLeft_);
  }

  /// (3). Returns false where too many digits cancel.
  bool accelerate(const T* lambda, T* ydd) const {
    using std::abs;
    const int nv = tables_.nv;
    for (int i = 0; i < nv; ++i) {
      work_.u[i] = uFree_[i];
      terms_[i] = abs(uFree_[i]);
    }
    for (int k = 0; k < c_.count; ++k) {
      const ActiveConstraint& active = c_.active[k];
      for (const int p : active.entry->path) {
        const ClusterEntry& cluster = tables_.clusters[p];
        for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
          for (int r = active.firstRow; r < active.firstRow + active.entry->rows; ++r) {
            const T term = lambda[r] * c_.unit[r * nv + i];
            work_.u[i] += term;
            terms_[i] += abs(term);
          }
        }
      }
    }
    accelerateClusters(tables_, work_, ydd);
    T cancelled(0), largest(0);
    for (int i = 0; i < nv; ++i) {
      const T lost = terms_[i] * work_.dInverse[i], size = abs(ydd[i]);
      cancelled = select(lost > cancelled, lost, cancelled);
      largest = select(size > largest, size, largest);
    }
    const T error = T(Tolerances::kCancellation) * cancelled;
    const T relative = T(Tolerances::kTolerated) * largest, negligible(Tolerances::kNegligible);
    const T tolerable = select(relative > negligible, relative, negligible);
    return !any(select(error <= tolerable, T(0), T(1)) > T(0.5));
  }

  const TablesView<R>& tables_;
  const WorkView<T>& work_;
  const ConstraintRequest<R>& request_;
  ConstraintWork<T> c_{};
  T* registers_ = nullptr;
  T* A_ = nullptr;  ///< K H⁻¹ Kᵀ, lower triangle
  T* factor_ = nullptr;
  T* inverse_ = nullptr;  ///< of the pivots
  T* rightSide_ = nullptr;
  T* size_ = nullptr;   ///< per row: of the accelerations that are balanced
  T* uFree_ = nullptr;  ///< nv
  T* terms_ = nullptr;  ///< nv: sizes of the summands of u
  int* shared_ = nullptr;
  int* marks_ = nullptr;  ///< per cluster: the last constraint on whose path it is
  MultiplierSystem<One> one_{};
  One* oneRightSide_ = nullptr;
  One* oneLambda_ = nullptr;
  One* oneUnits_ = nullptr;  ///< rows × nv: u_r
  One* oneLeft_ = nullptr;   ///< nv
};

}  // namespace kempe::detail
