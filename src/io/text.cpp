#include "io/text.hpp"

#include <algorithm>

#include "io/messages.hpp"
#include "kempe/errors.hpp"
#include "text/messages.hpp"

namespace kempe::io {

bool isControlCharacter(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool hasControlCharacters(std::string_view text) {
  return std::ranges::any_of(text, isControlCharacter);
}

std::string lowerCase(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
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
  if (const std::size_t end = utf8Prefix(text); end < text.size()) {
    fail(end, "the file is not UTF-8 text. Check that it is " + std::string(expected) +
                  " and save it as UTF-8.");
  }
  const auto control = std::ranges::find_if(
      text, [](char c) { return isControlCharacter(c) && c != '\t' && c != '\n' && c != '\r'; });
  if (control != text.end()) {
    fail(static_cast<std::size_t>(control - text.begin()),
         "the file holds a byte of value " + std::to_string(static_cast<int>(*control)) +
             ", which text cannot contain. Check that it is " + std::string(expected) +
             " and save it as UTF-8.");
  }
}

}  // namespace kempe::io
