#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>

#include "kempe/errors.hpp"
#include "kempe/io.hpp"

// What the tests of the readers share.

namespace kempe::io_testing {

/// The text of the ModelError that reading and checking the robot gives; empty if it is fine.
inline std::string errorOf(std::string_view urdf) {
  try {
    static_cast<void>(readUrdfText(urdf, "file").validate());
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

/// The same for closures added to a robot.
inline std::string errorOfClosures(std::string_view urdf, std::string_view yaml) {
  Mechanism mechanism = readUrdfText(urdf, "file");
  try {
    addClosuresFromYamlText(mechanism, yaml, "closures");
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// A robot of links a, b, c on two hinges, with more text at the end.
inline std::string robotWith(std::string_view rest) {
  return std::string(
             "<robot name=\"r\">\n"
             "<link name=\"a\"/>\n"
             "<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" "
             "ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>\n"
             "<link name=\"c\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" "
             "ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>\n"
             "<joint name=\"ab\" type=\"continuous\"><parent link=\"a\"/><child "
             "link=\"b\"/></joint>\n"
             "<joint name=\"bc\" type=\"continuous\"><parent link=\"b\"/><child "
             "link=\"c\"/></joint>\n") +
         std::string(rest) + "\n</robot>\n";
}
/// The line on which the text given to robotWith begins.
constexpr int lineOfRest = 7;

// --- equality to rounding ----------------------------------------------------------------------

constexpr double tolerance = 1e-12;

inline void expectSame(const Vector3& a, const Vector3& b, const std::string& what) {
  EXPECT_NEAR(a.x, b.x, tolerance) << what;
  EXPECT_NEAR(a.y, b.y, tolerance) << what;
  EXPECT_NEAR(a.z, b.z, tolerance) << what;
}

inline void expectSame(const Pose& a, const Pose& b, const std::string& what) {
  expectSame(a.p, b.p, what + " position");
  for (int i = 0; i < 3; ++i) {
    expectSame(a.R.row(i), b.R.row(i), what + " rotation");
  }
}

inline void expectSame(const Shape& a, const Shape& b, const std::string& what) {
  EXPECT_EQ(a.kind, b.kind) << what;
  EXPECT_EQ(a.size, b.size) << what;
  EXPECT_EQ(a.radius, b.radius) << what;
  EXPECT_EQ(a.length, b.length) << what;
  EXPECT_EQ(a.mesh, b.mesh) << what;
  EXPECT_EQ(a.name, b.name) << what;
  EXPECT_EQ(a.material, b.material) << what;
  EXPECT_EQ(a.texture, b.texture) << what;
  EXPECT_EQ(a.color, b.color) << what;
  expectSame(a.origin, b.origin, what);
}

inline void expectSame(const Body& a, const Body& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.mass, b.mass) << a.name;
  EXPECT_EQ(a.centerOfMass, b.centerOfMass) << a.name;
  EXPECT_EQ(a.inertia, b.inertia) << a.name;
  ASSERT_EQ(a.visuals.size(), b.visuals.size()) << a.name;
  for (std::size_t i = 0; i < a.visuals.size(); ++i) {
    expectSame(a.visuals[i], b.visuals[i], a.name + " visual");
  }
  ASSERT_EQ(a.collisions.size(), b.collisions.size()) << a.name;
  for (std::size_t i = 0; i < a.collisions.size(); ++i) {
    expectSame(a.collisions[i], b.collisions[i], a.name + " collision");
  }
}

inline void expectSame(const Joint& a, const Joint& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.type, b.type) << a.name;
  EXPECT_EQ(a.parent, b.parent) << a.name;
  EXPECT_EQ(a.child, b.child) << a.name;
  expectSame(a.origin, b.origin, a.name);
  EXPECT_EQ(a.axis, b.axis) << a.name;
  EXPECT_EQ(a.axis2, b.axis2) << a.name;
  EXPECT_EQ(a.pitch, b.pitch) << a.name;
  EXPECT_EQ(a.limits, b.limits) << a.name;
  EXPECT_EQ(a.damping, b.damping) << a.name;
  EXPECT_EQ(a.friction, b.friction) << a.name;
  EXPECT_EQ(a.stiffness, b.stiffness) << a.name;
  EXPECT_EQ(a.springReference, b.springReference) << a.name;
  EXPECT_EQ(a.armature, b.armature) << a.name;
  EXPECT_EQ(a.independence, b.independence) << a.name;
  EXPECT_EQ(a.actuation, b.actuation) << a.name;
}

inline void expectSame(const Mechanism& a, const Mechanism& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.gravity, b.gravity);
  EXPECT_EQ(a.frictionSlipSpeed, b.frictionSlipSpeed);
  EXPECT_EQ(a.startPose, b.startPose);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    expectSame(a.bodies[i], b.bodies[i]);
  }
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    expectSame(a.joints[i], b.joints[i]);
  }
  ASSERT_EQ(a.couplings.size(), b.couplings.size());
  for (std::size_t i = 0; i < a.couplings.size(); ++i) {
    EXPECT_EQ(a.couplings[i].name, b.couplings[i].name);
    EXPECT_EQ(a.couplings[i].terms, b.couplings[i].terms) << a.couplings[i].name;
    EXPECT_EQ(a.couplings[i].offset, b.couplings[i].offset) << a.couplings[i].name;
    EXPECT_EQ(a.couplings[i].cut, b.couplings[i].cut) << a.couplings[i].name;
  }
  ASSERT_EQ(a.loops.size(), b.loops.size());
  for (std::size_t i = 0; i < a.loops.size(); ++i) {
    const LoopJoint &x = a.loops[i], &y = b.loops[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type) << x.name;
    EXPECT_EQ(x.axis, y.axis) << x.name;
    EXPECT_EQ(x.axis2, y.axis2) << x.name;
    EXPECT_EQ(x.cut, y.cut) << x.name;
    EXPECT_EQ(x.predecessor.body, y.predecessor.body) << x.name;
    EXPECT_EQ(x.successor.body, y.successor.body) << x.name;
    expectSame(x.predecessor.frame, y.predecessor.frame, x.name);
    expectSame(x.successor.frame, y.successor.frame, x.name);
  }
  ASSERT_EQ(a.functions.size(), b.functions.size());
  for (std::size_t i = 0; i < a.functions.size(); ++i) {
    const Function &x = a.functions[i], &y = b.functions[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.coordinates, y.coordinates) << x.name;
    EXPECT_EQ(x.rows, y.rows) << x.name;
    EXPECT_EQ(x.traced(), y.traced()) << x.name;
    EXPECT_EQ(x.cut, y.cut) << x.name;
  }
  ASSERT_EQ(a.rods.size(), b.rods.size());
  for (std::size_t i = 0; i < a.rods.size(); ++i) {
    const Rod &x = a.rods[i], &y = b.rods[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.length, y.length) << x.name;
    EXPECT_EQ(x.cut, y.cut) << x.name;
    EXPECT_EQ(x.predecessor.body, y.predecessor.body) << x.name;
    EXPECT_EQ(x.successor.body, y.successor.body) << x.name;
    EXPECT_EQ(x.predecessor.point, y.predecessor.point) << x.name;
    EXPECT_EQ(x.successor.point, y.successor.point) << x.name;
  }
}

}  // namespace kempe::io_testing
