#pragma once

#include "kempe/spatial/factorization.hpp"
#include "loops/scratch.hpp"

/// How independent velocities determine all velocities of a cluster: q̇ = G ẏ, q̈ = G ÿ + g.
/// For an implicit cluster, with K split into dependent and independent columns:
///
///   G_d = −K_d⁻¹ K_i      g_d = K_d⁻¹ k                            (1)
namespace kempe::detail {

/// Pivots of K_d below this fraction of the largest mean a singular position.
template <typename T>
inline constexpr T kSingular = std::is_same_v<T, float> ? T(1e-5) : T(1e-9);

/// Writes G (n×m, row-major) of a placed cluster. Returns how far from singular K_d is (ratio of
/// its smallest to its largest pivot); below kSingular, G is not usable. Leaves K_d factored in
/// `scratch` for clusterBias.
template <typename T>
T clusterJacobian(const ModelTables<T>& tables, const Functions& functions,
                  const ClusterEntry& cluster, const ClusterState<T>& state,
                  LoopScratch<T>& scratch, T* G) {
  const int n = cluster.velocities, m = cluster.nv, d = cluster.kept;
  if (cluster.kind == ClusterKind::Explicit) {
    std::copy_n(tables.G.data() + cluster.firstG, n * m, G);
    return T(1);
  }
  std::fill_n(G, n * m, T(0));
  const int* independent = tables.independent.data() + cluster.firstIndependent;
  const int* dependent = tables.dependent.data() + cluster.firstDependent;
  for (int j = 0; j < m; ++j) {
    G[independent[j] * m + j] = T(1);
  }
  if (cluster.kind == ClusterKind::Tree) {
    return T(1);
  }
  loopJacobian(tables, functions, cluster, state, scratch.forFunctions(),
               tables.rowSlots.data() + cluster.firstRow, d, scratch.K.data());
  T* factor = scratch.factors.data() + cluster.firstFactor;
  int* pivots = scratch.pivots.data() + cluster.firstDependent;
  for (int r = 0; r < d; ++r) {
    const T* row = scratch.K.data() + r * n;
    for (int j = 0; j < d; ++j) {
      factor[r * d + j] = row[dependent[j]];
    }
    for (int j = 0; j < m; ++j) {
      scratch.rightSide[r * m + j] = -row[independent[j]];
    }
  }
  const T ratio = luFactor(factor, d, pivots);
  if (!(ratio >= kSingular<T>)) {
    return ratio;
  }
  luSolve(factor, d, pivots, scratch.rightSide.data(), m);
  for (int i = 0; i < d; ++i) {  // (1)
    std::copy_n(scratch.rightSide.data() + i * m, m, G + dependent[i] * m);
  }
  return ratio;
}

/// Writes g (n) of a moving cluster, after clusterJacobian at the same position.
template <typename T>
void clusterBias(const ModelTables<T>& tables, const Functions& functions,
                 const ClusterEntry& cluster, const ClusterState<T>& state, LoopScratch<T>& scratch,
                 T* g) {
  std::fill_n(g, cluster.velocities, T(0));
  if (cluster.kind != ClusterKind::Implicit) {
    return;
  }
  const int d = cluster.kept;
  const int* dependent = tables.dependent.data() + cluster.firstDependent;
  loopBias(tables, functions, cluster, state, scratch.forFunctions(),
           tables.rowSlots.data() + cluster.firstRow, scratch.k.data());
  luSolve(scratch.factors.data() + cluster.firstFactor, d,
          scratch.pivots.data() + cluster.firstDependent, scratch.k.data(), 1);
  for (int i = 0; i < d; ++i) {  // (1)
    g[dependent[i]] = scratch.k[i];
  }
}

/// Writes Ġ (n×m, row-major) of a moving cluster, after clusterJacobian, which gave G, at the same
/// position: Ġ_d = −K_d⁻¹ K̇ G.
template <typename T>
void clusterJacobianRate(const ModelTables<T>& tables, const Functions& functions,
                         const ClusterEntry& cluster, const ClusterState<T>& state,
                         LoopScratch<T>& scratch, const Motion<T>* sRates, const T* G, T* rate) {
  const int n = cluster.velocities, m = cluster.nv, d = cluster.kept;
  std::fill_n(rate, n * m, T(0));
  if (cluster.kind != ClusterKind::Implicit) {
    return;
  }
  const int* dependent = tables.dependent.data() + cluster.firstDependent;
  loopJacobianRate(tables, functions, cluster, state, scratch.forFunctions(), sRates,
                   tables.rowSlots.data() + cluster.firstRow, d, scratch.K.data());
  for (int r = 0; r < d; ++r) {
    for (int j = 0; j < m; ++j) {
      T sum(0);
      for (int i = 0; i < n; ++i) {
        sum -= scratch.K[r * n + i] * G[i * m + j];
      }
      scratch.rightSide[r * m + j] = sum;
    }
  }
  luSolve(scratch.factors.data() + cluster.firstFactor, d,
          scratch.pivots.data() + cluster.firstDependent, scratch.rightSide.data(), m);
  for (int i = 0; i < d; ++i) {
    std::copy_n(scratch.rightSide.data() + i * m, m, rate + dependent[i] * m);
  }
}

}  // namespace kempe::detail
