#pragma once

#include <type_traits>

#include "kempe/spatial/host_device.hpp"

/// The orders in which recursions visit the clusters of a mechanism. A recursion is written once and
/// runs in either order: level by level, where neighbours do not wait for one another's results, or
/// down a limb and back before the next one, where few results wait to be used.
namespace kempe::detail {

enum class Direction {
  Outward,  ///< a cluster after the one that carries it
  Inward    ///< a cluster after all that it carries
};

/// visit(c), which may return false to stop; one that returns nothing never does.
template <typename Visit>
KEMPE_HD bool goesOn(const Visit& visit, int c) {
  if constexpr (std::is_void_v<decltype(visit(c))>) {
    visit(c);
    return true;
  } else {
    return visit(c);
  }
}

/// Calls visit(c) for all clusters, level by level. Returns the cluster at which it returned false,
/// or −1.
template <Direction direction, typename Tables, typename Visit>
KEMPE_HD int forEachCluster(const Tables& tables, const Visit& visit) {
  const int count = tables.clusterCount;
  for (int k = 0; k < count; ++k) {
    const int c = tables.order[direction == Direction::Outward ? k : count - 1 - k];
    if (!goesOn(visit, c)) {
      return c;
    }
  }
  return -1;
}

/// Both directions, level by level: outward(c) of all clusters, then turn(first, last) of all
/// bodies from first to last − 1, then inward(c). Returns as forEachCluster, of outward.
struct LevelByLevel {
  template <typename Tables, typename Outward, typename Turn, typename Inward>
  KEMPE_HD static int thereAndBack(const Tables& tables, const Outward& outward, const Turn& turn,
                                   const Inward& inward) {
    const int stopped = forEachCluster<Direction::Outward>(tables, outward);
    if (stopped < 0) {
      turn(0, tables.bodyCount);
      forEachCluster<Direction::Inward>(tables, inward);
    }
    return stopped;
  }
};

/// Whether every cluster hangs on the one before it or on one of those that carry that one.
template <typename Tables>
KEMPE_HD bool isNumberedDepthFirst(const Tables& tables) {
  for (int c = 1; c < tables.clusterCount; ++c) {
    const int carrier = tables.ancestors[c].cluster;
    int before = c - 1;
    while (before >= 0 && before != carrier) {
      before = tables.ancestors[before].cluster;
    }
    if (before != carrier) {
      return false;
    }
  }
  return true;
}

/// The same depth first, with turn of a cluster's own bodies: inward(c) comes after the clusters
/// that c carries and before the next limb. Packs of states take so much memory that a limb stays in
/// the nearest cache, but not the whole mechanism. Tables that are not numbered in this order are
/// visited level by level.
struct DepthFirst {
  template <typename Tables, typename Outward, typename Turn, typename Inward>
  KEMPE_HD static int thereAndBack(const Tables& tables, const Outward& outward, const Turn& turn,
                                   const Inward& inward) {
    if (!isNumberedDepthFirst(tables)) {
      return LevelByLevel::thereAndBack(tables, outward, turn, inward);
    }
    int last = -1;
    for (int c = 0; c < tables.clusterCount; ++c) {
      for (; last != tables.ancestors[c].cluster; last = tables.ancestors[last].cluster) {
        inward(last);
      }
      if (!goesOn(outward, c)) {
        return c;
      }
      const int first = tables.clusters[c].firstBody;
      turn(first, first + tables.clusters[c].bodies);
      last = c;
    }
    for (; last >= 0; last = tables.ancestors[last].cluster) {
      inward(last);
    }
    return -1;
  }
};

}  // namespace kempe::detail
