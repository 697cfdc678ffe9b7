#include "io/messages.hpp"

#include <algorithm>
#include <numeric>

#include "io/text.hpp"
#include "mechanism/text.hpp"

namespace kempe::io {
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

/// Fit to be shown in a message.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 80;
  std::string result(text.substr(0, most));
  if (text.size() > most) {
    while (!result.empty() && !isUtf8(result)) {
      result.pop_back();  // do not cut a character in two
    }
    result += "...";
  }
  std::ranges::replace_if(result, isControlCharacter, '?');
  return result;
}

}  // namespace

std::string placeOf(const std::string& source, int line) {
  return source + ":" + std::to_string(line) + ": ";
}

std::string inQuotes(std::string_view text) {
  return "\"" + shown(text) + "\"";
}

std::string asTag(std::string_view name) {
  return "<" + shown(name) + ">";
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
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
  return best.empty() ? std::string() : " Did you mean " + inQuotes(best) + "?";
}

void Warnings::add(int line, const std::string& text) {
  constexpr std::size_t most = 100;
  const auto known = indexOf_.find(text);
  if (known != indexOf_.end()) {
    ++entries_[known->second].count;
  } else if (entries_.size() == most) {
    ++leftOut_;
  } else {
    indexOf_.emplace(text, entries_.size());
    entries_.push_back({text, line});
  }
}

std::vector<std::string> Warnings::messages() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    result.push_back(placeOf(source_, entry.line) + entry.text +
                     (entry.count > 1 ? " (" + std::to_string(entry.count) + " times, first here)"
                                      : std::string()));
  }
  if (leftOut_ > 0) {
    result.push_back(source_ + ": " + std::to_string(leftOut_) + " further warnings.");
  }
  return result;
}

}  // namespace kempe::io
