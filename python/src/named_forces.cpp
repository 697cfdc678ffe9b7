#include "named_forces.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "choices.hpp"
#include "shown.hpp"

namespace nb = nanobind;

namespace kempe::python {

namespace {

nb::object partOf(const nb::object& numbers, Eigen::Index first, Eigen::Index count) {
  return numbers[nb::make_tuple(nb::ellipsis(), nb::slice(first, first + count))];
}

}  // namespace

void readForceAxes(const PyModel& self, nb::handle reference, nb::handle frame, ForceOptions& how) {
  if (!reference.is_none()) {
    if (!nb::isinstance<nb::str>(reference)) {
      throw std::invalid_argument("reference: expected a word or None, got " + shown(reference));
    }
    how.reference = referenceCalled(nb::cast<std::string>(reference));
  }
  if (!frame.is_none()) how.frame = frameOf(self, frame);
}

nb::dict jointForcesByName(const Model& model, const nb::object& numbers, Eigen::Index first) {
  nb::dict forces;
  for (const std::string& name : model.jointNames()) {
    forces[name.c_str()] = partOf(numbers, first, 6);
    first += 6;
  }
  return forces;
}

nb::dict loopForcesByName(const Model& model, const nb::object& numbers, Eigen::Index first) {
  nb::dict forces;
  for (const LoopInfo& loop : model.loops()) {
    forces[loop.name.c_str()] = partOf(numbers, first + loop.firstForce, loop.forces);
  }
  return forces;
}

}  // namespace kempe::python
