#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>

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
  const auto indexIn = [](std::string_view text) -> std::optional<std::size_t> {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    const bool isNumber = error == std::errc() && end == text.data() + text.size();
    return isNumber ? std::optional(index) : std::nullopt;
  };
  // A node that is called by a number has that of a mesh, of which it need not be the n-th here.
  const std::optional<std::size_t> index = indexIn(name);
  return index && *index < nodes.size() && !indexIn(nodes[*index].name) ? &nodes[*index] : nullptr;
}

}  // namespace kempe
