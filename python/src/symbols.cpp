#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "kempe/expression.hpp"
#include "number_operators.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Hyperbolic functions, which expressions do not have.
Symbol sinhOf(const Symbol& x) {
  return (exp(x) - exp(-x)) / 2.0;
}
Symbol coshOf(const Symbol& x) {
  return (exp(x) + exp(-x)) / 2.0;
}
/// Beyond 20 it is 1 in double precision, and exp(2 x) and its derivatives would overflow.
Symbol tanhOf(const Symbol& x) {
  return 1.0 - 2.0 / (exp(min(2.0 * x, Symbol(40.0))) + 1.0);
}

/// The formula, with arguments named x0, x1, …
std::string formulaOf(const Symbol& x) {
  const std::span<const Symbol> result(&x, 1);
  try {
    static_cast<void>(x == x);  // throws unless it is a constant, which belongs to no trace
  } catch (const TracingError&) {
    return Expression(result, result).text();  // any symbol of a trace stands for its arguments
  }
  return Expression({}, result).text();
}

void bindCondition(nb::module_& m) {
  nb::class_<Condition>(m, "Condition",
                        "A comparison of symbols, for kempe.math.select(). A branch on it raises "
                        "ValueError: it is not known while a function is traced.")
      .def("__bool__", [](const Condition& self) { return static_cast<bool>(self); });
  m.def(
      "select",
      [](const Condition& condition, const Symbol& yes, const Symbol& no) {
        return select(condition, yes, no);
      },
      "condition"_a, "yes"_a, "no"_a);
  m.def(
      "minimum", [](const Symbol& a, const Symbol& b) { return min(a, b); }, "a"_a, "b"_a);
  m.def(
      "maximum", [](const Symbol& a, const Symbol& b) { return max(a, b); }, "a"_a, "b"_a);
}

}  // namespace

void bindSymbol(nb::module_& m) {
  nb::class_<Symbol> symbol(m, "Symbol",
                            R"(A number that records the operations that produce it.

Constraint functions are called once with an array of symbols, which turns them into formulas: these
are evaluated without Python, in batches and threads, and are written to files. Write functions with
arithmetic and the functions of numpy or of kempe.math; use kempe.math.select() instead of branches.)");
  defineNumber(symbol);
  symbol.def(nb::init<double>(), "constant"_a)
      .def(
          "__rpow__", [](const Symbol& self, double base) { return pow(Symbol(base), self); },
          nb::is_operator())
      .def(
          "__eq__", [](const Symbol& a, const Symbol& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__repr__", [](const Symbol& self) { return "<kempe.Symbol: " + formulaOf(self) + ">"; })
      .def("sinh", &sinhOf)
      .def("cosh", &coshOf)
      .def("tanh", &tanhOf);
  nb::implicitly_convertible<double, Symbol>();
  bindCondition(m);
}

}  // namespace kempe::python
