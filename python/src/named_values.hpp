#pragma once

#include <nanobind/nanobind.h>

#include "kempe/model.hpp"
#include "kempe/named_states.hpp"

namespace kempe::python {

/// Positions by name from a dictionary, for configurationAt(). Keys are names of joints or
/// coordinates, or (joint, component).
NamedValues namedPositions(const Model& model, nanobind::handle dictionary, const char* argument);
/// The same with velocities, for velocitiesAt().
NamedValues namedVelocities(const Model& model, nanobind::handle dictionary, const char* argument);

}  // namespace kempe::python
