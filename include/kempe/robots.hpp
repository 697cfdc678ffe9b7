#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

/// Robots that come with the library, written from their published figures.
///
/// Legged robots have frames at their feet and hands: `left_foot`, `right_foot`, `left_hand`,
/// `right_hand`; Mini Cheetah `front_left_foot` and so on; the single leg `foot`.
namespace kempe::robots {

/// How a robot that moves in a plane stands: the linkages and the chains. All others have gravity
/// across their joints as published, and one placement.
enum class Placement {
  Upright,   ///< in the x-z plane, so that gravity moves it
  Published  ///< in the x-y plane, its axes along gravity, as in the published files
};

KEMPE_API Mechanism miniCheetah();
KEMPE_API Mechanism mitHumanoid();
KEMPE_API Mechanism mitHumanoidLeg();
KEMPE_API Mechanism tello();
KEMPE_API Mechanism jvrc1();
KEMPE_API Mechanism fourBar(Placement placement = Placement::Upright);
KEMPE_API Mechanism sixBar(Placement placement = Placement::Upright);
/// The masses are not the published ones, which add up to 1309 t: rods and frame weigh a twentieth,
/// the two balls a ten-millionth, 9.9 kg together.
KEMPE_API Mechanism fiveBar();
KEMPE_API Mechanism planarLeg(Placement placement = Placement::Upright);
/// A serial chain of n links, each driven by a geared motor on the link before it.
KEMPE_API Mechanism gearedChain(int n, Placement placement = Placement::Upright);
/// A serial chain of n links whose joints are driven in pairs through parallel belts: both motors
/// of a pair sit on the link before it.
KEMPE_API Mechanism beltChain(int n, Placement placement = Placement::Upright);

/// All names that load() knows.
KEMPE_API const std::vector<std::string>& names();
/// A robot by name ("mini_cheetah", "tello", …); `n` is the number of links of the chains and is
/// refused for the others (0: not given; chains then have 12). Throws ModelError.
KEMPE_API Mechanism mechanism(std::string_view name, int n = 0,
                              Placement placement = Placement::Upright);
KEMPE_API Model load(std::string_view name, int n = 0, const ModelOptions& options = {},
                     Placement placement = Placement::Upright);

}  // namespace kempe::robots
