#pragma once

#include "kempe/export.hpp"

namespace kempe {

/// The instructions that the algorithms use here: "baseline", "v3" (x86-64-v3: AVX2, FMA) or "v4"
/// (x86-64-v4: AVX-512), the most capable that the processor has. The environment variable
/// KEMPE_ISA chooses another; where it names none, or one that the processor lacks, this and the
/// making of a Model throw std::runtime_error.
KEMPE_API const char* instructionSet();

}  // namespace kempe
