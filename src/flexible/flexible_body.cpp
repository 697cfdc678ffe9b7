#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "kempe/flexible.hpp"

namespace kempe {

double Mode::frequency() const {
  return std::sqrt(stiffness / mass) / (2.0 * std::numbers::pi);
}

const FlexibleNode* FlexibleBody::findNode(std::string_view name) const {
  const auto named = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const FlexibleNode& node) { return node.name == name; });
  if (named != nodes.end()) {
    return &*named;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool isNumber = error == std::errc() && end == name.data() + name.size();
  return isNumber && index < nodes.size() ? &nodes[index] : nullptr;
}

}  // namespace kempe
