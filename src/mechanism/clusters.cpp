#include "mechanism/clusters.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "mechanism/flexible_parts.hpp"

namespace kempe {
namespace {

/// Union–find over bodies.
class Partition {
 public:
  explicit Partition(std::size_t size) : above_(size) {
    std::iota(above_.begin(), above_.end(), 0);
  }
  int find(int i) {
    while (at(i) != i) {
      at(i) = at(at(i));
      i = at(i);
    }
    return i;
  }
  void join(int i, int j) { at(find(i)) = find(j); }

 private:
  int& at(int i) { return above_[static_cast<std::size_t>(i)]; }
  std::vector<int> above_;
};

/// The moving bodies that a loop ties together.
class LoopBodies {
 public:
  LoopBodies(const Mechanism& mechanism, const MovingTree& tree)
      : mechanism_(mechanism), tree_(tree) {}

  std::vector<int> of(const LoopRef& loop) const {
    const auto index = static_cast<std::size_t>(loop.index);
    switch (loop.kind) {
      case LoopKind::Joint:
        return betweenEnds(mechanism_.loops[index]);
      case LoopKind::Rod:
        return betweenEnds(mechanism_.rods[index]);
      case LoopKind::Coupling: {
        std::vector<const Joint*> joints;
        for (const Coupling::Term& term : mechanism_.couplings[index].terms) {
          joints.push_back(mechanism_.findJoint(term.coordinate.joint));
        }
        return betweenJoints(joints);
      }
      case LoopKind::Function: {
        std::vector<const Joint*> joints;
        for (const Coordinate& coordinate : mechanism_.functions[index].coordinates) {
          joints.push_back(mechanism_.findJoint(coordinate.joint));
        }
        return betweenJoints(joints);
      }
    }
    return {};
  }

 private:
  void addPath(int body, int ancestor, std::vector<int>& bodies) const {
    for (int i = body; i != ancestor; i = tree_.parent(i)) {
      bodies.push_back(i);
    }
  }

  template <typename Loop>
  std::vector<int> betweenEnds(const Loop& loop) const {
    const int a = tree_.leader(tree_.tree().findBody(loop.predecessor.body));
    const int b = tree_.leader(tree_.tree().findBody(loop.successor.body));
    const int ancestor = tree_.commonAncestor(a, b);
    std::vector<int> bodies;
    addPath(a, ancestor, bodies);
    addPath(b, ancestor, bodies);
    return bodies;
  }

  /// A relation between joint positions moves the joints' children against their parents: the
  /// branches end at the nearest common ancestor of the parents.
  std::vector<int> betweenJoints(const std::vector<const Joint*>& joints) const {
    std::vector<int> children;
    int ancestor = -1;
    for (const Joint* joint : joints) {
      const int child = tree_.tree().findBody(joint->child);
      const int parent = tree_.parent(child);
      children.push_back(child);
      ancestor = ancestor < 0 ? parent : tree_.commonAncestor(ancestor, parent);
    }
    std::vector<int> bodies;
    for (const int child : children) {
      addPath(child, ancestor, bodies);
    }
    return bodies;
  }

