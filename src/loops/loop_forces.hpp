#pragma once

#include "loops/cluster_velocity.hpp"
#include "loops/row_slots.hpp"

/// The forces of the loops of an implicit cluster. With r the spanning forces that the loops must
/// balance, the multipliers λ of the rows solve
///
///   Kᵀ λ = r                                                        (1)
///
/// which has a solution because Gᵀ r = 0. The equations of the dependent joints are sufficient:
///
///   λ = K_d⁻ᵀ r_d                    no row is redundant, or those that are dropped vanish at
///                                    all positions, as those of planar linkages do            (2)
///   λ = Q R⁻ᵀ r_d,  Q R = K_D        K_D: dependent columns of all rows; the least |λ|   (3)
///
/// Before (3) rows are scaled, and those of a function made orthonormal, so that |λ| is the norm of
/// the numbers that are reported: force and moment at the successor's frame of a loop joint or rod,
/// forces along the coordinates of a coupling or function. It does not depend then on how an
/// equation was scaled.
namespace kempe::detail {

/// Makes `count` rows of n numbers orthonormal; those that the ones before imply become zero.
template <typename T>
KEMPE_HD void orthonormalizeRows(T* rows, int count, int n) {
  using std::sqrt;
  const auto product = [n](const T* a, const T* b) {
    T sum(0);
    for (int i = 0; i < n; ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  };
  for (int r = 0; r < count; ++r) {
    T* row = rows + r * n;
    const T before = product(row, row);
    for (int k = 0; k < r; ++k) {
      const T along = product(row, rows + k * n);
      for (int i = 0; i < n; ++i) {
        row[i] -= along * rows[k * n + i];
      }
    }
    const T square = product(row, row);
    const T tolerance(kSingular<typename Lanes<T>::Scalar>);
    const T scale = select(square > (tolerance * tolerance) * before, T(1) / sqrt(square), T(0));
    for (int i = 0; i < n; ++i) {
      row[i] = scale * row[i];
    }
  }
}

/// Brings all rows of K to the scale of (3).
template <typename T>
KEMPE_HD void scaleRows(const TablesOf<T>& tables, const ClusterEntry& cluster, T* K) {
  const int n = cluster.velocities;
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    T* rows = K + loop.firstRow * n;
    if (!loop.form.betweenBodies()) {
      orthonormalizeRows(rows, loop.rows, n);
    }
    forBodyRows(loop.form, loop.rows, Transform<T>{}, Transform<T>{}, [&](int r, const auto& row) {
      const T scale = row.unitScale();
      for (int i = 0; i < n; ++i) {
        rows[r * n + i] = scale * rows[r * n + i];
      }
    });
  }
}

/// (3), from scaled rows in work.rows.
template <typename T>
KEMPE_HD void leastMultipliers(const TablesOf<T>& tables, const ClusterEntry& cluster,
                               const LoopWork<T>& work, const T* r) {
  using std::sqrt;
  const int n = cluster.velocities, d = cluster.kept, rows = cluster.rows;
  const int* dependent = tables.dependent + cluster.firstDependent;
  T* Q = work.basis;
  T* R_ = work.triangle;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < d; ++j) {
      Q[i * d + j] = work.rows[i * n + dependent[j]];
    }
    work.multipliers[i] = T(0);
  }
  for (int j = 0; j < d; ++j) {  // Gram and Schmidt, the modified way
    T square(0);
    for (int i = 0; i < rows; ++i) {
      square += Q[i * d + j] * Q[i * d + j];
    }
    R_[j * d + j] = sqrt(square);
    const T inverse = T(1) / R_[j * d + j];
    for (int i = 0; i < rows; ++i) {
      Q[i * d + j] = inverse * Q[i * d + j];
    }
    for (int k = j + 1; k < d; ++k) {
      T along(0);
      for (int i = 0; i < rows; ++i) {
        along += Q[i * d + j] * Q[i * d + k];
      }
      R_[j * d + k] = along;
      for (int i = 0; i < rows; ++i) {
        Q[i * d + k] -= along * Q[i * d + j];
      }
    }
  }
  for (int j = 0; j < d; ++j) {  // x = R⁻ᵀ r_d and λ = Q x at once
    T x = r[dependent[j]];
    for (int k = 0; k < j; ++k) {
      x -= R_[k * d + j] * work.k[k];
    }
    work.k[j] = x / R_[j * d + j];
    for (int i = 0; i < rows; ++i) {
      work.multipliers[i] += work.k[j] * Q[i * d + j];
    }
  }
}

