#pragma once

#include "constraints/table.hpp"
#include "model/open_tree.hpp"
#include "tables/block.hpp"

namespace kempe::detail {

/// The data of a cluster that methods on the spanning tree use.
struct SpanningCluster {
  int firstRow = 0;  ///< its kept rows of K among those of all clusters
  int firstK = 0;    ///< its numbers of K, kept × n, row-major
};

/// Rows of K, from first to last − 1.
struct RowRange {
  int first = 0, last = 0;
};

/// All bodies with their joints, loops cut, in the order of the model.
///
/// The mass matrix H of the spanning tree is singular where a body that only its loop moves has no
/// inertia (a massless crank): `added` is then not empty.
struct SpanningTree {
  FinishedTables tables;
  std::vector<SpanningCluster> clusters;  ///< as in the model
  std::vector<int> freedomAbove;     ///< per spanning velocity: the DoF that carries it, or −1
  std::vector<int> coordinateAbove;  ///< the same per independent velocity
  int rows = 0;                      ///< kept rows of all clusters
  int kNumbers = 0;                  ///< numbers of K of all clusters
  /// Per DoF: rows whose forces reach it, those of clusters that it carries or is part of.
  /// Clusters come depth first, so that few others are between the first and the last of them.
  std::vector<RowRange> reaching;
  std::vector<int> firstColumn;  ///< per row: the first row with which it shares a DoF

  ConstraintTable loops;  ///< all loops, those of clusters and those that are left cut
  /// The tree for multipliers by recursion: DoFs that move no inertia have an armature, `added`
  /// per spanning velocity.
  FinishedTables armatured;
  std::vector<double> added;  ///< empty where none needs it
};

SpanningTree spanningTreeOf(const ModelImpl& model);

template <typename T>
const TablesView<T>& viewOf(const SpanningTree& tree) {
  return tree.tables.view<T>();
}

}  // namespace kempe::detail
