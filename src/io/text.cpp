#include "io/text.hpp"

#include <algorithm>

#include "io/messages.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
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
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  const unsigned char second = byte(1);
  const bool forbidden = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                         (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return forbidden ? 0 : length;
}

/// Position of the first byte that begins no UTF-8 character, or the end.
std::size_t validPrefix(std::string_view text) {
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

}  // namespace

bool isControlCharacter(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool hasControlCharacters(std::string_view text) {
  return std::ranges::any_of(text, isControlCharacter);
}

bool isUtf8(std::string_view text) {
  return validPrefix(text) == text.size();
}

int lineOf(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, offset), '\n'));
}

void checkText(std::string_view text, const std::string& source, std::size_t maxBytes,
               std::string_view expected) {
  const auto fail = [&](std::size_t offset, const std::string& reason) {
    throw ModelError(placeOf(source, lineOf(text, offset)) + reason);
  };
  if (text.size() > maxBytes) {
    fail(0, "the file has " + std::to_string(text.size()) + " bytes; at most " +
                std::to_string(maxBytes) + " are read. Check that it is " + std::string(expected) +
                ".");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    fail(0, "the file is empty. Expected " + std::string(expected) + ".");
  }
  if (const std::size_t end = validPrefix(text); end < text.size()) {
    fail(end, "the file is not UTF-8 text. Check that it is " + std::string(expected) +
                  " and save it as UTF-8.");
  }
  const auto control = std::ranges::find_if(
      text, [](char c) { return isControlCharacter(c) && c != '\t' && c != '\n' && c != '\r'; });
  if (control != text.end()) {
    fail(static_cast<std::size_t>(control - text.begin()),
         "the file holds a byte of value " + std::to_string(static_cast<int>(*control)) +
             ", which no text has. Check that it is " + std::string(expected) +
             " and save it as UTF-8.");
  }
}

}  // namespace kempe::io
