#include "text/messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace kempe {
namespace {

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Length of the UTF-8 character at the beginning of the text; 0 if there is no valid one.
std::size_t characterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length ||
      !std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                   isContinuation)) {
    return 0;
  }
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  const unsigned char second = byte(1);
  const bool forbidden = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                         (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return forbidden ? 0 : length;
}

}  // namespace

std::size_t utf8Prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = characterLength(text.substr(i));
    if (length == 0) {
      break;
    }
    i += length;
  }
  return i;
}

bool isUtf8(std::string_view text) {
  return utf8Prefix(text) == text.size();
}

std::string asUtf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t valid = utf8Prefix(text);
    result += text.substr(0, valid);
    text.remove_prefix(valid);
    if (!text.empty()) {
      result += '?';
      text.remove_prefix(1);
    }
  }
  return result;
}

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

std::string shortNumber(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

}  // namespace kempe
