#include "model/spanning_tree.hpp"

#include <algorithm>
#include <numeric>

#include "model/compile_cut_loops.hpp"
#include "model/model_impl.hpp"
#include "model/shapes.hpp"

namespace kempe::detail {
namespace {

/// A pivot of H below this fraction of its diagonal is rounding.
constexpr double kRoundedPivot = 1e-10;

int lastFreedom(const BodyEntry<double>& body) {
  return body.firstVelocity + velocitySize(body.type) - 1;
}

/// The DoF that carries a cluster.
int freedomAbove(const ModelImpl& model, const ClusterEntry& cluster) {
  if (cluster.output == kWorld) {
    return -1;
  }
  return lastFreedom(model.tables.bodies[cluster.output]);
}

std::vector<int> parentsOfFreedoms(const ModelImpl& model) {
  std::vector<int> parent(static_cast<std::size_t>(model.tables.velocities));
  for (const BodyEntry<double>& body : model.tables.bodies) {
    for (int i = 0; i < velocitySize(body.type); ++i) {
      const int k = body.firstVelocity + i;
      parent[k] = i > 0                   ? k - 1
                  : body.parent == kWorld ? -1
                                          : lastFreedom(model.tables.bodies[body.parent]);
    }
  }
  return parent;
}

/// Independent velocities of one cluster are ancestors of one another.
std::vector<int> parentsOfCoordinates(const ModelTables<double>& tables) {
  std::vector<int> parent(static_cast<std::size_t>(tables.nv));
  for (const ClusterEntry& cluster : tables.clusters) {
    // A cluster without DoFs is skipped.
    int above = -1;
    for (int b = cluster.output; above < 0 && b != kWorld;) {
      const ClusterEntry& carrier = tables.clusters[tables.bodies[b].cluster];
      above = carrier.nv > 0 ? carrier.firstV + carrier.nv - 1 : -1;
      b = carrier.output;
    }
    for (int i = 0; i < cluster.nv; ++i) {
      parent[cluster.firstV + i] = i > 0 ? cluster.firstV + i - 1 : above;
    }
  }
  return parent;
}

/// An armature for DoFs without inertia, as a share of the largest inertia of a DoF.
constexpr double kAddedArmature = 1e-3;

/// DoFs for which H of the spanning tree has no pivot at the neutral configuration: the articulated
/// inertia that they move is zero.
std::vector<int> findMassless(const ModelImpl& model) {
  const ModelTables<double>& tables = model.tables;
  LoopScratch<double> scratch(tables);
  std::vector<Transform<double>> X(tables.bodies.size());
  std::vector<Motion<double>> s(static_cast<std::size_t>(tables.velocities));
  std::vector<ArticulatedInertia<double>> IA(tables.bodies.size()), rigid(tables.bodies.size());
  std::vector<int> massless;
  for (const ClusterEntry& cluster : tables.clusters) {
    ClusterState<double> state =
        scratch.state(model.neutralPositions.data() + cluster.firstPosition);
    state.X = X.data() + cluster.firstBody;
    state.s = s.data() + cluster.firstVelocity;
    state.outputX = cluster.output == kWorld ? Transform<double>{} : X[cluster.output];
    placeCluster(tables, cluster, state);
  }
  for (std::size_t b = 0; b < X.size(); ++b) {
    IA[b] = rigid[b] = ArticulatedInertia<double>::fromRigid(X[b] * tables.bodies[b].own);
  }
  for (std::size_t b = X.size(); b-- > 0;) {
    const BodyEntry<double>& body = tables.bodies[b];
    for (int k = lastFreedom(body); k >= body.firstVelocity; --k) {
      const Force<double> U = IA[b] * s[k];
      const double D = dot(U, s[k]) + tables.armature[k];
      if (D > kRoundedPivot * (dot(rigid[b] * s[k], s[k]) + tables.armature[k])) {
        IA[b].addOuter(-1.0 / D, U);
      } else {
        massless.push_back(k);
      }
    }
    if (body.parent != kWorld) {
      IA[body.parent] += IA[b];
      rigid[body.parent] += rigid[b];
    }
  }
  return massless;
}

/// The tree in which DoFs without inertia have an armature.
void addArmatures(const ModelImpl& model, const std::vector<int>& massless,
                  const ModelTables<double>& plain, SpanningTree& tree) {
  double largest = 0.0;
  for (const BodyEntry<double>& body : model.tables.bodies) {
    const RigidInertia<double>& I = body.own;
    largest = std::max({largest, I.rotation.xx, I.rotation.yy, I.rotation.zz});
  }
  tree.armatured = tree.tables;
  if (massless.empty()) {
    return;
  }
  ModelTables<double> armatured = plain;
  tree.added.assign(static_cast<std::size_t>(plain.velocities), 0.0);
  for (const int k : massless) {
    tree.added[static_cast<std::size_t>(k)] = kAddedArmature * largest;
    armatured.armature[static_cast<std::size_t>(k)] += kAddedArmature * largest;
  }
  for (ClusterEntry& cluster : armatured.clusters) {
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      cluster.armatured |= armatured.armature[static_cast<std::size_t>(i)] != 0.0;
    }
  }
  findShapes(armatured);
  tree.armatured = FinishedTables(armatured);
}

void countRows(const ModelImpl& model, SpanningTree& tree) {
  tree.reaching.assign(static_cast<std::size_t>(model.tables.velocities), {});
  for (std::size_t c = 0; c < tree.clusters.size(); ++c) {
    const ClusterEntry& cluster = model.tables.clusters[c];
    tree.clusters[c].firstRow = tree.rows;
    tree.clusters[c].firstK = tree.kNumbers;
    tree.rows += cluster.kept;
    tree.kNumbers += cluster.kept * cluster.velocities;
    const auto reach = [&](int i) {
      RowRange& range = tree.reaching[i];
      range.first = range.last == 0 ? tree.clusters[c].firstRow : range.first;
      range.last = tree.rows;
    };
    if (cluster.kept == 0) {
      continue;
    }
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      reach(i);
    }
    for (int i = freedomAbove(model, cluster); i >= 0; i = tree.freedomAbove[i]) {
      reach(i);
    }
  }
  // Ranges in the order of their beginnings: the first one that covers a row begins first.
  std::vector<RowRange> ranges = tree.reaching;
  std::ranges::sort(ranges, {}, &RowRange::first);
  tree.firstColumn.resize(static_cast<std::size_t>(tree.rows));
  std::iota(tree.firstColumn.begin(), tree.firstColumn.end(), 0);
  int covered = 0;
  for (const RowRange& range : ranges) {
    for (int row = std::max(range.first, covered); row < range.last; ++row) {
      tree.firstColumn[row] = range.first;
    }
    covered = std::max(covered, range.last);
  }
}

}  // namespace

SpanningTree spanningTreeOf(const ModelImpl& model) {
  std::vector<int> all(model.tables.bodies.size());
  std::iota(all.begin(), all.end(), 0);
  SpanningTree tree;
  ModelTables<double> tables = openTree(model, all);
  findShapes(tables);
  tree.tables = FinishedTables(tables);
  tree.clusters.assign(model.tables.clusters.size(), {});
  const std::vector<int> massless = findMassless(model);
  tree.loops = allLoops(model, tables);
  addArmatures(model, massless, tables, tree);
  tree.freedomAbove = parentsOfFreedoms(model);
  tree.coordinateAbove = parentsOfCoordinates(model.tables);
  countRows(model, tree);
  return tree;
}

}  // namespace kempe::detail
