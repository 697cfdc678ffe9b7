#include "mechanism/clusters.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

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
  for (const int body : bodies_) {
    int& depth = depth_[static_cast<std::size_t>(body)];
    for (int i = body; i != root_; i = parent(i)) {
      ++depth;
    }
  }
}

int MovingTree::commonAncestor(int a, int b) const {
  while (a != b) {
    (depth(a) >= depth(b) ? a : b) = parent(depth(a) >= depth(b) ? a : b);
  }
  return a;
}

std::vector<BodyCluster> findClusters(const Mechanism& mechanism, const MovingTree& tree) {
  std::vector<std::pair<LoopRef, int>> loops;  // with one body of each
  Partition partition(mechanism.bodies.size());
  const LoopBodies loopBodies(mechanism, tree);
  const auto addLoops = [&](LoopKind kind, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const LoopRef loop{kind, static_cast<int>(i)};
      const std::vector<int> bodies = loopBodies.of(loop);
      for (const int body : bodies) {
        partition.join(body, bodies.front());
      }
      loops.emplace_back(loop, bodies.front());
    }
  };
  addLoops(LoopKind::Coupling, mechanism.couplings.size());
  addLoops(LoopKind::Joint, mechanism.loops.size());
  addLoops(LoopKind::Rod, mechanism.rods.size());
  addLoops(LoopKind::Function, mechanism.functions.size());

  std::map<int, BodyCluster> byRepresentative;
  for (const int body : tree.bodies()) {
    byRepresentative[partition.find(body)].bodies.push_back(body);
  }
  for (const auto& [loop, body] : loops) {
    byRepresentative[partition.find(body)].loops.push_back(loop);
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
  std::vector<BodyCluster> ordered;
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
    ordered.push_back(std::move(byRepresentative[representative]));
    const std::vector<int>& bodies = ordered.back().bodies;
    std::for_each(bodies.rbegin(), bodies.rend(), pushChildren);
  }
  return ordered;
}

}  // namespace kempe
