#include "algorithms/constrained.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/positions.hpp"
#include "constraints/pivoted_cholesky.hpp"
#include "kempe/spatial/factorization.hpp"
#include "mechanism/text.hpp"

namespace kempe::detail {
namespace {

/// A row counts as implied by others where they leave less than this of its own K H⁻¹ Kᵀ.
template <typename T>
constexpr T kImplied = std::is_same_v<T, float> ? T(1e-5) : T(1e-11);

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

template <typename Vector>
void makeRoom(Vector& vector, std::size_t size) {
  if (vector.size() < size) {
    vector.resize(size);
  }
}

/// How much a unit force moves at most what is on a constraint's path, its ends not acting against
/// one another: Σ |S|² / Δ.
template <typename T>
T reachOf(const ConstraintEntry& entry, const TablesView<T>& tables, const WorkView<T>& work) {
  T sum(0);
  for (const int c : entry.path) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int i = 0; i < cluster.nv; ++i) {
      T largest(0);
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        const BodyEntry<T>& body = tables.bodies[b];
        if (!body.folded || work.wholeRotors) {
          const Motion<T>& S = work.S[body.firstS + i];
          largest = std::max(largest, dot(S.angular, S.angular) + dot(S.linear, S.linear));
        }
      }
      const bool base = shapeOf(cluster, work) == ClusterShape::FreeBase;
      sum += work.dInverse[cluster.firstV + i] * (base ? T(1) : largest);
    }
  }
  return sum;
}

/// The same of unit forces along coordinates, with ratios G of the size of one.
template <typename T>
T reachOfTerms(const ConstraintEntry& entry, const T* slopes, const TablesView<T>& tables,
               const WorkView<T>& work) {
  T sum(0);
  for (std::size_t t = 0; t < entry.terms.size(); ++t) {
    const ClusterEntry& cluster = tables.clusters[entry.clusters[t]];
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      sum += slopes[t] * slopes[t] * work.dInverse[i];
    }
  }
  return sum;
}

}  // namespace

template <typename T>
void ConstraintSolver<T>::add(const ConstraintTable& table) {
  for (const ConstraintEntry& entry : table.entries) {
    if (entry.enabled) {
      scratch.active.push_back({&entry, rows_, slopes_, outputs_ + entry.firstRow});
      rows_ += entry.rows;
      slopes_ += entry.rows * static_cast<int>(entry.terms.size());
      onRotors_ |= entry.onRotor;
    }
  }
  outputs_ += table.rows;
  scratch.functions.makeRoomFor(table);
  makeRoom(scratch.rows, static_cast<std::size_t>(rows_));
  makeRoom(scratch.slopes, static_cast<std::size_t>(slopes_));
  makeRoom(scratch.unit, product(rows_, e.tables->nv));
  makeRoom(scratch.A, product(rows_, rows_));
  makeRoom(scratch.least, product(rows_, rows_));
  for (std::vector<T>* vector :
       {&scratch.scale, &scratch.diagonal, &scratch.lambda, &scratch.rightSide}) {
    makeRoom(*vector, static_cast<std::size_t>(rows_));
  }
  makeRoom(scratch.order, static_cast<std::size_t>(rows_));
  makeRoom(scratch.uFree, static_cast<std::size_t>(e.tables->nv));
  makeRoom(scratch.free, static_cast<std::size_t>(e.tables->nv));
}

template <typename T>
void ConstraintSolver<T>::evaluate(double time) {
  for (const ActiveConstraint& active : scratch.active) {
    const ConstraintEntry& entry = *active.entry;
    ConstraintRow<T>* rows = scratch.rows.data() + active.firstRow;
    if (entry.betweenBodies()) {
      bodyRows(entry, *e.work, rows);
    } else {
      coordinateRows(entry, *e.work, time, scratch.functions, rows,
                     scratch.slopes.data() + active.firstSlope);
    }
  }
}

template <typename T>
void ConstraintSolver<T>::requireDefined() const {
  for (const ActiveConstraint& active : scratch.active) {
    const ConstraintEntry& entry = *active.entry;
    for (int r = active.firstRow; r < active.firstRow + entry.rows; ++r) {
      const ConstraintRow<T>& row = scratch.rows[r];
      if (!std::isfinite(row.value + row.rate + row.bias)) {
        throw SingularityError(
            "constraint " + quoted(entry.name) +
                " is not defined here: a disc lies flat on its plane, or a function or a motion is "
                "not finite. Move away from there, or switch it off.",
            entry.name, std::numeric_limits<double>::infinity());
      }
    }
  }
}

