#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "kempe/jet.hpp"
#include "number_operators.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

void bindJet(nb::module_& m) {
  nb::class_<Jet> jet(m, "Jet",
                      R"(A number that carries its first and second derivative along one direction.

Constraint functions that cannot be traced into a formula (see Symbol) are called with arrays of jets,
which is how the library differentiates them: write them with arithmetic and numpy's functions
(np.sin, np.sqrt, np.arctan2, …). The functions of `math` do not accept jets.)");
  defineNumber(jet);
  jet.def(nb::init<double>(), "value"_a)
      .def(nb::init<double, double, double>(), "value"_a, "first"_a, "second"_a)
      .def_ro("value", &Jet::value)
      .def_ro("first", &Jet::first)
      .def_ro("second", &Jet::second)
      .def(
          "__rpow__", [](const Jet& self, double base) { return exp(self * std::log(base)); },
          nb::is_operator())
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
