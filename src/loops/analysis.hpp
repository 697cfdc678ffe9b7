#pragma once

#include <string>
#include <vector>

#include "loops/cluster_problem.hpp"

/// Mobility of a cluster, its redundant rows, its independent coordinates and a closed, regular
/// position of it, found when a model is compiled.
namespace kempe::detail {

struct ClusterSolution {
  std::vector<int> independent;                   ///< ascending
  std::vector<int> dependent;                     ///< ascending
  std::vector<double> neutral;                    ///< positions, closed
  std::vector<double> G, offset, couplingForces;  ///< explicit clusters only
  std::vector<bool> forceIsUnique;                ///< per loop
  std::vector<std::string> warnings;
};

/// Throws ModelError (without place) where the loops cannot be closed.
ClusterSolution analyzeCluster(const ClusterProblem& problem);

/// The position of a joint that moves nothing: zeros, quaternions the identity.
void zeroPositions(const ModelTables<double>& tables, const ClusterEntry& cluster, double* q);

}  // namespace kempe::detail