template <typename T>
void ConstraintSolver<T>::propagate() {
  const TablesView<T>& tables = *e.tables;
  const WorkView<T>& work = *e.work;
  std::fill_n(scratch.unit.data(), product(rows_, tables.nv), T(0));
  for (const ActiveConstraint& active : scratch.active) {
    const ConstraintEntry& entry = *active.entry;
    const T reach = entry.betweenBodies() ? reachOf(entry, tables, work) : T(0);
    for (int r = 0; r < entry.rows; ++r) {
      const Force<T>& own = scratch.rows[active.firstRow + r].wrench;
      const T* slopes =
          scratch.slopes.data() + active.firstSlope + r * static_cast<int>(entry.terms.size());
      scratch.scale[active.firstRow + r] =
          reach * (dot(own.force, own.force) + dot(own.moment, own.moment)) +
          reachOfTerms(entry, slopes, tables, work);
      for (const int c : entry.path) {
        const ClusterEntry& cluster = tables.clusters[c];
        std::fill_n(work.f + cluster.firstBody, cluster.bodies, Force<T>{});
        std::fill_n(work.u + cluster.firstV, cluster.nv, T(0));
      }
      if (entry.betweenBodies()) {
        work.f[entry.successor.body] -= own;
        work.f[entry.predecessor.body] += own;
      }
      for (std::size_t t = 0; t < entry.terms.size(); ++t) {
        const int velocity = entry.terms[t].velocity;
        const ClusterEntry& cluster = tables.clusters[entry.clusters[t]];
        addToForce(cluster, velocity, slopes[t], work);
      }
      T* unit = scratch.unit.data() + product(active.firstRow + r, tables.nv);
      for (const int c : entry.path) {
        const ClusterEntry& cluster = tables.clusters[c];
        condenseClusterForce(tables, cluster, work);
        std::copy_n(work.u + cluster.firstV, cluster.nv, unit + cluster.firstV);
      }
    }
  }
  work.f[kWorld] = {};
}

template <typename T>
T ConstraintSolver<T>::accelerationAlong(int r, const T* x) const {
  const T* u = unit(r);
  T sum(0);
  for (const int c : ownerOf(r).entry->path) {
    const ClusterEntry& cluster = e.tables->clusters[c];
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      sum += u[i] * e.work->dInverse[i] * x[i];
    }
  }
  return sum;
}

template <typename T>
const ActiveConstraint& ConstraintSolver<T>::ownerOf(int r) const {
  const auto after = std::ranges::upper_bound(scratch.active, r, {}, &ActiveConstraint::firstRow);
  return *(after - 1);
}

template <typename T>
void ConstraintSolver<T>::factorize() {
  T* A = scratch.A.data();
  for (int r = 0; r < rows_; ++r) {
    for (int s = 0; s <= r; ++s) {
      A[r * rows_ + s] = accelerationAlong(r, unit(s));  // (1)
    }
  }
  rank_ = pivotedCholesky(A, rows_, kImplied<T>, scratch.scale.data(), scratch.order.data(),
                          scratch.diagonal.data());
  if (rank_ == rows_) {
    return;
  }
  T* M = scratch.least.data();  // LᵀL
  for (int i = 0; i < rank_; ++i) {
    for (int j = 0; j <= i; ++j) {
      T sum(0);
      for (int k = i; k < rows_; ++k) {
        sum += A[k * rows_ + i] * A[k * rows_ + j];
      }
      M[i * rank_ + j] = sum;
    }
  }
  choleskyFactor(M, rank_);
}

template <typename T>
void ConstraintSolver<T>::solve(T* rightSide, T* lambda) {
  const T* L = scratch.A.data();
  const int* order = scratch.order.data();
  const int n = rows_, rank = rank_;
  T* x = scratch.diagonal.data();
  if (rank == n) {
    for (int i = 0; i < n; ++i) {
      x[i] = rightSide[order[i]];
    }
    choleskySolve(L, n, x);
    for (int i = 0; i < n; ++i) {
      lambda[order[i]] = x[i];
      rightSide[i] = T(0);
    }
    return;
  }
  // A⁺ = L (LᵀL)⁻² Lᵀ
  for (int i = 0; i < rank; ++i) {
    x[i] = T(0);
    for (int k = i; k < n; ++k) {
      x[i] += L[k * n + i] * rightSide[order[k]];
    }
  }
  choleskySolve(scratch.least.data(), rank, x);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < rank && i <= k; ++i) {
      rightSide[order[k]] -= L[k * n + i] * x[i];
    }
  }
  choleskySolve(scratch.least.data(), rank, x);
  for (int k = 0; k < n; ++k) {
    T sum(0);
    for (int i = 0; i < rank && i <= k; ++i) {
      sum += L[k * n + i] * x[i];
    }
    lambda[order[k]] = sum;
  }
}

