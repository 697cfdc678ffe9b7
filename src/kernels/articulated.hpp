#pragma once

#include "kernels/wide_clusters.hpp"

/// Condensation of clusters onto their output bodies, from the leaves to the root, shared by C-ABA,
/// C-EFPA and the inverse mass matrix. With L Δ Lᵀ = D, L of unit diagonal, and Y = U L⁻ᵀ, so that
/// U D⁻¹ Uᵀ = Y Δ⁻¹ Yᵀ:
///
///   U  = Σ IA_i S_i                     (1)
///   D  = Σ S_iᵀ IA_i S_i                (2)
///   Ia = Σ IA_i − Y Δ⁻¹ Yᵀ              (3)  added to the output body
///   u  = τ − Σ S_iᵀ pA_i                (4)
///   pa = Σ pA_i + Y Δ⁻¹ L⁻¹ u           (5)  added to the output body
///   ÿ  = L⁻ᵀ Δ⁻¹ (L⁻¹ u − Yᵀ δa_out)    (6)
///
/// A folded rotor (docs/maths.md: w = [z; 0], r = its row of G, S_p = S of its parent, 0 on the
/// output body) adds
///
///   U += J w r                                          (7)
///   D += J rᵀ r + J rᵀ (wᵀ S_p) + J (S_pᵀ w) r          (8)
///   u −= J rᵀ (wᵀ a°_p + g_r)                           (9)
///
/// and an armature J of a DoF with row r of G adds J rᵀ r to D and −J rᵀ g_r to u. In a cluster
/// of shape Single the sums over rotors, armatures, dampers are constants (tables.hpp). Of a
/// floating base the motion itself is solved for: S = 1 in [angular; linear], D = IA.
namespace kempe::detail {

/// J rᵀ r onto D; `velocity` is spanning.
template <int M, typename T>
KEMPE_HD void addReflected(const ClusterEntry& cluster, int velocity, const T& J,
                           const WorkView<T>& work, T* D) {
  const int m = M > 0 ? M : cluster.nv;
  if (isUnbound(cluster)) {
    const int i = velocity - cluster.firstVelocity;
    D[i * m + i] += J;
    return;
  }
  const T* r = ratiosOf(cluster, velocity, work);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j <= i; ++j) {
      D[i * m + j] += (J * r[i]) * r[j];
    }
  }
}

/// Adds Gᵀ of a force along one spanning velocity to u.
template <typename T>
KEMPE_HD void addToForce(const ClusterEntry& cluster, int velocity, const T& force,
                         const WorkView<T>& work) {
  T* u = work.u + cluster.firstV;
  if (isUnbound(cluster)) {
    u[velocity - cluster.firstVelocity] += force;
    return;
  }
  const T* r = ratiosOf(cluster, velocity, work);
  for (int i = 0; i < cluster.nv; ++i) {
    u[i] += r[i] * force;
  }
}

/// (7) and (8).
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void addRotor(const Tables& tables, const ClusterEntry& cluster, const BodyEntry<R>& body,
                       const WorkView<T>& work, Force<T>* U, T* D) {
  const int m = M > 0 ? M : cluster.nv;
  const T J(body.spinInertia);
  addReflected<M>(cluster, body.firstVelocity, J, work, D);
  const Vec3<T> w = J * spinAxis(cluster, body, work);
  if (cluster.kind == ClusterKind::Tree) {
    U[0].moment += w;
    return;
  }
  const T* r = ratiosOf(cluster, body.firstVelocity, work);
  for (int i = 0; i < m; ++i) {
    U[i].moment += r[i] * w;
  }
  if (body.parent >= cluster.firstBody) {
    const Motion<T>* S = work.S + tables.bodies[body.parent].firstS;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j <= i; ++j) {
        D[i * m + j] += r[i] * dot(w, S[j].angular) + r[j] * dot(w, S[i].angular);
      }
    }
  }
}

/// (1), (2) of one body.
template <int M, typename T, typename Inertia>
KEMPE_HD void addBody(const ClusterEntry& cluster, const Inertia& inertia, const Motion<T>* S,
                      Force<T>* U, T* D) {
  const int m = M > 0 ? M : cluster.nv;
  for (int i = 0; i < m; ++i) {
    const Force<T> IS = inertia * S[i];
    U[i] += IS;
    for (int j = 0; j <= i; ++j) {
      D[i * m + j] += dot(IS, S[j]);
    }
  }
}

