#pragma once

#include "constraints/active.hpp"
#include "constraints/constraint_rows.hpp"
#include "kernels/articulated.hpp"

/// Multipliers through the recursive operational-space matrix (Jain, cut-joint method), on the
/// factors that forward dynamics leaves (see articulated.hpp). With u_r = L⁻¹ u of the unit force
/// of row r, sent from its bodies to the root by (4) and (5) there, and Δ the pivots:
///
///   K H⁻¹ Kᵀ = [u_rᵀ Δ⁻¹ u_s]          K ÿ_free = [u_rᵀ Δ⁻¹ u_free]          (1)
///   (K H⁻¹ Kᵀ) λ = −(K ÿ_free + β)                                            (2)
///   u = u_free + Σ λ_r u_r, and once more (6) there                            (3)
///
/// (1) is Q B* Ω B Q*, Ω = ψ* H* D⁻¹ H ψ, computed only for the bodies that the rows act on.
namespace kempe::detail {

/// The rows of the constraints that are on, and the unit forces along them.
template <typename T>
struct ConstraintWork {
  const ActiveConstraint* active = nullptr;
  int count = 0;
  int rows = 0;
  ConstraintRow<T>* row = nullptr;  ///< per row
  T* slopes = nullptr;              ///< of constraints on coordinates
  T* unit = nullptr;   ///< u_r, nv each; of other clusters than those on the path unset
  T* scale = nullptr;  ///< per row: bound of the summands of its K H⁻¹ Kᵀ
};

/// φ, φ̇, wrenches, slopes and biases at a motion (see constraint_rows.hpp).
template <typename T, typename MotionAt>
void evaluateConstraints(const ConstraintWork<T>& c, const MotionAt& motion, double time,
                         const FunctionScratch& functions, T* registers) {
  for (int k = 0; k < c.count; ++k) {
    const ActiveConstraint& active = c.active[k];
    const ConstraintEntry& entry = *active.entry;
    ConstraintRow<T>* rows = c.row + active.firstRow;
    if (entry.form.betweenBodies()) {
      bodyRows(entry, motion, rows);
    } else {
      coordinateRows(entry, motion, time, functions, registers, rows, c.slopes + active.firstSlope);
    }
  }
}

/// φ̈ where ÿ = 0 of row r of a constraint, with terms that make errors decay at a rate γ.
template <typename T>
T stabilizedBias(const ActiveConstraint& active, int r, const ConstraintRow<T>& row,
                 const T& gamma) {
  const T damping = isHolonomic(*active.entry, r) ? gamma + gamma : gamma;
  return row.bias + damping * row.rate + gamma * gamma * row.value;
}

/// Upper bound of the acceleration that a unit force causes along a constraint's path, without
/// cancellation between its ends: Σ |S|² / Δ.
template <typename T, typename R>
T reachAlong(const ConstraintEntry& entry, const TablesView<R>& tables, const WorkView<T>& work) {
  T sum(0);
  for (const int c : entry.path) {
    const ClusterEntry& cluster = tables.clusters[c];
    const bool base = shapeOf(cluster, work) == ClusterShape::FreeBase;
    for (int i = 0; i < cluster.nv; ++i) {
      T largest(base ? 1 : 0);
      for (int b = cluster.firstBody; !base && b < cluster.firstBody + cluster.bodies; ++b) {
        const BodyEntry<R>& body = tables.bodies[b];
        if (!body.folded || work.wholeRotors) {
          const Motion<T>& S = work.S[body.firstS + i];
          const T size = dot(S.angular, S.angular) + dot(S.linear, S.linear);
          largest = select(size > largest, size, largest);
        }
      }
      sum += work.dInverse[cluster.firstV + i] * largest;
    }
  }
  return sum;
}

/// The same of unit forces along coordinates, with ratios G of the size of one.
template <typename T, typename R>
T reachAlongTerms(const ConstraintEntry& entry, const T* slopes, const TablesView<R>& tables,
                  const WorkView<T>& work) {
  T sum(0);
  const int terms = static_cast<int>(entry.terms.size());
  for (int t = 0; t < terms; ++t) {
    const ClusterEntry& cluster = tables.clusters[entry.clusters[t]];
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      sum += slopes[t] * slopes[t] * work.dInverse[i];
    }
  }
  return sum;
}

/// u_r of all rows and their scales, after the recursion has condensed the inertias.
template <typename T, typename R>
void propagateForces(const TablesView<R>& tables, const WorkView<T>& work,
                     const ConstraintWork<T>& c) {
  for (int k = 0; k < c.count; ++k) {
    const ActiveConstraint& active = c.active[k];
    const ConstraintEntry& entry = *active.entry;
    const bool betweenBodies = entry.form.betweenBodies();
    const T reach = betweenBodies ? reachAlong(entry, tables, work) : T(0);
    const int terms = static_cast<int>(entry.terms.size());
    for (int r = active.firstRow; r < active.firstRow + entry.rows; ++r) {
      const Force<T> own = c.row[r].wrench;
      const T* slopes = c.slopes + active.firstSlope + (r - active.firstRow) * terms;
      c.scale[r] = reach * (dot(own.force, own.force) + dot(own.moment, own.moment)) +
                   reachAlongTerms(entry, slopes, tables, work);
      for (const int p : entry.path) {
        const ClusterEntry& cluster = tables.clusters[p];
        for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
          work.f[b] = {};
        }
        for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
          work.u[i] = T(0);
        }
      }
      if (betweenBodies) {
        work.f[entry.successor.body] -= own;
        work.f[entry.predecessor.body] += own;
      }
      for (int t = 0; t < terms; ++t) {
        addToForce(tables.clusters[entry.clusters[t]], entry.terms[t].velocity, slopes[t], work);
      }
      T* unit = c.unit + r * tables.nv;
      for (const int p : entry.path) {
        const ClusterEntry& cluster = tables.clusters[p];
        condenseClusterForce(tables, cluster, work);
        for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
          unit[i] = work.u[i];
        }
      }
    }
  }
  work.f[kWorld] = {};
}

}  // namespace kempe::detail
