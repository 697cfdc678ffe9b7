#pragma once

#include "kernels/external_forces.hpp"

/// C-RNEA in the common frame, on the spanning tree with rotors folded; with λ(i) the parent:
///
///   q̈ = G ÿ + g                                   (1)  moveBodies
///   a_i = a_λ + s_i q̈_i + ṡ_i q̇_i                 (2)  moveBodies
///   F_i = I_i a_i + v_i ×* I_i v_i − f_ext          (3)
///   τ_i = s_iᵀ F_i + J_i q̈_i + resistance + spring  (4)  J: armature
///   F_λ += F_i                                      (5)
///   τ   = Gᵀ τ_span                                 (6)
///
/// (6) of (4) is Σ S_iᵀ F_i of the cluster. A folded rotor has τ_r = J (zᵀ α_p + q̈_r).
namespace kempe::detail {

/// (1) to (3) of a cluster of shape Single, and the terms of (4) other than sᵀ F, into τ.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void moveSingle(const Tables& tables, const ClusterEntry& cluster,
                                       const BodyEntry<R>& body, const WorkView<T>& work,
                                       const T* v, const T* ydd, T* tau) {
  const PlacedSingle<T> at = placeSingle(cluster.moving, body, work);
  work.S[body.firstS] = at.s;
  const T rate = v[cluster.firstV], acceleration = ydd[cluster.firstV];
  const Motion<T> outputV = work.v[cluster.output], outputA = work.a[cluster.output];
  const Motion<T> relative = rate * at.s;
  const Motion<T> velocity = outputV + relative;
  const Motion<T> a = outputA + acceleration * at.s + cross(outputV, relative);
  if (body.carrier) {
    work.v[cluster.moving] = velocity;
    work.a[cluster.moving] = a;
  }
  work.f[cluster.moving] = forceOn(placed(at.X, body.central), velocity, a);
  const Single<R>& single = body.single;
  T resisting = T(single.reflected) * acceleration;
  if (single.geared) {
    const Vec3<T> spin = turned(work.X[cluster.output].R, single.spin);
    resisting += dot(spin, outputA.angular);
    work.f[cluster.output].moment += acceleration * spin + cross(outputV.angular, rate * spin);
  }
  if (single.dissipates) {
    resisting += resistance(tables, cluster, single, rate);
  }
  if (single.sprung) {
    resisting += T(single.stiffness) * work.positions[body.firstPosition] + T(single.atZero);
  }
  tau[cluster.firstV] = resisting;
}

/// The same of a cluster of shape Coupled, or (2) and (3) of one with plain loops (kLoops).
template <int M, bool kLoops, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void moveCoupled(const Tables& tables, const ClusterEntry& cluster,
                                        const WorkView<T>& work, const T* v, const T* ydd) {
  const int m = M > 0 ? M : cluster.nv;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (kLoops && isWeightless(cluster, body)) {
      continue;
    }
    T rate, acceleration;
    if constexpr (kLoops) {
      rate = work.rates[body.firstVelocity];
      acceleration = work.accelerations[body.firstVelocity];
    } else {
      const R* r = constantRatios(tables, cluster, body.firstVelocity);
      rate = alongRatios<M>(m, r, v + cluster.firstV);
      acceleration = alongRatios<M>(m, r, ydd + cluster.firstV);
    }
    const Motion<T> parentV = work.v[body.parent], parentA = work.a[body.parent];
    T resisting = T(tables.armature[body.firstVelocity]) * acceleration;
    if (body.folded) {
      const Vec3<T> z = placeRotorInCluster<kLoops>(cluster, body, work);
      const T J(body.spinInertia);
      work.f[body.parent].moment += (J * acceleration) * z + cross(parentV.angular, (J * rate) * z);
      resisting += J * (dot(z, parentA.angular) + acceleration);
    } else {
      const PlacedSingle<T> at = placeInCluster<kLoops>(cluster, b, body, work);
      if constexpr (!kLoops) {
        work.s[body.firstVelocity] = at.s;
      }
      const Motion<T> relative = rate * at.s;
      const Motion<T> velocity = parentV + relative;
      const Motion<T> a = parentA + acceleration * at.s + cross(parentV, relative);
      work.v[b] = velocity;
      work.a[b] = a;
      work.f[b] = forceOn(placed(at.X, body.central), velocity, a);
    }
    if (cluster.dissipates) {
      resisting += resistance(tables, body.firstVelocity, rate);
    }
    if (cluster.sprung) {
      resisting += springForce(tables, body, work);
    }
    work.tau[body.firstVelocity] = resisting;
  }
}

