#include "constraints/table.hpp"

#include <algorithm>
#include <functional>

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

int ConstraintEntry::functionNumbers() const {
  return programs.exist() ? std::max(programs.value.registers(), programs.secondRate.registers())
                          : rows * arguments();
}

void ConstraintTable::append(const ModelTables<double>& tables, ConstraintEntry entry) {
  entry.firstRow = rows;
  rows += entry.rows;
  functionNumbers = std::max(functionNumbers, entry.functionNumbers());
  for (const int body : {entry.predecessor.body, entry.successor.body}) {
    addClustersAbove(tables, body, entry.path);
    entry.onRotor |= body != kWorld && tables.bodies[static_cast<std::size_t>(body)].folded;
  }
  for (const LoopTerm<double>& term : entry.terms) {
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

void setLoop(const BodyForm& loop, const ConstraintEnd& predecessor, const ConstraintEnd& successor,
             ConstraintEntry& entry) {
  entry.form = loop.form;
  entry.rows = loop.rows;
  entry.predecessor = {predecessor.body, predecessor.frame * loop.predecessor};
  entry.successor = {successor.body, successor.frame * loop.successor};
  entry.forceFrame = successor.frame * loop.forceFrame;
}

void setLoop(const CoordinateForm& loop, ConstraintEntry& entry) {
  entry.form = loop.form;
  entry.rows = loop.rows;
  if (loop.function != nullptr) {
    setFunction(*loop.function, entry);
  }
}

}  // namespace kempe::detail
