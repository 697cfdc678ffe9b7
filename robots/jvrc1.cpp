#include <span>

#include "building.hpp"
#include "kempe/robots.hpp"

namespace kempe::robots {
namespace {

using Sym = SymMat3<double>;

/// A link, left or in the middle, and whether a geared motor drives it.
struct Segment {
  const char* name;
  Vector3 axis;
  Vector3 origin;
  Inertial inertial;
  bool geared = true;
};

constexpr double kGear = 6.0;
/// The same for all joints: only about z it is symmetric.
constexpr Inertial kRotor{0.07, {}, Sym::diagonal(0.00002, 0.00002, 0.00005)};

constexpr Inertial kPelvis{10, {-0.01, 0, 0.034}, Sym::diagonal(0.089583, 0.089583, 0.1125)};

constexpr Segment kWaist[] = {
    {"waist-yaw", kZ, {0, 0, 0.192}, {1, {0, 0, -0.07}, Sym::diagonal(0.00173, 0.00173, 0.0032)}},
    {"waist-pitch", kY, {}, {1, {}, Sym::diagonal(0.002425, 0.002425, 0.002425)}},
    {"waist-roll", kX, {}, {10, {0.02, 0, 0.24}, Sym::diagonal(0.157083, 0.101083, 0.1367)}},
};

constexpr Segment kNeck[] = {
    {"neck-yaw",
     kZ,
     {-0.003, 0, 0.453},
     {0.5, {0, 0, -0.05}, Sym::diagonal(0.000729167, 0.000729167, 0.000625)},
     false},
    {"neck-roll", kX, {}, {0.5, {}, Sym::diagonal(0.0005, 0.0005, 0.0005)}, false},
    {"neck-pitch", kY, {}, {2, {0.01, 0, 0.11}, Sym::diagonal(0.00968, 0.00968, 0.00968)}, false},
};

constexpr Segment kLeg[] = {
    {"hip-pitch", kY, {0, 0.096, 0}, {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)}},
    {"hip-roll", kX, {}, {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)}},
    {"hip-yaw", kZ, {}, {3, {0.01, 0, -0.22}, Sym::diagonal(0.031925, 0.034525, 0.00865)}},
    {"knee",
     kY,
     {-0.02, 0, -0.389},
     {3, {0.04, 0, -0.16}, Sym::diagonal(0.031925, 0.034525, 0.00865)}},
    {"ankle-roll", kX, {0.04, 0, -0.357}, {1, {}, Sym::diagonal(0.00064, 0.00064, 0.00064)}},
    {"ankle-pitch", kY, {}, {1.5, {0.03, 0, -0.07}, Sym::diagonal(0.001417, 0.005617, 0.006217)}},
};
/// As published, the right hip sits this much lower than the left one.
constexpr double kRightHipDrop = 0.087;

constexpr Segment kArm[] = {
    {"shoulder-pitch", kY, {0, 0.24, 0.33}, {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)}},
    {"shoulder-roll", kX, {}, {1, {}, Sym::diagonal(0.00196, 0.00196, 0.00196)}},
    {"shoulder-yaw", kZ, {}, {2, {-0.01, 0, -0.19}, Sym::diagonal(0.01365, 0.0146, 0.00635)}},
    {"elbow-pitch",
     kY,
     {0.004, 0, -0.305},
     {1, {-0.02, 0, -0.1}, Sym::diagonal(0.010675, 0.010675, 0.0027)}},
    {"elbow-yaw", kZ, {-0.004, 0, -0.239}, {1, {}, Sym::diagonal(0.00064, 0.00064, 0.00064)}},
    {"wrist-roll", kX, {}, {0.5, {}, Sym::diagonal(0.00032, 0.00032, 0.00032)}, false},
    {"wrist-yaw",
     kZ,
     {},
     {0.5, {0, -0.01, -0.06}, Sym::diagonal(0.0004625, 0.0007625, 0.0004625)},
     false},
};

/// Hangs segments one below the other on `base`, the first moved by `shift`.
void addLimb(Mechanism& robot, const std::string& base, const std::string& prefix, Side side,
             std::span<const Segment> segments, Vector3 shift = {}) {
  std::string parent = base;
  for (const Segment& s : segments) {
    const std::string body = prefix + s.name;
    const std::string joint = parent + "-to-" + (parent == base ? body : s.name);
    const Pose origin = at(onSide(side, s.origin) + shift);
    const Part link{body, joint, parent, origin, onSide(side, s.inertial)};
    if (s.geared) {
      addGearedJoint(robot,
                     {.link = link,
                      .rotor = {body + "-rotor", joint + "-rotor", parent, origin, kRotor},
                      .axis = s.axis,
                      .ratio = kGear,
                      .transmission = body + "-transmission"},
                     kLeggedLimits);
    } else {
      addPart(robot, link, s.axis, kLeggedLimits);
    }
    parent = body;
    shift = {};
  }
}

}  // namespace

/// JVRC-1 with 25 geared joints; neck and wrists are driven directly.
Mechanism jvrc1() {
  Mechanism robot("jvrc1");
  addFloatingBody(robot, "base", "base_to_pelvis", "pelvis", kPelvis);
  addLimb(robot, "pelvis", "", Side::Left, kWaist);
  addLimb(robot, "waist-roll", "", Side::Left, kNeck);
  addLimb(robot, "pelvis", "left-", Side::Left, kLeg);
  addLimb(robot, "pelvis", "right-", Side::Right, kLeg, {0, 0, -kRightHipDrop});
  addLimb(robot, "waist-roll", "left-", Side::Left, kArm);
  addLimb(robot, "waist-roll", "right-", Side::Right, kArm);
  return robot;
}

}  // namespace kempe::robots
