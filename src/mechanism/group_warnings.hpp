#pragma once

#include <string>
#include <vector>

#include "kempe/mechanism.hpp"

namespace kempe {

/// Warnings with those that differ only in names and figures put into one: the first of them, with
/// the names of the others behind its own: `body "a" (likewise "b", "c" and 20 more): …`.
std::vector<std::string> groupWarnings(const std::vector<std::string>& warnings,
                                       const Mechanism& mechanism);

}  // namespace kempe
