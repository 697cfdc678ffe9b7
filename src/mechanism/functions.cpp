#include <algorithm>
#include <cmath>
#include <exception>

#include "kempe/mechanism.hpp"

namespace kempe {
namespace {

/// Whether an expression computes the same as a function, at some positions where it is finite.
/// It does not where a function depends on the type of its arguments.
bool agree(const Expression& expression, const Function& function) {
  const auto n = function.coordinates.size();
  std::vector<double> q(n), phi(static_cast<std::size_t>(function.rows));
  for (const double scale : {0.1, -0.37, 0.83}) {
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = scale * std::cos(1.7 * static_cast<double>(i));  // no two the same, none zero
    }
    const std::vector<double> traced = expression(q);
    if (!std::ranges::all_of(traced, [](double x) { return std::isfinite(x); })) {
      continue;  // not defined here, which functions may complain about
    }
    try {
      function.value(q, phi);
    } catch (const std::exception&) {
      continue;
    }
    for (std::size_t r = 0; r < phi.size(); ++r) {
      constexpr double kRounding = 1e-9;
      if (!(std::abs(traced[r] - phi[r]) <= kRounding * (1.0 + std::abs(phi[r])))) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

Expression Function::traced() const {
  if (expression.results() > 0) {
    return expression;
  }
  if (!symbolic || rows < 1) {
    throw TracingError("it is given by callbacks for numbers and jets only");
  }
  Expression result = trace(static_cast<int>(coordinates.size()), rows, symbolic);
  if (value && !agree(result, *this)) {
    throw TracingError(
        "it computes something else with symbols than with numbers. It must depend on nothing but "
        "its arguments, and not on their type.");
  }
  return result;
}

}  // namespace kempe
