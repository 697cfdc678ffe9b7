#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "kempe/jet.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

void bindJet(nb::module_& m) {
  const auto unary = [](Jet (*function)(const Jet&)) {
    return [function](const Jet& self) { return function(self); };
  };
  const auto radians = [](const Jet& x) { return x * (std::numbers::pi / 180.0); };
  const auto degrees = [](const Jet& x) { return x * (180.0 / std::numbers::pi); };
  nb::class_<Jet>(m, "Jet",
                  R"(A number that carries its first and second derivative along one direction.

Constraint functions are called with arrays of jets, which is how the library differentiates them:
write them with arithmetic and numpy's functions (np.sin, np.sqrt, np.arctan2, …). The functions of
`math` do not accept jets.)")
      .def(nb::init<double>(), "value"_a)
      .def(nb::init<double, double, double>(), "value"_a, "first"_a, "second"_a)
      .def_ro("value", &Jet::value)
      .def_ro("first", &Jet::first)
      .def_ro("second", &Jet::second)
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
          "__pow__", [](const Jet& self, double power) { return pow(self, power); },
          nb::is_operator())
      .def(
          "__pow__", [](const Jet& self, const Jet& power) { return pow(self, power); },
          nb::is_operator())
      .def(
          "__rpow__", [](const Jet& self, double base) { return exp(self * std::log(base)); },
          nb::is_operator())
      .def("__abs__", unary(&abs))
      .def(
          "__lt__", [](const Jet& a, const Jet& b) { return a < b; }, nb::is_operator())
      .def(
          "__le__", [](const Jet& a, const Jet& b) { return a <= b; }, nb::is_operator())
      .def(
          "__gt__", [](const Jet& a, const Jet& b) { return a > b; }, nb::is_operator())
      .def(
          "__ge__", [](const Jet& a, const Jet& b) { return a >= b; }, nb::is_operator())
      // Methods that numpy calls on the entries of an array of objects.
      .def("sin", unary(&sin))
      .def("cos", unary(&cos))
      .def("tan", unary(&tan))
      .def("sqrt", unary(&sqrt))
      .def("exp", unary(&exp))
      .def("log", unary(&log))
      .def("arcsin", unary(&asin))
      .def("arccos", unary(&acos))
      .def("arctan", unary(&atan))
      .def("sinh",
           [](const Jet& x) {
             const double s = std::sinh(x.value);
             return composed(x, s, std::cosh(x.value), s);
           })
      .def("cosh",
           [](const Jet& x) {
             const double c = std::cosh(x.value);
             return composed(x, c, std::sinh(x.value), c);
           })
      .def("tanh",
           [](const Jet& x) {
             const double t = std::tanh(x.value), slope = 1.0 - t * t;
             return composed(x, t, slope, -2.0 * t * slope);
           })
      .def("cbrt",
           [](const Jet& x) {
             const double c = std::cbrt(x.value), slope = c / (3.0 * x.value);
             return composed(x, c, slope, -2.0 * slope / (3.0 * x.value));
           })
      .def("expm1",
           [](const Jet& x) {
             const double e = std::exp(x.value);
             return composed(x, std::expm1(x.value), e, e);
           })
      .def("log1p",
           [](const Jet& x) {
             const double slope = 1.0 / (1.0 + x.value);
             return composed(x, std::log1p(x.value), slope, -slope * slope);
           })
      .def("exp2", [](const Jet& x) { return exp(x * std::numbers::ln2); })
      .def("log2", [](const Jet& x) { return log(x) * std::numbers::log2e; })
      .def("log10", [](const Jet& x) { return log(x) * std::numbers::log10e; })
      .def("radians", radians)
      .def("deg2rad", radians)
      .def("degrees", degrees)
      .def("rad2deg", degrees)
      .def("fabs", unary(&abs))
      .def(
          "arctan2", [](const Jet& y, const Jet& x) { return atan2(y, x); }, "x"_a)
      .def(
          "hypot", [](const Jet& a, const Jet& b) { return hypot(a, b); }, "other"_a)
      .def("conjugate", [](const Jet& self) { return self; })
      .def("__repr__",
           [](const Jet& self) {
             return "Jet(" + std::to_string(self.value) + ", " + std::to_string(self.first) + ", " +
                    std::to_string(self.second) + ")";
           })
      .def("__getstate__",
           [](const Jet& self) { return std::tuple(self.value, self.first, self.second); })
      .def("__setstate__", [](Jet& self, const std::tuple<double, double, double>& state) {
        new (&self) Jet(std::get<0>(state), std::get<1>(state), std::get<2>(state));
      });
  nb::implicitly_convertible<double, Jet>();
}

}  // namespace kempe::python
