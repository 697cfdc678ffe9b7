#pragma once

namespace kempe::test {

/// That of mechanisms whose file gives none, m/s².
inline constexpr double kGravity = 9.81;

}  // namespace kempe::test
