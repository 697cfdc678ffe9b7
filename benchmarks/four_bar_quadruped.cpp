#include "four_bar_quadruped.hpp"

#include <string>

namespace kempe::bench {
namespace {

constexpr Vector3 kX{1, 0, 0}, kY{0, 1, 0};
constexpr double kRotorInertia = 4e-5, kGear = 9.0;  ///< kg·m², turns of the rotor per turn
constexpr double kThigh = 0.2, kCrank = 0.05, kRod = 0.2, kLever = 0.04;  ///< lengths, m

struct Part {
  std::string name;
  double mass;
  Vector3 center;
  SymMat3<double> inertia;
};

/// A body that turns about `axis` of its parent.
Joint& add(Mechanism& robot, const Part& part, const std::string& parent, const Vector3& origin,
           const Vector3& axis) {
  robot.addBody(part.name).withMass(part.mass).centeredAt(part.center).withInertia(part.inertia);
  return robot.addJoint(part.name + "_joint", JointType::Revolute)
      .from(parent)
      .to(part.name)
      .at(origin)
      .about(axis);
}

void addLeg(Mechanism& robot, const std::string& leg, double x, double y) {
  const auto diagonal = SymMat3<double>::diagonal;
  const double armature = kGear * kGear * kRotorInertia, out = y > 0 ? 1.0 : -1.0;
  const std::string hip = leg + "_hip", thigh = leg + "_thigh", crank = leg + "_crank",
                    rod = leg + "_rod", shank = leg + "_shank";
  add(robot, {hip, 0.6, {0, 0.02 * out, 0}, diagonal(1e-3, 8e-4, 9e-4)}, "trunk", {x, y, 0}, kX)
      .limitedTo(-0.7, 0.7)
      .withArmature(armature)
      .independent();
  add(robot, {thigh, 0.7, {0, 0.01 * out, -0.08}, diagonal(3e-3, 3e-3, 5e-4)}, hip,
      {0, 0.06 * out, 0}, kY)
      .limitedTo(-1.5, 1.5)
      .withArmature(armature)
      .independent();
  add(robot, {crank, 0.05, {0.02, 0, 0}, diagonal(1e-5, 3e-5, 3e-5)}, thigh, {}, kY)
      .limitedTo(-0.6, 0.6)
      .withArmature(armature)
      .independent();
  add(robot, {rod, 0.08, {0, 0, -0.1}, diagonal(3e-4, 3e-4, 1e-5)}, crank, {kCrank, 0, 0}, kY)
      .limitedTo(-1.5, 1.5)
      .dependent();
  add(robot, {shank, 0.2, {0, 0, -0.1}, diagonal(1e-3, 1e-3, 1e-4)}, thigh, {0, 0, -kThigh}, kY)
      .limitedTo(-1.5, 1.5)
      .dependent();
  robot.addLoop(leg + "_four_bar", LoopType::Revolute)
      .from(rod, at({0, 0, -kRod}))
      .to(shank, at({kLever, 0, 0}))
      .about(kY);
}

}  // namespace

Mechanism fourBarQuadruped() {
  Mechanism robot("four_bar_quadruped");
  robot.addBody("world");
  robot.addBody("trunk").withMass(8.0).withInertia(SymMat3<double>::diagonal(0.05, 0.1, 0.12));
  robot.addJoint("base", JointType::Free).from("world").to("trunk");
  addLeg(robot, "front_left", 0.2, 0.1);
  addLeg(robot, "front_right", 0.2, -0.1);
  addLeg(robot, "rear_left", -0.2, 0.1);
  addLeg(robot, "rear_right", -0.2, -0.1);
  return robot;
}

}  // namespace kempe::bench
