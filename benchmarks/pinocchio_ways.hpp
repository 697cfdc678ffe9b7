#pragma once

#include <vector>

#include "peer.hpp"

namespace kempe::bench {

/// Pinocchio on robots with loops that are no couplings: constrained dynamics, the recursion that
/// knows of loops, and, as a lower bound, the projection with G and g given.
std::vector<PeerWay> pinocchioLoops(const PeerRobot& robot);

}  // namespace kempe::bench