/// (1) to (3) of the floating base.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void accelerateBase(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                           const WorkView<T>& work, const T* v, const T* ydd) {
  moveBase(cluster, body, work, v);
  const int b = cluster.firstBody;
  const Mat3<T>& R_ = work.X[b].R;
  const T* y = ydd + cluster.firstV;
  work.a[b] += Motion<T>{R_ * Vec3<T>{y[3], y[4], y[5]}, R_ * Vec3<T>{y[0], y[1], y[2]}};
  work.f[b] = forceOn(placed(work.X[b], body.central), work.v[b], work.a[b]);
}

/// (4) to (6) of a cluster of shape Coupled, or with plain loops (kLoops).
template <int M, bool kLoops, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void gatherCoupled(const Tables& tables, const ClusterEntry& cluster,
                                          const WorkView<T>& work, T* tau) {
  const int m = M > 0 ? M : cluster.nv;
  for (int j = 0; j < m; ++j) {
    tau[cluster.firstV + j] = T(0);
  }
  for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (kLoops && isWeightless(cluster, body)) {
      continue;
    }
    T force = work.tau[body.firstVelocity];
    if (!body.folded) {
      const Force<T> f = work.f[b];
      force += dot(f, work.s[body.firstVelocity]);
      work.f[body.parent] += f;
    }
    const auto* r = ratiosOfBody<kLoops>(tables, cluster, body.firstVelocity, work);
    for (int j = 0; j < m; ++j) {
      tau[cluster.firstV + j] += T(r[j]) * force;
    }
  }
}

/// (3) of a moving cluster of general shape.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void loadBodies(const Tables& tables, const ClusterEntry& cluster,
                                       const WorkView<T>& work) {
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (!body.folded) {
      work.f[b] = forceOn(inertiaAt(tables, b, work), work.v[b], work.a[b]);
      if (body.flexible >= 0) {
        work.f[b] +=
            bendingForce(tables, body.flexible, work, work.accelerations, work.a[b],
                         [&](int velocity, const T& force) { work.tau[velocity] = force; });
      }
      continue;
    }
    work.f[b] = {};  // for external forces
    if (!isFoldedRotor(body)) {
      continue;
    }
    const Vec3<T> z = spinAxis(cluster, body, work);
    work.tau[body.firstVelocity] = T(body.spinInertia) * (dot(z, work.a[body.parent].angular) +
                                                          work.accelerations[body.firstVelocity]);
    addSpinForce(body, z, work);
  }
}

/// (4) and (5) of a cluster of general shape, and (6).
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void gatherForces(const Tables& tables, const ClusterEntry& cluster,
                                         const WorkView<T>& work, T* tau) {
  for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.node >= 0 && !onlySpins(cluster, body, work)) {  // else it is not placed, and free
      addNodeForce(tables, b, work, work.f[b], work.tau);
    }
    const Motion<T>* s = directionsOf(cluster, body, work);
    for (int i = 0; i < velocitySize(body.type) && body.type != JointType::Mode; ++i) {
      const T along = dot(work.f[b], s[i]);  // (4)
      work.tau[body.firstVelocity + i] =
          body.folded ? work.tau[body.firstVelocity + i] + along : along;
    }
    work.f[body.parent] += work.f[b];  // (5)
  }
  for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
    if (cluster.armatured) {
      work.tau[i] += T(tables.armature[i]) * work.accelerations[i];
    }
    if (cluster.dissipates) {
      work.tau[i] += resistance(tables, i, work.rates[i]);
    }
  }
  forSprings(tables, cluster, work, [&](int i, const T& force) { work.tau[i] += force; });
  projectClusterForces(cluster, work, work.tau, tau);  // (6)
}

