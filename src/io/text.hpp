#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kempe::io {

/// Characters that separate words.
constexpr std::string_view blanks = " \t\r\n";

/// Characters below space and "delete", which names and file names must not have.
bool isControlCharacter(char c);
bool hasControlCharacters(std::string_view text);

/// ASCII letters in lower case.
std::string lowerCase(std::string_view text);

/// Line of a byte, counted from 1.
int lineOf(std::string_view text, std::size_t offset);

/// The largest file that is read.
constexpr std::size_t mostBytes = std::size_t{64} << 20;

/// Throws ModelError unless the text is UTF-8 without control characters, not blank and at most
/// `maxBytes` long. `expected` describes the expected content, for the error message.
void checkText(std::string_view text, const std::string& source, std::size_t maxBytes,
               std::string_view expected);

}  // namespace kempe::io
