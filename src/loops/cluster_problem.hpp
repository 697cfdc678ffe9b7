#pragma once

#include <string>
#include <vector>

#include "loops/scratch.hpp"
#include "loops/selection.hpp"

namespace kempe::detail {

/// A cluster whose loops are to be analysed when a model is compiled.
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

}  // namespace kempe::detail
