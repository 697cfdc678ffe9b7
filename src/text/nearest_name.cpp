#include "text/nearest_name.hpp"

#include <algorithm>
#include <numeric>

namespace kempe {
namespace {

/// Number of single-letter changes that turn one word into the other (Levenshtein).
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearestName(std::string_view word,
                             const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 64;
  std::string_view best;
  std::size_t bestDistance = std::max<std::size_t>(1, std::min(word.size(), longest) / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (word.size() > longest || candidate.size() > longest) {
      continue;
    }
    const std::size_t distance = editDistance(word, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace kempe
