#pragma once

#include <string>
#include <vector>

#include "peer.hpp"

namespace kempe::bench {

enum class Ways { All, Fastest };

/// Checks every way of a peer against the expected results, then registers it as
/// algorithm/robot/method_way, and the fastest of each algorithm as algorithm/robot/method. A way
/// that is wrong is left out with a message.
void registerPeer(const std::string& robotName, const std::string& method, const PeerRobot& robot,
                  const std::vector<PeerWay>& ways, Ways registered = Ways::All);

}  // namespace kempe::bench
