#pragma once

#include "algorithms/kernels/articulated.hpp"

namespace kempe::detail {

/// C-EFPA for six forces on body b, after condenseInertias: with χ a force that reaches the body at
/// hand, and L, Y of articulated.hpp,
///
///   W = L⁻¹ S_bᵀ χ      χ ← χ − Y W      b ← output body
///
/// from body to root. Ω_ee' is the sum of W_eᵀ W_e' over all clusters. Writes W, nv × 6
/// column-major (zero where the forces do not reach). Forces on rotors need wholeRotors.
template <typename T, typename R>
KEMPE_HD void propagateForces(const TablesView<R>& tables, const WorkView<T>& work, int b,
                              Force<T>* forces, T* W) {
  for (int i = 0; i < 6 * tables.nv; ++i) {
    W[i] = T(0);
  }
  while (b != kWorld) {
    const BodyEntry<R>& body = tables.bodies[b];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    withSize(cluster.nv, [&]<int M>() {
      const int m = M > 0 ? M : cluster.nv;
      for (int k = 0; k < 6; ++k) {
        T* w = W + k * tables.nv + cluster.firstV;
        for (int i = 0; i < m; ++i) {
          w[i] = dot(forces[k], work.S[body.firstS + i]);
        }
        forwardSubstitute<M>(m, work.D + cluster.firstD, w);
        if (cluster.output != kWorld) {
          for (int i = 0; i < m; ++i) {
            forces[k] -= w[i] * work.U[cluster.firstV + i];
          }
        }
      }
    });
    b = cluster.output;
  }
}

}  // namespace kempe::detail
