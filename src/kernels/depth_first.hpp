#pragma once

#include "tables/workspace.hpp"

/// Recursions that go out to the end of a limb and back before they begin the next. Packs of states
/// take so much memory that a limb stays in the nearest cache, but not the whole mechanism.
namespace kempe::detail {

/// Whether every cluster hangs on the one before it or on one of those that carry that: then
/// visitDepthFirst can follow the numbers.
template <typename R>
KEMPE_HD bool isDepthFirst(const TablesView<R>& tables) {
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

/// Calls outward(c) of each cluster after those that carry it, and inward(c) after inward of all that
/// it carries. Returns the first cluster whose outward gives false, or −1.
template <typename R, typename Outward, typename Inward>
KEMPE_HD int visitDepthFirst(const TablesView<R>& tables, const Outward& outward,
                             const Inward& inward) {
  int last = -1;
  for (int c = 0; c < tables.clusterCount; ++c) {
    for (const int carrier = tables.ancestors[c].cluster; last != carrier;
         last = tables.ancestors[last].cluster) {
      inward(last);
    }
    if (!outward(c)) {
      return c;
    }
    last = c;
  }
  for (; last >= 0; last = tables.ancestors[last].cluster) {
    inward(last);
  }
  return -1;
}

}  // namespace kempe::detail
