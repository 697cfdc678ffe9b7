#pragma once

#include "kernels/outward.hpp"
#include "loops/chain_rates.hpp"
#include "loops/loop_forces.hpp"
#include "loops/twins.hpp"

namespace kempe::detail {

/// G and g of implicit clusters for the recursions, by the loops' own code (see NoLoops). In device
/// code there are no callbacks.
template <typename T>
class ImplicitLoops {
 public:
  KEMPE_HD ImplicitLoops(const TablesOf<T>& tables, const FunctionCalls& functions,
                         const FunctionScratch& scratch)
      : tables_(tables), functions_(functions), scratch_(scratch) {}

  KEMPE_HD bool solve(int c, const WorkView<T>& work) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    return !isSingular(implicitJacobian<true>(tables_, functions_, cluster, stateOf(cluster, work),
                                              work.loops, scratch_, work.G + cluster.firstRatio));
  }

  KEMPE_HD void bias(int c, const WorkView<T>& work) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    ClusterState<T> state = stateOf(cluster, work);
    state.outputV = work.v[cluster.output];
    implicitBias(tables_, functions_, cluster, state, work.loops, scratch_,
                 work.accelerations + cluster.firstVelocity);
  }

  /// G of cluster c and its twin, unless they are solved, and with `v` q̇ and g, with all that solve
  /// and bias leave behind.
  KEMPE_HD bool solveTwins(int c, const WorkView<T>& work, const T* v) const {
    using Both = TwinOf<T>;
    const ClusterEntry& first = tables_.clusters[c];
    const ClusterEntry& second = tables_.clusters[first.twin];
    const int n = first.velocities, m = first.nv;
    Both q[kMostTwinVelocities], rates[kMostTwinVelocities], g[kMostTwinVelocities];
    Both G[kMostTwinRatios], y[kMostTwinVelocities];
    const auto join = [](const T* x, int a, int b, int count, Both* both) {
      for (int i = 0; i < count; ++i) {
        both[i] = Both(x[a + i], x[b + i]);
      }
    };
    const auto separate = [](const Both* both, int count, T* x, int a, int b) {
      for (int i = 0; i < count; ++i) {
        x[a + i] = both[i][0];
        x[b + i] = both[i][1];
      }
    };
    join(work.positions, first.firstPosition, second.firstPosition, n, q);
    ClusterState<Both> state;
    state.q = q;
    state.rates = rates;
    state.kept = work.twins.kept;
    if (work.loopsSolved) {
      join(work.G, first.firstRatio, second.firstRatio, n * m, G);
    } else if (isSingular(implicitJacobian<true>(tables_, functions_, first, state, work.twins,
                                                 scratch_, G))) {
      return false;
    } else {
      separate(G, n * m, work.G, first.firstRatio, second.firstRatio);
      separate(work.twins.K + first.firstK, first.kept * n, work.loops.K, first.firstK,
               second.firstK);
      const int z = first.kept - first.couplings;
      separate(work.twins.factors + first.firstFactor, z * first.kept, work.loops.factors,
               first.firstFactor, second.firstFactor);
    }
    if (v == nullptr) {
      return true;
    }
    join(v, first.firstV, second.firstV, m, y);
    for (int i = 0; i < n; ++i) {
      Both sum = G[i * m] * y[0];
      for (int j = 1; j < m; ++j) {
        sum += G[i * m + j] * y[j];
      }
      rates[i] = sum;
    }
    implicitBias(tables_, functions_, first, state, work.twins, scratch_, g);
    separate(rates, n, work.rates, first.firstVelocity, second.firstVelocity);
    separate(g, n, work.accelerations, first.firstVelocity, second.firstVelocity);
    return true;
  }

  /// K and the rates of all velocities from those of the independent ones; false as solve.
  KEMPE_HD bool solveRates(int c, const WorkView<T>& work, const T* yd) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    return !isSingular(implicitRates(tables_, functions_, cluster, stateOf(cluster, work),
                                     work.loops, scratch_, yd, work.rates + cluster.firstVelocity));
  }
  /// k, after solveRates and with all bodies moved by q̈ = 0.
  KEMPE_HD void rowBias(int c, const WorkView<T>& work) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    ClusterState<T> state = stateOf(cluster, work);
    state.outputV = work.v[cluster.output];
    state.outputA = work.a[cluster.output];
    forSolvedLoops<T>(tables_, cluster, [&](const auto& loop) {
      biasOfLoop(tables_, functions_, loop, state, scratch_, tables_.rowSlots + cluster.firstRow,
                 work.loops.k);
    });
  }

  /// Ġ, after bias; `sRates` are the rates of the cluster's joint directions.
  KEMPE_HD void ratioRates(int c, const WorkView<T>& work, const Motion<T>* sRates,
                           T* rates) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    ClusterState<T> state = stateOf(cluster, work);
    state.outputV = work.v[cluster.output];
    clusterJacobianRate(tables_, functions_, cluster, state, work.loops, scratch_, sRates,
                        work.G + cluster.firstRatio, rates);
  }

  /// Multipliers of the rows of cluster c for the spanning forces in work.tau, after solve.
  KEMPE_HD void findMultipliers(int c, const WorkView<T>& work) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    loopMultipliers(tables_, functions_, cluster, stateOf(cluster, work), work.loops, scratch_,
                    work.tau + cluster.firstVelocity);
  }
  /// The force of loop l of the cluster, after findMultipliers.
  KEMPE_HD Force<T> wrench(const ClusterEntry& cluster, int l, const WorkView<T>& work) const {
    return transmittedWrench(tables_, cluster, l, stateOf(cluster, work), work.loops);
  }
  KEMPE_HD void alongCoordinates(const ClusterEntry& cluster, int l, const WorkView<T>& work,
                                 T* forces) const {
    coordinateForces(tables_, cluster, l, work.loops, forces);
  }

 private:
  KEMPE_HD static ClusterState<T> stateOf(const ClusterEntry& cluster, const WorkView<T>& work) {
    return {work.positions + cluster.firstPosition,
            work.rates + cluster.firstVelocity,
            work.X + cluster.firstBody,
            work.s + cluster.firstVelocity,
            work.v + cluster.firstBody,
            work.a + cluster.firstBody,
            work.X[cluster.output],
            {},
            {},
            work.loops.function,
            work.loops.kept,
            nullptr,
            work.nodeS};
  }

  const TablesOf<T>& tables_;
  FunctionCalls functions_;
  FunctionScratch scratch_;
};

}  // namespace kempe::detail
