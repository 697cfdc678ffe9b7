#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace kempe {

constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether a decimal number without sign that no double can hold is too small rather than too
/// large: the place of its first digit other than 0 decides.
inline bool isTiny(std::string_view number) {
  const auto exponentAt = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, exponentAt);
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto leading = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  const auto place = static_cast<long>(point) - static_cast<long>(leading);
  if (exponentAt == std::string_view::npos) {
    return place < 0;
  }
  const std::string_view exponent = number.substr(exponentAt + 1);
  const bool negative = exponent.starts_with('-');
  long size = 0;
  const std::string_view digits = exponent.substr(exponent.find_first_of("0123456789"));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc{}) {
    return negative;  // an exponent beyond any mantissa that fits in memory
  }
  return place + (negative ? -size : size) < 0;
}

/// As std::from_chars reads the number, without sign, that a text begins with; but one that is too
/// small for a double is 0.
inline std::from_chars_result readDecimal(std::string_view text, double& value) {
  const char* const last = text.data() + text.size();
  std::from_chars_result read = std::from_chars(text.data(), last, value);
  if (read.ec == std::errc::result_out_of_range &&
      isTiny(text.substr(0, static_cast<std::size_t>(read.ptr - text.data())))) {
    value = 0.0;
    read.ec = {};
  }
  return read;
}

}  // namespace kempe
