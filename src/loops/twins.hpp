#pragma once

#include "tables/tables.hpp"

/// Clusters with equal loops along coordinates, such as those of a left and a right leg: the same
/// formulas and couplings between the same coordinates. Evaluations of one state solve two of them
/// at once, in the lanes of a vector register.
namespace kempe::detail {

/// Most spanning velocities, and numbers of G, of clusters that count as twins.
inline constexpr int kMostTwinVelocities = 8, kMostTwinRatios = 24;

/// Finds ClusterEntry::twin of all clusters, after substituteCouplings and orderByDepth.
void findTwins(ModelTables<double>& tables);

}  // namespace kempe::detail
