#include "flexible/element_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "flexible/node_sets.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

// Each node of the body becomes a frame of the model.
constexpr Eigen::Index kMostNodes = 1000;

void checkSet(std::string_view body, const std::string& argument, const NodeSet& set,
              Eigen::Index nodes) {
  if (set.nodes.empty()) {
    refuseFiniteElements(body, argument + " holds the set " + quoted(asUtf8(set.name)) +
                                   " without nodes; list its nodes");
  }
  if (set.nodes.size() > 1 && set.name.empty()) {
    refuseFiniteElements(body, argument + " holds a set of " + std::to_string(set.nodes.size()) +
                                   " nodes without a name; give it one, by which joints attach");
  }
  std::set<int> members;
  for (const int node : set.nodes) {
    if (node < 0 || node >= nodes) {
      refuseFiniteElements(body, argument + " names node " + std::to_string(node) +
                                     ", which does not exist; nodes are numbered from 0 to " +
                                     std::to_string(nodes - 1));
    }
    if (!members.insert(node).second) {
      refuseFiniteElements(
          body, argument + " names node " + std::to_string(node) + " twice; name it once");
    }
  }
}

}  // namespace

void checkNodesOfOptions(std::string_view body, Eigen::Index nodes,
                         const FiniteElementOptions& options) {
  if (options.modes < 1) {
    refuseFiniteElements(body, "modes is " + std::to_string(options.modes) +
                                   "; give at least 1, or make the body rigid");
  }
  if (!(options.damping >= 0.0) || !std::isfinite(options.damping)) {
    refuseFiniteElements(body, "damping is " + shortNumber(options.damping) +
                                   "; give a ratio to critical damping of zero or more, such as "
                                   "0.01");
  }
  std::set<int> taken;
  for (const NodeSet& set : options.interface) {
    checkSet(body, "interface", set, nodes);
    for (const int node : set.nodes) {
      if (!taken.insert(node).second) {
        refuseFiniteElements(
            body, "interface names node " + std::to_string(node) + " twice; name it once");
      }
    }
  }
  if (options.keep) {
    for (const NodeSet& set : *options.keep) {
      checkSet(body, "keep", set, nodes);
    }
  } else if (nodes > kMostNodes) {
    refuseFiniteElements(body, "the mesh has " + std::to_string(nodes) +
                                   " nodes, each of which would become a frame; list in keep those "
                                   "that matter besides interface");
  }
  if (!options.names.empty() && options.names.size() != static_cast<std::size_t>(nodes)) {
    refuseFiniteElements(body, "names holds " + std::to_string(options.names.size()) +
                                   " names for " + std::to_string(nodes) +
                                   " nodes; give one for each node, or none");
  }
}

void checkElementOptions(std::string_view body, const FiniteElements& elements,
                         const FiniteElementOptions& options) {
  const auto checkRotation = [&](const NodeSet& set, bool needed) {
    if (set.nodes.size() == 1 && (!needed || isNode(elements, set))) {
      return;
    }
    if (set.nodes.size() == 1) {
      refuseFiniteElements(body, nameOf(set) +
                                     " of interface has no rotation, because the matrices have "
                                     "three rows for each node; give a set of three or more nodes "
                                     "around it");
    }
    if (!displacementsOf(elements, set)) {
      refuseFiniteElements(body, "the nodes of the " + nameOf(set) +
                                     " lie on a line, so that their displacements define no "
                                     "rotation; add a node beside it");
    }
  };
  for (const NodeSet& set : options.interface) {
    checkRotation(set, true);
  }
  for (const NodeSet& set : options.keep.value_or(std::vector<NodeSet>())) {
    checkRotation(set, false);
  }
  const int kept = std::max(0, static_cast<int>(options.interface.size()) - 1);
  const auto available = static_cast<int>(elements.mass.rows()) - 6;
  if (options.modes > available) {
    refuseFiniteElements(body, "modes is " + std::to_string(options.modes) + ", but " +
                                   counted(elements.nodes.rows(), "node has ", "nodes have ") +
                                   std::to_string(available) +
                                   " besides the rigid motions; give fewer modes");
  }
  if (options.modes < 6 * kept) {
    refuseFiniteElements(body, "modes is " + std::to_string(options.modes) +
                                   ", but the nodes of interface after the first take " +
                                   std::to_string(6 * kept) +
                                   "; give at least that many modes or fewer interface nodes");
  }
  static_cast<void>(keptNodes(body, elements, options));
}

std::vector<NodeSet> keptNodes(std::string_view body, const FiniteElements& elements,
                               const FiniteElementOptions& options) {
  std::vector<NodeSet> kept;
  std::map<int, std::size_t> places;  // of single nodes
  const auto add = [&](NodeSet set) {
    if (set.nodes.size() == 1) {
      const int number = set.nodes.front();
      const auto [same, isNew] = places.emplace(number, kept.size());
      if (!isNew) {
        std::string& name = kept[same->second].name;
        name = set.name.empty() ? name : set.name;
        return;
      }
      if (set.name.empty()) {
        set.name = options.names.empty() ? std::to_string(number)
                                         : options.names[static_cast<std::size_t>(number)];
      }
    }
    kept.push_back(std::move(set));
  };
  if (!options.keep) {
    for (int node = 0; node < static_cast<int>(elements.nodes.rows()); ++node) {
      add(node);
    }
  }
  std::ranges::for_each(options.interface, add);
  if (options.keep) {
    std::ranges::for_each(*options.keep, add);
  }
  std::set<std::string> names;
  for (const NodeSet& node : kept) {
    if (!names.insert(node.name).second) {
      refuseFiniteElements(
          body, "two nodes are named " + quoted(asUtf8(node.name)) + "; give each another name");
    }
  }
  return kept;
}

}  // namespace kempe::detail
