#include "kempe/expression.hpp"

#include "expressions/graph.hpp"

namespace kempe {

std::vector<double> Expression::operator()(std::span<const double> arguments) const {
  if (arguments.size() != static_cast<std::size_t>(arguments_)) {
    throw std::invalid_argument("an expression of " + std::to_string(arguments_) +
                                " arguments was called with " + std::to_string(arguments.size()));
  }
  std::vector<double> values(steps_.size()), results(results_.size());
  evaluate<double>(arguments, values, results);
  return results;
}

Expression::Expression(std::span<const Symbol> arguments, std::span<const Symbol> results)
    : Expression(detail::Graph::extract(arguments, results)) {}

std::vector<Symbol> Symbol::arguments(int count) {
  return detail::Graph::symbolsOfArguments(count);
}

Symbol Symbol::of(Operation operation, std::initializer_list<Symbol> operands) {
  return detail::Graph::applySymbols(operation, operands);
}

namespace {

/// The numbers that a branch compares.
std::pair<double, double> knownNumbers(const Symbol& a, const Symbol& b) {
  const auto numbers = detail::Graph::constants(a, b);
  if (!numbers) {
    throw TracingError(
        "the function branches on the value of an argument, which is not known while it is "
        "traced. Use select(), min(), max() or abs() instead.");
  }
  return *numbers;
}

}  // namespace

Condition::operator bool() const {
  const auto [first, second] = knownNumbers(a, b);
  return strict ? first < second : first <= second;
}

bool operator==(const Symbol& a, const Symbol& b) {
  const auto [first, second] = knownNumbers(a, b);
  return first == second;
}

}  // namespace kempe
