#include <numbers>
#include <span>

#include "building.hpp"
#include "kempe/robots.hpp"

namespace kempe::robots {
namespace {

using Sym = SymMat3<double>;

/// A simple shape as a constant: a capsule from the joint to a point, or a box around it.
struct Solid {
  enum class Kind { None, Capsule, Box } kind = Kind::None;
  Vector3 place{};
  Vector3 size{};  ///< box: edges; capsule: radius in x
};
constexpr Solid capsuleTo(const Vector3& end, double radius) {
  return {Solid::Kind::Capsule, end, {radius, 0, 0}};
}
constexpr Solid boxAround(const Vector3& center, const Vector3& size) {
  return {Solid::Kind::Box, center, size};
}

/// Limits in degrees and rad/s, from the model of the Japan Virtual Robotics Challenge, which has
/// no torque limits.
constexpr Limits within(double lower, double upper, double velocity) {
  constexpr double degree = std::numbers::pi / 180;
  return {.lower = lower * degree, .upper = upper * degree, .velocity = velocity, .effort = 150};
}

/// A link, left or in the middle, its limits and shape, and whether a geared motor drives it.
struct Segment {
  const char* name;
  Vector3 axis;
  Vector3 origin;
  Inertial inertial;
  Limits limits;
  Solid solid{};
  bool geared = true;
};

constexpr double kGear = 6.0;
/// The same for all joints; it is symmetric about z only.
constexpr Inertial kRotor{0.07, {}, Sym::diagonal(0.00002, 0.00002, 0.00005)};

constexpr Inertial kPelvis{10, {-0.01, 0, 0.034}, Sym::diagonal(0.089583, 0.089583, 0.1125)};

constexpr Segment kWaist[] = {
    {"waist-yaw",
     kZ,
     {0, 0, 0.192},
     {1, {0, 0, -0.07}, Sym::diagonal(0.00173, 0.00173, 0.0032)},
     within(-45, 45, 8.90117),
     capsuleTo({0, 0, -0.1}, 0.07)},
    {"waist-pitch",
     kY,
     {},
     {1, {}, Sym::diagonal(0.002425, 0.002425, 0.002425)},
     within(-30, 60, 8.90117)},
    {"waist-roll",
     kX,
     {},
     {10, {0.02, 0, 0.24}, Sym::diagonal(0.157083, 0.101083, 0.1367)},
     within(-50, 50, 9.42477),
     boxAround({0.01, 0, 0.25}, {0.22, 0.38, 0.3})},
};

constexpr Segment kNeck[] = {
    {"neck-yaw",
     kZ,
     {-0.003, 0, 0.453},
     {0.5, {0, 0, -0.05}, Sym::diagonal(0.000729167, 0.000729167, 0.000625)},
     within(-70, 70, 5.23598),
     capsuleTo({0, 0, -0.05}, 0.04),
     false},
    {"neck-roll",
     kX,
     {},
     {0.5, {}, Sym::diagonal(0.0005, 0.0005, 0.0005)},
     within(-50, 50, 5.75958),
     {},
     false},
    {"neck-pitch",
     kY,
     {},
     {2, {0.01, 0, 0.11}, Sym::diagonal(0.00968, 0.00968, 0.00968)},
     within(-50, 60, 5.75958),
     boxAround({0.02, 0, 0.1}, {0.18, 0.15, 0.2}),
     false},
};

constexpr Segment kLeg[] = {
    {"hip-pitch",
     kY,
     {0, 0.096, 0},
     {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)},
     within(-120, 45, 12.56636)},
    {"hip-roll",
     kX,
     {},
     {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)},
     within(-20, 45, 8.90117),
     boxAround({}, {0.11, 0.11, 0.11})},
    {"hip-yaw",
     kZ,
     {},
     {3, {0.01, 0, -0.22}, Sym::diagonal(0.031925, 0.034525, 0.00865)},
     within(-45, 30, 8.90117),
     capsuleTo({-0.02, 0, -0.389}, 0.062)},
    {"knee",
     kY,
     {-0.02, 0, -0.389},
     {3, {0.04, 0, -0.16}, Sym::diagonal(0.031925, 0.034525, 0.00865)},
     within(0, 150, 14.66075),
     capsuleTo({0.04, 0, -0.357}, 0.048)},
    {"ankle-roll",
     kX,
     {0.04, 0, -0.357},
     {1, {}, Sym::diagonal(0.00064, 0.00064, 0.00064)},
     within(-45, 35, 15.18435)},
    {"ankle-pitch",
     kY,
     {},
     {1.5, {0.03, 0, -0.07}, Sym::diagonal(0.001417, 0.005617, 0.006217)},
     within(-85, 55, 14.18435),
     boxAround({0.03, 0, -0.083}, {0.22, 0.1, 0.05})},
};
constexpr Vector3 kSole{0, 0, -0.108};  ///< below the ankle
/// As published, the right hip sits this much lower than the left one.
constexpr double kRightHipDrop = 0.087;

