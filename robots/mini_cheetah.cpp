#include <numbers>

#include "building.hpp"
#include "kempe/robots.hpp"

namespace kempe::robots {
namespace {

constexpr Inertial kTorso{3.3, {}, SymMat3<double>::diagonal(0.011253, 0.036203, 0.042673)};

// Left legs.
constexpr Inertial kAbad{
    0.54, {0, 0.036, 0}, {0.000381, 0.000058, 0.00000045, 0.00056, 0.00000095, 0.000444}};
constexpr Inertial kHip{
    0.634, {0, 0.016, -0.02}, {0.001983, 0.000245, 0.000013, 0.002103, 0.0000015, 0.000408}};
constexpr Inertial kKnee{
    0.064, {0, 0, -0.061}, SymMat3<double>::diagonal(0.000006, 0.000248, 0.000245)};
constexpr Rotor kRotor{.mass = 0.055, .axial = 0.000063, .transverse = 0.000033};

constexpr Vector3 kAbadOrigin{0.19, 0.049, 0}, kAbadRotorOrigin{0.125, 0.049, 0};  // front left
constexpr Vector3 kHipOrigin{0, 0.062, 0}, kHipRotorOrigin{0, 0.04, 0};
constexpr Vector3 kKneeOrigin{0, 0, -0.209};
constexpr double kGear = 6.0, kKneeGear = 9.33;
constexpr double kShankLength = 0.195, kFootRadius = 0.016;

// Plausible ranges: knees bend both ways. Torque and speed are about those of the robot's motors
// (17 N·m and 40 rad/s behind a gear of 6).
constexpr Limits kAbadLimits{.lower = -1.2, .upper = 1.2, .velocity = 40, .effort = 17};
constexpr Limits kHipLimits{.lower = -2.0, .upper = 2.0, .velocity = 40, .effort = 17};
constexpr Limits kKneeLimits{.lower = -2.6, .upper = 2.6, .velocity = 26, .effort = 26};

std::vector<Shape> torsoShapes() {
  return {box({}, {0.29, 0.13, 0.11}), cylinder({0.145, 0.049, 0}, kX, 0.048, 0.07),
          cylinder({0.145, -0.049, 0}, kX, 0.048, 0.07),
          cylinder({-0.145, 0.049, 0}, kX, 0.048, 0.07),
          cylinder({-0.145, -0.049, 0}, kX, 0.048, 0.07)};
}

/// `forward`: +1 for a front leg, −1 for a hind leg.
void addLeg(Mechanism& robot, const std::string& leg, double forward, Side side) {
  const std::string torso = "Floating Base", abad = leg + "_abad", hip = leg + "_hip",
                    knee = leg + "_knee";
  const auto onTorso = [&](const Vector3& frontLeft) {
    const Vector3 p = onSide(side, frontLeft);
    return at({forward * p.x, p.y, p.z});
  };
  // The thigh's frame is rotated by half a turn about z, as published.
  const auto onAbad = [&](const Vector3& left) {
    return at(onSide(side, left), {0, 0, std::numbers::pi});
  };
  addGearedJoint(robot,
                 {.link = {abad + "_link",
                           "torso_to_" + abad + "_j",
                           torso,
                           onTorso(kAbadOrigin),
                           onSide(side, kAbad),
                           {onSide(side, cylinder({0, 0.014, 0}, kY, 0.042, 0.05))}},
                  .rotor = {abad + "_rotor", "torso_to_" + abad + "_rotor_j", torso,
                            onTorso(kAbadRotorOrigin), kRotor.about(kX)},
                  .axis = kX,
                  .ratio = kGear,
                  .transmission = abad + "_transmission"},
                 kAbadLimits);
  addGearedJoint(robot,
                 {.link = {hip + "_link",
                           abad + "_to_hip_j",
                           abad + "_link",
                           onAbad(kHipOrigin),
                           onSide(side, kHip),
                           {cylinder({}, kY, 0.046, 0.042), capsule({}, kKneeOrigin, 0.02)}},
                  .rotor = {hip + "_rotor", abad + "_to_hip_rotor_j", abad + "_link",
                            onAbad(kHipRotorOrigin), kRotor.about(kY)},
                  .axis = kY,
                  .ratio = kGear,
                  .transmission = hip + "_transmission"},
                 kHipLimits);
  const Vector3 sole{0, 0, -kShankLength}, foot{0, 0, kFootRadius - kShankLength};
  addGearedJoint(
      robot,
      {.link = {knee + "_link",
                hip + "_to_knee_j",
                hip + "_link",
                at(kKneeOrigin),
                kKnee,
                {capsule({}, foot, 0.011), ball(foot, kFootRadius)}},
       .rotor = {knee + "_rotor", hip + "_to_knee_rotor_j", hip + "_link", {}, kRotor.about(kY)},
       .axis = kY,
       .ratio = kKneeGear,
       .transmission = knee + "_transmission"},
      kKneeLimits);
  addFrame(robot,
           std::string(forward > 0 ? "front" : "hind") +
               (side == Side::Left ? "_left_foot" : "_right_foot"),
           knee + "_link", at(sole, {0, 0, std::numbers::pi}));
}

}  // namespace

/// MIT Mini Cheetah: twelve geared motors.
Mechanism miniCheetah() {
  Mechanism robot("mini_cheetah");
  addFloatingBody(robot, "base", "base_to_floating_base", "Floating Base", kTorso, torsoShapes());
  addLeg(robot, "FR", +1, Side::Right);
  addLeg(robot, "FL", +1, Side::Left);
  addLeg(robot, "HR", -1, Side::Right);
  addLeg(robot, "HL", -1, Side::Left);
  return robot;
}

}  // namespace kempe::robots
