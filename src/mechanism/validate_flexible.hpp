#pragma once

#include <string>
#include <vector>

#include "kempe/mechanism.hpp"

namespace kempe::detail {

/// Throws ModelError where the data of a flexible body do not fit together; adds to `warnings` where
/// they are unusual.
void checkFlexibleBodies(const Mechanism& mechanism, std::vector<std::string>& warnings);

/// Whether a joint is a part of a flexible body, by its name and type (mechanism/flexible_parts.hpp).
bool isFlexiblePart(const Mechanism& mechanism, const Joint& joint);

}  // namespace kempe::detail
