#pragma once

#include <array>
#include <string>
#include <vector>

#include "building.hpp"

/// The arm that the MIT Humanoid and Tello have in common, left side: shoulder about y, x and z,
/// then the elbow. Each segment's rotor is mounted on the previous one; the rotors differ.
namespace kempe::robots {

struct ArmSegment {
  Vector3 axis{};
  Vector3 origin{};
  Vector3 rotorOrigin{};
  double ratio = 1.0;
  Inertial inertial{};
  Limits limits{};  ///< plausible ranges
};

inline constexpr std::array<ArmSegment, 4> kLeftArm{{
    {.axis = kY,
     .origin = {0.01346, 0.17608, 0.24657},
     .rotorOrigin = {0.01346, 0.16, 0.24657},
     .ratio = 6.0,
     .inertial = {0.788506,
                  {0.009265, 0.052623, -0.0001249},
                  {0.0013678, 0.0000266, 0.0000021, 0.0007392, -0.0000012, 0.000884}},
     .limits = {.lower = -2.8, .upper = 1.6, .velocity = 40, .effort = 34}},
    {.axis = kX,
     .origin = {0, 0.0575, 0},
     .rotorOrigin = {0, 0.0575, 0},
     .ratio = 6.0,
     .inertial = {0.80125,
                  {0.0006041, 0.0001221, -0.082361},
                  {0.0011524, 0.0000007, 0.0000396, 0.0011921, 0.0000014, 0.0012386}},
     .limits = {.lower = -0.3, .upper = 2.2, .velocity = 40, .effort = 34}},
    {.axis = kZ,
     .origin = {0, 0, -0.1025},
     .rotorOrigin = {0, 0, -0.1025},
     .ratio = 6.0,
     .inertial = {0.905588,
                  {0.0001703, -0.016797, -0.060},
                  {0.0012713, 0.000001, -0.000008, 0.0017477, -0.0000225, 0.0008191}},
     .limits = {.lower = -1.5, .upper = 1.5, .velocity = 40, .effort = 34}},
    {.axis = kY,
     .origin = {0, 0, -0.1455},
     .rotorOrigin = {0, -0.0325, -0.06},
     .ratio = 9.0,
     .inertial = {0.34839,
                  {-0.0059578, 0.000111, -0.0426735},
                  {0.00157, 0.0000002, 0.0000335, 0.0016167, 0.000003, 0.0000619}},
     .limits = {.lower = -2.4, .upper = 0.2, .velocity = 27, .effort = 51}},
}};

/// The centre of the hand in the frame of the forearm.
inline constexpr Vector3 kHand{0, 0, -0.23};

/// Shapes of segment i of an arm.
inline std::vector<Shape> armShapes(std::size_t i, Side side) {
  switch (i) {
    case 0:
      return {onSide(side, cylinder({0, 0.02, 0}, kY, 0.042, 0.06))};
    case 1:
      return {ball({}, 0.04), capsule({}, kLeftArm[2].origin, 0.032)};
    case 2:
      return {capsule({}, kLeftArm[3].origin, 0.03),
              onSide(side, cylinder({0, -0.0325, -0.06}, kY, 0.035, 0.03))};
    default:
      return {capsule({}, {0, 0, -0.19}, 0.022), ball(kHand, 0.032)};
  }
}

inline void addHand(Mechanism& robot, Side side, const std::string& forearm) {
  addFrame(robot, side == Side::Left ? "left_hand" : "right_hand", forearm, at(kHand));
}

}  // namespace kempe::robots
