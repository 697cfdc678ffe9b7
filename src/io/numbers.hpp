#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kempe::io {

/// Parses a number in text, independently of the locale: "1", "+0.", ".5", "126e-03". Blanks around
/// it are allowed; a number too small for a double is 0. Returns nothing for "nan", "inf", numbers
/// too large for a double, and all other text.
std::optional<double> parseNumber(std::string_view text);

/// ±infinity for "inf" and "infinity" in any case, with or without a sign; nothing for other text.
std::optional<double> parseInfinity(std::string_view text);

/// An integer without sign, point or exponent.
std::optional<int> parseIndex(std::string_view text);

/// The pieces of a text between blanks (spaces, tabs, line ends).
std::vector<std::string_view> splitAtBlanks(std::string_view text);

/// The shortest text that reads back as the same finite double.
std::string formatNumber(double value);

}  // namespace kempe::io
