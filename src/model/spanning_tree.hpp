#pragma once

#include "model/open_tree.hpp"

namespace kempe::detail {

/// What the methods on the spanning tree know of a cluster of the model.
struct SpanningCluster {
  int firstRow = 0;      ///< its kept rows of K among those of all clusters
  int firstK = 0;        ///< its numbers of K, kept × n, row-major
  int above = -1;        ///< the freedom under which it hangs in the pattern of H
  int rowCluster = -1;   ///< its number among the clusters that have rows
  int firstColumn = 0;   ///< first row of K whose multiplier is coupled with its own
  bool chained = false;  ///< its freedoms count as ancestors of one another, see SpanningTree
};

/// All bodies with their joints, loops cut, in the order of the model.
///
/// The mass matrix H of the spanning tree is singular where a body that only its loop moves has no
/// inertia (a massless crank). Multipliers then need H + ρ KᵀK, which has the same solution because
/// K δ = 0; it fills the blocks of such clusters, so that their freedoms are treated as a chain.
struct SpanningTree {
  ModelTables<double> tables;
  ModelTables<float> tablesFloat;
  std::vector<SpanningCluster> clusters;  ///< as in the model
  TreePattern freedoms;                   ///< of H, per spanning velocity
  TreePattern coordinates;                ///< of Gᵀ H G, per independent velocity
  int rows = 0;                           ///< kept rows of all clusters
  int kNumbers = 0;                       ///< numbers of K of all clusters
  int rowClusters = 0;                    ///< clusters that have rows
  /// For two clusters with rows, by their numbers: the first freedom on the way to the root that
  /// forces of both reach, −1 for none. rowClusters × rowClusters, lower triangle.
  std::vector<int> meetings;
};

/// Fills in ModelImpl::spanning; the last step of compiling but for the independent tree.
void buildSpanningTree(ModelImpl& model);

template <typename T>
const ModelTables<T>& tablesOf(const SpanningTree& tree) {
  if constexpr (std::is_same_v<T, double>) {
    return tree.tables;
  } else {
    return tree.tablesFloat;
  }
}

}  // namespace kempe::detail
