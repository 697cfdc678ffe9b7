#include "external_forces.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>

#include "choices.hpp"
#include "shown.hpp"

namespace nb = nanobind;

namespace kempe::python {

ExternalForces::ExternalForces(const PyModel& self, nb::handle external,
                               const std::string& reference)
    : reference_(referenceCalled(reference)) {
  if (external.is_none()) return;
  if (PyMapping_Check(external.ptr()) == 0 || !nb::hasattr(external, "items")) {
    throw std::invalid_argument(
        "external: expected a dictionary {frame: [force; moment], 6 numbers}, got " +
        shown(external));
  }
  for (const nb::handle item : external.attr("items")()) {
    const nb::object frame = item[0], wrench = item[1];
    frames_.push_back(frameOf(self, frame));
    names_.push_back("external[" + shown(frame) + "]");
    wrenches_.emplace_back(wrench, names_.back().c_str(), 6, "[force; moment]");
    wrenches_.back().widen();
    wrenches_.back().makeRowsContiguous();
  }
}

void ExternalForces::joinWith(Inputs& inputs) const {
  for (const ArrayArgument& wrench : wrenches_) inputs.alsoWith(wrench);
}

void ExternalForces::separateFrom(const Result& result) {
  for (ArrayArgument& wrench : wrenches_) wrench.separateFrom(result.memory());
}

std::vector<FrameForce> ExternalForces::of(Eigen::Index state) const {
  std::vector<FrameForce> forces;
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    FrameForce& force = forces.emplace_back(FrameForce{frames_[f], {}, reference_});
    for (std::size_t i = 0; i < 6; ++i) {
      force.wrench[i] = number(state, static_cast<Eigen::Index>(6 * f + i));
    }
  }
  return forces;
}

}  // namespace kempe::python
