#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Pieces of messages.
namespace kempe {

/// "name", in quotation marks.
std::string quoted(std::string_view name);
/// Four significant digits.
std::string shortNumber(double x);
/// Position of the first byte that begins no UTF-8 character, or the end.
std::size_t utf8Prefix(std::string_view text);
bool isUtf8(std::string_view text);
/// The text with '?' for every byte that is not UTF-8, so that messages can hold it.
std::string asUtf8(std::string_view text);
/// "1 coordinate", "2 coordinates"; where `plural` is empty, an s is added to the singular.
std::string counted(std::integral auto count, std::string_view singular,
                    std::string_view plural = {}) {
  std::string text = std::to_string(count) + " ";
  return text.append(count == 1 || plural.empty() ? singular : plural)
      .append(count == 1 || !plural.empty() ? "" : "s");
}
/// "a, b, c".
std::string joined(const std::vector<std::string>& words);

}  // namespace kempe
