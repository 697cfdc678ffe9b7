#pragma once

#include <cstdint>

#include "kempe/model.hpp"

namespace kempe::detail {

/// A number that tells robots apart, never 0: of the names of all coordinates, of lengths, axes and
/// inertias, and of the loops. Gravity, damping, friction, armatures and the choice of independent
/// coordinates do not count: a motion can go on with others.
std::uint64_t fingerprintOf(const Model& model);

}  // namespace kempe::detail
