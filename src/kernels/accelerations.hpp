#pragma once

#include "kernels/chain_clusters.hpp"
#include "kernels/forward_dynamics.hpp"

/// C-ABA where nothing but ÿ is needed, with a shortcut for chains (chain_clusters.hpp) that leaves no
/// D, S and forces of their bodies in the work.
namespace kempe::detail {

/// Returns a cluster in a singular configuration, or −1; `doubtful` is set where chains need D.
template <typename Order, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD int condenseByShortcuts(const Tables& tables, const WorkView<T>& work, Loops& loops,
                                 const T* q, const T* v, const T* tau,
                                 const ExternalForces<T, R>& external, bool& doubtful) {
  placeWorld(tables, work, q);
  expandMechanism(tables, work, q);
  const BiasPass<T, Tables> pass{tables, work, v, tau};
  const T* const atRest = nullptr;
  return Order::thereAndBack(
      tables,
      [&](int c) {
        return tables.clusters[c].chain >= 0 ? passChain(tables, c, work, loops, v, tau, doubtful)
                                             : passCluster(tables, c, work, loops, v, atRest, pass);
      },
      [&](int first, int last) { subtractExternal(external, first, last, work); },
      [&](int c) {
        const ClusterEntry& cluster = tables.clusters[c];
        if (shapeOf(cluster, work) == ClusterShape::Single) {
          condenseSingle<true>(cluster, tables.bodies[cluster.moving], work);
        } else if (cluster.chain >= 0) {
          condenseChainForce(tables, cluster, work);
        } else {
          condenseClusterInertia(tables, cluster, work);
          condenseClusterForce(tables, cluster, work);
        }
      });
}

/// (6) of articulated.hpp after it. Returns false where chains need D.
template <typename T, typename Tables>
KEMPE_HD KEMPE_FLATTEN bool accelerateByShortcuts(const Tables& tables, const WorkView<T>& work,
                                                  T* ydd) {
  bool accurate = true;
  work.da[kWorld] = {};
  forEachCluster<Direction::Outward>(tables, [&](int c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.chain >= 0) {
      withSize(cluster.kept, [&]<int kRows>() {
        accurate &= accelerateChain<kRows>(tables, cluster, work, ydd);
      });
    } else {
      accelerateCluster(tables, cluster, work, ydd);
    }
  });
  return accurate;
}

/// Accelerations by whatever shortcuts the mechanism allows, as forwardDynamicsKernel. `ydd` may be
/// `tau`.
template <typename Order = LevelByLevel, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD KernelOutcome accelerationsKernel(const Tables& tables, const WorkView<T>& work,
                                           Loops& loops, const T* q, const T* v, const T* tau,
                                           const ExternalForces<T, R>& external, T* ydd) {
  if (tables.chains == 0) {
    return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
  }
  bool doubtful = false;
  const int singular =
      condenseByShortcuts<Order>(tables, work, loops, q, v, tau, external, doubtful);
  if (singular >= 0) {
    return {singular, -1};
  }
  T* const result = work.tau;  // where digits are lost, `tau` is read again
  if (doubtful || !accelerateByShortcuts(tables, work, result)) {
    return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
  }
  for (int i = 0; i < tables.nv; ++i) {
    ydd[i] = result[i];
  }
  return {-1, findIndefinite(tables, work)};
}

}  // namespace kempe::detail