  const Mechanism& mechanism_;
  const MovingTree& tree_;
};

/// A loop with the bodies that it ties together.
struct TiedBodies {
  LoopRef loop;
  std::vector<int> bodies;
};

std::vector<TiedBodies> tiedBodies(const Mechanism& mechanism, const MovingTree& tree) {
  std::vector<TiedBodies> tied;
  const LoopBodies loopBodies(mechanism, tree);
  const auto add = [&](LoopKind kind, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const LoopRef loop{kind, static_cast<int>(i)};
      tied.push_back({loop, loopBodies.of(loop)});
    }
  };
  add(LoopKind::Coupling, mechanism.couplings.size());
  add(LoopKind::Joint, mechanism.loops.size());
  add(LoopKind::Rod, mechanism.rods.size());
  add(LoopKind::Function, mechanism.functions.size());
  return tied;
}

/// The mechanism's choice for a loop; couplings are embedded if `cut` is unset.
std::optional<bool> cutWish(const Mechanism& mechanism, const LoopRef& loop) {
  const auto index = static_cast<std::size_t>(loop.index);
  switch (loop.kind) {
    case LoopKind::Coupling:
      return mechanism.couplings[index].cut.value_or(false);
    case LoopKind::Joint:
      return mechanism.loops[index].cut;
    case LoopKind::Rod:
      return mechanism.rods[index].cut;
    case LoopKind::Function:
      break;
  }
  return mechanism.functions[index].cut;
}

/// Bodies joined by the loops that are not cut.
Partition joinBodies(const Mechanism& mechanism, const MovingTree& tree,
                     const std::vector<TiedBodies>& tied, const std::vector<char>& cut) {
  Partition partition(mechanism.bodies.size());
  for (std::size_t i = 0; i < tied.size(); ++i) {
    for (const int body : tied[i].bodies) {
      if (cut[i] == 0) {
        partition.join(body, tied[i].bodies.front());
      }
    }
  }
  for (const FlexibleBody& flexible : mechanism.flexibleBodies) {
    const int flesh = tree.tree().findBody(detail::modeName(flexible, 0));
    for (std::size_t i = 1; i < flexible.modes.size(); ++i) {
      partition.join(tree.tree().findBody(detail::modeName(flexible, i)), flesh);
    }
    for (const FlexibleNode& node : flexible.nodes) {
      partition.join(tree.tree().findBody(detail::nodeName(flexible, node.name)), flesh);
    }
  }
  return partition;
}

/// DoFs that a loop joint leaves between two bodies.
int freedomsOf(LoopType type) {
  switch (type) {
    case LoopType::Fixed:
      return 0;
    case LoopType::Revolute:
    case LoopType::Prismatic:
      return 1;
    case LoopType::Cylindrical:
    case LoopType::Universal:
      return 2;
    case LoopType::Spherical:
    case LoopType::Planar:
      break;
  }
  return 3;
}

/// Rows of a loop.
int rowsOf(const Mechanism& mechanism, const LoopRef& loop) {
  const auto index = static_cast<std::size_t>(loop.index);
  switch (loop.kind) {
    case LoopKind::Joint:
      return 6 - freedomsOf(mechanism.loops[index].type);
    case LoopKind::Function:
      return mechanism.functions[index].rows;
    case LoopKind::Coupling:
    case LoopKind::Rod:
      break;
  }
  return 1;
}

/// The cost of forward dynamics, in nanoseconds of the machine on which the benchmarks
/// forward_dynamics/loop_<n>/cluster and cluster_cut were fitted; only the ratio matters. n
/// DoFs in the cluster, `rows` of its loops, `above` DoFs between it and the root.
/// `chain`: one open chain that carries nothing, which takes time linear in n
/// (kernels/chain_clusters.hpp). G and S still take n m numbers, so that this ends somewhere.
double costEmbedded(double n, double rows, bool chain) {
  constexpr double kLongest = 64.0, kMostRows = 6.0;
  const double d = std::min(rows, n - 1.0), m = n - d;
  if (chain && n <= kLongest && rows <= kMostRows && m >= d) {
    return 180.0 + (56.0 + 3.0 * rows) * n + 20.0 * rows;
  }
  return 60.0 * n + 8.0 * n * m + 0.75 * n * m * m +  // bodies, S, U and D
         40.0 * rows + d * d * d;                     // G and g
}
double costCut(double n, double rows, double above) {
  return 180.0 * n + 120.0 * above +                        // bodies, and once more to move them
         (45.0 * rows + 2.0 * rows * rows) * (n + above) +  // forces of the rows to the root
         10.0 * rows * rows;                                // multipliers
}

/// Cuts the loops that may be cut of the first cluster that costs more as it is. False where none
/// does. Loops of bodies that bend stay: stiff modes behind a multiplier would cost accuracy.
bool cutWhatCostsLess(const Mechanism& mechanism, const MovingTree& tree,
                      const std::vector<TiedBodies>& tied, Partition& partition,
                      std::vector<char>& cut) {
  struct Cost {
    double freedoms = 0.0, above = 0.0, rows = 0.0, rowsToCut = 0.0;
    bool chain = true;  ///< one open chain of joints with one DoF, which carries nothing
    bool bends = false;
  };
  std::map<int, Cost> costs;
  const auto freedoms = [&](int body) {
    return velocitySize(
        mechanism.joints[static_cast<std::size_t>(tree.tree().jointAbove(body))].type);
  };
  const auto isMode = [&](int body) {
    return mechanism.joints[static_cast<std::size_t>(tree.tree().jointAbove(body))].type ==
           JointType::Mode;
  };
  std::vector<int> children(mechanism.bodies.size(), 0);
  std::map<int, int> onOutput;  // bodies of a cluster that its output body carries
  for (const int body : tree.bodies()) {
    const int parent = tree.parent(body), own = partition.find(body);
    Cost& cost = costs[own];
    cost.freedoms += freedoms(body);
    cost.bends = cost.bends || isMode(body);
    const bool inside = parent != tree.root() && partition.find(parent) == own;
    const int siblings = inside ? ++children[static_cast<std::size_t>(parent)] : ++onOutput[own];
    cost.chain = cost.chain && freedoms(body) == 1 && siblings == 1;
    if (!inside && parent != tree.root()) {
      costs[partition.find(parent)].chain = false;
    }
  }
  for (std::size_t i = 0; i < tied.size(); ++i) {
    if (cut[i] == 0) {
      Cost& cost = costs[partition.find(tied[i].bodies.front())];
      const int rows = rowsOf(mechanism, tied[i].loop);
      cost.rows += rows;
      cost.rowsToCut += cutWish(mechanism, tied[i].loop) ? 0 : rows;
      double all = 0.0;
      for (int body = tied[i].bodies.front(); body != tree.root(); body = tree.parent(body)) {
        all += partition.find(body) == partition.find(tied[i].bodies.front()) ? 0 : freedoms(body);
      }
      cost.above = std::max(cost.above, all);
    }
  }
  for (const auto& [representative, cost] : costs) {
    if (cost.rowsToCut == 0.0 || cost.bends ||
        costEmbedded(cost.freedoms, cost.rows, cost.chain) <=
            costCut(cost.freedoms, cost.rowsToCut, cost.above)) {
      continue;
    }
    for (std::size_t i = 0; i < tied.size(); ++i) {
      if (cut[i] == 0 && !cutWish(mechanism, tied[i].loop) &&
          partition.find(tied[i].bodies.front()) == representative) {
        cut[i] = 1;
      }
    }
    return true;
  }
  return false;
}

}  // namespace

