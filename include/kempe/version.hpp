#pragma once

#include "kempe/export.hpp"

/// The version of these headers. CMake and the Python package read it from here.
#define KEMPE_VERSION "0.1.0"

namespace kempe {

/// Returns the version of the loaded library, which may differ from that of the headers.
KEMPE_API const char* version();

}  // namespace kempe
