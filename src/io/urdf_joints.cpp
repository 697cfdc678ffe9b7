#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/urdf_parts.hpp"

namespace kempe::io {
namespace {

struct TypeName {
  std::string_view name;
  JointType type;
};

constexpr std::array<TypeName, 10> typeNames{{{"fixed", JointType::Fixed},
                                              {"revolute", JointType::Revolute},
                                              {"continuous", JointType::Continuous},
                                              {"prismatic", JointType::Prismatic},
                                              {"helical", JointType::Helical},
                                              {"cylindrical", JointType::Cylindrical},
                                              {"universal", JointType::Universal},
                                              {"spherical", JointType::Spherical},
                                              {"planar", JointType::Planar},
                                              {"floating", JointType::Free}}};

JointType readType(const Element& element) {
  const std::string name = element.requiredText("type");
  const auto* const found = std::ranges::find(typeNames, name, &TypeName::name);
  if (found == typeNames.end()) {
    std::vector<std::string_view> known;
    std::string list;
    for (const TypeName& each : typeNames) {
      known.push_back(each.name);
      list += (list.empty() ? "" : ", ") + std::string(each.name);
    }
    element.fail("the type " + inQuotes(name) + " is not known." + suggestion(name, known) +
                 " The types are " + list + ".");
  }
  return found->type;
}

bool hasAxis(JointType type) {
  return type != JointType::Fixed && type != JointType::Spherical && type != JointType::Free;
}

bool hasPositionLimits(JointType type) {
  return velocitySize(type) == 1 && type != JointType::Continuous;
}

/// A bound as written; numbers so large that nobody means them are no bound.
std::optional<double> readBound(const Element& limit, const char* attribute) {
  std::optional<double> value = limit.number(attribute, std::numeric_limits<double>::max());
  if (value && std::abs(*value) >= noLimit) {
    value = std::copysign(std::numeric_limits<double>::infinity(), *value);
  }
  return value;
}

void readLimits(const Element& element, Joint& joint) {
  const auto limit = element.child("limit");
  std::optional<double> lower, upper;
  if (limit) {
    limit->expect({.attributes = {"lower", "upper", "effort", "velocity"}});
    joint.limits.effort = readBound(*limit, "effort").value_or(joint.limits.effort);
    joint.limits.velocity = readBound(*limit, "velocity").value_or(joint.limits.velocity);
    lower = readBound(*limit, "lower");
    upper = readBound(*limit, "upper");
  }
  const std::string type = element.text("type").value_or("");
  if (!hasPositionLimits(joint.type)) {
    if (lower || upper) {
      limit->warn("lower and upper of a " + type + " joint mean nothing and are not used.");
    }
    return;
  }
  if (!lower && !upper) {
    element.warn("a " + type +
                 " joint without lower and upper limits is taken as unlimited. Give limits, or "
                 "write lower=\"-1e30\" upper=\"1e30\" if that is meant.");
    return;
  }
  // URDF: one that is left out is 0.
  joint.limits.lower = lower.value_or(0.0);
  joint.limits.upper = upper.value_or(0.0);
}

void readDynamics(const Element& element, Joint& joint) {
  if (const auto dynamics = element.child("dynamics")) {
    dynamics->expect({.attributes = {"damping", "friction", "armature"}});
    joint.damping = dynamics->number("damping").value_or(0.0);
    joint.friction = dynamics->number("friction").value_or(0.0);
    joint.armature = dynamics->number("armature").value_or(0.0);
  }
}

void readAxes(const Element& element, Joint& joint) {
  const std::optional<Vector3> axis = readDirection(element, "axis");
  const std::optional<Vector3> axis2 = readDirection(element, "axis2");
  if (hasAxis(joint.type)) {
    joint.axis = axis.value_or(Vector3{1, 0, 0});  // URDF's default
  }
  if (joint.type == JointType::Universal) {
    if (!axis2) {
      element.fail("a universal joint has no <axis2>. Add <axis2 xyz=\"0 1 0\"/>.");
    }
    joint.axis2 = *axis2;
  } else if (axis2) {
    element.fail("<axis2> belongs to universal joints only. Remove it or change the type.");
  }
}

void readPitch(const Element& element, Joint& joint) {
  const auto pitch = element.child("pitch");
  if ((joint.type == JointType::Helical) != pitch.has_value()) {
    element.fail(pitch ? "<pitch> belongs to helical joints only. Remove it or change the type."
                       : "a helical joint has no <pitch>. Add <pitch value=\"metres per "
                         "radian\"/>.");
  }
  if (pitch) {
    pitch->expect({.attributes = {"value"}});
    joint.pitch = pitch->requiredNumber("value");
  }
}

std::string readEnd(const Element& joint, std::string_view tag, const Mechanism& mechanism) {
  const Element end =
      joint.requiredChild(tag, "Add <" + std::string(tag) + " link=\"name of a link\"/>.");
  end.expect({.attributes = {"link"}});
  return readLinkName(end, mechanism);
}

/// A name that no coupling, loop or rod has.
std::string unusedLoopName(const Mechanism& mechanism, const std::string& wanted) {
  const auto taken = [&](const std::string& name) {
    const auto hasName = [&](const auto& thing) { return thing.name == name; };
    return std::ranges::any_of(mechanism.couplings, hasName) ||
           std::ranges::any_of(mechanism.loops, hasName) ||
           std::ranges::any_of(mechanism.rods, hasName);
  };
  std::string name = wanted;
  for (int i = 2; taken(name); ++i) {
    name = wanted + "_" + std::to_string(i);
  }
  return name;
}

}  // namespace

void addJointFrom(const Element& element, Mechanism& mechanism) {
  element.expect({.attributes = {"name", "type", "independent"},
                  .once = {"origin", "parent", "child", "axis", "axis2", "pitch", "limit",
                           "dynamics", "mimic"}});
  Joint joint;
  joint.name = element.requiredName();
  joint.line = element.line();
  joint.type = readType(element);
  joint.parent = readEnd(element, "parent", mechanism);
  joint.child = readEnd(element, "child", mechanism);
  joint.origin = readOrigin(element);
  joint.independence = element.boolean("independent");
  readAxes(element, joint);
  readPitch(element, joint);
  readLimits(element, joint);
  readDynamics(element, joint);
  mechanism.joints.push_back(std::move(joint));
}

void addMimicFrom(const Element& element, Mechanism& mechanism) {
  const auto mimic = element.child("mimic");
  if (!mimic) {
    return;
  }
  mimic->expect({.attributes = {"joint", "multiplier", "offset"}});
  const std::string follower = element.requiredName();
  const std::string leader = mimic->requiredName("joint");
  const double multiplier = mimic->number("multiplier").value_or(1.0);
  const auto found = std::ranges::find(mechanism.joints, follower, &Joint::name);
  const Joint* const led = mechanism.findJoint(leader);
  if (led == nullptr) {
    std::vector<std::string_view> known;
    for (const Joint& joint : mechanism.joints) {
      known.push_back(joint.name);
    }
    mimic->fail("there is no joint " + inQuotes(leader) + "." + suggestion(leader, known));
  }
  if (leader == follower) {
    mimic->fail("the joint mimics itself. Name another joint.");
  }
  for (const Joint* joint : {static_cast<const Joint*>(&*found), led}) {
    if (velocitySize(joint->type) != 1) {
      mimic->fail("joint " + inQuotes(joint->name) + " is " + std::string(toString(joint->type)) +
                  "; only joints with one freedom can mimic and be mimicked. Use a <coupling>.");
    }
  }
  Coupling& coupling = mechanism.addCoupling(unusedLoopName(mechanism, follower + "_mimic"));
  coupling.plus(1.0, Coordinate(follower)).equals(mimic->number("offset").value_or(0.0));
  if (multiplier != 0.0) {
    coupling.minus(multiplier, Coordinate(leader));
  }
  coupling.line = mimic->line();
  if (!found->independence) {
    found->independence = false;
  }
}

}  // namespace kempe::io
