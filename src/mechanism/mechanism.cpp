#include "kempe/mechanism.hpp"

#include <algorithm>
#include <utility>

#include "mechanism/tree.hpp"

namespace kempe {

std::string_view toString(JointType type) {
  switch (type) {
    case JointType::Fixed:
      return "fixed";
    case JointType::Revolute:
      return "revolute";
    case JointType::Continuous:
      return "continuous";
    case JointType::Prismatic:
      return "prismatic";
    case JointType::Helical:
      return "helical";
    case JointType::Cylindrical:
      return "cylindrical";
    case JointType::Universal:
      return "universal";
    case JointType::Spherical:
      return "spherical";
    case JointType::Planar:
      return "planar";
    case JointType::Free:
      return "free";
    case JointType::Mode:
      return "mode";
    case JointType::Node:
      return "node";
  }
  return "unknown";
}

std::string_view toString(LoopType type) {
  switch (type) {
    case LoopType::Revolute:
      return "revolute";
    case LoopType::Prismatic:
      return "prismatic";
    case LoopType::Cylindrical:
      return "cylindrical";
    case LoopType::Universal:
      return "universal";
    case LoopType::Spherical:
      return "spherical";
    case LoopType::Planar:
      return "planar";
    case LoopType::Fixed:
      return "fixed";
  }
  return "unknown";
}

Body& Mechanism::addBody(std::string_view bodyName) {
  Body& body = bodies.emplace_back();
  body.name = bodyName;
  return body;
}

FlexibleBody& Mechanism::addBeam(std::string_view bodyName, const BeamOptions& beam) {
  return addFlexibleBody(reduceBeam(bodyName, beam));
}

FlexibleBody& Mechanism::addFlexibleBody(FlexibleBody flexible) {
  addBody(flexible.body);
  return flexibleBodies.emplace_back(std::move(flexible));
}

Joint& Mechanism::addJoint(std::string_view jointName, JointType type) {
  Joint& joint = joints.emplace_back();
  joint.name = jointName;
  joint.type = type;
  return joint;
}

Coupling& Mechanism::addCoupling(std::string_view couplingName) {
  Coupling& coupling = couplings.emplace_back();
  coupling.name = couplingName;
  return coupling;
}

namespace {

void requireRatio(const Mechanism& mechanism, std::string_view coupling, double ratio) {
  if (ratio == 0.0) {
    throw ModelError(mechanism.place() + "coupling \"" + std::string(coupling) +
                     "\": its ratio is zero, so it couples nothing. Give a nonzero ratio.");
  }
}

}  // namespace

Coupling& Mechanism::addGear(std::string_view couplingName, const Coordinate& driven, double ratio,
                             const Coordinate& driver) {
  requireRatio(*this, couplingName, ratio);
  return addCoupling(couplingName).plus(1.0, driven).minus(ratio, driver);
}

Coupling& Mechanism::addBelt(std::string_view couplingName, std::string_view predecessor,
                             double ratio, std::string_view successor) {
  const auto fail = [&](const std::string& reason) {
    throw ModelError(place() + "coupling \"" + std::string(couplingName) + "\": " + reason);
  };
  requireRatio(*this, couplingName, ratio);
  const Tree tree(*this);
  const auto indexOf = [&](std::string_view bodyName) {
    const int index = tree.findBody(bodyName);
    if (index < 0) {
      fail("there is no body \"" + std::string(bodyName) + "\". Check the name.");
    }
    return index;
  };
  const int a = indexOf(predecessor), b = indexOf(successor);
  const int ancestor = tree.commonAncestor(a, b);
  if (ancestor < 0) {
    fail("bodies \"" + std::string(predecessor) + "\" and \"" + std::string(successor) +
         "\" have no common ancestor. Connect both to the tree first.");
  }
  Coupling coupling;
  coupling.name = couplingName;
  const auto addPath = [&](int body, double coefficient) {
    for (const int i : tree.pathUp(body, ancestor)) {
      const Joint& joint = joints[static_cast<std::size_t>(tree.jointAbove(i))];
      if (joint.type == JointType::Fixed) {
        continue;
      }
      if (velocitySize(joint.type) != 1) {
        fail("joint \"" + joint.name + "\" on the way is " + std::string(toString(joint.type)) +
             "; a coupling between bodies can only contain joints with one degree of freedom. "
             "Couple the joints by name instead.");
      }
      coupling.plus(coefficient, Coordinate(joint.name));
    }
  };
  addPath(b, 1.0);
  addPath(a, -ratio);
  return couplings.emplace_back(std::move(coupling));
}

LoopJoint& Mechanism::addLoop(std::string_view loopName, LoopType type) {
  LoopJoint& loop = loops.emplace_back();
  loop.name = loopName;
  loop.type = type;
  return loop;
}

Rod& Mechanism::addRod(std::string_view rodName) {
  Rod& rod = rods.emplace_back();
  rod.name = rodName;
  return rod;
}

Joint& Mechanism::addFloatingBase(std::string_view worldName, std::string_view jointName) {
  const Tree tree(*this);
  if (tree.roots().size() != 1) {
    throw ModelError(place() + "mechanism \"" + name +
                     "\": a floating base needs exactly one root body, and there are " +
                     std::to_string(tree.roots().size()) + ". Connect the bodies first.");
  }
  const std::string root = bodies[static_cast<std::size_t>(tree.roots().front())].name;
  addBody(worldName);
  return addJoint(jointName, JointType::Free).from(worldName).to(root);
}

const Body* Mechanism::findBody(std::string_view bodyName) const {
  const auto it = std::ranges::find(bodies, bodyName, &Body::name);
  return it == bodies.end() ? nullptr : &*it;
}

const Joint* Mechanism::findJoint(std::string_view jointName) const {
  const auto it = std::ranges::find(joints, jointName, &Joint::name);
  return it == joints.end() ? nullptr : &*it;
}

const Joint* Mechanism::jointAbove(std::string_view bodyName) const {
  const auto it = std::ranges::find(joints, bodyName, &Joint::child);
  return it == joints.end() ? nullptr : &*it;
}

namespace {

std::string placeIn(const std::string& source, int line) {
  if (source.empty()) {
    return {};
  }
  return line > 0 ? source + ":" + std::to_string(line) + ": " : source + ": ";
}

}  // namespace

std::string Mechanism::place(int line) const {
  return placeIn(source, line);
}

std::string Mechanism::place(const LoopJoint& loop) const {
  return placeIn(loop.source.empty() ? source : loop.source, loop.line);
}

}  // namespace kempe
