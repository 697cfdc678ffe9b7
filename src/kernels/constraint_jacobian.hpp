#pragma once

#include "constraints/constraint_rows.hpp"
#include "kernels/outward.hpp"

/// Forces on bodies and along coordinates as generalised forces, at bodies that have been placed.
namespace kempe::detail {

/// Adds those of a force on body b to x.
template <typename T, typename R>
void addGeneralizedForce(const TablesView<R>& tables, const WorkView<T>& work, int b,
                         const Force<T>& force, T* x) {
  while (b != kWorld) {
    const BodyEntry<R>& body = tables.bodies[b];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    T* own = x + cluster.firstV;
    if (shapeOf(cluster, work) == ClusterShape::FreeBase) {
      const Mat3<T>& R_ = work.X[b].R;
      const Vec3<T> linear = transposeTimes(R_, force.force);
      const Vec3<T> angular = transposeTimes(R_, force.moment);
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

/// K of a row of a constraint, nv numbers, from its wrench or its slopes along the entry's terms.
template <typename T, typename R>
void writeConstraintRow(const TablesView<R>& tables, const WorkView<T>& work,
                        const ConstraintEntry& entry, const Force<T>& wrench, const T* slopes,
                        T* K) {
  for (int i = 0; i < tables.nv; ++i) {
    K[i] = T(0);
  }
  if (entry.form.betweenBodies()) {
    addGeneralizedForce(tables, work, entry.successor.body, wrench, K);
    addGeneralizedForce(tables, work, entry.predecessor.body, -wrench, K);
  }
  for (int t = 0; t < static_cast<int>(entry.terms.size()); ++t) {
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

}  // namespace kempe::detail
