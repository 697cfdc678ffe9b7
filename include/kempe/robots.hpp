#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

/// Robots bundled with the library, built from their published parameters.
///
/// Legged robots have frames at their feet and hands: `left_foot`, `right_foot`, `left_hand`,
/// `right_hand`; Mini Cheetah has `front_left_foot` and so on; the single leg has `foot`.
namespace kempe::robots {

/// Orientation of the planar robots (linkages and chains). All other robots have only one
/// placement, in which gravity acts across their joints as published.
enum class Placement {
  Upright,   ///< in the x-z plane, so that gravity acts on the joints
  Published  ///< in the x-y plane, joint axes parallel to gravity, as in the published files
};

KEMPE_API Mechanism miniCheetah();
KEMPE_API Mechanism mitHumanoid();
KEMPE_API Mechanism mitHumanoidLeg();
KEMPE_API Mechanism tello();
KEMPE_API Mechanism jvrc1();
KEMPE_API Mechanism fourBar(Placement placement = Placement::Upright);
KEMPE_API Mechanism sixBar(Placement placement = Placement::Upright);
/// The masses are not the published ones, which sum to 1309 t: those of rods and frame are divided
/// by 20 and those of the two balls by ten million; the total is 9.9 kg.
KEMPE_API Mechanism fiveBar();
KEMPE_API Mechanism planarLeg(Placement placement = Placement::Upright);
/// A serial chain of n links, each driven by a geared motor on the preceding link.
KEMPE_API Mechanism gearedChain(int n, Placement placement = Placement::Upright);
/// A serial chain of n links whose joints are driven in pairs through parallel belts: both motors
/// of a pair are mounted on the link before the pair.
KEMPE_API Mechanism beltChain(int n, Placement placement = Placement::Upright);

/// Returns all names that load() accepts.
KEMPE_API const std::vector<std::string>& names();
/// Returns a robot by name ("mini_cheetah", "tello", …). `n` is the number of links of a chain (0:
/// the default, 12). Throws ModelError if the name is unknown or `n` is given for another robot.
KEMPE_API Mechanism mechanism(std::string_view name, int n = 0,
                              Placement placement = Placement::Upright);
KEMPE_API Model load(std::string_view name, int n = 0, const ModelOptions& options = {},
                     Placement placement = Placement::Upright);

}  // namespace kempe::robots
