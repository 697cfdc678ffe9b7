#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "kempe/expression.hpp"

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
  const auto radians = [](const Symbol& x) { return x * (std::numbers::pi / 180.0); };
  const auto degrees = [](const Symbol& x) { return x * (180.0 / std::numbers::pi); };
  nb::class_<Symbol>(m, "Symbol",
                     R"(A number that records the operations that produce it.

Constraint functions are called once with an array of symbols, which turns them into formulas: these
are evaluated without Python, in batches and threads, and are written to files. Write functions with
arithmetic and the functions of numpy or of kempe.math; use kempe.math.select() instead of branches.)")
      .def(nb::init<double>(), "constant"_a)
      .def(+nb::self)
      .def(-nb::self)
      .def(nb::self + nb::self)
      .def(nb::self - nb::self)
      .def(nb::self * nb::self)
      .def(nb::self / nb::self)
      .def(nb::self + double())
      .def(nb::self - double())
      .def(nb::self * double())
      .def(nb::self / double())
      .def(double() + nb::self)
      .def(double() - nb::self)
      .def(double() * nb::self)
      .def(double() / nb::self)
      .def(
          "__pow__", [](const Symbol& self, double power) { return pow(self, power); },
          nb::is_operator())
      .def(
          "__pow__", [](const Symbol& self, const Symbol& power) { return pow(self, power); },
          nb::is_operator())
      .def(
          "__rpow__", [](const Symbol& self, double base) { return pow(Symbol(base), self); },
          nb::is_operator())
      .def("__abs__", [](const Symbol& self) { return abs(self); })
      .def(
          "__lt__", [](const Symbol& a, const Symbol& b) { return a < b; }, nb::is_operator())
      .def(
          "__le__", [](const Symbol& a, const Symbol& b) { return a <= b; }, nb::is_operator())
      .def(
          "__gt__", [](const Symbol& a, const Symbol& b) { return a > b; }, nb::is_operator())
      .def(
          "__ge__", [](const Symbol& a, const Symbol& b) { return a >= b; }, nb::is_operator())
      .def(
          "__eq__", [](const Symbol& a, const Symbol& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      // Methods that numpy calls on the entries of an array of objects.
      .def("sin", [](const Symbol& x) { return sin(x); })
      .def("cos", [](const Symbol& x) { return cos(x); })
      .def("tan", [](const Symbol& x) { return tan(x); })
      .def("sqrt", [](const Symbol& x) { return sqrt(x); })
      .def("exp", [](const Symbol& x) { return exp(x); })
      .def("log", [](const Symbol& x) { return log(x); })
      .def("arcsin", [](const Symbol& x) { return asin(x); })
      .def("arccos", [](const Symbol& x) { return acos(x); })
      .def("arctan", [](const Symbol& x) { return atan(x); })
      .def("sinh", &sinhOf)
      .def("cosh", &coshOf)
      .def("tanh", [](const Symbol& x) { return 1.0 - 2.0 / (exp(2.0 * x) + 1.0); })
      .def("exp2", [](const Symbol& x) { return exp(x * std::numbers::ln2); })
      .def("log2", [](const Symbol& x) { return log(x) * std::numbers::log2e; })
      .def("log10", [](const Symbol& x) { return log(x) * std::numbers::log10e; })
      .def("radians", radians)
      .def("deg2rad", radians)
      .def("degrees", degrees)
      .def("rad2deg", degrees)
      .def("fabs", [](const Symbol& x) { return abs(x); })
      .def(
          "arctan2", [](const Symbol& y, const Symbol& x) { return atan2(y, x); }, "x"_a)
      .def(
          "hypot", [](const Symbol& a, const Symbol& b) { return hypot(a, b); }, "other"_a)
      .def("conjugate", [](const Symbol& self) { return self; });
  nb::implicitly_convertible<double, Symbol>();
  bindCondition(m);
}

}  // namespace kempe::python