/// The outward pass of C-RNEA, by shapes.
template <typename T, typename Tables>
struct LoadPass {
  const Tables& tables;
  const WorkView<T>& work;
  const T* v;
  const T* ydd;
  T* tau;

  using Body = BodyEntry<typename Tables::Scalar>;

  KEMPE_HD void single(const ClusterEntry& cluster, const Body& body) const {
    moveSingle(tables, cluster, body, work, v, ydd, tau);
  }
  template <int M>
  KEMPE_HD void coupled(const ClusterEntry& cluster) const {
    moveCoupled<M, false>(tables, cluster, work, v, ydd);
  }
  template <int M>
  KEMPE_HD void loops(const ClusterEntry& cluster) const {
    moveCoupled<M, true>(tables, cluster, work, v, ydd);
  }
  KEMPE_HD void base(const ClusterEntry& cluster, const Body& body) const {
    accelerateBase(cluster, body, work, v, ydd);
  }
  KEMPE_HD void general(const ClusterEntry& cluster) const { loadBodies(tables, cluster, work); }
};

/// (4) to (6) of a cluster of any shape.
template <typename T, typename Tables>
KEMPE_HD void gatherCluster(const Tables& tables, const ClusterEntry& cluster,
                            const WorkView<T>& work, T* tau) {
  switch (shapeOf(cluster, work)) {
    case ClusterShape::Single: {
      const Force<T> f = work.f[cluster.moving];
      tau[cluster.firstV] += dot(f, work.S[tables.bodies[cluster.moving].firstS]);
      work.f[cluster.output] += f;
      break;
    }
    case ClusterShape::Coupled:
      withSize(cluster.nv, [&]<int M>() { gatherCoupled<M, false>(tables, cluster, work, tau); });
      break;
    case ClusterShape::FreeBase: {
      const Force<T> f = work.f[cluster.firstBody];
      const Mat3<T>& R_ = work.X[cluster.firstBody].R;
      const Vec3<T> force = transposeTimes(R_, f.force), moment = transposeTimes(R_, f.moment);
      for (int i = 0; i < 3; ++i) {
        tau[cluster.firstV + i] = force[i];
        tau[cluster.firstV + 3 + i] = moment[i];
      }
      break;
    }
    case ClusterShape::General:
      if (hasPlainLoops(cluster, work)) {
        withSize(cluster.nv, [&]<int M>() { gatherCoupled<M, true>(tables, cluster, work, tau); });
      } else {
        gatherForces(tables, cluster, work, tau);
      }
      break;
  }
}

/// Places the mechanism too. Returns a cluster in a singular configuration, or −1. `tau` may alias
/// `v` or `ydd`: those of a cluster are read before its forces are written.
template <typename Order = LevelByLevel, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD int inverseDynamicsKernel(const Tables& tables, const WorkView<T>& work, Loops& loops,
                                   const T* q, const T* v, const T* ydd,
                                   const ExternalForces<T, R>& external, T* tau) {
  placeWorld(tables, work, q);
  expandMechanism(tables, work, q);
  const LoadPass<T, Tables> pass{tables, work, v, ydd, tau};
  return Order::thereAndBack(
      tables, [&](int c) { return passCluster<false>(tables, c, work, loops, v, ydd, pass); },
      [&](int first, int last) { subtractExternal(external, first, last, work); },
      [&](int c) { gatherCluster(tables, tables.clusters[c], work, tau); });
}

}  // namespace kempe::detail
