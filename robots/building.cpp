#include "building.hpp"

namespace kempe::robots {

Body& addBody(Mechanism& robot, const std::string& name, const Inertial& figures) {
  return robot.addBody(name)
      .withMass(figures.mass)
      .centeredAt(figures.center)
      .withInertia(figures.inertia);
}

void addFloatingBody(Mechanism& robot, const std::string& ground, const std::string& joint,
                     const std::string& base, const Inertial& figures) {
  robot.addBody(ground);
  addBody(robot, base, figures);
  robot.addJoint(joint, JointType::Free).from(ground).to(base);
}

Joint& addPart(Mechanism& robot, const Part& part, const Vector3& axis, const Limits& limits) {
  addBody(robot, part.body, part.inertial);
  Joint& joint =
      robot.addRevolute(part.joint).from(part.parent).to(part.body).at(part.origin).about(axis);
  joint.limits = limits;
  return joint;
}

void addGearedJoint(Mechanism& robot, const GearedJoint& geared, const Limits& limits) {
  addPart(robot, geared.link, geared.axis, limits).independent();
  addPart(robot, geared.rotor, geared.axis, limits).dependent();
  robot.addBelt(geared.transmission, geared.link.body, geared.ratio, geared.rotor.body);
}

}  // namespace kempe::robots
