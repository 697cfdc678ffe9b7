#pragma once

#include "kernels/articulated.hpp"
#include "kernels/external_forces.hpp"

/// C-EFPA for the six unit forces of each of several frames, after condenseInertias: with χ a force
/// that reaches the body at hand, and L, Δ, Y of articulated.hpp,
///
///   w = L⁻¹ S_bᵀ χ      χ ← χ − Y Δ⁻¹ w      b ← output body           (1)
///
/// from body to root, and Ω_ee' = Σ w_eᵀ Δ⁻¹ w_e' over the clusters that carry both frames.  (2)
namespace kempe::detail {

/// Six forces, by components: row i of component i in all of them.
template <typename T>
struct SixForces {
  T component[6][6];  ///< [moment; force] × forces
};

/// The unit forces, [linear; angular], of a frame in the common frame.
template <typename T, typename R>
KEMPE_HD SixForces<T> unitForcesOf(const BodyFrame<R>& frame, const WorkView<T>& work) {
  const Transform<T> X = referenceFrame(frame, work);
  SixForces<T> forces;
  for (int k = 0; k < 3; ++k) {
    const Vec3<T> axis = X.R.column(k);
    const Vec3<T> moment = cross(X.p, axis);
    for (int i = 0; i < 3; ++i) {
      forces.component[i][k] = moment[i];
      forces.component[i + 3][k] = axis[i];
      forces.component[i][k + 3] = axis[i];
      forces.component[i + 3][k + 3] = T(0);
    }
  }
  return forces;
}

/// wᵀ of one DoF: Sᵀ χ for six forces.
template <typename T>
KEMPE_HD void alongMotion(const SixForces<T>& forces, const Motion<T>& S, T* w) {
  for (int k = 0; k < 6; ++k) {
    w[k] = forces.component[0][k] * S.angular[0];
  }
  for (int i = 1; i < 6; ++i) {
    const T s = i < 3 ? S.angular[i] : S.linear[i - 3];
    for (int k = 0; k < 6; ++k) {
      w[k] += forces.component[i][k] * s;
    }
  }
}

/// (1): W, nv × 6 row-major, written where the forces reach.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void propagateForces(const Tables& tables, const WorkView<T>& work,
                              const BodyFrame<R>& frame, T* W) {
  SixForces<T> forces = unitForcesOf(frame, work);
  for (int b = frame.body; b != kWorld;) {
    const BodyEntry<R>& body = tables.bodies[b];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    T* own = W + 6 * cluster.firstV;
    const bool base = shapeOf(cluster, work) == ClusterShape::FreeBase;
    for (int i = 0; i < cluster.nv; ++i) {
      T* w = own + 6 * i;
      if (base) {
        for (int k = 0; k < 6; ++k) {
          w[k] = forces.component[i][k];
        }
      } else {
        alongMotion(forces, work.S[body.firstS + i], w);
      }
      const T* L = work.D + cluster.firstD + i * cluster.nv;
      for (int j = 0; j < i; ++j) {
        for (int k = 0; k < 6; ++k) {
          w[k] -= L[j] * own[6 * j + k];
        }
      }
    }
    for (int i = 0; cluster.output != kWorld && i < cluster.nv; ++i) {
      const Force<T> Y = work.dInverse[cluster.firstV + i] * work.U[cluster.firstV + i];
      for (int r = 0; r < 6; ++r) {
        const T y = r < 3 ? Y.moment[r] : Y.force[r - 3];
        for (int k = 0; k < 6; ++k) {
          forces.component[r][k] -= y * own[6 * i + k];
        }
      }
    }
    b = cluster.output;
  }
}

/// The cluster of a body, or −1 of the world.
template <typename Tables>
KEMPE_HD int clusterOf(const Tables& tables, int body) {
  return body == kWorld ? -1 : tables.bodies[body].cluster;
}

/// (2) of two frames, with W of each; 6×6 row-major.
template <typename T, typename Tables>
KEMPE_HD void addProducts(const Tables& tables, const WorkView<T>& work, int bodyA, const T* A,
                          int bodyB, const T* B, T* product) {
  int a = clusterOf(tables, bodyA), b = clusterOf(tables, bodyB);
  while (a != b) {  // clusters come after those that carry them
    int& later = a > b ? a : b;
    later = clusterOf(tables, tables.clusters[later].output);
  }
  for (int i = 0; i < 36; ++i) {
    product[i] = T(0);
  }
  for (; a >= 0; a = clusterOf(tables, tables.clusters[a].output)) {
    const ClusterEntry& cluster = tables.clusters[a];
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      for (int k = 0; k < 6; ++k) {
        const T scaled = work.dInverse[i] * A[6 * i + k];
        for (int l = 0; l < 6; ++l) {
          product[6 * k + l] += scaled * B[6 * i + l];
        }
      }
    }
  }
}

/// Ω of `count` frames, 6 count × 6 count with `stride` numbers from row to row. `W` has room for
/// 6 nv numbers of each frame. Forces on rotors need wholeRotors.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD void operationalInertiaKernel(const Tables& tables, const WorkView<T>& work,
                                       const BodyFrame<R>* frames, int count, T* W, T* Omega,
                                       int stride) {
  for (int f = 0; f < count; ++f) {
    propagateForces(tables, work, frames[f], W + 6 * tables.nv * f);
  }
  for (int f = 0; f < count; ++f) {
    for (int g = 0; g <= f; ++g) {
      T product[36];
      addProducts(tables, work, frames[f].body, W + 6 * tables.nv * f, frames[g].body,
                  W + 6 * tables.nv * g, product);
      for (int k = 0; k < 6; ++k) {
        for (int l = 0; l < 6; ++l) {
          Omega[(6 * f + k) * stride + 6 * g + l] = product[6 * k + l];
          Omega[(6 * g + l) * stride + 6 * f + k] = product[6 * k + l];
        }
      }
    }
  }
}

}  // namespace kempe::detail
