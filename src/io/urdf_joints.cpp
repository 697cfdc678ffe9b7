#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/names.hpp"
#include "io/urdf_parts.hpp"

namespace kempe::io {
namespace {

constexpr TypeName<JointType> jointTypes[] = {
    {"fixed", JointType::Fixed},           {"revolute", JointType::Revolute},
    {"continuous", JointType::Continuous}, {"prismatic", JointType::Prismatic},
    {"helical", JointType::Helical},       {"cylindrical", JointType::Cylindrical},
    {"universal", JointType::Universal},   {"spherical", JointType::Spherical},
    {"planar", JointType::Planar},         {"floating", JointType::Free}};

/// A bound as written; numbers so large that nobody means them are no bound.
std::optional<double> readBound(const Element& limit, const char* attribute) {
  if (const std::optional<double> infinite = limit.infinity(attribute)) {
    return infinite;
  }
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
      limit->warn("lower and upper of a " + type + " joint have no meaning and are ignored.");
    }
    return;
  }
  const auto isZero = [](const std::optional<double>& bound) { return bound.value_or(0.0) == 0.0; };
  if (limit && isZero(lower) && isZero(upper) && joint.limits.effort == 0.0 &&
      joint.limits.velocity == 0.0) {
    limit->warn(
        "all limits of a " + type +
        " joint are zero, as exporters write them where none were given; it is taken as unlimited. "
        "Give limits, or make the joint fixed if that is meant.");
    joint.limits = {};
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
    dynamics->expect({.attributes = {"damping", "friction", "armature", "spring_stiffness",
                                     "spring_reference"}});
    // Not geometry, inertia or ratios, and so not limited.
    constexpr double any = std::numeric_limits<double>::max();
    joint.damping = dynamics->number("damping", any).value_or(0.0);
    joint.friction = dynamics->number("friction", any).value_or(0.0);
    joint.armature = dynamics->number("armature").value_or(0.0);
    joint.stiffness = dynamics->number("spring_stiffness", any).value_or(0.0);
    joint.springReference = dynamics->number("spring_reference").value_or(0.0);
  }
}

void readAxes(const Element& element, Joint& joint) {
  const std::optional<Vector3> axis = readDirection(element, "axis");
  if (hasAxis(joint.type)) {
    joint.axis = axis.value_or(Vector3{1, 0, 0});  // URDF's default
  }
  joint.axis2 = readSecondAxis(element, joint.type == JointType::Universal).value_or(joint.axis2);
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

/// The wanted name, with a number where another coupling, loop or rod has it.
std::string unusedLoopName(const Mechanism& mechanism, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; isLoopName(mechanism, name); ++i) {
    name = wanted + "_" + std::to_string(i);
  }
  return name;
}

}  // namespace

void addJointFrom(const Element& element, Robot& robot) {
  element.expect({.attributes = {"name", "type", "independent", "actuated", "start_pose"},
                  .once = {"origin", "parent", "child", "axis", "axis2", "pitch", "limit",
                           "dynamics", "mimic"}});
  Joint joint;
  joint.name = element.requiredName();
  joint.line = element.line();
  joint.type = readType<JointType>(element, jointTypes);
  joint.parent = readEndLink(element, "parent", robot);
  joint.parentNode = readNode(*element.child("parent"));
  joint.child = readEndLink(element, "child", robot);
  joint.origin = readOrigin(element);
  joint.independence = element.boolean("independent");
  joint.actuation = element.boolean("actuated");
  readAxes(element, joint);
  readPitch(element, joint);
  readLimits(element, joint);
  readDynamics(element, joint);
  const auto positions = static_cast<std::size_t>(positionSize(joint.type));
  if (auto start = element.list("start_pose", positions)) {
    robot.mechanism.startPose.emplace(joint.name, *std::move(start));
  }
  robot.joints.emplace(joint.name, robot.mechanism.joints.size());
  robot.mechanism.joints.push_back(std::move(joint));
}

void addMimicFrom(const Element& element, Robot& robot) {
  const auto mimic = element.child("mimic");
  if (!mimic) {
    return;
  }
  mimic->expect({.attributes = {"joint", "multiplier", "offset"}});
  const double multiplier = mimic->number("multiplier").value_or(1.0);
  Joint& follower = robot.mechanism.joints[robot.joints.at(element.requiredName())];
  if (follower.type == JointType::Fixed) {
    mimic->warn("a fixed joint cannot mimic another; its <mimic> is ignored.");
    return;
  }
  const Joint& leader =
      robot.mechanism.joints[robot.joints.at(readJointName(*mimic, "joint", robot))];
  if (&leader == &follower) {
    mimic->fail("the joint mimics itself. Name another joint.");
  }
  for (const Joint* joint : {static_cast<const Joint*>(&follower), &leader}) {
    if (velocitySize(joint->type) != 1) {
      mimic->fail(
          "joint " + inQuotes(joint->name) + " is " + std::string(toString(joint->type)) +
          "; only joints with one degree of freedom can mimic and be mimicked. Use a <coupling>.");
    }
  }
  Coupling& coupling =
      robot.mechanism.addCoupling(unusedLoopName(robot.mechanism, follower.name + "_mimic"));
  coupling.plus(1.0, follower.name).equals(mimic->number("offset").value_or(0.0));
  if (multiplier != 0.0) {
    coupling.minus(multiplier, leader.name);
  }
  coupling.line = mimic->line();
  follower.independence = follower.independence.value_or(false);
}

}  // namespace kempe::io
