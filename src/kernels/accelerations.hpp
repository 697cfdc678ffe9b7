#pragma once

#include "kernels/chain_clusters.hpp"
#include "kernels/forward_dynamics.hpp"
#include "kernels/uneven_rotors.hpp"

/// C-ABA with shortcuts for clusters of some kinds: with kChains, chains (chain_clusters.hpp), of
/// which no D, S and forces of bodies are left in the work, and with kRotors, uneven rotors
/// (uneven_rotors.hpp), which are not placed.
namespace kempe::detail {

/// Returns a cluster in a singular configuration, or −1; `doubtful` is set where chains need D.
template <typename Order, bool kRotors, bool kChains, typename T, typename Tables, typename Loops,
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
        return kChains && cluster.chain >= 0 ? passChain(tables, c, work, loops, v, tau, doubtful)
                                             : passCluster(tables, c, work, loops, v, atRest, pass);
      },
      [&](int first, int last) { subtractExternal(external, first, last, work); },
      [&](int c) {
        const ClusterEntry& cluster = tables.clusters[c];
        if (shapeOf(cluster, work) == ClusterShape::Single) {
          condenseSingle<true>(cluster, tables.bodies[cluster.moving], work);
        } else if (kRotors && cluster.unevens > 0) {
          condenseSingle<true, true>(cluster, tables.bodies[cluster.moving], work);
        } else if (kChains && cluster.chain >= 0) {
          condenseChainForce(tables, cluster, work);
        } else {
          condenseClusterInertia(tables, cluster, work);
          condenseClusterForce(tables, cluster, work);
        }
      });
}

/// (6) of articulated.hpp after it. Returns false where chains need D.
template <bool kRotors, bool kChains, typename T, typename Tables>
KEMPE_HD KEMPE_FLATTEN bool accelerateByShortcuts(const Tables& tables, const WorkView<T>& work,
                                                  T* ydd) {
  bool accurate = true;
  work.da[kWorld] = {};
  forEachCluster<Direction::Outward>(tables, [&](int c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (kRotors && cluster.unevens > 0) {
      accelerateSingle(cluster, tables.bodies[cluster.moving], work, ydd);
    } else if (kChains && cluster.chain >= 0) {
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
template <typename Order, bool kRotors, bool kChains, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD KernelOutcome shortcutsKernel(const Tables& tables, const WorkView<T>& work, Loops& loops,
                                       const T* q, const T* v, const T* tau,
                                       const ExternalForces<T, R>& external, T* ydd) {
  bool doubtful = false;
  const int singular = condenseByShortcuts<Order, kRotors, kChains>(tables, work, loops, q, v, tau,
                                                                    external, doubtful);
  if (singular >= 0) {
    return {singular, -1};
  }
  // Where digits are lost, `tau` is read again.
  const bool kept = kChains && tables.chains > 0;
  T* const result = kept ? work.tau : ydd;
  if (doubtful || !accelerateByShortcuts<kRotors, kChains>(tables, work, result)) {
    return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
  }
  for (int i = 0; kept && i < tables.nv; ++i) {
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
  if (mergesUnevenRotors(tables, work) && !pullsAtUneven(tables, external)) {
    return shortcutsKernel<Order, true, true>(tables, work, loops, q, v, tau, external, ydd);
  }
  if (tables.chains > 0) {
    return shortcutsKernel<Order, false, true>(tables, work, loops, q, v, tau, external, ydd);
  }
  return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
}

/// The same where InterBodyKernel follows. Rotors are whole if a force acts on an uneven one.
template <typename Order = LevelByLevel, typename T, typename Tables, typename Loops,
          typename R = typename Tables::Scalar>
KEMPE_HD KernelOutcome accelerationsBeforeForces(const Tables& tables, const WorkView<T>& work,
                                                 Loops& loops, const T* q, const T* v, const T* tau,
                                                 const ExternalForces<T, R>& external, T* ydd) {
  if (mergesUnevenRotors(tables, work)) {
    return shortcutsKernel<Order, true, false>(tables, work, loops, q, v, tau, external, ydd);
  }
  return forwardDynamicsKernel<Order>(tables, work, loops, q, v, tau, external, ydd);
}

}  // namespace kempe::detail
