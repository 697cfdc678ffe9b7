#include <algorithm>
#include <filesystem>
#include <sstream>

#include "io/numbers.hpp"
#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"
#include "kempe/matrix_files.hpp"
#include "mechanism/flexible_parts.hpp"

namespace kempe::io {
namespace {

constexpr double largestModulus = 1e15;  // Pa

int readCount(const Element& element, const char* attribute, int otherwise) {
  return element.index(attribute).value_or(otherwise);
}

std::vector<std::string> readNames(const Element& element, const char* attribute) {
  std::istringstream text(element.text(attribute).value_or(""));
  std::vector<std::string> names;
  for (std::string name; text >> name;) {
    names.push_back(name);
  }
  return names;
}

BeamOptions readBeam(const Element& element) {
  element.expect({.attributes = {"length", "E", "G", "density", "area", "Iy", "Iz", "J", "ky", "kz",
                                 "axis", "elements", "modes", "fixed", "interface", "damping",
                                 "stiffening", "start_pose"},
                  .many = {"section"}});
  BeamOptions beam;
  beam.length = element.requiredNumber("length");
  beam.E = element.number("E", largestModulus).value_or(0.0);
  beam.G = element.number("G", largestModulus);
  beam.density = element.requiredNumber("density");
  beam.area = element.number("area").value_or(beam.area);
  beam.Iy = element.number("Iy").value_or(beam.Iy);
  beam.Iz = element.number("Iz").value_or(beam.Iz);
  beam.J = element.number("J");
  beam.ky = element.number("ky");
  beam.kz = element.number("kz");
  beam.axis = element.vector("axis").value_or(beam.axis);
  beam.elements = readCount(element, "elements", beam.elements);
  beam.modes = readCount(element, "modes", beam.modes);
  beam.fixed = element.text("fixed").value_or(beam.fixed);
  beam.interface = readNames(element, "interface");
  beam.damping = element.number("damping").value_or(beam.damping);
  beam.stiffening = element.boolean("stiffening").value_or(beam.stiffening);
  for (const Element& section : element.children("section")) {
    section.expect({.attributes = {"area", "Iy", "Iz", "J"}});
    beam.sections.push_back({section.requiredNumber("area"), section.requiredNumber("Iy"),
                             section.requiredNumber("Iz"), section.number("J")});
  }
  return beam;
}

/// A node by its number or name, or a set by its name.
NodeSet findNodes(const Element& element, const std::string& name, const NodeTable& table,
                  const std::vector<NodeSet>& sets) {
  const auto set = std::ranges::find(sets, name, &NodeSet::name);
  if (set != sets.end()) {
    return *set;
  }
  const auto named = std::ranges::find(table.names, name);
  if (named != table.names.end()) {
    return static_cast<int>(named - table.names.begin());
  }
  const std::optional<int> number = parseIndex(name);
  if (!number || *number < 0) {
    element.fail("there is no node or <set> " + inQuotes(name) +
                 ". Nodes are called by their numbers, from 0 on, or as their file says.");
  }
  return *number;
}

/// A body whose matrices are in other files.
FlexibleBody readElements(const Element& element, const std::string& body,
                          const std::string& robotFile) {
  element.expect({.attributes = {"mass", "stiffness", "nodes", "modes", "interface", "keep",
                                 "damping", "start_pose"},
                  .many = {"set"}});
  const auto beside = [&](const char* attribute) {
    const std::filesystem::path name = element.requiredName(attribute);
    return std::filesystem::path(robotFile).parent_path() / name;
  };
  const NodeTable table = readNodes(beside("nodes"));
  std::vector<NodeSet> sets;
  for (const Element& set : element.children("set")) {
    set.expect({.attributes = {"name", "nodes"}});
    NodeSet& added = sets.emplace_back();
    for (const std::string& node : readNames(set, "nodes")) {
      added.nodes.push_back(findNodes(set, node, table, {}).nodes.front());
    }
    added.name = set.requiredName();
  }
  const auto nodesOf = [&](const char* attribute) {
    std::vector<NodeSet> nodes;
    for (const std::string& name : readNames(element, attribute)) {
      nodes.push_back(findNodes(element, name, table, sets));
    }
    return nodes;
  };
  FiniteElementOptions options;
  options.modes = readCount(element, "modes", options.modes);
  options.interface = nodesOf("interface");
  options.damping = element.number("damping").value_or(options.damping);
  options.names = table.names;
  if (element.text("keep")) {
    options.keep = nodesOf("keep");
  }
  return reduceFiniteElements(body, table.positions(), readMatrix(beside("mass")).matrix(),
                              readMatrix(beside("stiffness")).matrix(), options);
}

}  // namespace

void addFlexibleFrom(const Element& link, const Body& body, Robot& robot) {
  const auto element = link.child("flexible");
  if (!element) {
    return;
  }
  if (link.child("inertial")) {
    element->fail(
        "the link has both <inertial> and <flexible>, whose mass follows from its density. Remove "
        "<inertial>; fix a link with further mass to a node.");
  }
  const bool fromFiles = element->text("mass") || element->text("stiffness");
  const BeamOptions beam = fromFiles ? BeamOptions() : readBeam(*element);
  try {
    FlexibleBody flexible =
        fromFiles ? readElements(*element, body.name, robot.source) : reduceBeam(body.name, beam);
    flexible.line = element->line();
    if (const auto start = element->list("start_pose", flexible.modes.size())) {
      for (std::size_t i = 0; i < start->size(); ++i) {
        robot.mechanism.startPose[detail::modeName(flexible, i)] = {(*start)[i]};
      }
    }
    robot.mechanism.flexibleBodies.push_back(std::move(flexible));
  } catch (const ElementError&) {
    throw;
  } catch (const ModelError& error) {
    throw ModelError(element->place() + error.what());
  }
}

std::string readNode(const Element& end) {
  return end.text("node").value_or("");
}

}  // namespace kempe::io
