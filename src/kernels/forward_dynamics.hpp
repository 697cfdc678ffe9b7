#pragma once

#include "kernels/articulated.hpp"
#include "kernels/external_forces.hpp"

/// C-ABA in the common frame (see articulated.hpp for the equations):
///
///   f°_i = I_i a°_i + v_i ×* I_i v_i − f_ext      pA_i before child clusters add to it
namespace kempe::detail {

/// The inertia of a body; kMerged: with the constant part of the uneven rotors that it carries.
template <bool kMerged, typename Tables>
KEMPE_HD const auto& inertiaOf(const Tables& tables, int b) {
  if constexpr (kMerged) {
    return tables.withRotors[b];
  } else {
    return tables.bodies[b].central;
  }
}

/// The outward pass of a cluster of shape Single: X, S, v, a°, f°, inertia, and u without −sᵀ pA.
template <bool kMerged, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void biasSingle(const Tables& tables, const ClusterEntry& cluster,
                                       const BodyEntry<R>& body, const WorkView<T>& work,
                                       const T* v, const T* tau) {
  const PlacedSingle<T> at = placeSingle(cluster.moving, body, work);
  work.S[body.firstS] = at.s;
  const T rate = v[cluster.firstV];
  const Motion<T> outputV = work.v[cluster.output], outputA = work.a[cluster.output];
  const Motion<T> relative = rate * at.s;
  const Motion<T> velocity = outputV + relative;
  const Motion<T> a = outputA + cross(outputV, relative);
  if (body.carrier) {
    work.v[cluster.moving] = velocity;
    work.a[cluster.moving] = a;
  }
  const PlacedInertia<T> inertia = placed(at.X, inertiaOf<kMerged>(tables, cluster.moving));
  work.f[cluster.moving] = forceOn(inertia, velocity, a);
  storeInertia(body, cluster.moving, inertia, work);
  const Single<R>& single = body.single;
  T u = tau[cluster.firstV];
  if (single.geared) {
    const Vec3<T> spin = turned(work.X[cluster.output].R, single.spin);
    u -= dot(spin, outputA.angular);
    work.f[cluster.output].moment += cross(outputV.angular, rate * spin);
  }
  if (single.dissipates) {
    u -= resistance(tables, cluster, single, rate);
  }
  if (single.sprung) {
    u -= T(single.stiffness) * work.positions[body.firstPosition] + T(single.atZero);
  }
  work.u[cluster.firstV] = u;
}

/// The same of a cluster of shape Coupled, or with plain loops after q̇ and g (kLoops).
template <int M, bool kLoops, bool kMerged, typename T, typename Tables,
          typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void biasCoupled(const Tables& tables, const ClusterEntry& cluster,
                                        const WorkView<T>& work, const T* v, const T* tau) {
  const int m = M > 0 ? M : cluster.nv;
  T* u = work.u + cluster.firstV;
  for (int i = 0; i < m; ++i) {
    u[i] = tau[cluster.firstV + i];
  }
  const bool armatured = kLoops && cluster.armatured;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (kLoops && isWeightless(cluster, body)) {
      if (!cluster.bodyLoops) {
        // Passes after this one multiply it by zero, which is NaN if what was there before is.
        work.s[body.firstVelocity] = {};
      }
      continue;
    }
    const auto* r = ratiosOfBody<kLoops>(tables, cluster, body.firstVelocity, work);
    T rate(0), g(0);
    if constexpr (kLoops) {
      rate = work.rates[body.firstVelocity];
      g = work.accelerations[body.firstVelocity];
    } else {
      rate = alongRatios<M>(m, r, v + cluster.firstV);
    }
    const Motion<T> parentV = work.v[body.parent], parentA = work.a[body.parent];
    T resisting(0);
    if (body.folded) {
      const T J(body.spinInertia);
      const Vec3<T> spin = J * placeRotorInCluster<kLoops>(cluster, body, work);
      Vec3<T> moment = cross(parentV.angular, rate * spin);
      resisting = dot(spin, parentA.angular);
      if constexpr (kLoops) {
        moment += g * spin;
        resisting += J * g;
      }
      work.f[body.parent].moment += moment;
    } else {
      const PlacedSingle<T> at = placeInCluster<kLoops>(cluster, b, body, work);
      spanSingle<M>(tables, cluster, body, at.s, r, work);
      const Motion<T> relative = rate * at.s;
      const Motion<T> velocity = parentV + relative;
      Motion<T> a = parentA + cross(parentV, relative);
      if constexpr (kLoops) {
        a += g * at.s;
      }
      work.v[b] = velocity;
      work.a[b] = a;
      const PlacedInertia<T> inertia = placed(at.X, inertiaOf<kMerged>(tables, b));
      work.f[b] = forceOn(inertia, velocity, a);
      storeInertia(body, b, inertia, work);
    }
    if (armatured) {
      resisting += T(tables.armature[body.firstVelocity]) * g;
    }
    if (cluster.dissipates) {
      resisting += resistance(tables, body.firstVelocity, rate);
    }
    if (cluster.sprung) {
      resisting += springForce(tables, body, work);
    }
    if (body.folded || armatured || cluster.dissipates || cluster.sprung) {
      for (int i = 0; i < m; ++i) {
        u[i] -= T(r[i]) * resisting;
      }
    }
  }
}

