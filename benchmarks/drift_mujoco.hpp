#pragma once

#include <optional>

#include "simulation/drift_cases.hpp"

namespace kempe::bench {

/// The same motion by MuJoCo's Runge-Kutta integrator with equality constraints; none where MuJoCo
/// was not found or cannot describe the loops.
std::optional<test::Drift> mujocoDrift(const test::DriftCase& given, double duration, double dt);

}  // namespace kempe::bench
