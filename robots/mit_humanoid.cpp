#include "arm.hpp"
#include "building.hpp"
#include "kempe/robots.hpp"

namespace kempe::robots {
namespace {

constexpr Inertial kTorso{8.52,
                          {0.009896, 0.004771, 0.100522},
                          {0.172699, 0.001419, 0.004023, 0.105949, -0.001672, 0.091906}};
constexpr Rotor kSmallRotor{.mass = 0.05, .axial = 0.00016841, .transverse = 0.0001084};
constexpr Rotor kLargeRotor{.mass = 0.1, .axial = 0.0005548, .transverse = 0.0003443};

/// A link of the leg and its motor. In names, * stands for the side.
struct LegSegment {
  const char* name;  ///< of bodies: name_link, name_rotor
  const char* joint;
  const char* parent = "";  ///< empty for the base
  const char* rotorJoint;
  const char* rotorParent = "";
  const char* transmission;
  Vector3 axis;
  Vector3 origin;
  Vector3 rotorOrigin;
  double pitch = 0.0;  ///< of both frames in their parent
  double ratio;
  Rotor rotor;
  Inertial inertial;
  Limits limits;  ///< plausible ranges; torque and speed of motors of this size
};

/// The left leg. The ankle's rotor is mounted on the thigh, so that its belt sums knee and ankle.
constexpr std::array<LegSegment, 5> kLeftLeg{{
    {.name = "*hip_rz",
     .joint = "base_to_*hipz_link",
     .rotorJoint = "*base_to_hipz_rotor",
     .transmission = "*hipz_transmission",
     .axis = kZ,
     .origin = {-0.00565, 0.082, -0.05735},
     .rotorOrigin = {-0.00842837, 0.082, -0.041593},
     .pitch = -0.174533,
     .ratio = 6.0,
     .rotor = kSmallRotor,
     .inertial = {0.84563,
                  {-0.064842, -0.000036, -0.063090},
                  {0.0015373, 0.0000011, 0.0005578, 0.0014252, 0.0000024, 0.0012028}},
     .limits = {.lower = -0.8, .upper = 0.8, .velocity = 48, .effort = 34}},
    {.name = "*hip_rx",
     .joint = "*hipz_to_hipx_link",
     .parent = "*hip_rz_link",
     .rotorJoint = "*hipz_to_hipx_rotor",
     .rotorParent = "*hip_rz_link",
     .transmission = "*hipx_transmission",
     .axis = kX,
     .origin = {-0.06435, 0, -0.07499},
     .rotorOrigin = {-0.0827, 0, -0.066436},
     .pitch = 0.436332,
     .ratio = 6.0,
     .rotor = kSmallRotor,
     .inertial = {1.20868,
                  {0.067232, -0.013018, 0.0001831},
                  {0.0017535, -0.0000063, -0.00008, 0.003338, -0.000013, 0.0019927}},
     .limits = {.lower = -0.4, .upper = 0.9, .velocity = 48, .effort = 34}},
    {.name = "*hip_ry",
     .joint = "*hipx_to_hipy_link",
     .parent = "*hip_rx_link",
     .rotorJoint = "*hipx_to_hipy_rotor",
     .rotorParent = "*hip_rx_link",
     .transmission = "*hipy_transmission",
     .axis = kY,
     .origin = {0.071, -0.0018375, 0},
     .rotorOrigin = {0.071, -0.024, 0},
     .pitch = -0.261799,
     .ratio = 6.0,
     .rotor = kLargeRotor,
     .inertial = {2.64093,
                  {0.0132054, 0.0269864, -0.096021},
                  {0.0243761, 0.0000996, 0.0006548, 0.0259015, 0.0026713, 0.0038929}},
     .limits = {.lower = -2.0, .upper = 0.9, .velocity = 40, .effort = 72}},
    {.name = "*knee",
     .joint = "*hipy_to_knee_link",
     .parent = "*hip_ry_link",
     .rotorJoint = "*hipy_to_knee_rotor",
     .rotorParent = "*hip_ry_link",
     .transmission = "*knee_transmission",
     .axis = kY,
     .origin = {0, 0, -0.267},
     .rotorOrigin = {0.013, 0.0497, -0.0178},
     .ratio = 12.0,
     .rotor = kLargeRotor,
     .inertial = {0.35435,
                  {0.00528, 0.0014762, -0.13201},
                  {0.003051, 0, 0.0000873, 0.003033, 0.0000393, 0.0002529}},
     .limits = {.lower = 0.0, .upper = 2.4, .velocity = 20, .effort = 144}},
    {.name = "*ankle",
     .joint = "*knee_to_ankle",
     .parent = "*knee_link",
     .rotorJoint = "*hipy_to_ankle_rotor",
     .rotorParent = "*hip_ry_link",
     .transmission = "*ankle_transmission",
     .axis = kY,
     .origin = {0, 0, -0.2785},
     .rotorOrigin = {0.01563, 0.0454, -0.13354},
     .ratio = 12.0,
     .rotor = kSmallRotor,
     .inertial = {0.280951,
                  {0.022623, 0, -0.012826},
                  {0.0000842, 0, -0.0000488, 0.0007959, 0, 0.0007681}},
     .limits = {.lower = -1.2, .upper = 0.9, .velocity = 24, .effort = 68}},
}};

constexpr Vector3 kSole{0, 0, -0.041};  ///< below the ankle
constexpr double kToe = 0.1, kHeel = -0.05, kSoleThickness = 0.014;

/// Shapes of segment i of a leg.
std::vector<Shape> legShapes(std::size_t i, Side side) {
  const auto next = [&] { return onSide(side, kLeftLeg[i + 1].origin); };
  const double inside = kSoleThickness / 2, sole = kSole.z + kSoleThickness / 2;
  switch (i) {
    case 0:
      return {cylinder({}, kZ, 0.04, 0.05), capsule({}, next(), 0.028)};
    case 1:
      return {cylinder({0.02, 0, 0}, kX, 0.042, 0.09)};
    case 2:
      return {onSide(side, cylinder({0, 0.03, 0}, kY, 0.058, 0.05)), capsule({}, next(), 0.036)};
    case 3:
      return {cylinder({}, kY, 0.034, 0.05), capsule({}, next(), 0.024)};
    default:
      return {capsule({kHeel + inside, 0, sole}, {kToe - inside, 0, sole}, inside),
              box({(kHeel + kToe) / 2, 0, sole}, {kToe - kHeel - 0.02, 0.04, kSoleThickness}),
              capsule({}, {0.02, 0, sole}, 0.018)};
  }
}

/// Drawn smaller than cylinders of their inertia, which would be as wide as the torso.
std::vector<Shape> rotorShapes(const Vector3& axis, double mass) {
  return {cylinder({}, axis, mass > kSmallRotor.mass ? 0.05 : 0.038, 0.028)};
}

struct LegStyle {
  std::string prefix{};  ///< of names
  Side places = Side::Left;
  Side inertials = Side::Left;
  bool rotorsHaveMass = true;
};

void addLeg(Mechanism& robot, const std::string& base, const LegStyle& style) {
  const auto named = [&](std::string pattern) {
    return pattern.empty() ? base : pattern.replace(pattern.find('*'), 1, style.prefix);
  };
  for (std::size_t i = 0; i < kLeftLeg.size(); ++i) {
    const LegSegment& s = kLeftLeg[i];
    const auto placed = [&](const Vector3& left) {
      return at(onSide(style.places, left), {0, s.pitch, 0});
    };
    Inertial rotor = s.rotor.about(s.axis);
    rotor.mass = style.rotorsHaveMass ? rotor.mass : 0.0;
    addGearedJoint(
        robot,
        {.link = {named(s.name) + "_link", named(s.joint), named(s.parent), placed(s.origin),
                  onSide(style.inertials, s.inertial), legShapes(i, style.places)},
         .rotor = {named(s.name) + "_rotor", named(s.rotorJoint), named(s.rotorParent),
                   placed(s.rotorOrigin), rotor, rotorShapes(s.axis, s.rotor.mass)},
         .axis = s.axis,
         .ratio = s.ratio,
         .transmission = named(s.transmission)},
        onSide(style.places, s.axis, s.limits));
  }
  addFrame(robot, style.prefix + "foot", named(kLeftLeg.back().name) + "_link", at(kSole));
}

void addArm(Mechanism& robot, const std::string& base, const std::string& prefix, Side side) {
  struct Names {
    std::string body, joint, rotorJoint, transmission;
  };
  const std::array<Names, 4> names{{
      {"shoulder_ry", "base_to_" + prefix + "shouldery_link",
       "base_to_" + prefix + "shouldery_rotor", "shouldery"},
      {"shoulder_rx", prefix + "shouldery_shoulderx_link", prefix + "shouldery_to_shoulderx_rotor",
       "shoulderx"},
      {"shoulder_rz", prefix + "shoulderx_shoulderz_link", prefix + "shoulderx_to_shoulderz_rotor",
       "shoulderz"},
      {"elbow", prefix + "shoulderz_elbow_link", prefix + "shoulderz_to_elbow_rotor", "elbow"},
  }};
  std::string parent = base;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ArmSegment& s = kLeftArm[i];
    const std::string body = prefix + names[i].body;
    addGearedJoint(
        robot,
        {.link = {body + "_link", names[i].joint, parent, at(onSide(side, s.origin)),
                  onSide(side, s.inertial), armShapes(i, side)},
         .rotor = {body + "_rotor", names[i].rotorJoint, parent, at(onSide(side, s.rotorOrigin)),
                   kSmallRotor.about(s.axis), rotorShapes(s.axis, kSmallRotor.mass)},
         .axis = s.axis,
         .ratio = s.ratio,
         .transmission = prefix + names[i].transmission + "_transmission"},
        onSide(side, s.axis, s.limits));
    parent = body + "_link";
  }
  addHand(robot, side, parent);
}

}  // namespace