/// The same of the floating base.
template <bool kMerged, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void biasBase(const Tables& tables, const ClusterEntry& cluster,
                                     const BodyEntry<R>& body, const WorkView<T>& work, const T* v,
                                     const T* tau) {
  moveBase(cluster, body, work, v);
  const int b = cluster.firstBody;
  const PlacedInertia<T> inertia = placed(work.X[b], inertiaOf<kMerged>(tables, b));
  work.f[b] = forceOn(inertia, work.v[b], work.a[b]);
  storeInertia(body, b, inertia, work);
  for (int i = cluster.firstV; i < cluster.firstV + 6; ++i) {
    work.u[i] = tau[i];
  }
}

/// The same of a moving cluster of general shape, after moveBodies.
template <bool kMerged, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void biasCluster(const Tables& tables, const ClusterEntry& cluster,
                                        const WorkView<T>& work, const T* tau) {
  for (int i = 0; i < cluster.nv; ++i) {
    work.u[cluster.firstV + i] = tau[cluster.firstV + i];
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (!body.folded) {
      const PlacedInertia<T> inertia = body.flexible < 0
                                           ? placed(work.X[b], inertiaOf<kMerged>(tables, b))
                                           : work.bent[body.flexible];
      work.f[b] = forceOn(inertia, work.v[b], work.a[b]);
      storeInertia(body, b, inertia, work);
      if (body.flexible >= 0) {
        work.f[b] += bendingForce(
            tables, body.flexible, work, work.accelerations, work.a[b],
            [&](int velocity, const T& force) { addToForce(cluster, velocity, -force, work); });
      }
      continue;
    }
    work.f[b] = {};  // for external forces
    if (!isFoldedRotor(body)) {
      continue;
    }
    const Vec3<T> z = spinAxis(cluster, body, work);
    addSpinForce(body, z, work);
    const T force = T(body.spinInertia) *
                    (dot(z, work.a[body.parent].angular) + work.accelerations[body.firstVelocity]);
    addToForce(cluster, body.firstVelocity, -force, work);
  }
  for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
    if (cluster.armatured) {
      addToForce(cluster, i, -T(tables.armature[i]) * work.accelerations[i], work);
    }
    if (cluster.dissipates) {
      addToForce(cluster, i, -resistance(tables, i, work.rates[i]), work);
    }
  }
  forSprings(tables, cluster, work,
             [&](int i, const T& force) { addToForce(cluster, i, -force, work); });
}

/// d_i η̇_i + k_i η_i of the last line of (3) in flexible_bodies.hpp.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD T modalForce(const Tables& tables, const FlexibleEntry& flexible, int i,
                      const WorkView<T>& work) {
  const int velocity = flexible.firstVelocity + i;
  const T rate = work.rates[velocity], eta = work.positions[flexible.firstPosition + i];
  const T elastic = T(tables.stiffness[velocity]) * (eta - T(tables.springReference[velocity]));
  return tables.friction[velocity] > R(0) ? elastic + resistance(tables, velocity, rate)
                                          : elastic + T(tables.damping[velocity]) * rate;
}

