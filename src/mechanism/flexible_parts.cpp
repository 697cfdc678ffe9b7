#include "mechanism/flexible_parts.hpp"

#include <algorithm>
#include <utility>

namespace kempe::detail {
namespace {

Body& addPart(Mechanism& mechanism, const FlexibleBody& flexible, const std::string& name,
              const std::string& parent, JointType type) {
  Body& body = mechanism.addBody(name);
  Joint& joint = mechanism.addJoint(name, type).from(parent).to(name);
  body.line = joint.line = flexible.line;
  return body;
}

void addParts(Mechanism& mechanism, const FlexibleBody& flexible) {
  const std::string flesh = modeName(flexible, 0);
  for (std::size_t i = 0; i < flexible.modes.size(); ++i) {
    const Mode& mode = flexible.modes[i];
    addPart(mechanism, flexible, modeName(flexible, i), flexible.body, JointType::Mode);
    Joint& joint = mechanism.joints.back();
    joint.armature = mode.mass;
    joint.stiffness = mode.stiffness;
    joint.damping = mode.damping;
    joint.independence = true;
    joint.actuation = false;
    if (i == 0) {
      const RigidInertia<double>& rigid = flexible.rigid;
      Body& body = mechanism.bodies.back();
      body.mass = rigid.mass;
      body.centerOfMass = (1.0 / rigid.mass) * rigid.moment;
      body.inertia = rigid.rotation - rigid.mass * pointInertia(body.centerOfMass);
    }
  }
  for (const FlexibleNode& node : flexible.nodes) {
    addPart(mechanism, flexible, nodeName(flexible, node.name), flesh, JointType::Node);
  }
}

}  // namespace

std::string modeName(const FlexibleBody& flexible, std::size_t mode) {
  return flexible.body + "/mode" + std::to_string(mode + 1);
}

std::string nodeName(const FlexibleBody& flexible, std::string_view node) {
  return flexible.body + "/" + std::string(node);
}

const FlexibleBody* findMode(const Mechanism& mechanism, std::string_view name) {
  for (const FlexibleBody& body : mechanism.flexibleBodies) {
    for (std::size_t i = 0; name.starts_with(body.body) && i < body.modes.size(); ++i) {
      if (modeName(body, i) == name) {
        return &body;
      }
    }
  }
  return nullptr;
}

void addFlexibleParts(Mechanism& mechanism) {
  for (const FlexibleBody& flexible : mechanism.flexibleBodies) {
    if (mechanism.findBody(modeName(flexible, 0)) == nullptr) {
      addParts(mechanism, flexible);
    }
  }
  // Nodes can be named by their number.
  const auto attach = [&](std::string& body, std::string& node) {
    const auto flexible = std::ranges::find(mechanism.flexibleBodies, body, &FlexibleBody::body);
    if (!node.empty() && flexible != mechanism.flexibleBodies.end()) {
      body = nodeName(*flexible, flexible->findNode(std::exchange(node, {}))->name);
    }
  };
  for (Joint& joint : mechanism.joints) {
    attach(joint.parent, joint.parentNode);
  }
  const auto attachEnds = [&](auto& loops) {
    for (auto& loop : loops) {
      attach(loop.predecessor.body, loop.predecessor.node);
      attach(loop.successor.body, loop.successor.node);
    }
  };
  attachEnds(mechanism.loops);
  attachEnds(mechanism.rods);
}

}  // namespace kempe::detail
