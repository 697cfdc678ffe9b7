#include "model/flexible.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "mechanism/flexible_parts.hpp"

namespace kempe::detail {
namespace {

using Padded = PaddedVec3<double>;

ModeTerms<double> termsOf(const auto& integrals) {
  const SymMat3<double>& J = integrals.inertia;
  return {Padded::of(integrals.linear),
          Padded::of(integrals.angular),
          {J.xx, J.yy, J.zz, 0.0},
          {J.yz, J.xz, J.xy, 0.0}};
}

void compilePairs(const FlexibleBody& source, FlexibleEntry& entry, ModelTables<double>& tables) {
  constexpr double kRounding = 1e-12;
  const std::size_t n = source.modes.size();
  double linear = 0.0, angular = 0.0, symmetric = 0.0;  // largest ones
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const ModePair &pair = source.pairs[i * n + j], &swapped = source.pairs[j * n + i];
      const ModeTerms<double> terms = termsOf(pair);
      tables.modePairs.push_back({terms.linear, terms.angular, terms.moments, terms.products,
                                  Padded::of(pair.angular - swapped.angular)});
      linear = std::max(linear, norm(pair.linear));
      angular = std::max(angular, norm(pair.angular));
      symmetric = std::max(symmetric, norm(pair.angular + swapped.angular));
    }
  }
  const double reach = std::sqrt(source.rigid.rotation.trace() / source.rigid.mass);
  entry.pairForces = linear > 0.0;
  entry.pairMoments = symmetric > kRounding * (angular + reach * linear);
}

bool endsLoop(const ModelTables<double>& tables, int body) {
  const ClusterEntry& cluster = tables.clusters[tables.bodies[body].cluster];
  const auto first = tables.loops.begin() + cluster.firstLoop;
  return std::any_of(first, first + cluster.loops, [&](const LoopEntry<double>& loop) {
    const int local = body - cluster.firstBody;
    return loop.predecessor.body == local || loop.successor.body == local;
  });
}

void compileNodes(const FlexibleBody& source, int index, ModelImpl& model) {
  ModelTables<double>& tables = model.tables;
  for (const FlexibleNode& node : source.nodes) {
    NodeEntry<double> entry;
    entry.flexible = index;
    entry.position = node.position;
    entry.firstShape = static_cast<int>(tables.nodeShapes.size());
    for (const NodeShape& shape : node.shapes) {
      tables.nodeShapes.push_back({Padded::of(shape.translation), Padded::of(shape.rotation)});
    }
    if (!node.shortening.empty()) {
      entry.firstShortening = static_cast<int>(tables.shortenings.size());
      std::ranges::transform(node.shortening, std::back_inserter(tables.shortenings), &Padded::of);
    }
    const int body = model.bodyByJoint.at(nodeName(source, node.name));
    tables.bodies[body].node = static_cast<int>(tables.nodes.size());
    tables.nodes.push_back(entry);
  }
}

/// The bodies of flexible bodies that are not folded, and the clusters that consist of these alone.
void listParts(ModelTables<double>& tables) {
  for (std::size_t i = 0; i < tables.flexibles.size(); ++i) {
    FlexibleEntry& flexible = tables.flexibles[i];
    ClusterEntry& cluster = tables.clusters[tables.bodies[flexible.body].cluster];
    flexible.firstPart = static_cast<int>(tables.flexibleParts.size());
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[b];
      const bool isNode = body.node >= 0 && tables.nodes[body.node].flexible == static_cast<int>(i);
      if (!body.folded && (b == flexible.body || isNode)) {
        tables.flexibleParts.push_back(b);
      }
    }
    flexible.parts = static_cast<int>(tables.flexibleParts.size()) - flexible.firstPart;
    if (cluster.loops == 0) {
      cluster.flexible = static_cast<int>(i);
    }
  }
}

/// The positions other than modal coordinates.
void listAngles(ModelTables<double>& tables) {
  for (const BodyEntry<double>& body : tables.bodies) {
    for (int i = 0; body.type != JointType::Mode && i < positionSize(body.type); ++i) {
      tables.angles.push_back(body.firstPosition + i);
    }
  }
}

}  // namespace

void compileFlexibleBodies(ModelImpl& model) {
  ModelTables<double>& tables = model.tables;
  // Of modes only, for random positions while loops are analysed; layOut() adds all others.
  tables.stiffness.assign(static_cast<std::size_t>(tables.velocities), 0.0);
  for (const FlexibleBody& source : model.mechanism.flexibleBodies) {
    const int index = static_cast<int>(tables.flexibles.size());
    FlexibleEntry entry;
    entry.body = model.bodyByJoint.at(modeName(source, 0));
    entry.modes = static_cast<int>(source.modes.size());
    entry.firstMode = static_cast<int>(tables.modes.size());
    entry.firstPair = static_cast<int>(tables.modePairs.size());
    entry.firstPosition = tables.bodies[entry.body].firstPosition;
    entry.firstVelocity = tables.bodies[entry.body].firstVelocity;
    tables.bodies[entry.body].flexible = index;
    for (std::size_t i = 0; i < source.modes.size(); ++i) {
      tables.modes.push_back(termsOf(source.modes[i]));
      tables.stiffness[entry.firstVelocity + static_cast<int>(i)] = source.modes[i].stiffness;
    }
    compilePairs(source, entry, tables);
    tables.flexibles.push_back(entry);
    compileNodes(source, index, model);
  }
  if (!tables.flexibles.empty()) {
    listAngles(tables);
  }
}

void foldParts(ModelImpl& model) {
  ModelTables<double>& tables = model.tables;
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    BodyEntry<double>& body = tables.bodies[b];
    const bool carries = std::ranges::any_of(tables.bodies, [&](const BodyEntry<double>& other) {
      return other.parent == static_cast<int>(b);
    });
    const bool isPart = body.node >= 0 || (body.type == JointType::Mode && body.flexible < 0);
    if (isPart && !carries && !endsLoop(tables, static_cast<int>(b)) &&
        !(body.inertia.mass > 0.0)) {
      body.folded = true;
    }
  }
  listParts(tables);
}

}  // namespace kempe::detail
