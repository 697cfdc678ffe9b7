#pragma once

#include <map>
#include <string>
#include <vector>

#include "peer.hpp"

/// Which of a peer's ways are right, and which is the fastest.
namespace kempe::bench {

/// Above, Pinocchio's Data takes gigabytes: it grows with the cube of the DoFs.
inline constexpr int kMostFreedomsOfPeers = 200;

/// Those whose results are the expected ones. A way that is wrong is left out with a message that
/// calls it algorithm/robot/method_way.
std::vector<PeerWay> rightWays(const std::string& robotName, const std::string& method,
                               const PeerRobot& robot, const std::vector<PeerWay>& ways);

/// Of each algorithm the fastest way, of those that are complete.
std::map<std::string, PeerWay> fastestWays(const std::vector<PeerWay>& ways, std::size_t states);

/// Without the ways that dense matrices make cubic, for long chains.
std::vector<PeerWay> withoutDenseWays(std::vector<PeerWay> ways);

/// algorithm/robot/method
std::string benchmarkName(const std::string& algorithm, const std::string& robot,
                          const std::string& method);

}  // namespace kempe::bench
