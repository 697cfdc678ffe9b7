#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mechanism/clusters.hpp"
#include "tables/tables.hpp"

namespace kempe::detail {

/// Where the bodies of a mechanism went in the model.
struct BodyPlaces {
  /// Moving body of the model that carries a body of the mechanism; kWorld for the root's group.
  std::function<int(const std::string& body)> modelBody;
  /// A mechanism body's own frame in the turned frame of its model body.
  std::function<Pose(const std::string& body)> frameInModelBody;
};

/// Appends the loops of one cluster to the tables: entries, columns, terms, and the cluster's
/// ranges. The cluster's bodies must be in the tables already.
void compileLoops(const Mechanism& mechanism, const BodyCluster& source, const BodyPlaces& places,
                  const std::function<int(const std::string& joint)>& bodyOfJoint,
                  ClusterEntry& cluster, ModelTables<double>& tables);

/// Calls visitor(description) with the description of a loop.
template <typename Visitor>
decltype(auto) visitLoop(const Mechanism& mechanism, const LoopRef& loop, Visitor&& visitor) {
  const auto index = static_cast<std::size_t>(loop.index);
  switch (loop.kind) {
    case LoopKind::Coupling:
      return visitor(mechanism.couplings[index]);
    case LoopKind::Joint:
      return visitor(mechanism.loops[index]);
    case LoopKind::Rod:
      return visitor(mechanism.rods[index]);
    case LoopKind::Function:
      break;
  }
  return visitor(mechanism.functions[index]);
}

/// `loop "name"`, as messages call it, and its bare name.
std::string describe(const Mechanism& mechanism, const LoopRef& loop);
const std::string& nameOf(const Mechanism& mechanism, const LoopRef& loop);
/// The bodies that a loop joint or rod connects, predecessor first; none for other kinds.
std::vector<std::string> endsOf(const Mechanism& mechanism, const LoopRef& loop);
int lineOf(const Mechanism& mechanism, const LoopRef& loop);
/// Throws ModelError, with the place and the name of the loop.
[[noreturn]] void throwAtLoop(const Mechanism& mechanism, const LoopRef& loop,
                              const std::string& reason);

}  // namespace kempe::detail
