#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "io/names.hpp"
#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"
#include "kempe/io.hpp"

namespace kempe {
namespace io {
namespace {

/// More than any robot has; keeps a hostile file from costing hours.
constexpr std::size_t mostParts = 5'000;

void readInertial(const Element& inertial, Body& body) {
  inertial.expect({.once = {"origin", "mass", "inertia"}});
  const Element mass = inertial.requiredChild("mass", "Add <mass value=\"kilograms\"/>.");
  mass.expect({.attributes = {"value"}});
  const Element inertia = inertial.requiredChild(
      "inertia",
      "Add <inertia ixx=\"...\" ixy=\"...\" ixz=\"...\" iyy=\"...\" iyz=\"...\" "
      "izz=\"...\"/>.");
  inertia.expect({.attributes = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}});
  const SymMat3<double> inOwnAxes{inertia.requiredNumber("ixx"), inertia.requiredNumber("ixy"),
                                  inertia.requiredNumber("ixz"), inertia.requiredNumber("iyy"),
                                  inertia.requiredNumber("iyz"), inertia.requiredNumber("izz")};
  const Pose origin = readOrigin(inertial);
  const bool turned = !(origin.R == Rotation::identity());
  body.mass = mass.requiredNumber("value");
  body.centerOfMass = origin.p;
  body.inertia = turned ? congruence(origin.R, inOwnAxes) : inOwnAxes;
}

/// Exporters leave an <origin> in a link that means nothing; one that moves the link is refused.
void readStrayOrigin(const Element& link) {
  if (!link.child("origin")) {
    return;
  }
  const Pose origin = readOrigin(link);
  if (!(origin.R == Rotation::identity()) || !(origin.p == Vector3{})) {
    link.child("origin")->fail(
        "a link has no origin of its own. Put it into <inertial>, <visual> or <collision>, or into "
        "the joint above the link.");
  }
  link.child("origin")->warn("<origin> directly in a link, zero, has no meaning and is ignored.");
}

void addBodyFrom(const Element& element, const Materials& materials, Robot& robot) {
  element.expect({.attributes = {"name"},
                  .once = {"inertial", "origin", "flexible"},
                  .many = {"visual", "collision"}});
  readStrayOrigin(element);
  Body& body = robot.mechanism.addBody(element.requiredName());
  robot.links.insert(body.name);
  body.line = element.line();
  if (const auto inertial = element.child("inertial")) {
    readInertial(*inertial, body);
  }
  addFlexibleFrom(element, body, robot);
  const auto readShapes = [&](std::string_view tag, std::vector<Shape>& shapes) {
    for (const Element& shape : element.children(tag)) {
      shape.tolerate([&] { shapes.push_back(readShape(shape, materials)); },
                     "The shape is left out.");
    }
  };
  readShapes("visual", body.visuals);
  readShapes("collision", body.collisions);
}

/// Joints that a <transmission>, or a <command_interface> of <ros2_control>, drives are actuated,
/// unless they say otherwise themselves.
void readActuators(const Element& file, Robot& robot) {
  const auto actuate = [&](const Element& element) {
    const std::string name = element.text("name").value_or("");
    const auto found = robot.joints.find(name);
    if (found == robot.joints.end()) {
      element.warn("an actuator drives joint " + inQuotes(name) +
                   ", which does not exist. It is ignored.");
      return;
    }
    Joint& joint = robot.mechanism.joints[found->second];
    if (joint.type == JointType::Fixed) {
      element.warn("an actuator drives joint " + inQuotes(name) +
                   ", which is fixed. It is ignored.");
    } else {
      joint.actuation = joint.actuation.value_or(true);
    }
  };
  for (const Element& transmission : file.children("transmission")) {
    transmission.warn("of <transmission>, only which joint is actuated is used.");
    std::ranges::for_each(transmission.children("joint"), actuate);
  }
  for (const Element& control : file.children("ros2_control")) {
    control.warn("of <ros2_control>, only which joints are actuated is used.");
    for (const Element& joint : control.children("joint")) {
      if (joint.child("command_interface")) {
        actuate(joint);
      }
    }
  }
}

void requireFew(const std::vector<Element>& elements) {
  if (elements.size() > mostParts) {
    elements.back().fail("the file has " + std::to_string(elements.size()) +
                         " elements of this kind; at most " + std::to_string(mostParts) +
                         " are read. Build larger robots in code.");
  }
}

Robot readRobot(const Element& file, const std::string& source) {
  file.expect({.attributes = {"name", "version"},
               .once = {"gravity", "friction"},
               .many = {"link", "joint", "loop", "coupling", "rod", "function", "material",
                        "transmission", "ros2_control"}});
  for (const std::string_view tag : {"link", "joint", "loop", "coupling", "rod", "function"}) {
    requireFew(file.children(tag));
  }
  Robot robot;
  robot.source = source;
  robot.mechanism.name = file.text("name").value_or("");
  if (robot.mechanism.name.empty()) {
    robot.mechanism.name = "robot";
    file.warn("<robot> has no name and is called \"robot\".");
  }
  if (const auto gravity = file.child("gravity")) {
    gravity->expect({.attributes = {"xyz"}});
    robot.mechanism.gravity = gravity->requiredVector("xyz");
  }
  if (const auto friction = file.child("friction")) {
    friction->expect({.attributes = {"slip_speed"}});
    robot.mechanism.frictionSlipSpeed = friction->requiredNumber("slip_speed");
  }
  const Materials materials = readMaterials(file);
  if (!file.child("link")) {
    file.fail("has no links. Add <link name=\"...\"/> for the root and each body that moves.");
  }
  for (const Element& link : file.children("link")) {
    addBodyFrom(link, materials, robot);
  }
  const auto addEach = [&](std::string_view tag, void (*add)(const Element&, Robot&)) {
    for (const Element& element : file.children(tag)) {
      add(element, robot);
    }
  };
  addEach("joint", addJointFrom);
  addEach("coupling", addCouplingFrom);
  addEach("loop", addLoopFrom);
  addEach("rod", addRodFrom);
  addEach("function", addFunctionFrom);
  addEach("joint", addMimicFrom);
  readActuators(file, robot);
  robot.mechanism.source = source;
  return robot;
}

}  // namespace

Pose readOrigin(const Element& parent) {
  const auto origin = parent.child("origin");
  if (!origin) {
    return {};
  }
  origin->expect({.attributes = {"xyz", "rpy", "quat_xyzw"}});
  const Vector3 xyz = origin->vector("xyz").value_or(Vector3{});
  const std::optional<Vector3> rpy = origin->vector("rpy");
  const auto quaternion = origin->four("quat_xyzw");
  if (!quaternion) {
    return at(xyz, rpy.value_or(Vector3{}));
  }
  const auto& [x, y, z, w] = *quaternion;
  if (rpy) {
    origin->fail("has both rpy and quat_xyzw. Remove one of the two.");
  }
  if (!(std::hypot(std::hypot(x, y), std::hypot(z, w)) > 1e-12)) {
    origin->fail("quat_xyzw is zero. Give a quaternion of unit length.");
  }
  return {rotationFromQuaternion(normalized(Quaternion<double>{x, y, z, w})), xyz};
}

std::optional<Vector3> readDirection(const Element& parent, std::string_view tag) {
  const auto element = parent.child(tag);
  if (!element) {
    return std::nullopt;
  }
  element->expect({.attributes = {"xyz"}});
  return element->requiredVector("xyz");
}

std::optional<Vector3> readSecondAxis(const Element& element, bool isUniversal) {
  const std::optional<Vector3> axis2 = readDirection(element, "axis2");
  if (isUniversal && !axis2) {
    element.fail("a universal " + std::string(element.tag()) +
                 " has no <axis2>. Add <axis2 xyz=\"0 1 0\"/>.");
  }
  if (!isUniversal && axis2) {
    element.fail("<axis2> belongs to universal " + std::string(element.tag()) +
                 "s only. Remove it or change the type.");
  }
  return axis2;
}

std::string readLinkName(const Element& element, const Robot& robot) {
  std::string name = element.requiredName("link");
  if (!robot.links.contains(name)) {
    element.fail(isMissing("link", name, namesOf(robot.mechanism.bodies)));
  }
  return name;
}

std::string readJointName(const Element& element, const char* attribute, const Robot& robot) {
  std::string name = element.requiredName(attribute);
  if (!robot.joints.contains(name)) {
    element.fail(isMissing("joint", name, namesOf(robot.mechanism.joints)));
  }
  return name;
}

Element requiredEnd(const Element& element, std::string_view tag) {
  return element.requiredChild(tag, "Add <" + std::string(tag) + " link=\"name of a link\"/>.");
}

std::string readEndLink(const Element& element, std::string_view tag, const Robot& robot) {
  const Element end = requiredEnd(element, tag);
  end.expect({.attributes = {"link", "node"}});
  return readLinkName(end, robot);
}

}  // namespace io

Mechanism readUrdfText(std::string_view text, const std::string& source) {
  io::XmlDocument document(text, source);
  Mechanism mechanism = io::readRobot(document.root("robot"), source).mechanism;
  mechanism.warnings = document.warnings().messages();
  return mechanism;
}

}  // namespace kempe
