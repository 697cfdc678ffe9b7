#pragma once

#include "kernels/outward.hpp"
#include "loops/loop_forces.hpp"

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
            work.loops.kept};
  }

  const TablesOf<T>& tables_;
  FunctionCalls functions_;
  FunctionScratch scratch_;
};

}  // namespace kempe::detail
