#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "peer.hpp"

namespace kempe::bench {

enum class Ways { All, Fastest };

/// The counter that scaling is read from: seconds per link.
void countPerLink(benchmark::State& run, int links);

/// Checks every way of a peer against the expected results, then registers it as
/// algorithm/robot/method_way, and the fastest of each algorithm as algorithm/robot/method. A way
/// that is wrong is left out with a message. With a number of links, the time per link is counted.
void registerPeer(const std::string& robotName, const std::string& method, const PeerRobot& robot,
                  const std::vector<PeerWay>& ways, Ways registered = Ways::All, int links = 0);

}  // namespace kempe::bench
