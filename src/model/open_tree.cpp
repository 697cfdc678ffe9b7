#include "model/open_tree.hpp"

#include "model/model_impl.hpp"

namespace kempe::detail {

ModelTables<double> openTree(const ModelImpl& model, const std::vector<int>& bodies) {
  const ModelTables<double>& from = model.tables;
  std::vector<int> place(from.bodies.size(), kWorld);
  ModelTables<double> tree;
  tree.gravity = from.gravity;
  tree.frictionSlipSpeed = from.frictionSlipSpeed;
  for (const int b : bodies) {
    const int index = static_cast<int>(tree.bodies.size());
    place[b] = index;
    BodyEntry<double> body = from.bodies[b];
    const int n = velocitySize(body.type), firstFrom = body.firstVelocity;
    body.inertia = body.own;
    body.parent = body.parent == kWorld ? kWorld : place[body.parent];
    body.cluster = index;
    body.folded = body.carrier = false;
    body.firstPosition = tree.positions;
    body.firstVelocity = body.firstS = tree.velocities;
    if (body.parent != kWorld) {
      tree.bodies[body.parent].carrier = true;
    }
    ClusterEntry cluster;
    cluster.output = body.parent;
    cluster.firstBody = index;
    cluster.bodies = 1;
    cluster.firstPosition = cluster.firstQ = tree.positions;
    cluster.positions = cluster.nq = positionSize(body.type);
    cluster.firstVelocity = cluster.firstV = tree.velocities;
    cluster.velocities = cluster.nv = n;
    cluster.firstD = tree.dNumbers;
    for (int i = 0; i < n; ++i) {
      tree.armature.push_back(from.armature[firstFrom + i]);
      tree.damping.push_back(from.damping[firstFrom + i]);
      tree.friction.push_back(from.friction[firstFrom + i]);
      tree.stiffness.push_back(from.stiffness[firstFrom + i]);
      tree.springReference.push_back(from.springReference[firstFrom + i]);
      cluster.armatured |= tree.armature.back() != 0.0;
      cluster.dissipates |= tree.damping.back() != 0.0 || tree.friction.back() != 0.0;
      cluster.sprung |= tree.stiffness.back() != 0.0;
    }
    if (b == from.floatingBase) {
      tree.floatingBase = index;
    }
    tree.dNumbers += n * n;
    tree.positions += cluster.positions;
    tree.velocities += n;
    tree.bodies.push_back(body);
    tree.clusters.push_back(cluster);
  }
  tree.nq = tree.positions;
  tree.nv = tree.sColumns = tree.velocities;
  return tree;
}

TreePattern::TreePattern(const std::vector<int>& parents) : parent(parents) {
  for (const int nearest : parents) {
    first.push_back(static_cast<int>(ancestors.size()));
    for (int j = nearest; j >= 0; j = parent[j]) {
      ancestors.push_back(j);
    }
  }
  first.push_back(static_cast<int>(ancestors.size()));
}

}  // namespace kempe::detail