/// D = L Δ Lᵀ in place (lower triangle: L; above the diagonal: L Δ) and Δ⁻¹.
template <int M, typename T>
KEMPE_HD void factorize(int size, T* D, T* dInverse) {
  const int m = M > 0 ? M : size;
  for (int i = 0; i < m; ++i) {
    T d = D[i * m + i];
    for (int j = 0; j < i; ++j) {
      T scaled = D[i * m + j];
      for (int k = 0; k < j; ++k) {
        scaled -= D[k * m + i] * D[j * m + k];
      }
      D[j * m + i] = scaled;
      D[i * m + j] = scaled * dInverse[j];
      d -= scaled * D[i * m + j];
    }
    dInverse[i] = T(1) / d;
  }
}

/// L⁻¹ x in place.
template <int M, typename T>
KEMPE_HD void forwardSubstitute(int size, const T* L, T* x) {
  const int m = M > 0 ? M : size;
  for (int i = 1; i < m; ++i) {
    for (int k = 0; k < i; ++k) {
      x[i] -= L[i * m + k] * x[k];
    }
  }
}

/// L⁻ᵀ x in place.
template <int M, typename T>
KEMPE_HD void backSubstitute(int size, const T* L, T* x) {
  const int m = M > 0 ? M : size;
  for (int i = m - 2; i >= 0; --i) {
    for (int k = i + 1; k < m; ++k) {
      x[i] -= L[k * m + i] * x[k];
    }
  }
}

template <int M, typename T>
KEMPE_HD void clearSums(const ClusterEntry& cluster, Force<T>* U, T* D) {
  const int m = M > 0 ? M : cluster.nv;
  for (int i = 0; i < m; ++i) {
    U[i] = {};
  }
  for (int i = 0; i < m * m; ++i) {
    D[i] = T(0);
  }
}

template <int M, typename T, typename Tables>
KEMPE_HD void addArmatures(const Tables& tables, const ClusterEntry& cluster,
                           const WorkView<T>& work, T* D) {
  for (int i = cluster.firstVelocity;
       cluster.armatured && i < cluster.firstVelocity + cluster.velocities; ++i) {
    addReflected<M>(cluster, i, T(tables.armature[i]), work, D);
  }
}

/// (1), (2) of a cluster of general shape, and Σ IA_i onto `carried`.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void sumInertias(const Tables& tables, const ClusterEntry& cluster,
                          const WorkView<T>& work, Force<T>* U, T* D,
                          ArticulatedInertia<T>* carried) {
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      if (body.spinInertia > R(0)) {
        addRotor<M>(tables, cluster, body, work, U, D);
      }
      continue;
    }
    if (body.flexible >= 0) {
      addBending<M>(tables, cluster, body.flexible, work, U, D);
    }
    const Motion<T>* S = work.S + body.firstS;
    const bool moves = !restsOnOutput(cluster, body);
    if (body.carrier) {
      if (moves) {
        addBody<M>(cluster, work.IA[b], S, U, D);
      }
      if (carried != nullptr) {
        *carried += work.IA[b];
      }
    } else {
      if (moves) {
        addBody<M>(cluster, work.I[b], S, U, D);
      }
      if (carried != nullptr) {
        *carried += work.I[b];
      }
    }
  }
}

/// Y from U, and (3) onto `carried`.
template <int M, typename T>
KEMPE_HD void condenseOnto(const ClusterEntry& cluster, const T* L, const T* dInverse, Force<T>* U,
                           ArticulatedInertia<T>& carried) {
  const int m = M > 0 ? M : cluster.nv;
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < i; ++k) {
      U[i] -= L[i * m + k] * U[k];  // Y
    }
    carried.addOuter(-dInverse[i], U[i]);  // (3)
  }
}

