#pragma once

#include "spatial/joint_motion.hpp"
#include "spatial/quaternion.hpp"
#include "tables/workspace.hpp"

namespace kempe::detail {

/// Spanning positions of a cluster from its part of q; quaternions come out normalised.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void expandCluster(const Tables& tables, const ClusterEntry& cluster, const T* q,
                            T* positions) {
  const T* y = q + cluster.firstQ;
  T* out = positions + cluster.firstPosition;
  if (cluster.kind == ClusterKind::Explicit && cluster.loops > 0) {
    for (int i = 0; i < cluster.positions; ++i) {
      T sum(tables.offset[cluster.firstOffset + i]);
      for (int j = 0; j < cluster.nv; ++j) {
        sum += T(tables.G[cluster.firstG + i * cluster.nv + j]) * y[j];
      }
      out[i] = sum;
    }
    return;
  }
  for (int i = 0; i < cluster.positions; ++i) {
    out[i] = y[i];
  }
  if (cluster.positions == cluster.velocities) {
    return;
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (!hasScalarCoordinates(body.type)) {
      normalizeQuaternion(positions + body.firstPosition + positionSize(body.type) - 4);
    }
  }
}

}  // namespace kempe::detail
