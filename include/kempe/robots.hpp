#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

/// Robots that come with the library, written from their published figures.
namespace kempe::robots {

KEMPE_API Mechanism miniCheetah();
KEMPE_API Mechanism mitHumanoid();
KEMPE_API Mechanism mitHumanoidLeg();
KEMPE_API Mechanism tello();
KEMPE_API Mechanism jvrc1();
KEMPE_API Mechanism fourBar();
KEMPE_API Mechanism sixBar();
KEMPE_API Mechanism fiveBar();
KEMPE_API Mechanism planarLeg();
/// A serial chain of n links, each driven by a geared motor on the link before it.
KEMPE_API Mechanism gearedChain(int n);
/// A serial chain of n links whose joints are driven in pairs through parallel belts: both motors
/// of a pair sit on the link before it.
KEMPE_API Mechanism beltChain(int n);

/// All names that load() knows.
KEMPE_API const std::vector<std::string>& names();
/// A robot by name ("mini_cheetah", "tello", …); `n` is the number of links of the chains and is
/// refused for the others (0: not given; chains then have 12). Throws ModelError.
KEMPE_API Mechanism mechanism(std::string_view name, int n = 0);
KEMPE_API Model load(std::string_view name, int n = 0, const ModelOptions& options = {});

}  // namespace kempe::robots