/// (1) to (3) of a cluster of general shape.
template <int M, typename T, typename Tables>
KEMPE_HD KEMPE_FLATTEN void condenseInertia(const Tables& tables, const ClusterEntry& cluster,
                                            const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  const bool grounded = cluster.output == kWorld;
  T* L = work.D + cluster.firstD;
  T* dInverse = work.dInverse + cluster.firstV;
  Force<T>* U = work.U + cluster.firstV;
  if constexpr (M > 0 && Lanes<T>::count == 1) {
    // In local memory, which the compiler keeps in registers.
    T ownL[M * M];
    Force<T> ownU[M];
    ArticulatedInertia<T> carried{};
    clearSums<M>(cluster, ownU, ownL);
    sumInertias<M>(tables, cluster, work, ownU, ownL, grounded ? nullptr : &carried);
    addArmatures<M>(tables, cluster, work, ownL);
    factorize<M>(m, ownL, dInverse);
    for (int i = 0; i < M * M; ++i) {
      L[i] = ownL[i];
    }
    if (grounded) {
      return;
    }
    condenseOnto<M>(cluster, ownL, dInverse, ownU, carried);
    for (int i = 0; i < M; ++i) {
      U[i] = ownU[i];
    }
    work.IA[cluster.output] += carried;
  } else {
    clearSums<M>(cluster, U, L);
    ArticulatedInertia<T>* carried = grounded ? nullptr : work.IA + cluster.output;
    if (M == 0 && cluster.wide) {
      composeWide(tables, cluster, work);
    } else {
      sumInertias<M>(tables, cluster, work, U, L, carried);
    }
    addArmatures<M>(tables, cluster, work, L);
    factorize<M>(m, L, dInverse);
    if (!grounded) {
      condenseOnto<M>(cluster, L, dInverse, U, *carried);
    }
  }
}

/// (1) to (3) of a flexible body that no loop binds: its frame rests on the output body, so that S = 0
/// and U = C there.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
[[gnu::noinline]] KEMPE_HD KEMPE_FLATTEN void condenseFlexible(const Tables& tables,
                                                               const ClusterEntry& cluster,
                                                               const WorkView<T>& work) {
  const FlexibleEntry& flexible = tables.flexibles[cluster.flexible];
  const int m = M > 0 ? M : flexible.modes;
  T* D = work.D + cluster.firstD;
  T* dInverse = work.dInverse + cluster.firstV;
  Force<T>* U = work.U + cluster.firstV;
  for (int i = 0; i < m; ++i) {
    U[i] = work.bentModes[flexible.firstMode + i].C;
    for (int j = 0; j < i; ++j) {
      D[i * m + j] = T(0);
    }
    D[i * m + i] = T(tables.armature[flexible.firstVelocity + i]);
  }
  for (int k = flexible.firstPart; k < flexible.firstPart + flexible.parts; ++k) {
    const int b = tables.flexibleParts[k];
    const BodyEntry<R>& body = tables.bodies[b];
    const auto add = [&](const auto& inertia) {
      if (body.node >= 0) {
        addBody<M>(cluster, inertia, work.S + body.firstS, U, D);
      }
      if (cluster.output != kWorld) {
        work.IA[cluster.output] += inertia;
      }
    };
    body.carrier ? add(work.IA[b]) : add(work.I[b]);
  }
  factorize<M>(m, D, dInverse);
  if (cluster.output == kWorld) {
    return;
  }
  for (int i = 1; i < m; ++i) {
    for (int k = 0; k < i; ++k) {
      U[i] -= D[i * m + k] * U[k];  // Y
    }
  }
  work.IA[cluster.output].subtractOuters(m, dInverse, U);  // (3)
}