/// The outward pass of a flexible body that no loop binds: of its bodies, only those that the
/// dynamics needs. M: the number of modes, or 0.
template <int M, bool kMerged, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void biasFlexible(const Tables& tables, const ClusterEntry& cluster,
                                         const WorkView<T>& work, const T* v, const T* tau) {
  const FlexibleEntry& flexible = tables.flexibles[cluster.flexible];
  const int m = M > 0 ? M : flexible.modes, first = flexible.firstVelocity;
  for (int i = 0; i < m; ++i) {
    work.rates[first + i] = v[cluster.firstV + i];
    work.accelerations[first + i] = T(0);
  }
  forParts(tables, cluster, [&](int b) {
    const BodyEntry<R>& body = tables.bodies[b];
    Motion<T>* S = work.S + body.firstS;
    if (body.flexible >= 0) {
      work.X[b] = placed(work.X[body.parent], body.placement);
      work.v[b] = work.v[body.parent];
      work.a[b] = work.a[body.parent];
      bendModes<M>(tables, body.flexible, work);
      const PlacedInertia<T> inertia = work.bent[body.flexible];
      const T* nothing = nullptr;
      work.f[b] =
          forceOn(inertia, work.v[b], work.a[b]) +
          forceOfModes<M>(
              tables, body.flexible, work, nothing, work.a[b], [&](int velocity, const T& force) {
                const int i = velocity - first;
                work.u[cluster.firstV + i] =
                    tau[cluster.firstV + i] - force - modalForce(tables, flexible, i, work);
                S[i] = {};
              });
      storeInertia(body, b, inertia, work);
      return;
    }
    const auto& node = tables.nodes[body.node];
    const NodeState<T> state = nodeState(tables, b, work);
    const NodeTurn<T> turn = turnOfNode<M>(tables, node, state);
    const Transform<T> X = placeNode<M>(tables, node, state, turn);
    const Motion<T> relative = alongModes<M>(tables, node, state, state.rates);
    const Motion<T> bodyV = work.v[body.parent];
    work.X[b] = X;
    work.v[b] = bodyV + relative;
    work.a[b] = work.a[body.parent] +
                nodeAccelerationAtRest<M>(tables, node, state, turn, X, relative, bodyV);
    for (int i = 0; i < m; ++i) {
      S[i] = state.s[i];
    }
    if (body.massless) {
      work.f[b] = {};
      storeInertia(body, b, PlacedInertia<T>{T(0), {}, {}}, work);
    } else {
      const PlacedInertia<T> inertia = placed(X, inertiaOf<kMerged>(tables, b));
      work.f[b] = forceOn(inertia, work.v[b], work.a[b]);
      storeInertia(body, b, inertia, work);
    }
  });
}

/// The outward pass of C-ABA, by shapes.
template <bool kMerged, typename T, typename Tables>
struct BiasPass {
  const Tables& tables;
  const WorkView<T>& work;
  const T* v;
  const T* tau;

  using Body = BodyEntry<typename Tables::Scalar>;

  KEMPE_HD void single(const ClusterEntry& cluster, const Body& body) const {
    biasSingle<kMerged>(tables, cluster, body, work, v, tau);
  }
  template <int M>
  KEMPE_HD void coupled(const ClusterEntry& cluster) const {
    biasCoupled<M, false, kMerged>(tables, cluster, work, v, tau);
  }
  template <int M>
  KEMPE_HD void loops(const ClusterEntry& cluster) const {
    biasCoupled<M, true, kMerged>(tables, cluster, work, v, tau);
  }
  KEMPE_HD void base(const ClusterEntry& cluster, const Body& body) const {
    biasBase<kMerged>(tables, cluster, body, work, v, tau);
  }
  KEMPE_HD void flexible(const ClusterEntry& cluster) const {
    withModes(cluster.nv,
              [&]<int M>() { biasFlexible<M, kMerged>(tables, cluster, work, v, tau); });
  }
  KEMPE_HD void general(const ClusterEntry& cluster) const {
    biasCluster<kMerged>(tables, cluster, work, tau);
  }
};

/// Everything but (6) of articulated.hpp, from placements to L⁻¹ u and the factors of D. Returns a
/// cluster in a singular configuration, or −1.
template <typename Order = LevelByLevel, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD int condenseDynamics(const Tables& tables, const WorkView<T>& work, Loops& loops,
                              const T* q, const T* v, const T* tau,
                              const ExternalForces<T, R>& external) {
  placeWorld(tables, work, q);
  prepareMechanism(tables, work, q);
  const BiasPass<false, T, Tables> pass{tables, work, v, tau};
  const T* const atRest = nullptr;
  return Order::thereAndBack(
      tables, [&](int c) { return passCluster(tables, c, work, loops, v, atRest, pass); },
      [&](int first, int last) { subtractExternal(external, first, last, work); },
      [&](int c) {
        const ClusterEntry& cluster = tables.clusters[c];
        if (shapeOf(cluster, work) == ClusterShape::Single) {
          condenseSingle<true>(cluster, tables.bodies[cluster.moving], work);
          return;
        }
        condenseClusterInertia(tables, cluster, work);
        condenseClusterForce(tables, cluster, work);
      });
}

/// Places the mechanism too. `ydd` may be `tau`.
template <typename Order = LevelByLevel, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD KernelOutcome forwardDynamicsKernel(const Tables& tables, const WorkView<T>& work,
                                             Loops& loops, const T* q, const T* v, const T* tau,
                                             const ExternalForces<T, R>& external, T* ydd) {
  const int singular = condenseDynamics<Order>(tables, work, loops, q, v, tau, external);
  if (singular >= 0) {
    return {singular, -1};
  }
  accelerateClusters(tables, work, ydd);
  return {-1, findIndefinite(tables, work)};
}

}  // namespace kempe::detail
