#pragma once

#include <string>

#include "kempe/mechanism.hpp"

namespace kempe::bench {

/// A mechanism in MuJoCo's format. Couplings become equality constraints of joints or fixed
/// tendons, revolute loop joints become connected points. Throws std::invalid_argument for elements
/// that MuJoCo does not support.
std::string mjcf(const Mechanism& robot);

}  // namespace kempe::bench
