#pragma once

#include <vector>

#include "kempe/mechanism.hpp"
#include "mechanism/rigid_groups.hpp"
#include "mechanism/tree.hpp"

namespace kempe {

/// The tree of moving bodies that remains when fixed joints are merged. Bodies are identified by
/// their index in the mechanism; a merged body by that of its group's leader.
class MovingTree {
 public:
  explicit MovingTree(const Mechanism& mechanism);

  [[nodiscard]] const Tree& tree() const { return tree_; }
  [[nodiscard]] const RigidGroups& groups() const { return groups_; }
  [[nodiscard]] int root() const { return root_; }
  /// The moving body (or root) that carries a body.
  [[nodiscard]] int leader(int body) const { return groups_.leader(body); }
  /// The moving body (or root) on which a moving body sits.
  [[nodiscard]] int parent(int body) const { return groups_.leader(tree_.parent(body)); }
  /// All moving bodies, in the order of their joints.
  [[nodiscard]] const std::vector<int>& bodies() const { return bodies_; }
  [[nodiscard]] int depth(int body) const { return depth_[static_cast<std::size_t>(body)]; }
  /// The nearest moving body (or root) that is above, or is, both.
  [[nodiscard]] int commonAncestor(int a, int b) const;

 private:
  Tree tree_;
  RigidGroups groups_;
  int root_;
  std::vector<int> bodies_;
  std::vector<int> depth_;
};

/// A loop of any kind, by its place in the mechanism.
struct LoopRef {
  LoopKind kind;
  int index;
};

/// The bodies that loops tie together; see findClusters.
struct BodyCluster {
  std::vector<int> bodies;  ///< parents before children
  int output = 0;           ///< the body (or root) that all of them hang on
  std::vector<LoopRef> loops;
};

/// The result of findClusters.
struct BodyClusters {
  std::vector<BodyCluster> clusters;
  std::vector<LoopRef> cut;  ///< loops that are left cut
  bool chosen = false;       ///< some of them by cost
};

/// Groups the moving bodies: an embedded loop joins all bodies on its two branches up to, not
/// including, the nearest common ancestor; overlapping loops merge. Every cluster is then carried
/// by one output body: the highest common ancestor among its loops contains the others. Clusters
/// are in depth-first order.
///
/// Loops whose `cut` is unset are left cut if their cluster costs more to embed than to cut, unless
/// `mayCut` is false; couplings, whose ratios are constant, are embedded.
BodyClusters findClusters(const Mechanism& mechanism, const MovingTree& tree, bool mayCut = true);

}  // namespace kempe
