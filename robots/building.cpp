#include "building.hpp"

#include <cmath>
#include <numbers>

namespace kempe::robots {
namespace {

/// The smallest rotation that takes z to a direction.
Rotation turningZTo(const Vector3& direction) {
  const Vector3 d = normalized(direction), normal = cross(kZ, d);
  const double sine = std::sqrt(dot(normal, normal)), angle = std::atan2(sine, d.z);
  if (sine < 1e-12) {
    return rotationFromVector(d.z > 0 ? Vector3{} : std::numbers::pi * kX);
  }
  return rotationFromVector((angle / sine) * normal);
}

/// Rounding must not put a rotor beyond its limits when its link is at a limit.
constexpr double kSlack = 1e-9;

/// Limits of the rotor whose position is Σ ratio · (position of the belt's other joints).
Limits rotorLimits(const Mechanism& robot, const Coupling& belt, const std::string& rotorJoint,
                   double ratio, const Limits& link) {
  Limits rotor{.lower = -kSlack,
               .upper = kSlack,
               .velocity = ratio * link.velocity,
               .effort = link.effort / ratio};
  for (const Coupling::Term& term : belt.terms) {
    if (term.coordinate.joint != rotorJoint) {
      const Limits& limits = robot.findJoint(term.coordinate.joint)->limits;
      rotor.lower += ratio * limits.lower;
      rotor.upper += ratio * limits.upper;
    }
  }
  return rotor;
}

}  // namespace

Shape capsule(const Vector3& from, const Vector3& to, double radius) {
  const Vector3 way = to - from;
  return {.kind = Shape::Kind::Capsule,
          .radius = radius,
          .length = std::sqrt(dot(way, way)),
          .origin = {turningZTo(way), 0.5 * (from + to)}};
}

Shape cylinder(const Vector3& center, const Vector3& axis, double radius, double length) {
  return {.kind = Shape::Kind::Cylinder,
          .radius = radius,
          .length = length,
          .origin = {turningZTo(axis), center}};
}

Shape box(const Vector3& center, const Vector3& size) {
  return {.kind = Shape::Kind::Box, .size = size, .origin = at(center)};
}

Shape ball(const Vector3& center, double radius) {
  return {.kind = Shape::Kind::Sphere, .radius = radius, .origin = at(center)};
}

Shape onSide(Side side, const Shape& left) {
  if (side == Side::Left) {
    return left;
  }
  Shape right = left;
  right.origin = {turningZTo(onSide(side, left.origin.R.column(2))), onSide(side, left.origin.p)};
  return right;
}

Body& addBody(Mechanism& robot, const std::string& name, const Inertial& figures) {
  return robot.addBody(name)
      .withMass(figures.mass)
      .centeredAt(figures.center)
      .withInertia(figures.inertia);
}

void addFloatingBody(Mechanism& robot, const std::string& ground, const std::string& joint,
                     const std::string& base, const Inertial& figures,
                     const std::vector<Shape>& shapes) {
  robot.addBody(ground);
  addBody(robot, base, figures).visuals = shapes;
  robot.addJoint(joint, JointType::Free).from(ground).to(base);
}

void addFrame(Mechanism& robot, const std::string& name, const std::string& parent,
              const Pose& origin) {
  robot.addBody(name);
  robot.addFixed(name + "_frame").from(parent).to(name).at(origin);
}

Joint& addPart(Mechanism& robot, const Part& part, const Vector3& axis, const Limits& limits) {
  addBody(robot, part.body, part.inertial).visuals = part.shapes;
  Joint& joint =
      robot.addRevolute(part.joint).from(part.parent).to(part.body).at(part.origin).about(axis);
  joint.limits = limits;
  return joint;
}

void addGearedJoint(Mechanism& robot, const GearedJoint& geared, const Limits& limits) {
  addPart(robot, geared.link, geared.axis, limits).independent();
  Joint& rotor = addPart(robot, geared.rotor, geared.axis, {}).dependent();
  const Coupling& belt =
      robot.addBelt(geared.transmission, geared.link.body, geared.ratio, geared.rotor.body);
  rotor.limits = rotorLimits(robot, belt, rotor.name, geared.ratio, limits);
}

void turnUpright(Mechanism& robot, const std::string& root) {
  // Columns x, z, −y.
  const Pose upright{{.r0 = {1, 0, 0}, .r1 = {0, 0, -1}, .r2 = {0, 1, 0}}, {}};
  for (Joint& joint : robot.joints) {
    if (joint.parent == root) {
      joint.origin = upright * joint.origin;
    }
  }
}

}  // namespace kempe::robots
