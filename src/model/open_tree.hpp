#pragma once

#include "tables/tables.hpp"

namespace kempe::detail {

struct ModelImpl;

/// Some or all bodies of a model as a tree without loops, each body a cluster of its own, no rotor
/// folded. Methods without clusters run the recursions on it. Bodies come in the order of
/// `bodies` (ascending; the parent of each is among them or the world), and q and v of the tree are
/// the positions and velocities of all its joints.
ModelTables<double> openTree(const ModelImpl& model, const std::vector<int>& bodies);

/// The entries (i, j), j < i, that a symmetric matrix over a tree of DoFs can have: those where
/// j is an ancestor of i (Featherstone 2008, §6.4). Its factor LᵀL has no others.
struct TreePattern {
  TreePattern() = default;
  /// `parent` of each DoF; −1 for none. Parents come before their children.
  explicit TreePattern(const std::vector<int>& parents);

  std::vector<int> parent;
  std::vector<int> first;      ///< of DoF i: ancestors[first[i]] to ancestors[first[i + 1] − 1]
  std::vector<int> ancestors;  ///< nearest first, without the DoF itself
};

}  // namespace kempe::detail