/// (1) to (3) of a cluster of shape Single, and with forces (4) and (5) as well. `withRotors`: U has
/// that of uneven rotors.
template <bool withForce, bool withRotors = false, typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void condenseSingle(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                           const WorkView<T>& work) {
  const Motion<T> s = work.S[body.firstS];
  const auto condense = [&](const auto& inertia) {
    Force<T> U = inertia * s;
    const T dInverse = T(1) / (dot(U, s) + T(body.single.reflected));
    work.dInverse[cluster.firstV] = dInverse;
    if constexpr (withForce) {
      work.u[cluster.firstV] -= dot(work.f[cluster.moving], s);
    }
    if (cluster.output == kWorld) {
      return;
    }
    if (body.single.geared) {
      U.moment += turned(work.X[cluster.output].R, body.single.spin);
    }
    if constexpr (withRotors) {
      U += work.U[cluster.firstV];
    }
    work.U[cluster.firstV] = U;
    work.IA[cluster.output].addCondensed(inertia, -dInverse, U);
    if constexpr (withForce) {
      work.f[cluster.output] += work.f[cluster.moving] + (dInverse * work.u[cluster.firstV]) * U;
    }
  };
  body.carrier ? condense(work.IA[cluster.moving]) : condense(work.I[cluster.moving]);
}

/// D = IA of the floating base.
template <typename T>
KEMPE_HD KEMPE_FLATTEN void factorizeBase(const ClusterEntry& cluster, const WorkView<T>& work,
                                          bool carrier) {
  T* D = work.D + cluster.firstD;
  const int b = cluster.firstBody;
  const ArticulatedInertia<T> IA =
      carrier ? work.IA[b] : ArticulatedInertia<T>::fromRigid(work.I[b]);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      D[i * 6 + j] = IA.at(i, j);
    }
  }
  factorize<6>(6, D, work.dInverse + cluster.firstV);
}

template <typename T, typename Tables>
KEMPE_HD void condenseClusterInertia(const Tables& tables, const ClusterEntry& cluster,
                                     const WorkView<T>& work) {
  switch (shapeOf(cluster, work)) {
    case ClusterShape::Single:
      return condenseSingle<false>(cluster, tables.bodies[cluster.moving], work);
    case ClusterShape::FreeBase:
      return factorizeBase(cluster, work, tables.bodies[cluster.firstBody].carrier);
    case ClusterShape::Coupled:
    case ClusterShape::General:
      if (cluster.flexible >= 0) {
        withModes(cluster.nv, [&]<int M>() { condenseFlexible<M>(tables, cluster, work); });
      } else {
        withSize(cluster.nv, [&]<int M>() { condenseInertia<M>(tables, cluster, work); });
      }
  }
}

/// (1) and (2) of one cluster with composite inertias, which go on to the output body whole.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void composeCluster(const Tables& tables, const ClusterEntry& cluster,
                                           const WorkView<T>& work) {
  Force<T>* U = work.U + cluster.firstV;
  T* D = work.D + cluster.firstD;
  clearSums<M>(cluster, U, D);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      if (isFoldedRotor(body)) {
        addRotor<M>(tables, cluster, body, work, U, D);
      }
      continue;
    }
    if (body.flexible >= 0) {
      addBending<M>(tables, cluster, body.flexible, work, U, D);
    }
    if (!restsOnOutput(cluster, body)) {
      addBody<M>(cluster, work.I[b], work.S + body.firstS, U, D);
    }
    if (cluster.output != kWorld) {
      work.I[cluster.output] += work.I[b];
    }
  }
  addArmatures<M>(tables, cluster, work, D);
}

/// The inertia of a placed body, where (1) to (3) look for it.
template <typename T, typename R>
KEMPE_HD void storeInertia(const BodyEntry<R>& body, int b, const PlacedInertia<T>& inertia,
                           const WorkView<T>& work) {
  if (body.carrier) {
    work.IA[b].setRigid(aboutOrigin(inertia));
  } else {
    work.I[b] = aboutOrigin(inertia);
  }
}

/// Pivots of D below this fraction of their summands are rounding errors.
template <typename R>
inline constexpr R kRoundedPivot = sizeof(R) == sizeof(float) ? R(1e-6) : R(1e-12);
/// Pivots above this fraction of TableArrays::inertiaScale, a rough bound, need no closer check.
template <typename R>
inline constexpr R kClearPivot = sizeof(R) == sizeof(float) ? R(1e-4) : R(1e-8);

