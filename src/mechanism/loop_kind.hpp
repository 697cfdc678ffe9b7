#pragma once

#include <cstdint>

namespace kempe {

/// The four ways to write a loop (see mechanism.hpp).
enum class LoopKind : std::uint8_t { Coupling, Joint, Rod, Function };

}  // namespace kempe
