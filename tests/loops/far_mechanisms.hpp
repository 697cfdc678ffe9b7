#pragma once

#include <cmath>
#include <random>
#include <string>

#include "kempe/kempe.hpp"

/// Mechanisms that are hard to assemble: parts drawn apart, rounded figures, change points.
namespace kempe::test {

inline Vector3 rollPitchYawOf(const Rotation& R) {
  return {std::atan2(R.r2.y, R.r2.z), std::asin(std::clamp(-R.r2.x, -1.0, 1.0)),
          std::atan2(R.r1.x, R.r0.x)};
}

inline double rounded(double x, double unit) {
  return unit > 0.0 ? unit * std::round(x / unit) : x;
}

/// A pose as a file has it: six numbers, each rounded to `unit` (0: not rounded).
inline Pose asWritten(const Pose& pose, double unit) {
  const auto round = [&](const Vector3& v) {
    return Vector3{rounded(v.x, unit), rounded(v.y, unit), rounded(v.z, unit)};
  };
  return at(round(pose.p), round(rollPitchYawOf(pose.R)));
}

/// Parallel cranks under one coupling rod. One degree of freedom for every spacing and tilt.
inline Mechanism locomotive(int wheels, double crank, double spacing, double tilt) {
  Mechanism robot("locomotive");
  const Vector3 axis{0, -1, 0};
  robot.addBody("frame");
  robot.addBody("rod")
      .withMass(20)
      .centeredAt({spacing * (wheels - 1) / 2, 0, 0})
      .withInertia(0.1, 5, 5);
  for (int i = 0; i < wheels; ++i) {
    const std::string wheel = "wheel" + std::to_string(i);
    robot.addBody(wheel).withMass(100).withInertia(5, 10, 5);
    Joint& axle = robot.addJoint("axle" + std::to_string(i), JointType::Continuous)
                      .from("frame")
                      .to(wheel)
                      .at({spacing * i, 0, 0}, {0, -tilt, 0})
                      .about(axis);
    i == 0 ? axle.independent() : axle.dependent();
  }
  robot.addJoint("pin0", JointType::Continuous)
      .from("wheel0")
      .to("rod")
      .at({crank, 0, 0}, {0, tilt, 0})
      .about(axis);
  for (int i = 1; i < wheels; ++i) {
    robot.addLoop("pin" + std::to_string(i), LoopType::Revolute)
        .from("wheel" + std::to_string(i), at({crank, 0, 0}))
        .to("rod", at({spacing * i, 0, 0}))
        .about(axis);
  }
  return robot;
}

/// A scissor lift, drawn closed and regular.
inline Mechanism scissor(int stages, double length, double angle) {
  Mechanism robot("scissor");
  const Vector3 axis{0, -1, 0};
  const double open = M_PI - 2 * angle;
  const auto name = [](const char* stem, int i) { return stem + std::to_string(i); };
  robot.addBody("ground");
  for (int i = 0; i < stages; ++i) {
    for (const char* side : {"A", "B"}) {
      robot.addBody(name(side, i))
          .withMass(1)
          .centeredAt({i == 0 && side[0] == 'B' ? 0.0 : length / 2, 0, 0})
          .withInertia(1e-3, 1.0 / 12, 1.0 / 12);
    }
  }
  const auto pin = [&](const std::string& joint, const std::string& parent,
                       const std::string& child, const Vector3& xyz, double turn) -> Joint& {
    return robot.addJoint(joint, JointType::Continuous)
        .from(parent)
        .to(child)
        .at(xyz, {0, turn, 0})
        .about(axis);
  };
  pin("pA0", "ground", "A0", {}, -angle).independent();
  pin("pB0", "A0", "B0", {length / 2, 0, 0}, -open);
  robot.addBody("slider").withMass(0.1).withInertia(1e-4, 1e-4, 1e-4);
  robot.addPrismatic("slide")
      .from("ground")
      .to("slider")
      .at({length * std::cos(angle), 0, 0})
      .along({1, 0, 0});
  robot.addLoop("foot", LoopType::Revolute)
      .from("B0", at({-length / 2, 0, 0}))
      .to("slider")
      .about(axis);
  for (int i = 1; i < stages; ++i) {
    pin(name("pA", i), name("B", i - 1), name("A", i), {i == 1 ? length / 2 : length, 0, 0}, open);
    pin(name("pB", i), name("A", i - 1), name("B", i), {length, 0, 0}, -open);
    robot.addLoop(name("mid", i), LoopType::Revolute)
        .from(name("A", i), at({length / 2, 0, 0}))
        .to(name("B", i), at({length / 2, 0, 0}))
        .about(axis);
  }
  return robot;
}

/// A Stewart platform of six legs with universal joint, slide and ball. `welded`: the ball is a
/// tree joint and a fixed closure of six rows ties it to the platform. `apart`: all legs stand
/// upright at zero and the platform lies on the ground, turned by `turn` about its normal.
inline Mechanism hexapod(double scale, bool apart, bool welded, double turn = 0.0) {
  Mechanism robot("hexapod");
  robot.addBody("base");
  const double inertia = std::pow(scale, 5), mass = std::pow(scale, 3);
  robot.addBody("platform")
      .withMass(10 * mass)
      .withInertia(0.3 * inertia, 0.3 * inertia, 0.6 * inertia);
  const double height = 0.7 * scale;
  robot.addJoint("float", JointType::Free)
      .from("base")
      .to("platform")
      .at({0, 0, apart ? 0.0 : height}, {0, 0, apart ? turn : 0.0})
      .dependent();
  const double below[] = {-10, 10, 110, 130, 230, 250}, above[] = {-50, 50, 70, 170, 190, 290};
  for (int i = 0; i < 6; ++i) {
    const auto corner = [&](double radius, double degrees) {
      return scale * radius *
             Vector3{std::cos(degrees * M_PI / 180), std::sin(degrees * M_PI / 180), 0};
    };
    const Vector3 foot = corner(0.6, below[i]), head = corner(0.35, above[i]);
    const Vector3 way = head + Vector3{0, 0, height} - foot;
    const Vector3 z = apart ? Vector3{0, 0, 1} : normalized(way);
    const Vector3 x = normalized(cross(Vector3{0, 1, 0}, z));
    const std::string n = std::to_string(i);
    robot.addBody("cylinder" + n)
        .withMass(mass)
        .centeredAt({0, 0, 0.2 * scale})
        .withInertia(0.01 * inertia, 0.01 * inertia, 0.001 * inertia);
    robot.addBody("piston" + n)
        .withMass(0.5 * mass)
        .centeredAt({0, 0, -0.2 * scale})
        .withInertia(0.008 * inertia, 0.008 * inertia, 0.0005 * inertia);
    robot.addJoint("cardan" + n, JointType::Universal)
        .from("base")
        .to("cylinder" + n)
        .at(Pose{Rotation{x, cross(z, x), z}.transposed(), foot})
        .about({1, 0, 0})
        .thenAbout({0, 1, 0})
        .dependent();
    robot.addPrismatic("leg" + n)
        .from("cylinder" + n)
        .to("piston" + n)
        .at({0, 0, norm(way)})
        .along({0, 0, 1})
        .independent();
    if (welded) {
      robot.addBody("head" + n)
          .withMass(0.01 * mass)
          .withInertia(1e-5 * inertia, 1e-5 * inertia, 1e-5 * inertia);
      robot.addJoint("ball" + n, JointType::Spherical)
          .from("piston" + n)
          .to("head" + n)
          .dependent();
      robot.addLoop("weld" + n, LoopType::Fixed)
          .from("head" + n)
          .to("platform", at(head, {0.3 * i, -0.2, 0.5}));
    } else {
      robot.addLoop("ball" + n, LoopType::Spherical).from("piston" + n).to("platform", at(head));
    }
  }
  return robot;
}

/// A spherical parallel manipulator: three legs of three revolute joints whose axes meet in one
/// point. Three degrees of freedom, six redundant rows, figures rounded to `unit`.
inline Mechanism sphericalManipulator(double unit) {
  Mechanism robot("spherical_manipulator");
  robot.addBody("base");
  robot.addBody("platform").withMass(0.5).centeredAt({0, 0, 0.02}).withInertia(1e-3, 1e-3, 1e-3);
  const auto frameOn = [](const Vector3& axis) {
    return Pose{rotationTakingZTo(axis), 0.1 * axis};
  };
  Pose platform{};
  for (int leg = 0; leg < 3; ++leg) {
    const double phi = 2 * M_PI * leg / 3;
    const Vector3 u{0.8 * std::cos(phi), 0.8 * std::sin(phi), -0.6};
    const Vector3 w{0.9 * std::cos(phi + 0.7), 0.9 * std::sin(phi + 0.7), std::sqrt(0.19)};
    const Vector3 v = normalized(cross(u, w));
    const Pose U = frameOn(u), V = frameOn(v), W = frameOn(w);
    const std::string n = std::to_string(leg);
    for (const char* stem : {"proximal", "distal"}) {
      robot.addBody(stem + n)
          .withMass(0.2)
          .centeredAt({0.01, 0, -0.02})
          .withInertia(1e-4, 2e-4, 2e-4);
    }
    robot.addRevolute("motor" + n)
        .from("base")
        .to("proximal" + n)
        .at(asWritten(U, unit))
        .independent();
    robot.addRevolute("elbow" + n)
        .from("proximal" + n)
        .to("distal" + n)
        .at(asWritten(U.inverse() * V, unit))
        .dependent();
    if (leg == 0) {
      platform = W;
      robot.addRevolute("wrist0")
          .from("distal0")
          .to("platform")
          .at(asWritten(V.inverse() * W, unit))
          .dependent();
    } else {
      robot.addLoop("wrist" + n, LoopType::Revolute)
          .from("distal" + n, asWritten(V.inverse() * W, unit))
          .to("platform", asWritten(platform.inverse() * W, unit))
          .about({0, 0, 1});
    }
  }
  return robot;
}

/// A delta robot: three motors at the base, each with a parallelogram of two rods to the platform.
inline Mechanism delta(double scale) {
  Mechanism robot("delta");
  robot.addBody("base");
  const double mass = std::pow(scale, 3), inertia = std::pow(scale, 5);
  robot.addBody("platform")
      .withMass(0.3 * mass)
      .withInertia(1e-3 * inertia, 1e-3 * inertia, 2e-3 * inertia);
  robot.addJoint("float", JointType::Free)
      .from("base")
      .to("platform")
      .at({0, 0, -0.7 * scale})
      .dependent();
  for (int arm = 0; arm < 3; ++arm) {
    const std::string n = std::to_string(arm);
    const double yaw = 2 * M_PI * arm / 3;
    robot.addBody("arm" + n)
        .withMass(0.4 * mass)
        .centeredAt({0.15 * scale, 0, 0})
        .withInertia(1e-4 * inertia, 5e-3 * inertia, 5e-3 * inertia);
    robot.addRevolute("motor" + n)
        .from("base")
        .to("arm" + n)
        .at(at({0.2 * scale * std::cos(yaw), 0.2 * scale * std::sin(yaw), 0}, {0, 0, yaw}))
        .about({0, 1, 0})
        .limitedTo(-1.0, 1.3)
        .independent();
    for (const double side : {-0.05, 0.05}) {
      const Rotation turn = rotationZ(yaw);
      robot.addRod("rod" + n + (side < 0 ? "a" : "b"))
          .from("arm" + n, {0.3 * scale, side * scale, 0})
          .to("platform", turn * Vector3{0.05 * scale, side * scale, 0})
          .ofLength(0.8 * scale);
    }
  }
  return robot;
}

}  // namespace kempe::test
