#pragma once

#include "kempe/export.hpp"

namespace kempe {

/// Returns the instruction set that the algorithms use on this machine: "baseline", "v3"
/// (x86-64-v3: AVX2, FMA) or "v4" (x86-64-v4: AVX-512). By default it is the most capable one that
/// the processor supports; the environment variable KEMPE_ISA selects another. If KEMPE_ISA is not
/// one of these names, or the processor does not support it, this function and the constructor of
/// Model throw std::runtime_error.
KEMPE_API const char* instructionSet();

}  // namespace kempe
