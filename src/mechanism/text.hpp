#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Pieces of messages.
namespace kempe {

/// "name", in quotation marks.
std::string quoted(std::string_view name);
/// Four significant digits.
std::string shortNumber(double x);
/// "a, b, c".
std::string joined(const std::vector<std::string>& words);

}  // namespace kempe
