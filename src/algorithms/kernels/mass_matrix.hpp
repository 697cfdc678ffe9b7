#pragma once

#include "algorithms/kernels/articulated.hpp"

namespace kempe::detail {

/// C-CRBA in the common frame, with composite inertias Ic in place of IA of articulated.hpp:
///
///   F = Σ Ic_i S_i, H_kk = Σ S_iᵀ Ic_i S_i (rotors and armatures as there), H_jk = S_bᵀ F
///
/// where b is the body of cluster j that carries cluster k. Needs placeMechanism. H is column-major
/// with `stride` numbers from column to column.
template <typename T, typename R>
KEMPE_HD void massMatrixKernel(const TablesView<R>& tables, const WorkView<T>& work, T* H,
                               int stride) {
  for (int j = 0; j < tables.nv; ++j) {
    for (int i = 0; i < tables.nv; ++i) {
      H[j * stride + i] = T(0);
    }
  }
  for (int b = 0; b < tables.bodyCount; ++b) {
    if (!tables.bodies[b].folded) {
      work.Ic[b] = work.X[b] * tables.bodies[b].inertia.template cast<T>();
    }
  }
  for (int c = tables.clusterCount - 1; c >= 0; --c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const int m = cluster.nv, first = cluster.firstV;
    withSize(m, [&]<int M>() { composeCluster<M>(tables, cluster, work); });
    const T* D = work.D + cluster.firstD;
    const Force<T>* F = work.U + first;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j <= i; ++j) {
        H[(first + j) * stride + first + i] = H[(first + i) * stride + first + j] = D[i * m + j];
      }
    }
    for (int b = cluster.output; b != kWorld;) {
      const ClusterEntry& ancestor = tables.clusters[tables.bodies[b].cluster];
      const Motion<T>* S = work.S + tables.bodies[b].firstS;
      for (int i = 0; i < ancestor.nv; ++i) {
        for (int j = 0; j < m; ++j) {
          const T value = dot(F[j], S[i]);
          H[(first + j) * stride + ancestor.firstV + i] = value;
          H[(ancestor.firstV + i) * stride + first + j] = value;
        }
      }
      b = ancestor.output;
    }
  }
}

}  // namespace kempe::detail