constexpr Segment kArm[] = {
    {"shoulder-pitch",
     kY,
     {0, 0.24, 0.33},
     {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)},
     within(-180, 60, 8.90117),
     boxAround({}, {0.1, 0.1, 0.1})},
    {"shoulder-roll",
     kX,
     {},
     {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)},
     within(-10, 100, 8.90117)},
    {"shoulder-yaw",
     kZ,
     {},
     {2, {-0.01, 0, -0.19}, Sym::diagonal(0.01365, 0.0146, 0.00635)},
     within(-90, 90, 4.18879),
     capsuleTo({0.004, 0, -0.305}, 0.046)},
    {"elbow-pitch",
     kY,
     {0.004, 0, -0.305},
     {1, {-0.02, 0, -0.1}, Sym::diagonal(0.010675, 0.010675, 0.0027)},
     within(-145, 0, 9.42477),
     capsuleTo({-0.004, 0, -0.2}, 0.038)},
    {"elbow-yaw",
     kZ,
     {-0.004, 0, -0.239},
     {1, {}, Sym::diagonal(0.00064, 0.00064, 0.00064)},
     within(-110, 110, 3.66519),
     capsuleTo({0, 0, 0.05}, 0.034)},
    {"wrist-roll",
     kX,
     {},
     {0.5, {}, Sym::diagonal(0.00032, 0.00032, 0.00032)},
     within(-110, 110, 5.75958),
     {},
     false},
    {"wrist-yaw",
     kZ,
     {},
     {0.5, {0, -0.01, -0.06}, Sym::diagonal(0.0004625, 0.0007625, 0.0004625)},
     within(-150, 150, 3.66519),
     boxAround({0, -0.01, -0.06}, {0.095, 0.04, 0.12}),
     false},
};

constexpr Vector3 kPalm{0, -0.01, -0.06};  ///< of the left hand

std::vector<Shape> shapesOf(const Solid& solid, Side side) {
  switch (solid.kind) {
    case Solid::Kind::None:
      break;
    case Solid::Kind::Capsule:
      return {onSide(side, capsule({}, solid.place, solid.size.x))};
    case Solid::Kind::Box:
      return {onSide(side, box(solid.place, solid.size))};
  }
  return {};
}

/// Adds a chain of segments to `base`, the first moved by `shift`.
void addLimb(Mechanism& robot, const std::string& base, const std::string& prefix, Side side,
             std::span<const Segment> segments, Vector3 shift = {}) {
  std::string parent = base;
  for (const Segment& s : segments) {
    const std::string body = prefix + s.name;
    const std::string joint = parent + "-to-" + (parent == base ? body : s.name);
    const Pose origin = at(onSide(side, s.origin) + shift);
    const Part link{body, joint, parent, origin, onSide(side, s.inertial), shapesOf(s.solid, side)};
    const Limits limits = onSide(side, s.axis, s.limits);
    if (s.geared) {
      addGearedJoint(robot,
                     {.link = link,
                      .rotor = {body + "-rotor", joint + "-rotor", parent, origin, kRotor},
                      .axis = s.axis,
                      .ratio = kGear,
                      .transmission = body + "-transmission"},
                     limits);
    } else {
      addPart(robot, link, s.axis, limits);
    }
    parent = body;
    shift = {};
  }
}

}  // namespace

/// JVRC-1 with 25 geared joints; neck and wrists are driven directly.
Mechanism jvrc1() {
  Mechanism robot("jvrc1");
  addFloatingBody(robot, "base", "base_to_pelvis", "pelvis", kPelvis,
                  {box({-0.01, 0, 0.05}, {0.2, 0.26, 0.14})});
  addLimb(robot, "pelvis", "", Side::Left, kWaist);
  addLimb(robot, "waist-roll", "", Side::Left, kNeck);
  addLimb(robot, "pelvis", "left-", Side::Left, kLeg);
  addLimb(robot, "pelvis", "right-", Side::Right, kLeg, {0, 0, -kRightHipDrop});
  addLimb(robot, "waist-roll", "left-", Side::Left, kArm);
  addLimb(robot, "waist-roll", "right-", Side::Right, kArm);
  for (const Side side : {Side::Left, Side::Right}) {
    const std::string limb = side == Side::Left ? "left" : "right";
    addFrame(robot, limb + "_foot", limb + "-ankle-pitch", at(kSole));
    addFrame(robot, limb + "_hand", limb + "-wrist-yaw", at(onSide(side, kPalm)));
  }
  return robot;
}

}  // namespace kempe::robots
