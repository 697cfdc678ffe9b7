#pragma once

#include <type_traits>

#include "kempe/spatial/factorization.hpp"
#include "loops/pack_factorization.hpp"
#include "loops/scratch.hpp"

/// How independent velocities determine all velocities of a cluster: q̇ = G ẏ, q̈ = G ÿ + g.
/// For an implicit cluster, with K split into dependent and independent columns:
///
///   G_d = −K_d⁻¹ K_i      g_d = K_d⁻¹ k                            (1)
namespace kempe::detail {

/// Pivots of K_d below this fraction of the largest indicate a singular configuration.
template <typename S>
inline constexpr S kSingular = std::is_same_v<S, float> ? S(1e-5) : S(1e-9);

/// For the ratio that factorLoops returns, of any state in it; NaN is singular too.
template <typename T>
KEMPE_HD bool isSingular(const T& ratio) {
  const T limit(kSingular<typename Lanes<T>::Scalar>);
  return any(select(ratio >= limit, T(0), T(1)) > T(0.5));
}

/// Calls solve(d) with d as a constant, once inlined, where it is small, as in most clusters.
template <typename Solve>
KEMPE_HD decltype(auto) withRows(int d, const Solve& solve) {
  switch (d) {
    case 1:
      return solve(1);
    case 2:
      return solve(2);
    case 3:
      return solve(3);
    case 4:
      return solve(4);
    default:
      return solve(d);
  }
}

/// Factors K_d of a cluster. Returns how far from singular it is: the ratio of its smallest to its
/// largest pivot.
template <typename T>
KEMPE_HD KEMPE_FLATTEN T factorLoops(const ClusterEntry& cluster, const LoopWork<T>& work) {
  T* factor = work.factors + cluster.firstFactor;
  return withRows(cluster.kept, [&](int d) {
    if constexpr (Lanes<T>::count > 1) {
      return packFactor(factor, d, work.swaps + cluster.firstSwap);
    } else {
      return luFactor(factor, d, work.pivots + cluster.firstDependent);
    }
  });
}

/// K_d⁻¹ b in place for `columns` right-hand sides, after factorLoops.
template <typename T>
KEMPE_HD KEMPE_FLATTEN void solveLoops(const ClusterEntry& cluster, const LoopWork<T>& work, T* b,
                                       int columns) {
  const T* factor = work.factors + cluster.firstFactor;
  withRows(cluster.kept, [&](int d) {
    if constexpr (Lanes<T>::count > 1) {
      packSolve(factor, d, work.swaps + cluster.firstSwap, b, columns);
    } else {
      luSolve(factor, d, work.pivots + cluster.firstDependent, b, columns);
    }
  });
}

/// K_d⁻ᵀ b in place for one right-hand side, after factorLoops.
template <typename T>
KEMPE_HD void solveLoopsTransposed(const ClusterEntry& cluster, const LoopWork<T>& work, T* b) {
  const T* factor = work.factors + cluster.firstFactor;
  if constexpr (Lanes<T>::count > 1) {
    packSolveTransposed(factor, cluster.kept, work.swaps + cluster.firstSwap, b);
  } else {
    luSolveTransposed(factor, cluster.kept, work.pivots + cluster.firstDependent, b);
  }
}

/// Writes G (n×m, row-major) of a placed implicit cluster. Returns how far from singular K_d is;
/// where isSingular, G is not usable. Leaves K_d factored for clusterBias.
template <typename T>
KEMPE_HD KEMPE_FLATTEN T implicitJacobian(const TablesOf<T>& tables, const FunctionCalls& functions,
                                          const ClusterEntry& cluster, const ClusterState<T>& state,
                                          const LoopWork<T>& work, const FunctionScratch& scratch,
                                          T* G) {
  const int n = cluster.velocities, m = cluster.nv, d = cluster.kept;
  const int* independent = tables.independent + cluster.firstIndependent;
  const int* dependent = tables.dependent + cluster.firstDependent;
  T* K = work.K + cluster.firstK;
  loopJacobian(tables, functions, cluster, state, scratch, tables.rowSlots + cluster.firstRow, d,
               K);
  T* factor = work.factors + cluster.firstFactor;
  for (int r = 0; r < d; ++r) {
    const T* row = K + r * n;
    for (int j = 0; j < d; ++j) {
      factor[r * d + j] = row[dependent[j]];
    }
    for (int j = 0; j < m; ++j) {
      work.rightSide[r * m + j] = -row[independent[j]];
    }
  }
  const T ratio = factorLoops(cluster, work);
  if (isSingular(ratio)) {
    return ratio;
  }
  solveLoops(cluster, work, work.rightSide, m);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      G[independent[i] * m + j] = T(i == j ? 1 : 0);
    }
  }
  for (int i = 0; i < d; ++i) {  // (1)
    for (int j = 0; j < m; ++j) {
      G[dependent[i] * m + j] = work.rightSide[i * m + j];
    }
  }
  return ratio;
}

