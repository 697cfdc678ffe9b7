// Any text: the parser of formulas gives an expression, or an error with a column. What it gives
// can be printed, read again and differentiated.

#include <stdexcept>
#include <string>
#include <vector>

#include "fuzzing.hpp"
#include "kempe/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::vector<std::string> names{"a", "b", "c"};
  kempe::Expression expression;
  try {
    expression = kempe::Expression::parse(kempe::fuzz::textOf(bytes, size), names);
  } catch (const std::invalid_argument& error) {
    kempe::fuzz::require(std::string_view(error.what()).starts_with("column "),
                         "an error does not begin with a column");
    return 0;
  }
  kempe::fuzz::require(kempe::Expression::parse(expression.text(names), names) == expression,
                       "what is printed and read again is another expression");
  const kempe::Expression jacobian = expression.jacobian();
  const std::vector<double> at{0.3, -0.7, 1.1};
  kempe::fuzz::require(jacobian(at).size() == 3 * static_cast<std::size_t>(expression.results()),
                       "a Jacobian has another size");
  return 0;
}
