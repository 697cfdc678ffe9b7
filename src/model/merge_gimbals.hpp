#pragma once

#include "kempe/mechanism.hpp"

namespace kempe::detail {

/// Replaces three massless revolute joints in a row that form a ball by one spherical joint
/// (ModelOptions::mergeGimbals), and says so in the mechanism's warnings.
///
/// The axes meet in one point; at zero, consecutive ones are at right angles and the three are not
/// in one plane. The two links between have no mass, shape, further child or loop end. Nothing
/// speaks of the joints: no coupling or function, no damping, friction or armature, no wish for
/// them as independent or actuated coordinates, no limit tighter than ±π/2. The spherical joint has
/// the name of the last of the three; the pose of its child at zero stays. A start pose of the
/// three becomes one of the ball.
void mergeGimbals(Mechanism& mechanism);

}  // namespace kempe::detail