/// Writes g (n) of a moving implicit cluster, after implicitJacobian at the same position.
template <typename T>
KEMPE_HD KEMPE_FLATTEN void implicitBias(const TablesOf<T>& tables, const FunctionCalls& functions,
                                         const ClusterEntry& cluster, const ClusterState<T>& state,
                                         const LoopWork<T>& work, const FunctionScratch& scratch,
                                         T* g) {
  loopBias(tables, functions, cluster, state, scratch, tables.rowSlots + cluster.firstRow, work.k);
  solveLoops(cluster, work, work.k, 1);
  for (int i = 0; i < cluster.nv; ++i) {
    g[tables.independent[cluster.firstIndependent + i]] = T(0);
  }
  for (int i = 0; i < cluster.kept; ++i) {  // (1)
    g[tables.dependent[cluster.firstDependent + i]] = work.k[i];
  }
}

/// implicitJacobian of a cluster of any kind; 1 where there is nothing to solve.
template <typename T>
T clusterJacobian(const TablesOf<T>& tables, const FunctionCalls& functions,
                  const ClusterEntry& cluster, const ClusterState<T>& state,
                  LoopScratch<T>& scratch, T* G) {
  const int n = cluster.velocities, m = cluster.nv;
  if (cluster.kind == ClusterKind::Implicit) {
    return implicitJacobian(tables, functions, cluster, state, scratch.work(),
                            scratch.forFunctions(), G);
  }
  if (cluster.kind == ClusterKind::Explicit) {
    std::copy_n(tables.G.data() + cluster.firstG, n * m, G);
    return T(1);
  }
  for (int i = 0; i < n * m; ++i) {
    G[i] = T(i % (m + 1) == 0 ? 1 : 0);
  }
  return T(1);
}

/// implicitBias of a cluster of any kind.
template <typename T>
void clusterBias(const TablesOf<T>& tables, const FunctionCalls& functions,
                 const ClusterEntry& cluster, const ClusterState<T>& state, LoopScratch<T>& scratch,
                 T* g) {
  if (cluster.kind == ClusterKind::Implicit) {
    implicitBias(tables, functions, cluster, state, scratch.work(), scratch.forFunctions(), g);
  } else {
    std::fill_n(g, cluster.velocities, T(0));
  }
}

/// Writes Ġ (n×m, row-major) of a moving cluster, after clusterJacobian, which gave G, at the same
/// position: Ġ_d = −K_d⁻¹ K̇ G.
template <typename T>
KEMPE_HD void clusterJacobianRate(const TablesOf<T>& tables, const FunctionCalls& functions,
                                  const ClusterEntry& cluster, const ClusterState<T>& state,
                                  const LoopWork<T>& work, const FunctionScratch& scratch,
                                  const Motion<T>* sRates, const T* G, T* rate) {
  const int n = cluster.velocities, m = cluster.nv, d = cluster.kept;
  for (int i = 0; i < n * m; ++i) {
    rate[i] = T(0);
  }
  if (cluster.kind != ClusterKind::Implicit) {
    return;
  }
  const int* dependent = tables.dependent + cluster.firstDependent;
  loopJacobianRate(tables, functions, cluster, state, scratch, sRates,
                   tables.rowSlots + cluster.firstRow, d, work.K + cluster.firstK);
  for (int r = 0; r < d; ++r) {
    for (int j = 0; j < m; ++j) {
      T sum(0);
      for (int i = 0; i < n; ++i) {
        sum -= work.K[cluster.firstK + r * n + i] * G[i * m + j];
      }
      work.rightSide[r * m + j] = sum;
    }
  }
  solveLoops(cluster, work, work.rightSide, m);
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < m; ++j) {
      rate[dependent[i] * m + j] = work.rightSide[i * m + j];
    }
  }
}

}  // namespace kempe::detail
