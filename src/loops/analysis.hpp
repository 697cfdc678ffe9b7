#pragma once

#include <string>
#include <vector>

#include "loops/scratch.hpp"
#include "loops/selection.hpp"
#include "tables/tables.hpp"

/// Mobility of a cluster, its redundant rows, its independent coordinates and a closed, regular
/// position of it, found when a model is compiled.
namespace kempe::detail {

struct ClusterProblem {
  ModelTables<double>& tables;  ///< its rowSlots of the cluster are filled in
  const Functions& functions;
  const ClusterEntry& cluster;
  std::vector<double> start;          ///< positions from which assembly starts
  std::vector<int> posed;             ///< velocities whose joints the start pose names
  std::vector<double> lower, upper;   ///< limits of the cluster's positions
  std::vector<Wish> wishes;           ///< per velocity of the cluster
  std::vector<std::string> names;     ///< per velocity of the cluster
  std::vector<std::string> rowNames;  ///< per row: the loop with its kind, for messages
  std::string description;            ///< how messages call the cluster
};

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