template <typename T>
void ConstraintSolver<T>::addForces(const T* lambda, T* u) const {
  for (int r = 0; r < rows_; ++r) {
    for (int i = 0; i < e.tables->nv; ++i) {
      u[i] += lambda[r] * unit(r)[i];
    }
  }
}

template <typename T>
void ConstraintSolver<T>::row(int r, T* K) const {
  const TablesView<T>& tables = *e.tables;
  const WorkView<T>& work = *e.work;
  const ActiveConstraint& active = ownerOf(r);
  const ConstraintEntry& entry = *active.entry;
  std::fill_n(K, tables.nv, T(0));
  if (entry.betweenBodies()) {
    const Force<T>& wrench = scratch.rows[r].wrench;
    addGeneralizedForce(e, entry.successor.body, wrench, K);
    addGeneralizedForce(e, entry.predecessor.body, -wrench, K);
  }
  const int terms = static_cast<int>(entry.terms.size());
  const T* slopes = scratch.slopes.data() + active.firstSlope + (r - active.firstRow) * terms;
  for (int t = 0; t < terms; ++t) {
    const ClusterEntry& cluster = tables.clusters[entry.clusters[t]];
    const int velocity = entry.terms[t].velocity;
    if (cluster.kind == ClusterKind::Tree) {
      K[cluster.firstV + velocity - cluster.firstVelocity] += slopes[t];
      continue;
    }
    for (int i = 0; i < cluster.nv; ++i) {
      K[cluster.firstV + i] += slopes[t] * ratiosOf(cluster, velocity, work)[i];
    }
  }
}

template <typename T>
void addGeneralizedForce(const Evaluation<T>& e, int b, const Force<T>& force, T* x) {
  const WorkView<T>& work = *e.work;
  while (b != kWorld) {
    const BodyEntry<T>& body = e.tables->bodies[b];
    const ClusterEntry& cluster = e.tables->clusters[body.cluster];
    T* own = x + cluster.firstV;
    if (shapeOf(cluster, work) == ClusterShape::FreeBase) {
      const Mat3<T>& R = work.X[b].R;
      const Vec3<T> linear = transposeTimes(R, force.force);
      const Vec3<T> angular = transposeTimes(R, force.moment);
      for (int i = 0; i < 3; ++i) {
        own[i] += linear[i];
        own[i + 3] += angular[i];
      }
    } else {
      for (int i = 0; i < cluster.nv; ++i) {
        own[i] += dot(force, work.S[body.firstS + i]);
      }
    }
    b = cluster.output;
  }
}

namespace {

/// Accelerations under the constraints, which do not move by themselves, for forces x.
template <typename T>
void accelerate(ConstraintSolver<T>& solver, const T* x, T* ydd) {
  const TablesView<T>& tables = *solver.e.tables;
  const WorkView<T>& work = *solver.e.work;
  std::fill_n(work.f + kWorld, tables.bodyCount + 1, Force<T>{});
  std::copy_n(x, tables.nv, work.u);
  for (int k = tables.clusterCount - 1; k >= 0; --k) {
    condenseClusterForce(tables, tables.clusters[tables.order[k]], work);
  }
  T* rightSide = solver.scratch.rightSide.data();
  T* lambda = solver.scratch.lambda.data();
  for (int r = 0; r < solver.rows(); ++r) {
    rightSide[r] = -solver.accelerationAlong(r, work.u);
  }
  solver.solve(rightSide, lambda);
  solver.addForces(lambda, work.u);
  accelerateClusters(tables, work, ydd);
}

}  // namespace

