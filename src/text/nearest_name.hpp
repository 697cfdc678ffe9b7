#pragma once

#include <string_view>
#include <vector>

namespace kempe {

/// The candidate that a misspelt word most likely means; empty if none is close.
std::string_view nearestName(std::string_view word,
                             const std::vector<std::string_view>& candidates);

}  // namespace kempe
