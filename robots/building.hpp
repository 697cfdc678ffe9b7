#pragma once

#include <string>
#include <vector>

#include "kempe/mechanism.hpp"

/// Tools that build the bundled robots: parameters of bodies, mirroring, geared joints, frames,
/// shapes.
///
/// Positions and inertias of the legged robots, linkages and chains are those published in
/// ROAM-Lab-ND/generalized_rbda (MIT licence); lengths of the five-bar are from
/// Gepetto/example-parallel-robots (BSD-3-Clause), its masses are ours. Only numbers were taken,
/// with all their digits and peculiarities. The published files give every joint the same wide
/// limits and no shapes: limits, frames of feet and hands, and shapes are ours unless a robot says
/// otherwise.
namespace kempe::robots {

inline constexpr Vector3 kX{1, 0, 0};
inline constexpr Vector3 kY{0, 1, 0};
inline constexpr Vector3 kZ{0, 0, 1};

struct Inertial {
  double mass = 0.0;
  Vector3 center{};
  SymMat3<double> inertia{};  ///< about the centre; xx, xy, xz, yy, yz, zz
};

/// A rotor that is symmetric about its axis.
struct Rotor {
  double mass = 0.0;
  double axial = 0.0;       ///< moment of inertia about the axis
  double transverse = 0.0;  ///< and about any line across it

  /// `axis`: kX, kY or kZ.
  [[nodiscard]] constexpr Inertial about(const Vector3& axis) const {
    const auto moment = [&](double along) { return along != 0.0 ? axial : transverse; };
    return {mass, {}, SymMat3<double>::diagonal(moment(axis.x), moment(axis.y), moment(axis.z))};
  }
};

/// Parameters are given for the left side; the right one is its mirror image in the x-z plane.
enum class Side { Left, Right };

constexpr Vector3 onSide(Side side, const Vector3& left) {
  return side == Side::Left ? left : Vector3{left.x, 0.0 - left.y, left.z};
}

constexpr Inertial onSide(Side side, const Inertial& left) {
  if (side == Side::Left) {
    return left;
  }
  const SymMat3<double>& I = left.inertia;
  return {left.mass, onSide(side, left.center), {I.xx, 0.0 - I.xy, I.xz, I.yy, 0.0 - I.yz, I.zz}};
}

/// Limits of a joint about `axis`: mirrored, turns about x and z change their sign.
constexpr Limits onSide(Side side, const Vector3& axis, const Limits& left) {
  if (side == Side::Left || axis.y != 0.0) {
    return left;
  }
  return {0.0 - left.upper, 0.0 - left.lower, left.velocity, left.effort};
}

// --- shapes, in the frame of their body -------------------------------------------------------

Shape capsule(const Vector3& from, const Vector3& to, double radius);
Shape cylinder(const Vector3& center, const Vector3& axis, double radius, double length);
Shape box(const Vector3& center, const Vector3& size);
Shape ball(const Vector3& center, double radius);

/// The mirror image of a capsule, a ball, or a box or cylinder along the axes.
Shape onSide(Side side, const Shape& left);

// --- bodies and joints ------------------------------------------------------------------------

Body& addBody(Mechanism& robot, const std::string& name, const Inertial& figures);

/// Adds the root `ground` without mass and the body `base`, which floats on it.
void addFloatingBody(Mechanism& robot, const std::string& ground, const std::string& joint,
                     const std::string& base, const Inertial& figures,
                     const std::vector<Shape>& shapes);

/// A named frame: a body without mass, fixed to `parent`.
void addFrame(Mechanism& robot, const std::string& name, const std::string& parent,
              const Pose& origin);

/// A body and the revolute joint that carries it.
struct Part {
  std::string body{};
  std::string joint{};
  std::string parent{};
  Pose origin{};
  Inertial inertial{};
  std::vector<Shape> shapes{};
};

Joint& addPart(Mechanism& robot, const Part& part, const Vector3& axis, const Limits& limits);

/// A link and the rotor that drives it: ratio · (link's joint position) = rotor's. If the rotor
/// is mounted above the link's parent, a belt sums the joints between (Mechanism::addBelt).
struct GearedJoint {
  Part link{};
  Part rotor{};
  Vector3 axis{};
  double ratio = 1.0;
  std::string transmission{};
};

/// The link's joint is the independent one and has the limits. The rotor may turn as far as the
/// joints that its belt sums, and its speed and effort are those of the link through the ratio.
void addGearedJoint(Mechanism& robot, const GearedJoint& geared, const Limits& limits);

/// Turns a robot in the x-y plane upright, into the x-z plane: y becomes z, x stays. No loop may
/// end on the root.
void turnUpright(Mechanism& robot, const std::string& root);

}  // namespace kempe::robots