MovingTree::MovingTree(const Mechanism& mechanism)
    : tree_(mechanism),
      groups_(mechanism, tree_),
      root_(groups_.leader(tree_.roots().front())),
      depth_(mechanism.bodies.size(), 0) {
  for (const Joint& joint : mechanism.joints) {
    if (joint.type != JointType::Fixed) {
      bodies_.push_back(tree_.findBody(joint.child));
    }
  }
  std::vector<int> path;
  for (const int body : bodies_) {
    for (int i = body; i != root_ && depth(i) == 0; i = parent(i)) {
      path.push_back(i);
    }
    for (; !path.empty(); path.pop_back()) {  // bodies above are known by now
      depth_[static_cast<std::size_t>(path.back())] = depth(parent(path.back())) + 1;
    }
  }
}

int MovingTree::commonAncestor(int a, int b) const {
  while (a != b) {
    (depth(a) >= depth(b) ? a : b) = parent(depth(a) >= depth(b) ? a : b);
  }
  return a;
}

BodyClusters findClusters(const Mechanism& mechanism, const MovingTree& tree, bool mayCut) {
  const std::vector<TiedBodies> tied = tiedBodies(mechanism, tree);
  std::vector<char> cut(tied.size(), 0);
  for (std::size_t i = 0; i < tied.size(); ++i) {
    cut[i] = cutWish(mechanism, tied[i].loop).value_or(false) ? 1 : 0;
  }
  Partition partition = joinBodies(mechanism, tree, tied, cut);
  BodyClusters result;
  while (mayCut && cutWhatCostsLess(mechanism, tree, tied, partition, cut)) {
    partition = joinBodies(mechanism, tree, tied, cut);
    result.chosen = true;
  }

  std::map<int, BodyCluster> byRepresentative;
  for (const int body : tree.bodies()) {
    byRepresentative[partition.find(body)].bodies.push_back(body);
  }
  for (std::size_t i = 0; i < tied.size(); ++i) {
    if (cut[i] != 0) {
      result.cut.push_back(tied[i].loop);
    } else {
      byRepresentative[partition.find(tied[i].bodies.front())].loops.push_back(tied[i].loop);
    }
  }

  // Depth first over the tree of clusters, children in the order of their joints.
  std::map<int, std::vector<int>> childrenOf;  // output body → representatives
  std::vector<char> listed(mechanism.bodies.size(), 0);
  for (auto& [representative, cluster] : byRepresentative) {
    std::ranges::stable_sort(cluster.bodies, {}, [&](int body) { return tree.depth(body); });
    cluster.output = tree.parent(cluster.bodies.front());
  }
  for (const int body : tree.bodies()) {
    const int representative = partition.find(body);
    if (listed[static_cast<std::size_t>(representative)] == 0) {
      listed[static_cast<std::size_t>(representative)] = 1;
      childrenOf[byRepresentative[representative].output].push_back(representative);
    }
  }
  std::vector<int> stack;
  const auto pushChildren = [&](int body) {
    const auto it = childrenOf.find(body);
    if (it != childrenOf.end()) {
      stack.insert(stack.end(), it->second.rbegin(), it->second.rend());
    }
  };
  pushChildren(tree.root());
  while (!stack.empty()) {
    const int representative = stack.back();
    stack.pop_back();
    result.clusters.push_back(std::move(byRepresentative[representative]));
    const std::vector<int>& bodies = result.clusters.back().bodies;
    std::for_each(bodies.rbegin(), bodies.rend(), pushChildren);
  }
  return result;
}

}  // namespace kempe
