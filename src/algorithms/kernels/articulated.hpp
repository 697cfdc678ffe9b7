#pragma once

#include "algorithms/kernels/outward.hpp"
#include "kempe/spatial/factorization.hpp"

/// Condensing clusters onto their output bodies, from the leaves to the root: what C-ABA, C-EFPA
/// and the inverse mass matrix share. With L Lᵀ = D and Y = U L⁻ᵀ, so that U D⁻¹ Uᵀ = Y Yᵀ:
///
///   U  = Σ IA_i S_i                 (1)
///   D  = Σ S_iᵀ IA_i S_i            (2)
///   Ia = Σ IA_i − Y Yᵀ              (3)  added to the output body
///   u  = τ − Σ S_iᵀ pA_i            (4)
///   pa = Σ pA_i + Y L⁻¹ u           (5)  added to the output body
///   ÿ  = L⁻ᵀ (L⁻¹ u − Yᵀ δa_out)    (6)
///
/// A folded rotor (docs/dynamics.md: w = [z; 0], r = its row of G, S_p = S of its parent, 0 on the
/// output body) adds
///
///   U += J w r                                          (7)
///   D += J rᵀ r + J rᵀ (wᵀ S_p) + J (S_pᵀ w) r          (8)
///   u −= J rᵀ (wᵀ a°_p + g_r)                           (9)
///
/// and an armature J of a freedom with row r of G adds J rᵀ r to D and −J rᵀ g_r to u.
namespace kempe::detail {

/// Calls kernel<M>() with the number of freedoms as a constant where it is a common one, 0 for any
/// other.
template <typename Kernel>
KEMPE_HD void withSize(int m, Kernel&& kernel) {
  switch (m) {
    case 1:
      return kernel.template operator()<1>();
    case 2:
      return kernel.template operator()<2>();
    case 3:
      return kernel.template operator()<3>();
    case 6:
      return kernel.template operator()<6>();
    default:
      return kernel.template operator()<0>();
  }
}

/// Row of G of one spanning velocity of the cluster; tree clusters have none.
template <typename T>
KEMPE_HD const T* ratiosOf(const ClusterEntry& cluster, int velocity, const WorkView<T>& work) {
  return work.G + cluster.firstRatio + (velocity - cluster.firstVelocity) * cluster.nv;
}

/// J rᵀ r onto D; `velocity` is spanning.
template <int M, typename T>
KEMPE_HD void addReflected(const ClusterEntry& cluster, int velocity, const T& J,
                           const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  T* D = work.D + cluster.firstD;
  if (cluster.kind == ClusterKind::Tree) {
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
  if (cluster.kind == ClusterKind::Tree) {
    u[velocity - cluster.firstVelocity] += force;
    return;
  }
  const T* r = ratiosOf(cluster, velocity, work);
  for (int i = 0; i < cluster.nv; ++i) {
    u[i] += r[i] * force;
  }
}

/// (7) and (8).
template <int M, typename T, typename R>
KEMPE_HD void addRotor(const TablesView<R>& tables, const ClusterEntry& cluster,
                       const BodyEntry<R>& body, const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  const T J(body.spinInertia);
  addReflected<M>(cluster, body.firstVelocity, J, work);
  Force<T>* U = work.U + cluster.firstV;
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
    T* D = work.D + cluster.firstD;
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
                      const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  Force<T>* U = work.U + cluster.firstV;
  T* D = work.D + cluster.firstD;
  for (int i = 0; i < m; ++i) {
    const Force<T> IS = inertia * S[i];
    U[i] += IS;
    for (int j = 0; j <= i; ++j) {
      D[i * m + j] += dot(IS, S[j]);
    }
  }
}

/// Y = U L⁻ᵀ in place: row by row forward substitution.
template <int M, typename T>
KEMPE_HD void divideByFactor(const ClusterEntry& cluster, const T* L, Force<T>* U) {
  const int m = M > 0 ? M : cluster.nv;
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < i; ++k) {
      U[i] -= L[i * m + k] * U[k];
    }
    U[i] = (T(1) / L[i * m + i]) * U[i];
  }
}

template <int M, typename T>
KEMPE_HD void clearCluster(const ClusterEntry& cluster, const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  for (int i = 0; i < m; ++i) {
    work.U[cluster.firstV + i] = {};
  }
  for (int i = 0; i < m * m; ++i) {
    work.D[cluster.firstD + i] = T(0);
  }
}

template <int M, typename T, typename R>
KEMPE_HD void addArmatures(const TablesView<R>& tables, const ClusterEntry& cluster,
                           const WorkView<T>& work) {
  for (int i = cluster.firstVelocity;
       cluster.armatured && i < cluster.firstVelocity + cluster.velocities; ++i) {
    addReflected<M>(cluster, i, T(tables.armature[i]), work);
  }
}

