#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

/// Robots that come with the library, written from their published figures.
namespace kempe::robots {

Mechanism miniCheetah();
Mechanism mitHumanoid();
Mechanism mitHumanoidLeg();
Mechanism tello();
Mechanism jvrc1();
Mechanism fourBar();
Mechanism sixBar();
Mechanism fiveBar();
Mechanism planarLeg();
/// A serial chain of n links, each driven by a geared motor on the link before it.
Mechanism gearedChain(int n);
/// A serial chain of n links whose joints are driven in pairs through parallel belts: both motors
/// of a pair sit on the link before it.
Mechanism beltChain(int n);

/// All names that load() knows.
const std::vector<std::string>& names();
/// A robot by name ("mini_cheetah", "tello", …); `n` is the number of links of the chains and is
/// refused for the others (0: not given; chains then have 12). Throws ModelError.
Mechanism mechanism(std::string_view name, int n = 0);
Model load(std::string_view name, int n = 0, const ModelOptions& options = {});

}  // namespace kempe::robots
