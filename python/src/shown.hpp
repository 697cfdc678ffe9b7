#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace kempe::python {

/// repr() of an object for a message: shortened, in valid UTF-8, whatever the object does.
std::string shown(nanobind::handle object);
/// The same of str().
std::string textOf(nanobind::handle object);

}  // namespace kempe::python
