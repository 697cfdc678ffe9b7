#pragma once

#include <string>

#include "kempe/mechanism.hpp"

namespace kempe::bench {

/// A mechanism as MuJoCo reads it. Couplings become equality constraints of joints or fixed
/// tendons, revolute loop joints become points held together. Throws std::invalid_argument for what
/// MuJoCo has no word for.
std::string mjcf(const Mechanism& robot);

}  // namespace kempe::bench
