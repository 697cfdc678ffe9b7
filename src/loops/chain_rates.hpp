#pragma once

#include "loops/cluster_velocity.hpp"

namespace kempe::detail {

/// Writes K and the rates q̇ (n) of all velocities of a placed implicit cluster without couplings,
/// from the independent ones ẏ: q̇_d = −K_d⁻¹ K_i ẏ, without G, which takes m times as long. Returns
/// how far from singular K_d is; where isSingular, the rates are not usable. Leaves K_d factored. K
/// is that of the recursions, see implicitJacobian.
template <typename T>
KEMPE_HD KEMPE_FLATTEN T implicitRates(const TablesOf<T>& tables, const FunctionCalls& functions,
                                       const ClusterEntry& cluster, const ClusterState<T>& state,
                                       const LoopWork<T>& work, const FunctionScratch& scratch,
                                       const T* yd, T* rates) {
  const int n = cluster.velocities, m = cluster.nv, d = cluster.kept;
  const int* independent = tables.independent + cluster.firstIndependent;
  const int* dependent = tables.dependent + cluster.firstDependent;
  T* K = work.K + cluster.firstK;
  forSolvedLoops<T>(tables, cluster, [&](const auto& loop) {
    jacobianOfLoop(tables, functions, loop, state, scratch, [&](int r) -> T* {
      const int slot = slotOf(loop, r, tables.rowSlots + cluster.firstRow);
      return slot < 0 ? nullptr : K + slot * n;
    });
  });
  for (int j = 0; j < n; ++j) {
    rates[j] = T(0);
  }
  for (int j = 0; j < m; ++j) {
    rates[independent[j]] = yd[j];
  }
  T* const factor = work.factors + cluster.firstFactor;
  for (int r = 0; r < d; ++r) {
    const T* row = K + r * n;
    for (int j = 0; j < d; ++j) {
      factor[r * d + j] = row[dependent[j]];
    }
    T sum(0);
    for (int j = 0; j < n; ++j) {  // those of dependent velocities are still zero
      sum -= row[j] * rates[j];
    }
    work.rightSide[r] = sum;
  }
  const T ratio = factorLoops(tables, cluster, work);
  if (isSingular(ratio)) {
    return ratio;
  }
  solveFactored<false>(cluster, work, work.rightSide, 1);
  for (int i = 0; i < d; ++i) {
    rates[dependent[i]] = work.rightSide[i];
  }
  return ratio;
}

}  // namespace kempe::detail