/// Size of the summands of the pivot of coordinate i of cluster c, before the DoFs further out are
/// eliminated: a bound of Sᵀ I S over all bodies that it moves.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
[[gnu::noinline]] KEMPE_HD T pivotScale(const Tables& tables, int c, int i,
                                        const WorkView<T>& work) {
  using std::sqrt;
  const ClusterEntry& cluster = tables.clusters[c];
  const bool base = shapeOf(cluster, work) == ClusterShape::FreeBase;
  const auto ratioSquared = [&](int velocity) {
    if (isUnbound(cluster)) {
      return velocity - cluster.firstVelocity == i ? T(1) : T(0);
    }
    const T r = ratiosOf(cluster, velocity, work)[i];
    return r * r;
  };
  // Zero for k that is no axis.
  const auto unit = [](int k) {
    return Vec3<T>{T(k == 0 ? 1 : 0), T(k == 1 ? 1 : 0), T(k == 2 ? 1 : 0)};
  };
  const auto trace = [&](const SymMat3<T>& A) {
    return dot(A * unit(0), unit(0)) + dot(A * unit(1), unit(1)) + dot(A * unit(2), unit(2));
  };
  T sum(0);
  for (int b = cluster.firstBody; b < tables.bodyCount; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      if (body.cluster == c && isFoldedRotor(body)) {
        sum += T(body.spinInertia) * ratioSquared(body.firstVelocity);
      }
      continue;
    }
    int moving = b;  // the body of the cluster that carries b
    while (moving != kWorld && tables.bodies[moving].cluster != c) {
      moving = tables.bodies[moving].parent;
    }
    if (moving == kWorld) {
      continue;
    }
    const Motion<T> S =
        base ? Motion<T>{unit(i), unit(i - 3)} : work.S[tables.bodies[moving].firstS + i];
    const RigidInertia<T> I = aboutOrigin(inertiaAt(tables, b, work));
    const T angular = sqrt(dot(S.angular, S.angular)), linear = sqrt(dot(S.linear, S.linear));
    sum += I.mass * linear * linear + T(2) * sqrt(dot(I.moment, I.moment)) * linear * angular +
           trace(I.rotation) * angular * angular;
  }
  for (int k = cluster.firstVelocity;
       cluster.armatured && k < cluster.firstVelocity + cluster.velocities; ++k) {
    sum += T(tables.armature[k]) * ratioSquared(k);
  }
  return sum;
}

/// The first velocity whose pivot of D is rounding, or −1.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
[[gnu::noinline]] KEMPE_HD int findRoundedPivot(const Tables& tables, const WorkView<T>& work) {
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int i = 0; i < cluster.nv; ++i) {
      const T d = T(1) / work.dInverse[cluster.firstV + i];
      const T least = T(kRoundedPivot<R>) * pivotScale(tables, c, i, work);
      if (any(select(d > least, T(0), T(1)) > T(R(0.5)))) {
        // The floating base is solved for as [angular; linear], but named [linear; angular].
        const bool base = shapeOf(cluster, work) == ClusterShape::FreeBase;
        return cluster.firstV + (base ? (i + 3) % 6 : i);
      }
    }
  }
  return -1;
}

/// The first velocity that moves no inertia, so that D is singular but for rounding, or −1.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD int findIndefinite(const Tables& tables, const WorkView<T>& work) {
  const T limit(R(1) / kClearPivot<R>), beyond = limit + limit;
  auto doubtful = T(0) > T(0);
  for (int i = 0; i < tables.nv; ++i) {
    const T d = work.dInverse[i];  // infinite, NaN or not above zero where D is singular
    doubtful = doubtful | (select(d > T(0), d * T(tables.inertiaScale[i]), beyond) > limit);
  }
  return any(doubtful) ? findRoundedPivot(tables, work) : -1;
}

/// Inertias of all bodies in the common frame, and (1) to (3) of all clusters, after
/// placeMechanism. Returns a velocity that moves no inertia, or −1.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD int condenseInertias(const Tables& tables, const WorkView<T>& work) {
  for (int b = 0; b < tables.bodyCount; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (!body.folded) {
      storeInertia(body, b, inertiaAt(tables, b, work), work);
    }
  }
  forEachCluster<Direction::Inward>(
      tables, [&](int c) { condenseClusterInertia(tables, tables.clusters[c], work); });
  return findIndefinite(tables, work);
}

