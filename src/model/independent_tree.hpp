#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "kempe/spatial/factorization.hpp"
#include "model/open_tree.hpp"
#include "tables/block.hpp"

namespace kempe::detail {

/// How the velocities z of a cluster's kept joints follow from its independent velocities y:
/// z = G_r y with G_r the kept joints' rows of G.
enum class TreeRatio : std::uint8_t {
  Identity,  ///< the kept joints are the independent ones
  Constant,  ///< G_r of couplings
  Varying    ///< G_r of loops, at the configuration
};

/// Where a position of the independent tree comes from.
struct TreePosition {
  int source = -1;  ///< into q; −1: the sum offset + G row · y of a coupled joint
  int cluster = 0;  ///< of the model
  int row = 0;      ///< of G within the cluster
};

/// The independent tree (Chignoli et al. 2023, section II-B): of each cluster only as many joints
/// as it has DoFs, with the bodies they carry. The other bodies are dropped with their inertia.
///
/// The model's own independent joints are kept if they form a tree that carries all bodies attached
/// to the cluster and none of their bodies is a rotor. Otherwise, of all subtrees that carry these
/// bodies and whose joints determine the cluster's motion, the one with the fewest rotors and the
/// most mass is used. Velocities have the same indices in the tree and in the model: those of a
/// cluster are contiguous in both.
struct IndependentTree {
  std::string problem;            ///< why the model has no such tree; empty where it has one
  std::vector<int> bodies;        ///< kept, ascending
  std::vector<int> treeBody;      ///< per body of the model: its place in the tree; −1: dropped
  std::vector<TreeRatio> ratios;  ///< per cluster of the model
  std::vector<int> rows;          ///< per velocity: row of G within its cluster
  std::vector<TreePosition> positions;  ///< per position of the tree
  std::vector<double> reflected;        ///< per velocity: reflected inertia, see independentTreeOf
  FinishedTables plain, loaded;         ///< without and with reflected inertia
};

/// The tables of the tree, with or without reflected inertia; both have the same sizes.
template <typename T>
const TablesView<T>& viewOf(const IndependentTree& tree, bool loaded) {
  return (loaded ? tree.loaded : tree.plain).template view<T>();
}

/// Reflected is Σ J r² over the dropped joints: r their ratio
/// to the kept joint (of loops: at the neutral position), J their armature and, of rotors, the
/// moment of inertia about the joint's axis. Other dropped bodies are not reflected.
IndependentTree independentTreeOf(const ModelImpl& model);

/// The largest absolute value.
template <typename T>
T largestOf(const T* x, int size) {
  using std::abs;
  T largest(0);
  for (int i = 0; i < size; ++i) {
    largest = std::max(largest, T(abs(x[i])));
  }
  return largest;
}

/// Factors the m rows of G in place. Returns the smallest pivot as a fraction of `largest`, the
/// largest ratio in the cluster: near zero where the joints of these rows do not determine it.
template <typename T>
T determineRatios(T* rows, int m, int* pivots, const T& largest) {
  using std::abs;
  if (m == 0) {
    return T(1);
  }
  if (!(luFactor(rows, m, pivots) > T(0))) {
    return T(0);
  }
  T smallest = largest;
  for (int i = 0; i < m; ++i) {
    smallest = std::min(smallest, T(abs(rows[i * m + i])));
  }
  return smallest / largest;
}

}  // namespace kempe::detail
