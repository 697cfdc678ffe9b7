#pragma once

#include "algorithms/kernels/articulated.hpp"

namespace kempe::detail {

/// C-EFPA for one unit force on body b, after condenseInertias: with χ the force that reaches the
/// body at hand, and L, Y of articulated.hpp,
///
///   W = L⁻¹ S_bᵀ χ      χ ← χ − Y W      b ← output body
///
/// from body to root. Ω_ee' is the sum of W_eᵀ W_e' over all clusters. Writes W for all freedoms
/// (nv; zero where the force does not reach). Needs wholeRotors for forces on rotors.
template <typename T, typename R>
KEMPE_HD void propagateForce(const TablesView<R>& tables, const WorkView<T>& work, int b,
                             Force<T> force, T* W) {
  for (int i = 0; i < tables.nv; ++i) {
    W[i] = T(0);
  }
  while (b != kWorld) {
    const BodyEntry<R>& body = tables.bodies[b];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    T* w = W + cluster.firstV;
    withSize(cluster.nv, [&]<int M>() {
      const int m = M > 0 ? M : cluster.nv;
      for (int i = 0; i < m; ++i) {
        w[i] = dot(force, work.S[body.firstS + i]);
      }
      forwardSubstitute<M>(m, work.D + cluster.firstD, w);
      if (cluster.output != kWorld) {
        for (int i = 0; i < m; ++i) {
          force -= w[i] * work.U[cluster.firstV + i];
        }
      }
    });
    b = cluster.output;
  }
}

}  // namespace kempe::detail
