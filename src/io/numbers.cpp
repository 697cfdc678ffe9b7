#include "io/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "io/text.hpp"
#include "text/decimals.hpp"

namespace kempe::io {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

std::optional<double> parseNumber(std::string_view text) {
  text = trimmed(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  // std::from_chars would also take "inf", "nan" and a second sign.
  if (text.empty() || (!isDigit(text.front()) && text.front() != '.')) {
    return std::nullopt;
  }
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = readDecimal(text, value);
  if (error != std::errc{} || end != last) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

std::optional<double> parseInfinity(std::string_view text) {
  text = trimmed(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const auto is = [&](std::string_view word) {
    return std::ranges::equal(text, word,
                              [](char a, char b) { return a == b || a == b - 'a' + 'A'; });
  };
  if (!is("inf") && !is("infinity")) {
    return std::nullopt;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

std::optional<int> parseIndex(std::string_view text) {
  text = trimmed(text);
  int value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || !isDigit(text.front())) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string_view> splitAtBlanks(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (auto begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(blanks, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return pieces;
}

std::string formatNumber(double value) {
  char text[32];
  const auto [end, error] =
      std::to_chars(std::begin(text), std::end(text), value == 0.0 ? 0.0 : value);
  return {std::begin(text), end};
}

}  // namespace kempe::io
