#pragma once

#include "algorithms/kernels/outward.hpp"

/// C-RNEA in the common frame, on the spanning tree with rotors folded; with λ(i) the parent:
///
///   q̈ = G ÿ + g                                   (1)  moveBodies
///   a_i = a_λ + s_i q̈_i + ṡ_i q̇_i                 (2)  moveBodies
///   F_i = I_i a_i + v_i ×* I_i v_i − f_ext          (3)
///   τ_i = s_iᵀ F_i + J_i q̈_i + resistance           (4)  J: armature
///   F_λ += F_i                                      (5)
///   τ   = Gᵀ τ_span                                 (6)
///
/// (6) of (4) is Σ S_iᵀ F_i of the cluster. A folded rotor has τ_r = J (zᵀ α_p + q̈_r).
namespace kempe::detail {

/// Needs placeMechanism, and −f_ext in work.f (on rotors: with wholeRotors).
template <typename T, typename R, typename Loops>
KEMPE_HD void inverseDynamicsKernel(const TablesView<R>& tables, const WorkView<T>& work,
                                    Loops& loops, const T* v, const T* ydd, T* tau) {
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    moveBodies(tables, c, work, loops, v, ydd);
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables.bodies[b];
      if (body.folded) {
        const Vec3<T> z = spinAxis(cluster, body, work);
        const Vec3<T> alpha = body.parent == kWorld ? Vec3<T>{} : work.a[body.parent].angular;
        work.tau[body.firstVelocity] =
            T(body.spinInertia) * (dot(z, alpha) + work.accelerations[body.firstVelocity]);
        addSpinForce(body, z, work);
        continue;  // work.f has external forces only
      }
      const RigidInertia<T> I = work.X[b] * body.inertia.template cast<T>();
      work.f[b] += I * work.a[b] + cross(work.v[b], I * work.v[b]);  // (3)
    }
  }
  for (int c = tables.clusterCount - 1; c >= 0; --c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
      const BodyEntry<R>& body = tables.bodies[b];
      const Motion<T>* s = directionsOf(cluster, body, work);
      for (int i = 0; i < velocitySize(body.type); ++i) {
        const T along = dot(work.f[b], s[i]);  // (4)
        work.tau[body.firstVelocity + i] =
            body.folded ? work.tau[body.firstVelocity + i] + along : along;
      }
      if (body.parent != kWorld) {
        work.f[body.parent] += work.f[b];  // (5)
      }
    }
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      if (cluster.armatured) {
        work.tau[i] += T(tables.armature[i]) * work.accelerations[i];
      }
      if (cluster.dissipates) {
        work.tau[i] += resistance(tables, i, work.rates[i]);
      }
    }
  }
  projectForces(tables, work, work.tau, tau);  // (6)
}

}  // namespace kempe::detail
