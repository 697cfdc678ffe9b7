#pragma once

#include "algorithms/kernels/articulated.hpp"

namespace kempe::detail {

/// C-CRBA in the common frame, with composite inertias in place of IA of articulated.hpp:
///
///   F = Σ I_i S_i, H_kk = Σ S_iᵀ I_i S_i (rotors and armatures as there), H_jk = S_bᵀ F
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
      work.I[b] = aboutOrigin(placed(work.X[b], tables.bodies[b].central));
    }
  }
  // Rows of the ancestors' freedoms, and the same columns.
  const auto writeAncestors = [&](int output, int column, const Force<T>& F) {
    for (int b = output; b != kWorld;) {
      const ClusterEntry& ancestor = tables.clusters[tables.bodies[b].cluster];
      const Motion<T>* S = work.S + tables.bodies[b].firstS;
      for (int i = 0; i < ancestor.nv; ++i) {
        const T value = dot(F, S[i]);
        H[column * stride + ancestor.firstV + i] = value;
        H[(ancestor.firstV + i) * stride + column] = value;
      }
      b = ancestor.output;
    }
  };
  for (int c = tables.clusterCount - 1; c >= 0; --c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const int m = cluster.nv, first = cluster.firstV;
    if (shapeOf(cluster, work) == ClusterShape::Single) {
      const BodyEntry<R>& body = tables.bodies[cluster.moving];
      const Motion<T> s = work.S[body.firstS];
      Force<T> F = work.I[cluster.moving] * s;
      H[first * stride + first] = dot(F, s) + T(body.single.reflected);
      if (cluster.output != kWorld) {
        work.I[cluster.output] += work.I[cluster.moving];
        if (body.single.geared) {
          F.moment += turned(work.X[cluster.output].R, body.single.spin);
        }
        writeAncestors(cluster.output, first, F);
      }
      continue;
    }
    withSize(m, [&]<int M>() { composeCluster<M>(tables, cluster, work); });
    const T* D = work.D + cluster.firstD;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j <= i; ++j) {
        H[(first + j) * stride + first + i] = H[(first + i) * stride + first + j] = D[i * m + j];
      }
      writeAncestors(cluster.output, first + i, work.U[first + i]);
    }
  }
}

}  // namespace kempe::detail