/// Whether several λ balance the same forces, so that (3) chooses among them.
template <typename T>
KEMPE_HD bool sharesForces(const TablesOf<T>& tables, const ClusterEntry& cluster) {
  bool shares = false;
  for (int r = cluster.firstRow; r < cluster.firstRow + cluster.rows; ++r) {
    shares |= tables.rowSlots[r] == DroppedRow::kImplied;
  }
  return shares;
}

/// λ of all rows into work.multipliers, after implicitJacobian at the same position; r has the n
/// spanning forces of the cluster.
template <typename T>
KEMPE_HD void loopMultipliers(const TablesOf<T>& tables, const FunctionCalls& functions,
                              const ClusterEntry& cluster, const ClusterState<T>& state,
                              const LoopWork<T>& work, const FunctionScratch& scratch, const T* r) {
  if (sharesForces<T>(tables, cluster)) {
    loopJacobian(tables, functions, cluster, state, scratch, nullptr, cluster.rows, work.rows);
    scaleRows(tables, cluster, work.rows);
    leastMultipliers(tables, cluster, work, r);
    return;
  }
  const int* dependent = tables.dependent + cluster.firstDependent;
  const int* slots = tables.rowSlots + cluster.firstRow;
  for (int j = 0; j < cluster.kept; ++j) {
    work.k[j] = r[dependent[j]];
  }
  solveLoopsTransposed(tables, cluster, work, work.k);  // (2)
  for (int i = 0; i < cluster.rows; ++i) {
    work.multipliers[i] = slots[i] < 0 ? T(0) : work.k[slots[i]];
  }
}

/// Σ λ f of a loop joint or rod: the wrench on its successor, after loopMultipliers.
template <typename T>
KEMPE_HD Force<T> transmittedWrench(const TablesOf<T>& tables, const ClusterEntry& cluster, int l,
                                    const ClusterState<T>& state, const LoopWork<T>& work) {
  const auto& loop = tables.loops[cluster.firstLoop + l];
  const T* lambda = work.multipliers + loop.firstRow;
  const int* slots = tables.rowSlots + cluster.firstRow + loop.firstRow;
  const bool shared = sharesForces<T>(tables, cluster);
  Force<T> sum{};
  forLoopRows(loop, state, [&](int r, const auto& row) {
    if (shared) {
      sum += (row.unitScale() * lambda[r]) * row.wrench();
    } else if (slots[r] >= 0) {
      sum += lambda[r] * row.wrench();
    }
  });
  return sum;
}

/// λᵀ K along the coordinates of a coupling or function, in their order, after loopMultipliers.
template <typename T>
KEMPE_HD void coordinateForces(const TablesOf<T>& tables, const ClusterEntry& cluster, int l,
                               const LoopWork<T>& work, T* forces) {
  const auto& loop = tables.loops[cluster.firstLoop + l];
  const bool shared = sharesForces<T>(tables, cluster);
  if (loop.form.kind == RowKind::Coupling && !shared) {
    const T lambda = work.multipliers[loop.firstRow];
    forCouplingSlopes<T>(
        tables, loop, [&](int t, int /*velocity*/, const T& slope) { forces[t] = slope * lambda; });
    return;
  }
  for (int t = 0; t < loop.terms; ++t) {
    const int column = tables.terms[loop.firstTerm + t].velocity;
    T sum(0);
    for (int r = loop.firstRow; r < loop.firstRow + loop.rows; ++r) {
      const int slot = tables.rowSlots[cluster.firstRow + r];
      if (shared) {
        sum += work.multipliers[r] * work.rows[r * cluster.velocities + column];
      } else if (slot >= 0) {
        sum += work.multipliers[r] * work.K[cluster.firstK + slot * cluster.velocities + column];
      }
    }
    forces[t] = sum;
  }
}

}  // namespace kempe::detail
