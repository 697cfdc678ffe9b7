#pragma once

#include "spatial/joint_motion.hpp"
#include "spatial/quaternion.hpp"
#include "tables/workspace.hpp"

namespace kempe::detail {

/// q ⊞ dt v of clusters without loops to solve; the others' part of `result` is left alone.
template <typename T, typename Tables>
KEMPE_HD void integrateKernel(const Tables& tables, const T* q, const T* v, const T& dt,
                              T* result) {
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const T* from = q + cluster.firstQ;
    const T* rate = v + cluster.firstV;
    T* to = result + cluster.firstQ;
    if (cluster.kind == ClusterKind::Implicit) {
      continue;
    }
    if (cluster.nq == cluster.nv) {
      for (int i = 0; i < cluster.nv; ++i) {
        to[i] = from[i] + dt * rate[i];
      }
      continue;
    }
    // A cluster with a quaternion that is not tied by loops is a single body.
    T step[6], position[7];
    for (int i = 0; i < cluster.nv; ++i) {
      step[i] = dt * rate[i];
    }
    for (int i = 0; i < cluster.nq; ++i) {
      position[i] = from[i];
    }
    normalizeQuaternion(position + cluster.nq - 4);
    jointRetract(tables.bodies[cluster.firstBody].type, position, step, to);
  }
}

}  // namespace kempe::detail
