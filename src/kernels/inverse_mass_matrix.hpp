#pragma once

#include "kernels/articulated.hpp"

namespace kempe::detail {

/// x ← H⁻¹ x, after condenseInertias: C-ABA at rest without gravity, where x are the forces.
template <typename T, typename Tables>
KEMPE_HD void applyInverseMassMatrixKernel(const Tables& tables, const WorkView<T>& work, T* x) {
  for (int b = 0; b < tables.bodyCount; ++b) {
    work.f[b] = {};
  }
  for (int i = 0; i < tables.nv; ++i) {
    work.u[i] = x[i];
  }
  forEachCluster<Direction::Inward>(
      tables, [&](int c) { condenseClusterForce(tables, tables.clusters[c], work); });
  accelerateClusters(tables, work, x);
}

}  // namespace kempe::detail
