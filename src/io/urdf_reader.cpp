#include <cmath>
#include <string>

#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"
#include "kempe/io.hpp"

namespace kempe {
namespace io {
namespace {

/// More than any robot has; keeps a hostile file from costing hours.
constexpr std::size_t mostParts = 10'000;

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

void addBodyFrom(const Element& element, const Materials& materials, Mechanism& mechanism) {
  element.expect({.attributes = {"name"}, .once = {"inertial"}, .many = {"visual", "collision"}});
  Body& body = mechanism.addBody(element.requiredName());
  body.line = element.line();
  if (const auto inertial = element.child("inertial")) {
    readInertial(*inertial, body);
  }
  for (const Element& visual : element.children("visual")) {
    body.visuals.push_back(readShape(visual, materials));
  }
  for (const Element& collision : element.children("collision")) {
    body.collisions.push_back(readShape(collision, materials));
  }
}

void requireFew(const std::vector<Element>& elements) {
  if (elements.size() > mostParts) {
    elements.back().fail("the file has " + std::to_string(elements.size()) +
                         " elements of this kind; at most " + std::to_string(mostParts) +
                         " are read.");
  }
}

void readRobot(const Element& robot, Mechanism& mechanism) {
  robot.expect({.attributes = {"name", "version"},
                .once = {"gravity"},
                .many = {"link", "joint", "loop", "coupling", "rod", "material"}});
  for (const std::string_view tag : {"link", "joint", "loop", "coupling", "rod"}) {
    requireFew(robot.children(tag));
  }
  mechanism.name = robot.requiredName();
  if (const auto gravity = robot.child("gravity")) {
    gravity->expect({.attributes = {"xyz"}});
    mechanism.gravity = gravity->requiredVector("xyz");
  }
  const Materials materials = readMaterials(robot);
  for (const Element& link : robot.children("link")) {
    addBodyFrom(link, materials, mechanism);
  }
  for (const Element& joint : robot.children("joint")) {
    addJointFrom(joint, mechanism);
  }
  for (const Element& coupling : robot.children("coupling")) {
    addCouplingFrom(coupling, mechanism);
  }
  for (const Element& loop : robot.children("loop")) {
    addLoopFrom(loop, mechanism);
  }
  for (const Element& rod : robot.children("rod")) {
    addRodFrom(rod, mechanism);
  }
  for (const Element& joint : robot.children("joint")) {
    addMimicFrom(joint, mechanism);
  }
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

std::string readLinkName(const Element& element, const Mechanism& mechanism) {
  std::string name = element.requiredName("link");
  if (mechanism.findBody(name) == nullptr) {
    std::vector<std::string_view> known;
    for (const Body& body : mechanism.bodies) {
      known.push_back(body.name);
    }
    const std::string meant = suggestion(name, known);
    element.fail("there is no link " + inQuotes(name) + "." +
                 (meant.empty() ? " Add it or correct the name." : meant));
  }
  return name;
}

}  // namespace io

Mechanism readUrdfText(std::string_view text, const std::string& source) {
  io::XmlDocument document(text, source);
  Mechanism mechanism;
  mechanism.source = source;
  io::readRobot(document.root("robot"), mechanism);
  mechanism.warnings = document.warnings().messages();
  return mechanism;
}

}  // namespace kempe
