#pragma once

#include <type_traits>

#include "kempe/spatial/factorization.hpp"
#include "loops/band_factorization.hpp"
#include "loops/pack_factorization.hpp"
#include "loops/scratch.hpp"
#include "loops/substitution.hpp"

/// How independent velocities determine all velocities of a cluster: q̇ = G ẏ, q̈ = G ÿ + g.
/// For an implicit cluster, with K split into dependent and independent columns:
///
///   G_d = −K_d⁻¹ K_i      g_d = K_d⁻¹ k                            (1)
///
/// Where rows are couplings, K_d is factored by blocks: (2) and (3) of substitution.hpp.
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

/// The smallest and the largest pivot of a matrix, both times `unit`.
template <typename T>
struct PivotRange {
  T smallest, largest, unit;

  KEMPE_HD void include(const T& pivot) {
    smallest = select(pivot < smallest, pivot, smallest);
    largest = select(pivot > largest, pivot, largest);
  }
};

/// Inverts a matrix of one or two rows in place. Its pivots are those of elimination with exchange of
/// rows, p and det / p; p is the unit.
template <typename T>
KEMPE_HD PivotRange<T> invertSmall(T* a, int n) {
  using std::abs;
  if (n == 1) {
    const T size = abs(a[0]);
    a[0] = T(1) / a[0];
    return {size, size, T(1)};
  }
  const T det = a[0] * a[3] - a[1] * a[2], inverse = T(1) / det;
  const T first = abs(a[0]), second = abs(a[2]);
  const T p = select(first > second, first, second);
  PivotRange<T> range{p * p, p * p, p};
  range.include(abs(det));
  const T corner = a[0];
  a[0] = inverse * a[3];
  a[1] = -inverse * a[1];
  a[2] = -inverse * a[2];
  a[3] = inverse * corner;
  return range;
}

/// a b in place, with a as invertSmall left it.
template <typename T>
KEMPE_HD void timesSmall(const T* a, int n, T* b, int columns) {
  for (int k = 0; k < columns; ++k) {
    if (n == 1) {
      b[k] = a[0] * b[k];
    } else {
      const T x = b[k], y = b[columns + k];
      b[k] = a[0] * x + a[1] * y;
      b[columns + k] = a[2] * x + a[3] * y;
    }
  }
}

/// The band of K_d, of clusters that have one.
KEMPE_HD inline Band bandOf(const ClusterEntry& cluster) {
  return {cluster.kept, cluster.lower, cluster.upper};
}
template <typename T>
KEMPE_HD auto bandExchanges(const ClusterEntry& cluster, const LoopWork<T>& work) {
  if constexpr (Lanes<T>::count > 1) {
    return LaneExchanges<T>{work.swaps + cluster.firstSwap};
  } else {
    return RowExchanges<T>{work.pivots + cluster.firstDependent};
  }
}

/// Factors the matrix of (3) of substitution.hpp, which is K_d where no row is a coupling. Up to two
/// rows are inverted. Returns how far from singular K_d is: the ratio of its smallest to its largest
/// pivot.
template <typename T>
KEMPE_HD KEMPE_FLATTEN T factorLoops(const TablesOf<T>& tables, const ClusterEntry& cluster,
                                     const LoopWork<T>& work) {
  using std::abs;
  T* factor = work.factors + cluster.firstFactor;
  if (cluster.banded) {
    return bandFactor(factor, bandOf(cluster), bandExchanges(cluster, work));
  }
  PivotRange<T> range = withRows(cluster.kept - cluster.couplings, [&](int d) -> PivotRange<T> {
    if (d == 1 || d == 2) {
      return invertSmall(factor, d);
    }
    T ratio(1);
    if constexpr (Lanes<T>::count > 1) {
      ratio = packFactor(factor, d, work.swaps + cluster.firstSwap);
    } else {
      ratio = luFactor(factor, d, work.pivots + cluster.firstDependent);
    }
    PivotRange<T> found{ratio, T(1), T(1)};
    if (cluster.couplings > 0 && d > 0) {
      T largest = abs(factor[0]);
      for (int i = 1; i < d; ++i) {
        const T size = abs(factor[i * (d + 1)]);
        largest = select(size > largest, size, largest);
      }
      found = {ratio * largest, largest, T(1)};
    }
    return found;
  });
  if (cluster.couplings > 0) {
    const auto* constant = Substitution(tables, cluster).pivots;
    const T smallest = range.unit * T(constant[0]), largest = range.unit * T(constant[1]);
    if (cluster.couplings == cluster.kept) {
      return smallest / largest;
    }
    range.include(smallest);
    range.include(largest);
  }
  return range.smallest / range.largest;
}

