#pragma once

#include <nanobind/nanobind.h>

#include "kempe/mechanism.hpp"

namespace kempe::python {

/// FlexibleBody, and the functions of Mechanism that concern such bodies.
void bindFlexible(nanobind::module_& m, nanobind::class_<Mechanism>& mechanism);

/// Mechanism.add_flexible_body.
void bindElements(nanobind::class_<Mechanism>& mechanism);

/// For pickling.
nanobind::object stateOfFlexible(const FlexibleBody& body);
FlexibleBody flexibleFromState(nanobind::handle state);

}  // namespace kempe::python
