#include "model/names.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace kempe::detail {
namespace {

std::vector<std::string> suffixed(const std::string& name,
                                  std::initializer_list<const char*> suffixes) {
  std::vector<std::string> names;
  for (const char* suffix : suffixes) {
    names.push_back(name + "." + suffix);
  }
  return names;
}

}  // namespace

std::vector<std::string> positionNames(const Joint& joint) {
  switch (joint.type) {
    case JointType::Fixed:
    case JointType::Node:
      return {};
    case JointType::Revolute:
    case JointType::Continuous:
    case JointType::Prismatic:
    case JointType::Helical:
    case JointType::Mode:
      return {joint.name};
    case JointType::Cylindrical:
      return suffixed(joint.name, {"angle", "distance"});
    case JointType::Universal:
      return suffixed(joint.name, {"first", "second"});
    case JointType::Planar:
      return suffixed(joint.name, {"x", "y", "angle"});
    case JointType::Spherical:
      return suffixed(joint.name, {"qx", "qy", "qz", "qw"});
    case JointType::Free:
      return suffixed(joint.name, {"x", "y", "z", "qx", "qy", "qz", "qw"});
  }
  return {};
}

std::vector<std::string> velocityNames(const Joint& joint) {
  switch (joint.type) {
    case JointType::Spherical:
      return suffixed(joint.name, {"wx", "wy", "wz"});
    case JointType::Free:
      return suffixed(joint.name, {"vx", "vy", "vz", "wx", "wy", "wz"});
    default:
      return positionNames(joint);
  }
}

void nameCoordinates(ModelImpl& model) {
  const ModelTables<double>& tables = model.tables;
  const auto append = [](std::vector<std::string>& list, const std::vector<std::string>& part) {
    list.insert(list.end(), part.begin(), part.end());
  };
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    const Joint& joint = model.joint(static_cast<int>(b));
    model.bodyNames.push_back(joint.child);
    model.jointNames.push_back(joint.name);
    append(model.positionNames, positionNames(joint));
    append(model.velocityNames, velocityNames(joint));
  }
  for (const ClusterEntry& cluster : tables.clusters) {
    const int* independent = tables.independent.data() + cluster.firstIndependent;
    for (int i = 0; i < cluster.nv; ++i) {
      model.vNames.push_back(model.velocityNames[cluster.firstVelocity + independent[i]]);
    }
    for (int i = 0; i < cluster.nq; ++i) {
      const int position = cluster.kind == ClusterKind::Explicit ? independent[i] : i;
      model.qNames.push_back(model.positionNames[cluster.firstPosition + position]);
    }
    for (int l = 0; l < cluster.loops; ++l) {
      const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
      model.rowNames.insert(model.rowNames.end(), static_cast<std::size_t>(loop.rows),
                            model.loopNames[cluster.firstLoop + l]);
    }
  }
}

void listActuated(ModelImpl& model) {
  const bool marked = std::ranges::any_of(
      model.mechanism.joints, [](const Joint& joint) { return joint.actuation.value_or(false); });
  const std::set<std::string_view> independent(model.vNames.begin(), model.vNames.end());
  for (std::size_t b = 0; b < model.tables.bodies.size(); ++b) {
    const Joint& joint = model.joint(static_cast<int>(b));
    for (std::string& name : velocityNames(joint)) {
      const bool byDefault = !marked && joint.type != JointType::Free &&
                             joint.type != JointType::Mode && independent.contains(name);
      if (joint.actuation.value_or(byDefault)) {
        model.actuated.push_back(std::move(name));
      }
    }
  }
}

}  // namespace kempe::detail