/// The solution in place for the matrix that factorLoops left, or for its transpose (one column).
template <bool kTransposed, typename T>
KEMPE_HD KEMPE_FLATTEN void solveFactored(const ClusterEntry& cluster, const LoopWork<T>& work,
                                          T* b, int columns) {
  const T* factor = work.factors + cluster.firstFactor;
  if (cluster.banded) {
    const auto exchanges = bandExchanges(cluster, work);
    kTransposed ? bandSolveTransposed(factor, bandOf(cluster), exchanges, b)
                : bandSolve(factor, bandOf(cluster), exchanges, b, columns);
    return;
  }
  withRows(cluster.kept - cluster.couplings, [&](int d) {
    if (d == 2 && kTransposed) {
      const T transposed[] = {factor[0], factor[2], factor[1], factor[3]};
      timesSmall(transposed, d, b, columns);
    } else if (d == 1 || d == 2) {
      timesSmall(factor, d, b, columns);
    } else if constexpr (Lanes<T>::count > 1) {
      const T* swaps = work.swaps + cluster.firstSwap;
      kTransposed ? packSolveTransposed(factor, d, swaps, b)
                  : packSolve(factor, d, swaps, b, columns);
    } else {
      const int* pivots = work.pivots + cluster.firstDependent;
      kTransposed ? luSolveTransposed(factor, d, pivots, b)
                  : luSolve(factor, d, pivots, b, columns);
    }
  });
}

/// The columns N_c of (3) of substitution.hpp, z × c, which lie behind the factor.
template <typename T>
KEMPE_HD T* coupledColumns(const ClusterEntry& cluster, const LoopWork<T>& work) {
  const int z = cluster.kept - cluster.couplings;
  return work.factors + cluster.firstFactor + z * z;
}

/// K_d⁻¹ b in place for `columns` right-hand sides, after implicitJacobian. With couplings
///
///   t = P b_c,   x_z = (N_z + N_c B)⁻¹ (b_z − N_c t),   x_c = t + B x_z
template <typename T>
KEMPE_HD void solveLoops(const TablesOf<T>& tables, const ClusterEntry& cluster,
                         const LoopWork<T>& work, T* b, int columns) {
  if (cluster.couplings == 0) {
    solveFactored<false>(cluster, work, b, columns);
    return;
  }
  const Substitution s(tables, cluster);
  const T* N = coupledColumns(cluster, work);
  T *const t = work.sorted, *const x = t + s.c;
  for (int column = 0; column < columns; ++column) {
    for (int k = 0; k < s.c; ++k) {
      t[k] = T(0);
      for (int i = 0; i < s.c; ++i) {
        t[k] += T(s.P[k * s.c + i]) * b[s.slots[i] * columns + column];
      }
    }
    for (int r = 0; r < s.z; ++r) {
      x[r] = b[s.slots[s.c + r] * columns + column];
      for (int k = 0; k < s.c; ++k) {
        x[r] -= N[r * s.c + k] * t[k];
      }
    }
    solveFactored<false>(cluster, work, x, 1);
    for (int r = 0; r < s.z; ++r) {
      b[s.places[s.c + r] * columns + column] = x[r];
    }
    for (int k = 0; k < s.c; ++k) {
      for (int r = 0; r < s.z; ++r) {
        t[k] += T(s.B[k * s.z + r]) * x[r];
      }
      b[s.places[k] * columns + column] = t[k];
    }
  }
}