template <typename T>
void constrainedOperationalInertia(ConstraintSolver<T>& solver, std::span<const int> frames,
                                   Reference reference, std::span<const double> added,
                                   MatrixOutOf<T> Omega) {
  Evaluation<T>& e = solver.e;
  const int nv = e.tables->nv;
  solver.evaluate(0.0);
  solver.requireDefined();
  const int indefinite = condenseInertias(*e.tables, *e.work);
  if (indefinite >= 0) {
    e.throwIndefinite(indefinite);
  }
  solver.propagate();
  solver.factorize();
  T* J = roomForForces(e, frames.size() + 1, nv);  // and room for x and ÿ
  T* x = J + 6 * frames.size() * static_cast<std::size_t>(nv);
  T* ydd = x + nv;
  T* before = ydd + nv;
  std::fill(J, x, T(0));
  for (std::size_t f = 0; f < frames.size(); ++f) {
    Force<T> forces[6];
    unitForces(e, e.frame(frames[f]), reference, forces);
    for (int k = 0; k < 6; ++k) {
      addGeneralizedForce(e, e.frame(frames[f]).body, forces[k], J + (6 * f + k) * nv);
    }
  }
  const auto columns = static_cast<Eigen::Index>(6 * frames.size());
  for (Eigen::Index column = 0; column < columns; ++column) {
    const T* force = J + column * nv;
    accelerate(solver, force, ydd);
    for (int i = 0; !added.empty() && i < kMostIterations; ++i) {
      T change(0), size(0);
      std::copy_n(ydd, nv, before);
      for (int j = 0; j < nv; ++j) {
        x[j] = force[j] + static_cast<T>(added[j]) * ydd[j];
      }
      accelerate(solver, x, ydd);
      for (int j = 0; j < nv; ++j) {
        change = std::max(change, std::abs(ydd[j] - before[j]));
        size = std::max(size, std::abs(ydd[j]));
      }
      if (change <= kArmatureTakenOff<T> * size) {
        break;
      }
    }
    for (Eigen::Index row = 0; row < columns; ++row) {
      T sum(0);
      for (int j = 0; j < nv; ++j) {
        sum += J[row * nv + j] * ydd[j];
      }
      Omega(row, column) = sum;
    }
  }
}

template <typename T>
ConstraintReport constrainedAccelerations(ConstraintSolver<T>& solver, double time,
                                          double stabilization, const T* q, const T* v,
                                          const T* tau, const ExternalForces<T, T>& external,
                                          T* ydd) {
  Evaluation<T>& e = solver.e;
  ConstraintScratch<T>& scratch = solver.scratch;
  const bool forcesOnRotors = e.work->wholeRotors;
  e.work->wholeRotors = true;  // every body is moved
  const int singular = placeMechanism(*e.tables, *e.work, e.loops, q);
  if (singular >= 0) {
    e.throwSingular(singular, e.work->positions);
  }
  e.move(v, nullptr);
  solver.evaluate(time);
  solver.requireDefined();
  e.work->wholeRotors = forcesOnRotors || solver.onRotors();
  const KernelOutcome outcome =
      forwardDynamicsKernel(*e.tables, *e.work, e.loops, q, v, tau, external, scratch.free.data());
  if (outcome.indefinite >= 0) {
    e.throwIndefinite(outcome.indefinite);
  }
  const int rows = solver.rows();
  std::copy_n(e.work->u, e.tables->nv, scratch.uFree.data());
  solver.propagate();
  solver.factorize();
  T* rightSide = scratch.rightSide.data();
  T* lambda = scratch.lambda.data();
  const T gamma = static_cast<T>(stabilization);
  T largest(0);
  for (const ActiveConstraint& active : solver.active()) {
    for (int r = 0; r < active.entry->rows; ++r) {
      const int i = active.firstRow + r;
      const ConstraintRow<T>& row = scratch.rows[i];
      const T damping = isHolonomic(*active.entry, r) ? gamma + gamma : gamma;
      rightSide[i] = -(solver.accelerationAlong(i, scratch.uFree.data()) + row.bias +
                       damping * row.rate + gamma * gamma * row.value);  // (2)
    }
  }
  solver.solve(rightSide, lambda);
  for (int r = 0; r < rows; ++r) {
    largest = std::max(largest, std::abs(rightSide[r]));
  }
  T* u = scratch.uFree.data();
  solver.addForces(lambda, u);
  std::copy_n(u, e.tables->nv, e.work->u);
  accelerateClusters(*e.tables, *e.work, ydd);
  return {rows, solver.rank(), static_cast<double>(largest)};
}

#define KEMPE_INSTANTIATE(T)                                                                  \
  template class ConstraintSolver<T>;                                                         \
  template void addGeneralizedForce<T>(const Evaluation<T>&, int, const Force<T>&, T*);       \
  template void constrainedOperationalInertia<T>(ConstraintSolver<T>&, std::span<const int>,  \
                                                 Reference, std::span<const double>,          \
                                                 MatrixOutOf<T>);                             \
  template ConstraintReport constrainedAccelerations<T>(ConstraintSolver<T>&, double, double, \
                                                        const T*, const T*, const T*,         \
                                                        const ExternalForces<T, T>&, T*);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe::detail
