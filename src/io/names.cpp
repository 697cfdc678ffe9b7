#include "io/names.hpp"

#include <algorithm>

#include "io/messages.hpp"

namespace kempe::io {

std::string isMissing(std::string_view kind, std::string_view name,
                      const std::vector<std::string_view>& known) {
  const std::string meant = suggestion(name, known);
  return "there is no " + std::string(kind) + " " + inQuotes(name) + "." +
         (meant.empty() ? " Add it or correct the name." : meant);
}

bool isLoopName(const Mechanism& mechanism, std::string_view name) {
  const auto isNamed = [&](const auto& thing) { return thing.name == name; };
  return std::ranges::any_of(mechanism.couplings, isNamed) ||
         std::ranges::any_of(mechanism.loops, isNamed) ||
         std::ranges::any_of(mechanism.rods, isNamed) ||
         std::ranges::any_of(mechanism.functions, isNamed);
}

}  // namespace kempe::io
