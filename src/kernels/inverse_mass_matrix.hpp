#pragma once

#include "kernels/articulated.hpp"

namespace kempe::detail {

/// x ← H⁻¹ x, after condenseInertias: C-ABA at rest without gravity, where x are the forces.
template <typename T, typename R>
KEMPE_HD void applyInverseMassMatrixKernel(const TablesView<R>& tables, const WorkView<T>& work,
                                           T* x) {
  for (int b = 0; b < tables.bodyCount; ++b) {
    work.f[b] = {};
  }
  for (int i = 0; i < tables.nv; ++i) {
    work.u[i] = x[i];
  }
  for (int k = tables.clusterCount - 1; k >= 0; --k) {
    condenseClusterForce(tables, tables.clusters[tables.order[k]], work);
  }
  accelerateClusters(tables, work, x);
}

}  // namespace kempe::detail