/// K_d⁻ᵀ b in place for one right-hand side, after implicitJacobian. With couplings
///
///   x_z = (N_z + N_c B)⁻ᵀ (b_z + Bᵀ b_c),   x_c = Pᵀ (b_c − N_cᵀ x_z)
template <typename T>
KEMPE_HD void solveLoopsTransposed(const TablesOf<T>& tables, const ClusterEntry& cluster,
                                   const LoopWork<T>& work, T* b) {
  if (cluster.couplings == 0) {
    solveFactored<true>(cluster, work, b, 1);
    return;
  }
  const Substitution s(tables, cluster);
  const T* N = coupledColumns(cluster, work);
  T *const t = work.sorted, *const x = t + s.c;
  for (int k = 0; k < s.c; ++k) {
    t[k] = b[s.places[k]];
  }
  for (int r = 0; r < s.z; ++r) {
    x[r] = b[s.places[s.c + r]];
    for (int k = 0; k < s.c; ++k) {
      x[r] += T(s.B[k * s.z + r]) * t[k];
    }
  }
  solveFactored<true>(cluster, work, x, 1);
  for (int r = 0; r < s.z; ++r) {
    b[s.slots[s.c + r]] = x[r];
    for (int k = 0; k < s.c; ++k) {
      t[k] -= N[r * s.c + k] * x[r];
    }
  }
  for (int k = 0; k < s.c; ++k) {
    T sum(0);
    for (int i = 0; i < s.c; ++i) {
      sum += T(s.P[i * s.c + k]) * t[i];
    }
    b[s.slots[k]] = sum;
  }
}

/// Calls kernel<Z, M>() with the rows that are factored and the independent velocities as constants
/// where they are few, 0 for any number.
template <typename Kernel>
KEMPE_HD decltype(auto) withLoopSizes(int z, int m, const Kernel& kernel) {
  if (z == 1) {
    if (m == 1) {
      return kernel.template operator()<1, 1>();
    }
    if (m == 2) {
      return kernel.template operator()<1, 2>();
    }
  } else if (z == 2) {
    if (m == 1) {
      return kernel.template operator()<2, 1>();
    }
    if (m == 2) {
      return kernel.template operator()<2, 2>();
    }
  }
  return kernel.template operator()<0, 0>();
}

/// (1) from the kept rows of K that are no couplings, in work.K. Returns as implicitJacobian.
template <int Z, int M, typename T>
KEMPE_HD T determineVelocities(const TablesOf<T>& tables, const ClusterEntry& cluster,
                               const LoopWork<T>& work, T* G) {
  const Substitution s(tables, cluster);
  const int n = cluster.velocities, c = s.c;
  const int z = Z > 0 ? Z : s.z, m = M > 0 ? M : s.m;
  const int* independent = tables.independent + cluster.firstIndependent;
  const int* remaining = c > 0 ? s.velocities + c : tables.dependent + cluster.firstDependent;
  T* const factor = work.factors + cluster.firstFactor;
  T* const N = coupledColumns(cluster, work);
  T ownRightSide[Z > 0 ? Z * M : 1];
  T* const rightSide = Z > 0 ? ownRightSide : work.rightSide;
  const bool banded = Z == 0 && cluster.banded;
  for (int r = 0; r < z; ++r) {
    const T* row = work.K + cluster.firstK + (c > 0 ? s.slots[c + r] : r) * n;
    const int end = banded ? bandOf(cluster).columnsEnd(r) : z;
    for (int j = banded ? bandOf(cluster).firstColumn(r) : 0; j < end; ++j) {
      factor[r * z + j] = row[remaining[j]];
    }
    for (int j = 0; j < m; ++j) {
      rightSide[r * m + j] = -row[independent[j]];
    }
    for (int k = 0; k < c; ++k) {  // (3) of substitution.hpp
      const T coupled = row[s.velocities[k]];
      N[r * c + k] = coupled;
      for (int j = 0; j < z; ++j) {
        factor[r * z + j] += coupled * T(s.B[k * z + j]);
      }
      for (int j = 0; j < m; ++j) {
        rightSide[r * m + j] -= coupled * T(s.C[k * m + j]);
      }
    }
  }
  const T ratio = factorLoops(tables, cluster, work);
  if (isSingular(ratio)) {
    return ratio;
  }
  if constexpr (Z > 0) {
    timesSmall(factor, Z, rightSide, M);
  } else {
    solveFactored<false>(cluster, work, rightSide, m);
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      G[independent[i] * m + j] = T(i == j ? 1 : 0);
    }
  }
  for (int i = 0; i < z; ++i) {  // (1)
    for (int j = 0; j < m; ++j) {
      G[remaining[i] * m + j] = rightSide[i * m + j];
    }
  }
  for (int k = 0; k < c; ++k) {  // (2) of substitution.hpp
    for (int j = 0; j < m; ++j) {
      T sum(s.C[k * m + j]);
      for (int i = 0; i < z; ++i) {
        sum += T(s.B[k * z + i]) * rightSide[i * m + j];
      }
      G[s.velocities[k] * m + j] = sum;
    }
  }
  return ratio;
}

