#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kempe/mechanism.hpp"

namespace kempe::io {

/// The names of bodies, joints or other things of a mechanism.
template <typename Things>
std::vector<std::string_view> namesOf(const Things& things) {
  std::vector<std::string_view> names;
  names.reserve(things.size());
  for (const auto& thing : things) {
    names.push_back(thing.name);
  }
  return names;
}

/// `there is no link "shnk". Did you mean "shank"?`
std::string isMissing(std::string_view kind, std::string_view name,
                      const std::vector<std::string_view>& known);

/// Whether a coupling, loop, rod or function has the name; they share one set of names.
bool isLoopName(const Mechanism& mechanism, std::string_view name);

}  // namespace kempe::io
