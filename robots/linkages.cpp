#include <utility>

#include "building.hpp"
#include "kempe/robots.hpp"

/// Linkages in a plane, each closed by one revolute loop joint. Written in the x-y plane, as
/// published.
namespace kempe::robots {
namespace {

using Sym = SymMat3<double>;

/// Each bar of the four-bar and the six-bar.
constexpr Inertial kBar{3.3, {}, Sym::diagonal(0.011253, 0.036203, 0.042673)};
constexpr Limits kFourBarLimits{.lower = -13.14, .upper = 13.14, .velocity = 1, .effort = 30};

/// A body that turns about z, `x` along its parent.
Joint& addTurning(Mechanism& robot, const std::string& joint, const std::string& parent, double x,
                  const std::string& body, const Inertial& figures) {
  addBody(robot, body, figures);
  return robot.addJoint(joint, JointType::Continuous).from(parent).to(body).at({x, 0, 0}).about(kZ);
}

Mechanism placed(Mechanism robot, const std::string& root, Placement placement) {
  if (placement == Placement::Upright) {
    turnUpright(robot, root);
  }
  return robot;
}

}  // namespace

/// A parallelogram. Its zero position is a dead point.
Mechanism fourBar(Placement placement) {
  Mechanism robot("four_bar");
  robot.addBody("base_link");
  const auto add = [&](const std::string& body, const std::string& joint, const std::string& parent,
                       double x) -> Joint& {
    return addPart(robot, {body, joint, parent, at({x, 0, 0}), kBar}, kZ, kFourBarLimits);
  };
  add("link1", "joint1", "base_link", 0).independent();
  add("link2", "joint2", "link1", 0.5).dependent();
  add("link3", "joint3", "base_link", 1).dependent();
  robot.addLoop("loop1", LoopType::Revolute)
      .from("link2", at({1, 0, 0}))
      .to("link3", at({0.5, 0, 0}))
      .about(kZ);
  return placed(std::move(robot), "base_link", placement);
}

/// Five moving bars in a plane, both branches from one point of the base: three degrees of freedom.
Mechanism sixBar(Placement placement) {
  Mechanism robot("six_bar");
  robot.addBody("base_link");
  addTurning(robot, "joint1", "base_link", 0, "link1", kBar);
  addTurning(robot, "joint2", "link1", 0.1, "link2", kBar);
  addTurning(robot, "joint3", "link2", 0.2, "link3", kBar);
  addTurning(robot, "joint4", "base_link", 0, "link4", kBar).dependent();
  addTurning(robot, "joint5", "link4", 0.4, "link5", kBar).dependent();
  robot.addLoop("constraint1", LoopType::Revolute)
      .from("link3", at({0.3, 0, 0}))
      .to("link5", at({0.5, 0, 0}))
      .about(kZ);
  return placed(std::move(robot), "base_link", placement);
}

/// A leg in a plane: a driver on the thigh moves the foot, which a support bar guides. Bodies have
/// inertia in the plane only.
Mechanism planarLeg(Placement placement) {
  const auto flat = [](double mass, double x, double inertia) {
    return Inertial{mass, {x, 0, 0}, Sym::diagonal(0, 0, inertia)};
  };
  Mechanism robot("planar_leg");
  robot.addBody("base");
  addTurning(robot, "base_to_thigh", "base", 0, "thigh", flat(0.23, 0.0364, 0.000045389));
  addTurning(robot, "thigh_to_driver", "thigh", 0.011, "shank_driver",
             flat(0.004, 0.048, 0.000003257))
      .independent();
  addTurning(robot, "thigh_to_support", "thigh", 0.042, "shank_support",
             flat(0.225, 0.04, 0.000022918))
      .dependent();
  addTurning(robot, "driver_to_foot", "shank_driver", 0.096, "foot",
             flat(0.017, 0.0635, 0.000022176))
      .dependent();
  robot.addLoop("linkage", LoopType::Revolute)
      .from("foot", at({0.031, 0, 0}))
      .to("shank_support", at({0.096, 0, 0}))
      .about(kZ);
  return placed(std::move(robot), "base", placement);
}

}  // namespace kempe::robots
