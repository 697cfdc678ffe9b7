#pragma once

#include "kempe/mechanism.hpp"

namespace kempe::bench {

/// A quadruped with floating base whose knees are driven by cranks on the thighs through four-bars.
/// Each leg has three motors: ab/ad and pitch of the hip, and the crank. Their rotors are the
/// armature of these joints, because Pinocchio's constraint solver has no gears.
Mechanism fourBarQuadruped();

}  // namespace kempe::bench
