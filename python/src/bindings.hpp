#pragma once

#include <nanobind/nanobind.h>

namespace kempe::python {

/// Adds Model, Cluster, load and the bundled robots.
void bindModel(nanobind::module_& m);

}  // namespace kempe::python
