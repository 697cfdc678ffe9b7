#pragma once

#include "algorithms/kernels/articulated.hpp"

namespace kempe::detail {

/// C-ABA in the common frame (see articulated.hpp for the equations):
///
///   f°_i = I_i a°_i + v_i ×* I_i v_i − f_ext      pA_i before child clusters add to it
///
/// Needs placeMechanism, and −f_ext in work.f (on rotors: with wholeRotors). `ydd` may be `tau`.
/// Returns a cluster whose D is not positive definite, or −1.
template <typename T, typename R, typename Loops>
KEMPE_HD int forwardDynamicsKernel(const TablesView<R>& tables, const WorkView<T>& work,
                                   Loops& loops, const T* v, const T* tau, T* ydd) {
  const int indefinite = condenseInertias(tables, work);
  if (indefinite >= 0) {
    return indefinite;
  }
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    moveBodies<T>(tables, c, work, loops, v, nullptr);
    for (int i = 0; i < cluster.nv; ++i) {
      work.u[cluster.firstV + i] = tau[cluster.firstV + i];
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables.bodies[b];
      if (body.folded) {
        const Vec3<T> z = spinAxis(cluster, body, work);
        addSpinForce(body, z, work);
        const Vec3<T> alpha = body.parent == kWorld ? Vec3<T>{} : work.a[body.parent].angular;
        const T J(body.spinInertia);
        addToForce(cluster, body.firstVelocity,
                   -J * (dot(z, alpha) + work.accelerations[body.firstVelocity]) -
                       dot(work.f[b], directionsOf(cluster, body, work)[0]),
                   work);
        if (body.parent != kWorld) {
          work.f[body.parent] += work.f[b];  // external forces
        }
        continue;
      }
      work.f[b] += work.I[b] * work.a[b] + cross(work.v[b], work.I[b] * work.v[b]);
    }
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      if (cluster.armatured) {
        addToForce(cluster, i, -T(tables.armature[i]) * work.accelerations[i], work);
      }
      if (cluster.dissipates) {
        addToForce(cluster, i, -resistance(tables, i, work.rates[i]), work);
      }
    }
  }
  for (int c = tables.clusterCount - 1; c >= 0; --c) {
    withSize(tables.clusters[c].nv,
             [&]<int M>() { condenseForce<M>(tables, tables.clusters[c], work); });
  }
  for (int c = 0; c < tables.clusterCount; ++c) {
    withSize(tables.clusters[c].nv,
             [&]<int M>() { accelerateCluster<M>(tables, tables.clusters[c], work, ydd); });
  }
  return -1;
}

}  // namespace kempe::detail