/// L⁻¹ u from u, and (5) without Σ pA_i.
template <int M, typename T>
KEMPE_HD void transmitForce(const ClusterEntry& cluster, const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  T* u = work.u + cluster.firstV;
  forwardSubstitute<M>(m, work.D + cluster.firstD, u);
  if (cluster.output != kWorld) {
    for (int i = 0; i < m; ++i) {
      work.f[cluster.output] +=
          (work.dInverse[cluster.firstV + i] * u[i]) * work.U[cluster.firstV + i];  // (5)
    }
  }
}

/// (4) and (5) of a cluster of general shape, after its inertia: work.u holds τ on entry and L⁻¹ u
/// on return, work.f holds pA.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void condenseForce(const Tables& tables, const ClusterEntry& cluster,
                            const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  T* u = work.u + cluster.firstV;
  const bool wide = M == 0 && cluster.wide;
  if (wide) {
    gatherWide(tables, cluster, work);
  }
  for (int b = cluster.firstBody; !wide && b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded && !work.wholeRotors) {
      continue;
    }
    const Motion<T>* S = work.S + body.firstS;
    for (int i = 0; i < m && !restsOnOutput(cluster, body); ++i) {
      u[i] -= dot(work.f[b], S[i]);  // (4)
    }
    work.f[cluster.output] += work.f[b];
  }
  transmitForce<M>(cluster, work);
}

/// The same of a flexible body that no loop binds.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
[[gnu::noinline]] KEMPE_HD void condenseForceOfFlexible(const Tables& tables,
                                                        const ClusterEntry& cluster,
                                                        const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  T* u = work.u + cluster.firstV;
  forParts(tables, cluster, [&](int b) {
    const BodyEntry<R>& body = tables.bodies[b];
    for (int i = 0; i < m && body.node >= 0; ++i) {
      u[i] -= dot(work.f[b], work.S[body.firstS + i]);  // (4)
    }
    work.f[cluster.output] += work.f[b];
  });
  transmitForce<M>(cluster, work);
}

/// The same of any shape.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void condenseClusterForce(const Tables& tables, const ClusterEntry& cluster,
                                                 const WorkView<T>& work) {
  T* u = work.u + cluster.firstV;
  switch (shapeOf(cluster, work)) {
    case ClusterShape::Single: {
      const Force<T> f = work.f[cluster.moving];
      u[0] -= dot(f, work.S[tables.bodies[cluster.moving].firstS]);
      if (cluster.output != kWorld) {
        work.f[cluster.output] +=
            f + (work.dInverse[cluster.firstV] * u[0]) * work.U[cluster.firstV];
      }
      return;
    }
    case ClusterShape::FreeBase: {
      // u is [linear; angular] in body axes, the unknown is [angular; linear] in world axes.
      const Mat3<T> R_ = work.X[cluster.firstBody].R;
      const Force<T> f = work.f[cluster.firstBody];
      const Vec3<T> moment = R_ * Vec3<T>{u[3], u[4], u[5]} - f.moment;
      const Vec3<T> force = R_ * Vec3<T>{u[0], u[1], u[2]} - f.force;
      for (int i = 0; i < 3; ++i) {
        u[i] = moment[i];
        u[i + 3] = force[i];
      }
      forwardSubstitute<6>(6, work.D + cluster.firstD, u);
      return;
    }
    case ClusterShape::Coupled:
    case ClusterShape::General:
      if (cluster.flexible >= 0 && !work.wholeRotors) {
        withModes(cluster.nv, [&]<int M>() { condenseForceOfFlexible<M>(tables, cluster, work); });
      } else {
        withSize(cluster.nv, [&]<int M>() { condenseForce<M>(tables, cluster, work); });
      }
  }
}

/// (6) of a cluster of general shape.
template <int M, typename T>
KEMPE_HD void solveForRates(const ClusterEntry& cluster, const WorkView<T>& work, T* ydd) {
  const int m = M > 0 ? M : cluster.nv;
  T* y = ydd + cluster.firstV;
  const bool grounded = cluster.output == kWorld;
  const Motion<T> output = work.da[cluster.output];
  for (int i = 0; i < m; ++i) {
    T x = work.u[cluster.firstV + i];
    if (!grounded) {
      x -= dot(work.U[cluster.firstV + i], output);
    }
    y[i] = work.dInverse[cluster.firstV + i] * x;
  }
  backSubstitute<M>(m, work.D + cluster.firstD, y);
}