/// Calls visit(loop) for the loops of a cluster other than couplings that are substituted.
template <typename T, typename Visit>
KEMPE_HD void forSolvedLoops(const TablesOf<T>& tables, const ClusterEntry& cluster,
                             const Visit& visit) {
  for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
    const auto& loop = tables.loops[l];
    if (cluster.couplings == 0 || loop.form.kind != RowKind::Coupling) {
      visit(loop);
    }
  }
}

/// Writes G (n×m, row-major) of a placed implicit cluster, and the kept rows of K. Returns how far
/// from singular K_d is; where isSingular, G is not usable. Leaves K_d factored for clusterBias.
/// The recursions keep K of each cluster in a place of its own, where the same numbers are zero at
/// every call (see writeConstants), and need no rows of couplings; kOwnRows leaves both out.
template <bool kOwnRows = false, typename T>
KEMPE_HD KEMPE_FLATTEN T implicitJacobian(const TablesOf<T>& tables, const FunctionCalls& functions,
                                          const ClusterEntry& cluster, const ClusterState<T>& state,
                                          const LoopWork<T>& work, const FunctionScratch& scratch,
                                          T* G) {
  const int* slots = tables.rowSlots + cluster.firstRow;
  T* K = work.K + cluster.firstK;
  if constexpr (kOwnRows) {
    forSolvedLoops<T>(tables, cluster, [&](const auto& loop) {
      jacobianOfLoop(tables, functions, loop, state, scratch, [&](int r) -> T* {
        const int slot = slotOf(loop, r, slots);
        return slot < 0 ? nullptr : K + slot * cluster.velocities;
      });
    });
  } else {
    loopJacobian(tables, functions, cluster, state, scratch, slots, cluster.kept, K);
  }
  return withLoopSizes(cluster.kept - cluster.couplings, cluster.nv, [&]<int Z, int M>() {
    return determineVelocities<Z, M>(tables, cluster, work, G);
  });
}

/// g from k of the kept rows in work.k.
template <int Z, typename T>
KEMPE_HD void determineBias(const TablesOf<T>& tables, const ClusterEntry& cluster,
                            const LoopWork<T>& work, T* g) {
  const Substitution s(tables, cluster);
  const int c = s.c, z = Z > 0 ? Z : s.z;
  const int* remaining = c > 0 ? s.velocities + c : tables.dependent + cluster.firstDependent;
  T ownSide[Z + static_cast<int>(Z == 0)];
  T* const x = Z > 0 ? ownSide : work.sorted;
  for (int r = 0; r < z; ++r) {
    x[r] = work.k[c > 0 ? s.slots[c + r] : r];
  }
  if constexpr (Z > 0) {
    timesSmall(work.factors + cluster.firstFactor, Z, x, 1);
  } else {
    solveFactored<false>(cluster, work, x, 1);
  }
  for (int i = 0; i < cluster.nv; ++i) {
    g[tables.independent[cluster.firstIndependent + i]] = T(0);
  }
  for (int i = 0; i < z; ++i) {  // (1)
    g[remaining[i]] = x[i];
  }
  for (int k = 0; k < c; ++k) {  // (2) of substitution.hpp
    T sum(0);
    for (int i = 0; i < z; ++i) {
      sum += T(s.B[k * z + i]) * x[i];
    }
    g[s.velocities[k]] = sum;
  }
}

/// Writes g (n) of a moving implicit cluster, after implicitJacobian at the same position.
template <typename T>
KEMPE_HD KEMPE_FLATTEN void implicitBias(const TablesOf<T>& tables, const FunctionCalls& functions,
                                         const ClusterEntry& cluster, const ClusterState<T>& state,
                                         const LoopWork<T>& work, const FunctionScratch& scratch,
                                         T* g) {
  forSolvedLoops<T>(tables, cluster, [&](const auto& loop) {
    biasOfLoop(tables, functions, loop, state, scratch, tables.rowSlots + cluster.firstRow, work.k);
  });
  withLoopSizes(cluster.kept - cluster.couplings, 1,
                [&]<int Z, int M>() { determineBias<Z>(tables, cluster, work, g); });
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
  solveLoops(tables, cluster, work, work.rightSide, m);
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < m; ++j) {
      rate[dependent[i] * m + j] = work.rightSide[i * m + j];
    }
  }
}

}  // namespace kempe::detail
