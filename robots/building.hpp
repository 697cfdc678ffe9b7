#pragma once

#include <string>

#include "kempe/mechanism.hpp"

/// What the bundled robots are built with: figures of bodies, mirroring, geared joints.
///
/// The figures of the legged robots, linkages and chains are those that
/// ROAM-Lab-ND/generalized_rbda publishes (MIT licence), those of the five-bar are from
/// Gepetto/example-parallel-robots (BSD-3-Clause). Only figures were taken, with all their digits
/// and oddities.
namespace kempe::robots {

inline constexpr Vector3 kX{1, 0, 0};
inline constexpr Vector3 kY{0, 1, 0};
inline constexpr Vector3 kZ{0, 0, 1};

/// Limits that the legged robots state for each of their joints.
inline constexpr Limits kLeggedLimits{.lower = -10, .upper = 10, .velocity = 100, .effort = 150};

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

/// Figures are written for the left side; the right one is its mirror image in the x-z plane.
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

Body& addBody(Mechanism& robot, const std::string& name, const Inertial& figures);

/// Adds the root `ground` without mass and the body `base`, which floats on it.
void addFloatingBody(Mechanism& robot, const std::string& ground, const std::string& joint,
                     const std::string& base, const Inertial& figures);

/// A body and the revolute joint that carries it.
struct Part {
  std::string body{};
  std::string joint{};
  std::string parent{};
  Pose origin{};
  Inertial inertial{};
};

Joint& addPart(Mechanism& robot, const Part& part, const Vector3& axis, const Limits& limits);

/// A link and the rotor that drives it: ratio · (link's joint position) = rotor's. Where the rotor
/// sits further up than the link's parent, a belt sums the joints between (Mechanism::addBelt).
struct GearedJoint {
  Part link{};
  Part rotor{};
  Vector3 axis{};
  double ratio = 1.0;
  std::string transmission{};
};

/// The link's joint is the independent one.
void addGearedJoint(Mechanism& robot, const GearedJoint& geared, const Limits& limits);

}  // namespace kempe::robots
