#pragma once

#include "kernels/chain_clusters.hpp"
#include "kernels/forward_dynamics.hpp"
#include "kernels/uneven_rotors.hpp"

/// C-ABA where nothing but ÿ is needed, with shortcuts for clusters of some kinds that leave no D, S
/// and forces of their bodies in the work: chains (chain_clusters.hpp) and, with kRotors, uneven
/// rotors (uneven_rotors.hpp).
namespace kempe::detail {

/// Returns a cluster in a singular configuration, or −1; `doubtful` is set where chains need D.
template <typename Order, bool kRotors, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD int condenseByShortcuts(const Tables& tables, const WorkView<T>& work, Loops& loops,
                                 const T* q, const T* v, const T* tau,
                                 const ExternalForces<T, R>& external, bool& doubtful) {
  placeWorld(tables, work, q);
  prepareMechanism(tables, work, q);
  const BiasPass<kRotors, T, Tables> pass{tables, work, v, tau};
  const T* const atRest = nullptr;
  return Order::thereAndBack(
      tables,
      [&](int c) {
        const ClusterEntry& cluster = tables.clusters[c];
        if (kRotors && cluster.unevens > 0) {
          pass.single(cluster, tables.bodies[cluster.moving]);
          addUnevenRotors(tables, cluster, work, v);
          return true;
        }
        return cluster.chain >= 0 ? passChain(tables, c, work, loops, v, tau, doubtful)
                                  : passCluster(tables, c, work, loops, v, atRest, pass);
      },
      [&](int first, int last) { subtractExternal(external, first, last, work); },
      [&](int c) {
        const ClusterEntry& cluster = tables.clusters[c];
        if (shapeOf(cluster, work) == ClusterShape::Single) {
          condenseSingle<true>(cluster, tables.bodies[cluster.moving], work);
        } else if (kRotors && cluster.unevens > 0) {
          condenseSingle<true, true>(cluster, tables.bodies[cluster.moving], work);
        } else if (cluster.chain >= 0) {
          condenseChainForce(tables, cluster, work);
        } else {
          condenseClusterInertia(tables, cluster, work);
          condenseClusterForce(tables, cluster, work);
        }
      });
}

/// (6) of articulated.hpp after it. Returns false where chains need D.
template <bool kRotors, typename T, typename Tables>
KEMPE_HD KEMPE_FLATTEN bool accelerateByShortcuts(const Tables& tables, const WorkView<T>& work,
                                                  T* ydd) {
  bool accurate = true;
  work.da[kWorld] = {};
  forEachCluster<Direction::Outward>(tables, [&](int c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (kRotors && cluster.unevens > 0) {
      accelerateSingle(cluster, tables.bodies[cluster.moving], work, ydd);
    } else if (cluster.chain >= 0) {
      withSize(cluster.kept, [&]<int kRows>() {
        accurate &= accelerateChain<kRows>(tables, cluster, work, ydd);
      });
    } else {
      accelerateCluster(tables, cluster, work, ydd);
    }
  });
  return accurate;
}

/// Both. `ydd` may be `tau`.
template <typename Order, bool kRotors, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD KernelOutcome shortcutsKernel(const Tables& tables, const WorkView<T>& work, Loops& loops,
                                       const T* q, const T* v, const T* tau,
                                       const ExternalForces<T, R>& external, T* ydd) {
  bool doubtful = false;
  const int singular =
      condenseByShortcuts<Order, kRotors>(tables, work, loops, q, v, tau, external, doubtful);
  if (singular >= 0) {
    return {singular, -1};
  }
  // Where digits are lost, `tau` is read again.
  T* const result = tables.chains > 0 ? work.tau : ydd;
  if (doubtful || !accelerateByShortcuts<kRotors>(tables, work, result)) {
    return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
  }
  for (int i = 0; tables.chains > 0 && i < tables.nv; ++i) {
    ydd[i] = result[i];
  }
  return {-1, findIndefinite(tables, work)};
}

/// Accelerations by whatever shortcuts the mechanism allows, as forwardDynamicsKernel.
template <typename Order = LevelByLevel, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD KernelOutcome accelerationsKernel(const Tables& tables, const WorkView<T>& work,
                                           Loops& loops, const T* q, const T* v, const T* tau,
                                           const ExternalForces<T, R>& external, T* ydd) {
  const bool rotors =
      tables.unevenRotors.size() > 0 && !work.wholeRotors && !pullsAtUneven(tables, external);
  if (rotors) {
    return shortcutsKernel<Order, true>(tables, work, loops, q, v, tau, external, ydd);
  }
  if (tables.chains > 0) {
    return shortcutsKernel<Order, false>(tables, work, loops, q, v, tau, external, ydd);
  }
  return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
}

}  // namespace kempe::detail