/// δa of a body from those of its output body and ÿ, if it carries clusters.
template <int M, typename T, typename R>
KEMPE_HD void accelerateCarrier(const ClusterEntry& cluster, int b, const BodyEntry<R>& body,
                                const WorkView<T>& work, const T* ydd) {
  const int m = M > 0 ? M : cluster.nv;
  if (body.carrier) {
    Motion<T> a = work.da[cluster.output];
    for (int i = 0; i < m; ++i) {
      a += ydd[cluster.firstV + i] * work.S[body.firstS + i];
    }
    work.da[b] = a;
  }
}

/// (6) of a cluster of general shape, and δa of those of its bodies that carry clusters, into
/// work.da.
template <int M, typename T, typename Tables>
KEMPE_HD void accelerate(const Tables& tables, const ClusterEntry& cluster, const WorkView<T>& work,
                         T* ydd) {
  solveForRates<M>(cluster, work, ydd);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    accelerateCarrier<M>(cluster, b, tables.bodies[b], work, ydd);
  }
}

/// The same of a flexible body that no loop binds.
template <int M, typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void accelerateFlexible(const Tables& tables,
                                                   const ClusterEntry& cluster,
                                                   const WorkView<T>& work, T* ydd) {
  solveForRates<M>(cluster, work, ydd);
  forParts(tables, cluster,
           [&](int b) { accelerateCarrier<M>(cluster, b, tables.bodies[b], work, ydd); });
}

/// The same of a cluster of shape Single.
template <typename T, typename R>
KEMPE_HD void accelerateSingle(const ClusterEntry& cluster, const BodyEntry<R>& body,
                               const WorkView<T>& work, T* ydd) {
  const Motion<T> output = work.da[cluster.output];
  T x = work.u[cluster.firstV];
  if (cluster.output != kWorld) {
    x -= dot(work.U[cluster.firstV], output);
  }
  const T y = work.dInverse[cluster.firstV] * x;
  ydd[cluster.firstV] = y;
  if (body.carrier) {
    work.da[cluster.moving] = output + y * work.S[body.firstS];
  }
}

/// The same of any shape.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void accelerateCluster(const Tables& tables, const ClusterEntry& cluster,
                                const WorkView<T>& work, T* ydd) {
  switch (shapeOf(cluster, work)) {
    case ClusterShape::Single:
      return accelerateSingle(cluster, tables.bodies[cluster.moving], work, ydd);
    case ClusterShape::FreeBase: {
      T y[6];
      for (int i = 0; i < 6; ++i) {
        y[i] = work.dInverse[cluster.firstV + i] * work.u[cluster.firstV + i];
      }
      backSubstitute<6>(6, work.D + cluster.firstD, y);
      const Motion<T> a{{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
      const Mat3<T>& R_ = work.X[cluster.firstBody].R;
      const Vec3<T> linear = transposeTimes(R_, a.linear), angular = transposeTimes(R_, a.angular);
      for (int i = 0; i < 3; ++i) {
        ydd[cluster.firstV + i] = linear[i];
        ydd[cluster.firstV + 3 + i] = angular[i];
      }
      work.da[cluster.firstBody] = a;
      return;
    }
    case ClusterShape::Coupled:
    case ClusterShape::General:
      if (cluster.flexible >= 0) {
        withModes(cluster.nv, [&]<int M>() { accelerateFlexible<M>(tables, cluster, work, ydd); });
      } else {
        withSize(cluster.nv, [&]<int M>() { accelerate<M>(tables, cluster, work, ydd); });
      }
  }
}

/// (6) of all clusters, after (1) to (5).
template <typename T, typename Tables>
KEMPE_HD KEMPE_FLATTEN void accelerateClusters(const Tables& tables, const WorkView<T>& work,
                                               T* ydd) {
  work.da[kWorld] = {};
  forEachCluster<Direction::Outward>(
      tables, [&](int c) { accelerateCluster(tables, tables.clusters[c], work, ydd); });
}

}  // namespace kempe::detail
