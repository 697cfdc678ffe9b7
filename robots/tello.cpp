#include <cmath>
#include <numbers>

#include "arm.hpp"
#include "building.hpp"
#include "kempe/robots.hpp"

namespace kempe::robots {
namespace {

using Sym = SymMat3<double>;

// Angles rounded as in the published frames.
constexpr double kHalfTurn = 3.1415927, kQuarterTurn = 1.5707963;

constexpr Inertial kTorso{
    2.3008, {0.0073, -0.0013, -0.0023}, {0.0366, 0, -0.0006, 0.0142, -0.0002, 0.0291}};
// The same for both legs.
constexpr Inertial kHipClamp{1.3289, {-0.001, 0, -0.0069}, {0.0032, 0, 0.0001, 0.0033, 0, 0.0027}};
constexpr Inertial kGimbal{0.4433, {-0.0027, 0, 0.0258}, Sym::diagonal(0.0018, 0.0017, 0.0015)};
constexpr Inertial kThigh{
    1.5424, {0.003, -0.0001, -0.0323}, {0.0103, 0, -0.0005, 0.0097, 0, 0.0027}};
constexpr Inertial kShin{
    0.3072, {0.0047, -0.0003, -0.1043}, {0.0054, 0, -0.0002, 0.0054, 0, 0.0001}};
constexpr Inertial kFoot{
    0.1025, {0.0042, 0, -0.0251}, {0.000094, 0, -0.0000038, 0.0001773, 0, 0.0000901}};
constexpr Rotor kLegRotor{.mass = 0.07, .axial = 0.000051512, .transverse = 0.000025984};
constexpr Rotor kArmRotor{.mass = 0, .axial = 0.0001684, .transverse = 0.0001084};

constexpr double kGear = 6.0;  ///< of the legs; the arm has its own in kLeftArm
constexpr double kHipSide = 0.126, kHipClampHeight = -0.087, kHipClampRotorHeight = -0.026;
constexpr double kHipRotorSide = 0.04, kKneeAnkleRotorSide = 0.02655;
constexpr double kGimbalHeight = -0.1425, kThighLength = 0.2268, kShinLength = 0.26;

// Hip differential: two rods between cranks on the hip clamp and the thigh. With the crank's axis
// this far below the gimbal, positive crank and thigh angles have the signs of the published
// constraint.
constexpr double kHipCrankDrop = 0.1425, kHipCrankRadius = 0.08;
constexpr double kHipRodSide = 0.07, kHipRodLength = 0.155;

// Knee and ankle differential: a rod from a crank at the knee to a lever on the foot.
constexpr double kAnkleCrank = 0.04, kAnkleLever = 0.035, kAnkleOffset = 0.042;
constexpr double kAnkleRodSquared = 0.04605316;

// Plausible ranges. Those of the motors of a differential follow from the joints that they drive; a
// foot in the neutral position is not at the end of a range.
constexpr double kSpeed = 100, kEffort = 25;  ///< of motors
constexpr Limits kYawLimits{
    .lower = -0.8, .upper = 0.8, .velocity = kSpeed / kGear, .effort = kGear * kEffort};
constexpr Limits kHipMotorLimits{.lower = -6, .upper = 6, .velocity = kSpeed, .effort = kEffort};
constexpr Limits kGimbalLimits{.lower = -0.6, .upper = 0.6};
constexpr Limits kThighLimits{.lower = -1.3, .upper = 1.0};
constexpr Limits kKneeMotorLimits{.lower = -1, .upper = 13, .velocity = kSpeed, .effort = kEffort};
constexpr Limits kKneeLimits{.lower = -0.2, .upper = 2.2};
constexpr Limits kAnkleLimits{.lower = -1.2, .upper = 1.0};

constexpr Vector3 kSole{0, 0, -0.045};  ///< below the ankle

std::vector<Shape> torsoShapes() {
  return {box({0, 0, 0.07}, {0.12, 0.2, 0.26}), box({0, 0, -0.05}, {0.1, 0.3, 0.05}),
          ball({0.01, 0, 0.33}, 0.06), capsule({0, 0, 0.2}, {0.01, 0, 0.3}, 0.03),
          capsule({0.01346, -0.14, 0.24657}, {0.01346, 0.14, 0.24657}, 0.045)};
}
std::vector<Shape> clampShapes() {
  return {cylinder({0, 0, 0.02}, kZ, 0.04, 0.05), box({0, 0, -0.02}, {0.07, 0.1, 0.06}),
          capsule({-0.03, 0, -0.04}, {-0.03, 0, kGimbalHeight}, 0.014),
          // to the axes of the cranks
          capsule({-0.03, -kHipRodSide, kGimbalHeight - kHipCrankDrop},
                  {-0.03, -kHipRodSide, -0.02}, 0.007),
          capsule({-0.03, kHipRodSide, kGimbalHeight - kHipCrankDrop}, {-0.03, kHipRodSide, -0.02},
                  0.007),
          capsule({-0.03, -kHipRodSide, -0.02}, {-0.03, kHipRodSide, -0.02}, 0.007)};
}
std::vector<Shape> thighShapes() {
  return {capsule({}, {0, 0, -kThighLength}, 0.03), cylinder({}, kY, 0.04, 0.09),
          capsule({0, -kHipRodSide, 0}, {0, kHipRodSide, 0}, 0.01),
          capsule({0, -kHipRodSide, 0}, {kHipCrankRadius, -kHipRodSide, 0}, 0.007),
          capsule({0, kHipRodSide, 0}, {kHipCrankRadius, kHipRodSide, 0}, 0.007)};
}
std::vector<Shape> footShapes() {
  const double thickness = 0.016, sole = kSole.z + thickness / 2;
  return {capsule({-0.055, 0, sole}, {0.075, 0, sole}, thickness / 2),
          box({0.01, 0, sole}, {0.12, 0.05, thickness}), capsule({}, {0.01, 0, sole}, 0.016)};
}

/// Squared distance of the ankle rod's ends less its squared length, from the angle `beta` of its
/// crank in the shin and the ankle's angle `foot`.
template <typename T>
T ankleRod(const T& beta, const T& foot) {
  using std::cos;
  using std::sin;
  using std::numbers::pi;
  constexpr double c = kAnkleCrank, l = kAnkleLever, o = kAnkleOffset, s = kShinLength;
  constexpr double squares = c * c + l * l + o * o + s * s - kAnkleRodSquared;
  return squares - 2 * o * s * std::cos(pi / 9)           //
         + 2 * c * o * cos(beta + 1979 * pi / 4500)       //
         - 2 * c * s * cos(beta + 493 * pi / 1500)        //
         - 2 * c * l * sin(beta + foot + 231 * pi / 500)  //
         + 2 * l * s * sin(foot + 2 * pi / 15)            //
         - 2 * l * o * sin(foot + pi / 45);
}

/// A motor of a differential; its position is an independent coordinate.
void addMotor(Mechanism& robot, const std::string& body, const std::string& joint,
              const std::string& parent, const Pose& origin, const Limits& limits) {
  addPart(robot, {body, joint, parent, origin, kLegRotor.about(kZ)}, kZ, limits).independent();
}

/// A pair of motors on the y axis of `parent`, the first at `side`: one turns about y, the other
/// about −y.
void addMotors(Mechanism& robot, const std::string& name, const std::string& joint,
               const std::string& parent, double side, bool firstAboutY, const Limits& limits) {
  const Vector3 aboutY{-kQuarterTurn, kHalfTurn, 0}, aboutMinusY{kQuarterTurn, 0, 0};
  addMotor(robot, name + "1", joint + "1", parent,
           at({0, side, 0}, firstAboutY ? aboutY : aboutMinusY), limits);
  addMotor(robot, name + "2", joint + "2", parent,
           at({0, -side, 0}, firstAboutY ? aboutMinusY : aboutY), limits);
}

void addDependent(Mechanism& robot, const Part& part, const Vector3& axis, const Limits& limits) {
  addPart(robot, part, axis, limits).dependent();
}

/// Two motors turn gimbal and thigh through cranks and rods. Cranks and rods have no mass.
void addHipDifferential(Mechanism& robot, const std::string& leg) {
  const std::string clamp = leg + "hip-clamp", gimbal = leg + "gimbal", thigh = leg + "thigh";
  addMotors(robot, leg + "hip-rotor-", clamp + "-to-hip-rotor-", clamp, kHipRotorSide, true,
            kHipMotorLimits);
  addDependent(robot,
               {gimbal,
                clamp + "-to-gimbal",
                clamp,
                at({0, 0, kGimbalHeight}),
                kGimbal,
                {cylinder({-0.02, 0, 0}, kX, 0.03, 0.05)}},
               kX, kGimbalLimits);
  addDependent(robot, {thigh, gimbal + "-to-thigh", gimbal, {}, kThigh, thighShapes()}, kY,
               kThighLimits);

  for (const auto& [number, side] : {std::pair{"1", -kHipRodSide}, std::pair{"2", kHipRodSide}}) {
    const std::string crank = leg + "hip-crank-" + number,
                      crankJoint = clamp + "-to-hip-crank-" + number;
    const Pose origin = at({0, side, kGimbalHeight - kHipCrankDrop});
    robot.addBody(crank)
        .drawnAs(capsule({}, {kHipCrankRadius, 0, 0}, 0.007))
        .drawnAs(capsule({}, {-0.03, 0, 0}, 0.007));
    robot.addRevolute(crankJoint).from(clamp).to(crank).at(origin).about(kY).dependent();
    robot.addGear(leg + "hip-transmission-" + number, clamp + "-to-hip-rotor-" + number, kGear,
                  crankJoint);
    robot.addRod(leg + "hip-rod-" + number)
        .from(crank, {kHipCrankRadius, 0, 0})
        .to(thigh, {kHipCrankRadius, side, 0})
        .ofLength(kHipRodLength);
  }
}

/// Two motors on the thigh: their mean turns the knee, their difference the ankle.
void addKneeAnkleDifferential(Mechanism& robot, const std::string& leg) {
  const std::string thigh = leg + "thigh", shin = leg + "shin", foot = leg + "foot";
  const std::string motors = thigh + "-to-knee-ankle-rotor-";
  const std::string knee = thigh + "-to-shin", ankle = shin + "-to-foot";
  addMotors(robot, leg + "knee-ankle-rotor-", motors, thigh, kKneeAnkleRotorSide, false,
            kKneeMotorLimits);
  addDependent(robot,
               {shin,
                knee,
                thigh,
                at({0, 0, -kThighLength}),
                kShin,
                {cylinder({}, kY, 0.032, 0.05), capsule({}, {0, 0, -kShinLength}, 0.02)}},
               kY, kKneeLimits);
  addDependent(robot, {foot, ankle, shin, at({0, 0, -kShinLength}), kFoot, footShapes()}, kY,
               kAnkleLimits);

  robot.addCoupling(leg + "knee-differential")
      .plus(2 * kGear, knee)
      .minus(1, motors + "1")
      .minus(1, motors + "2");
  robot.addFunction(
      leg + "ankle-differential", {motors + "1", motors + "2", ankle}, 1,
      [](const auto& q, auto& phi) { phi[0] = ankleRod((q[0] - q[1]) / (2 * kGear), q[2]); });
}

void addLeg(Mechanism& robot, Side side) {
  const std::string leg = side == Side::Left ? "left-" : "right-", clamp = leg + "hip-clamp";
  const auto onTorso = [&](double height, double roll) {
    return at(onSide(side, Vector3{0, kHipSide, height}), {roll, 0, 0});
  };
  addGearedJoint(robot,
                 {.link = {clamp, "torso-to-" + clamp, "torso", onTorso(kHipClampHeight, 0),
                           kHipClamp, clampShapes()},
                  .rotor = {clamp + "-rotor", "torso-to-" + clamp + "-rotor", "torso",
                            onTorso(kHipClampRotorHeight, side == Side::Left ? kHalfTurn : 0),
                            kLegRotor.about(kZ)},
                  .axis = kZ,
                  .ratio = kGear,
                  .transmission = clamp + "-transmission"},
                 kYawLimits);
  addHipDifferential(robot, leg);
  addKneeAnkleDifferential(robot, leg);
  addFrame(robot, side == Side::Left ? "left_foot" : "right_foot", leg + "foot", at(kSole));
}

void addArm(Mechanism& robot, Side side) {
  const std::string arm = side == Side::Left ? "left-" : "right-";
  const std::array<std::string, 4> names{"shoulder-ry", "shoulder-rx", "shoulder-rz", "elbow"};
  std::string parent = "torso";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ArmSegment& s = kLeftArm[i];
    const std::string body = arm + names[i];
    const std::string joint = parent + "-to-" + (i == 0 ? body : names[i]);
    addGearedJoint(robot,
                   {.link = {body, joint, parent, at(onSide(side, s.origin)),
                             onSide(side, s.inertial), armShapes(i, side)},
                    .rotor = {body + "-rotor", joint + "-rotor", parent,
                              at(onSide(side, s.rotorOrigin)), kArmRotor.about(s.axis)},
                    .axis = s.axis,
                    .ratio = s.ratio,
                    .transmission = body + "-transmission"},
                   onSide(side, s.axis, s.limits));
    parent = body;
  }
  addHand(robot, side, parent);
}

}  // namespace

/// Tello: a humanoid whose hips, knees and ankles are driven by differentials.
Mechanism tello() {
  Mechanism robot("tello");
  addFloatingBody(robot, "ground", "torso-to-ground", "torso", kTorso, torsoShapes());
  addLeg(robot, Side::Left);
  addLeg(robot, Side::Right);
  addArm(robot, Side::Left);
  addArm(robot, Side::Right);
  return robot;
}

}  // namespace kempe::robots
