#pragma once

#include <nanobind/nanobind.h>

#include "functions.hpp"
#include "kempe/mechanism.hpp"

namespace kempe::python {

/// Shape, Body, Joint, Coupling, LoopJoint, Rod and Function.
void bindMechanismParts(nanobind::module_& m);

/// Functions that read and write mechanisms.
void bindRobotFiles(nanobind::module_& m);

/// A copy that keeps the functions of the original.
template <typename Original>
nanobind::object copyOf(const Original& original) {
  nanobind::object copy = nanobind::cast(Original(original));
  keepFunctions(copy, original);
  return copy;
}

}  // namespace kempe::python
