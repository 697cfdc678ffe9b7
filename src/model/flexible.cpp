#include "model/flexible.hpp"

#include <algorithm>

#include "mechanism/flexible_parts.hpp"

namespace kempe::detail {
namespace {

ModeTerms<double> termsOf(const auto& integrals) {
  return {integrals.linear, integrals.angular, integrals.inertia};
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
      tables.nodeShapes.push_back({shape.translation, shape.rotation});
    }
    if (!node.shortening.empty()) {
      entry.firstShortening = static_cast<int>(tables.shortenings.size());
      tables.shortenings.insert(tables.shortenings.end(), node.shortening.begin(),
                                node.shortening.end());
    }
    const int body = model.bodyByJoint.at(nodeName(source, node.name));
    tables.bodies[body].node = static_cast<int>(tables.nodes.size());
    tables.nodes.push_back(entry);
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
    tables.flexibles.push_back(entry);
    for (std::size_t i = 0; i < source.modes.size(); ++i) {
      tables.modes.push_back(termsOf(source.modes[i]));
      tables.stiffness[entry.firstVelocity + static_cast<int>(i)] = source.modes[i].stiffness;
    }
    for (const ModePair& pair : source.pairs) {
      tables.modePairs.push_back(termsOf(pair));
    }
    compileNodes(source, index, model);
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
}

}  // namespace kempe::detail
