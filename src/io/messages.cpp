#include "io/messages.hpp"

#include <algorithm>

#include "io/text.hpp"
#include "text/messages.hpp"
#include "text/nearest_name.hpp"

namespace kempe::io {
namespace {

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
  const std::string_view best = nearestName(word, candidates);
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
