#pragma once

#include <optional>
#include <string_view>

#include "kempe/expression.hpp"

/// Formulas as text:
///
///   program     = { name "=" sum ";" } sum { "," sum }
///   sum         = product { ("+" | "-") product }
///   product     = signed { ("*" | "/") signed }
///   signed      = ("-" | "+") signed | power
///   power       = primary [ "^" signed ]
///   primary     = number | name | "pi" | "(" sum ")" | function "(" sum { "," sum } ")"
///               | "select" "(" sum ("<" | "<=" | ">" | ">=") sum "," sum "," sum ")"
///
/// Blanks and line ends are ignored. A name is a letter or underscore, followed by these and digits.
namespace kempe::detail {

/// How tightly operators bind, from loose to tight.
enum class Binding { Sum, Product, Sign, Power, Primary };

struct FunctionName {
  std::string_view name;
  Operation operation;
};

inline constexpr FunctionName kFunctionNames[] = {
    {"sqrt", Operation::Sqrt}, {"sin", Operation::Sin},     {"cos", Operation::Cos},
    {"tan", Operation::Tan},   {"asin", Operation::Asin},   {"acos", Operation::Acos},
    {"atan", Operation::Atan}, {"atan2", Operation::Atan2}, {"exp", Operation::Exp},
    {"log", Operation::Log},   {"pow", Operation::Pow},     {"hypot", Operation::Hypot},
    {"abs", Operation::Abs},   {"min", Operation::Min},     {"max", Operation::Max}};
inline constexpr std::string_view kSelect = "select", kPi = "pi";

/// Longest text that is read; a formula written by hand has some hundred characters.
inline constexpr std::size_t kLongestFormula = 100'000;
/// Deepest nesting of parentheses, signs and powers, which the parser's own stack has to hold.
inline constexpr int kDeepestFormula = 200;

constexpr bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::optional<Operation> functionOf(std::string_view name);
std::string_view nameOf(Operation operation);

/// Throws std::invalid_argument if names of arguments are not names, are reserved or occur twice.
void checkNames(std::span<const std::string> names);

}  // namespace kempe::detail
