#include "constraints/table.hpp"

#include <algorithm>
#include <functional>

#include "loops/joint_rows.hpp"

namespace kempe::detail {
namespace {

/// Clusters between a body and the root.
void addClustersAbove(const ModelTables<double>& tables, int body, std::vector<int>& path) {
  while (body != kWorld) {
    const int cluster = tables.bodies[static_cast<std::size_t>(body)].cluster;
    path.push_back(cluster);
    body = tables.clusters[static_cast<std::size_t>(cluster)].output;
  }
}

/// The cluster that a spanning velocity belongs to.
int clusterOf(const ModelTables<double>& tables, int velocity) {
  const auto after = std::ranges::upper_bound(
      tables.clusters, velocity, {}, [](const ClusterEntry& c) { return c.firstVelocity; });
  return static_cast<int>(after - tables.clusters.begin()) - 1;
}

}  // namespace

void ConstraintTable::append(const ModelTables<double>& tables, ConstraintEntry entry) {
  entry.firstRow = rows;
  rows += entry.rows;
  mostTerms = std::max(mostTerms, static_cast<int>(entry.terms.size()));
  if (entry.kind == ConstraintKind::Function) {
    mostFunctionRows = std::max(mostFunctionRows, entry.rows);
    functionNumbers = std::max(functionNumbers, entry.program.registers());
  }
  for (const int body : {entry.predecessor.body, entry.successor.body}) {
    addClustersAbove(tables, body, entry.path);
    entry.onRotor |= body != kWorld && tables.bodies[static_cast<std::size_t>(body)].folded;
  }
  for (const ConstraintTerm& term : entry.terms) {
    const int cluster = clusterOf(tables, term.velocity);
    entry.clusters.push_back(cluster);
    entry.path.push_back(cluster);
    addClustersAbove(tables, tables.clusters[static_cast<std::size_t>(cluster)].output, entry.path);
  }
  std::vector<int> rank(tables.order.size());
  for (std::size_t k = 0; k < tables.order.size(); ++k) {
    rank[static_cast<std::size_t>(tables.order[k])] = static_cast<int>(k);
  }
  std::ranges::sort(entry.path, std::greater<>{},
                    [&](int c) { return rank[static_cast<std::size_t>(c)]; });
  entry.path.erase(std::unique(entry.path.begin(), entry.path.end()), entry.path.end());
  entries.push_back(std::move(entry));
}

void setJoint(const LoopJoint& joint, const ConstraintEnd& predecessor,
              const ConstraintEnd& successor, ConstraintEntry& entry) {
  entry.kind = ConstraintKind::Joint;
  entry.type = joint.type;
  entry.rows = rowRules(joint.type).count;
  const LoopAxes axes = loopAxes(joint);
  entry.cosine = axes.cosine;
  entry.predecessor = {predecessor.body, predecessor.frame * joint.predecessor.frame *
                                             Pose{rotationTakingZTo(axes.predecessor), {}}};
  entry.forceFrame = successor.frame * joint.successor.frame;
  entry.successor = {successor.body,
                     entry.forceFrame * Pose{rotationTakingZTo(axes.successor), {}}};
}

void setRod(const Rod& rod, const ConstraintEnd& predecessor, const ConstraintEnd& successor,
            ConstraintEntry& entry) {
  entry.kind = ConstraintKind::Rod;
  entry.rows = 1;
  entry.length = rod.length;
  entry.predecessor = {predecessor.body,
                       predecessor.frame * Pose{Rotation::identity(), rod.predecessor.point}};
  entry.forceFrame = successor.frame * Pose{Rotation::identity(), rod.successor.point};
  entry.successor = {successor.body, entry.forceFrame};
}

}  // namespace kempe::detail