/// MIT Humanoid: 18 motors; knee and ankle of each leg are driven by belts from the thigh.
Mechanism mitHumanoid() {
  Mechanism robot("mit_humanoid");
  const std::string base = "Floating Base";
  addFloatingBody(robot, "ground", "world_to_base", base, kTorso,
                  {box({0, 0, 0.115}, {0.13, 0.2, 0.29}), ball({0.01, 0, 0.35}, 0.065),
                   capsule({0, 0, 0.26}, {0.01, 0, 0.33}, 0.03),
                   capsule({0.01346, -0.14, 0.24657}, {0.01346, 0.14, 0.24657}, 0.045)});
  for (const Side side : {Side::Right, Side::Left}) {
    const std::string prefix = side == Side::Left ? "left_" : "right_";
    addLeg(robot, base, {.prefix = prefix, .places = side, .inertials = side});
    addArm(robot, base, prefix, side);
  }
  return robot;
}

/// One leg of it on a fixed base. As published, it is placed as the right leg with the inertias of
/// the left one, and its rotors have rotational inertia but no mass.
Mechanism mitHumanoidLeg() {
  Mechanism robot("mit_humanoid_leg");
  robot.addBody("base").drawnAs(box({0, -0.04, 0.01}, {0.12, 0.16, 0.1}));
  addLeg(robot, "base", {.places = Side::Right, .inertials = Side::Left, .rotorsHaveMass = false});
  return robot;
}

}  // namespace kempe::robots