/// (1) to (3) of one cluster; false where D is not positive definite.
template <int M, typename T, typename R>
KEMPE_HD bool condenseInertia(const TablesView<R>& tables, const ClusterEntry& cluster,
                              const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  const bool grounded = cluster.output == kWorld;
  clearCluster<M>(cluster, work);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      addRotor<M>(tables, cluster, body, work);
      continue;
    }
    const Motion<T>* S = work.S + body.firstS;
    if (body.carrier) {
      addBody<M>(cluster, work.IA[b], S, work);
      if (!grounded) {
        work.IA[cluster.output] += work.IA[b];
      }
    } else {
      addBody<M>(cluster, work.I[b], S, work);
      if (!grounded) {
        work.IA[cluster.output] += work.I[b];
      }
    }
  }
  addArmatures<M>(tables, cluster, work);
  T* D = work.D + cluster.firstD;
  Force<T>* U = work.U + cluster.firstV;
  if (!choleskyFactor(D, m)) {
    return false;
  }
  if (!grounded) {
    divideByFactor<M>(cluster, D, U);
    for (int i = 0; i < m; ++i) {
      work.IA[cluster.output].addOuter(T(-1), U[i]);  // (3)
    }
  }
  return true;
}

/// (1) and (2) of one cluster with composite inertias, which go on to the output body whole.
template <int M, typename T, typename R>
KEMPE_HD void composeCluster(const TablesView<R>& tables, const ClusterEntry& cluster,
                             const WorkView<T>& work) {
  clearCluster<M>(cluster, work);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      addRotor<M>(tables, cluster, body, work);
      continue;
    }
    addBody<M>(cluster, work.Ic[b], work.S + body.firstS, work);
    if (cluster.output != kWorld) {
      work.Ic[cluster.output] += work.Ic[b];
    }
  }
  addArmatures<M>(tables, cluster, work);
}

/// Inertias of all bodies in the common frame, and (1) to (3) of all clusters, after
/// placeMechanism. Returns a cluster whose D is not positive definite, or −1.
template <typename T, typename R>
KEMPE_HD int condenseInertias(const TablesView<R>& tables, const WorkView<T>& work) {
  for (int b = 0; b < tables.bodyCount; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      continue;
    }
    work.I[b] = work.X[b] * body.inertia.template cast<T>();
    if (body.carrier) {
      work.IA[b] = ArticulatedInertia<T>::fromRigid(work.I[b]);
    }
  }
  for (int c = tables.clusterCount - 1; c >= 0; --c) {
    bool definite = true;
    withSize(tables.clusters[c].nv,
             [&]<int M>() { definite = condenseInertia<M>(tables, tables.clusters[c], work); });
    if (!definite) {
      return c;
    }
  }
  return -1;
}

/// L⁻¹ x in place.
template <int M, typename T>
KEMPE_HD void forwardSubstitute(int size, const T* L, T* x) {
  const int m = M > 0 ? M : size;
  for (int i = 0; i < m; ++i) {
    T sum = x[i];
    for (int k = 0; k < i; ++k) {
      sum -= L[i * m + k] * x[k];
    }
    x[i] = sum / L[i * m + i];
  }
}

/// L⁻ᵀ x in place.
template <int M, typename T>
KEMPE_HD void backSubstitute(int size, const T* L, T* x) {
  const int m = M > 0 ? M : size;
  for (int i = m - 1; i >= 0; --i) {
    T sum = x[i];
    for (int k = i + 1; k < m; ++k) {
      sum -= L[k * m + i] * x[k];
    }
    x[i] = sum / L[i * m + i];
  }
}

/// (4) and (5) of one cluster, after its inertia: work.u holds τ on entry and L⁻¹ u on return,
/// work.f holds pA.
template <int M, typename T, typename R>
KEMPE_HD void condenseForce(const TablesView<R>& tables, const ClusterEntry& cluster,
                            const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  T* u = work.u + cluster.firstV;
  const bool grounded = cluster.output == kWorld;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (!body.folded) {
      const Motion<T>* S = work.S + body.firstS;
      for (int i = 0; i < m; ++i) {
        u[i] -= dot(work.f[b], S[i]);  // (4)
      }
      if (!grounded) {
        work.f[cluster.output] += work.f[b];
      }
    }
  }
  forwardSubstitute<M>(m, work.D + cluster.firstD, u);
  if (!grounded) {
    for (int i = 0; i < m; ++i) {
      work.f[cluster.output] += u[i] * work.U[cluster.firstV + i];  // (5)
    }
  }
}

/// (6) of one cluster, and δa of those of its bodies that carry clusters, into work.a.
template <int M, typename T, typename R>
KEMPE_HD void accelerateCluster(const TablesView<R>& tables, const ClusterEntry& cluster,
                                const WorkView<T>& work, T* ydd) {
  const int m = M > 0 ? M : cluster.nv;
  T* y = ydd + cluster.firstV;
  const bool grounded = cluster.output == kWorld;
  const Motion<T> output = grounded ? Motion<T>{} : work.a[cluster.output];
  for (int i = 0; i < m; ++i) {
    y[i] = work.u[cluster.firstV + i];
    if (!grounded) {
      y[i] -= dot(work.U[cluster.firstV + i], output);
    }
  }
  backSubstitute<M>(m, work.D + cluster.firstD, y);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.carrier) {
      Motion<T> a = output;
      for (int i = 0; i < m; ++i) {
        a += y[i] * work.S[body.firstS + i];
      }
      work.a[b] = a;
    }
  }
}

}  // namespace kempe::detail
