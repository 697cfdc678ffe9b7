#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>

#include <numbers>

namespace kempe::python {

/// Operators, and the methods that numpy calls on the entries of an array of objects, of a type that
/// takes the place of numbers in constraint functions (Jet, Symbol).
template <typename T>
void defineNumber(nanobind::class_<T>& type) {
  namespace nb = nanobind;
  using namespace nb::literals;
  const auto radians = [](const T& x) { return x * (std::numbers::pi / 180.0); };
  const auto degrees = [](const T& x) { return x * (180.0 / std::numbers::pi); };
  type.def(+nb::self)
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
          "__pow__", [](const T& self, double power) { return pow(self, power); },
          nb::is_operator())
      .def(
          "__pow__", [](const T& self, const T& power) { return pow(self, power); },
          nb::is_operator())
      .def("__abs__", [](const T& x) { return abs(x); })
      .def(
          "__lt__", [](const T& a, const T& b) { return a < b; }, nb::is_operator())
      .def(
          "__le__", [](const T& a, const T& b) { return a <= b; }, nb::is_operator())
      .def(
          "__gt__", [](const T& a, const T& b) { return a > b; }, nb::is_operator())
      .def(
          "__ge__", [](const T& a, const T& b) { return a >= b; }, nb::is_operator())
      .def("sin", [](const T& x) { return sin(x); })
      .def("cos", [](const T& x) { return cos(x); })
      .def("tan", [](const T& x) { return tan(x); })
      .def("sqrt", [](const T& x) { return sqrt(x); })
      .def("exp", [](const T& x) { return exp(x); })
      .def("log", [](const T& x) { return log(x); })
      .def("arcsin", [](const T& x) { return asin(x); })
      .def("arccos", [](const T& x) { return acos(x); })
      .def("arctan", [](const T& x) { return atan(x); })
      .def("exp2", [](const T& x) { return exp(x * std::numbers::ln2); })
      .def("log2", [](const T& x) { return log(x) * std::numbers::log2e; })
      .def("log10", [](const T& x) { return log(x) * std::numbers::log10e; })
      .def("radians", radians)
      .def("deg2rad", radians)
      .def("degrees", degrees)
      .def("rad2deg", degrees)
      .def("fabs", [](const T& x) { return abs(x); })
      .def(
          "arctan2", [](const T& y, const T& x) { return atan2(y, x); }, "x"_a)
      .def(
          "hypot", [](const T& a, const T& b) { return hypot(a, b); }, "other"_a)
      .def("conjugate", [](const T& self) { return self; });
}

}  // namespace kempe::python
