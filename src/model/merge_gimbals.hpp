#pragma once

#include "kempe/mechanism.hpp"

namespace kempe::detail {

/// Replaces three consecutive massless revolute joints whose axes meet in one point by one
/// spherical joint (ModelOptions::mergeGimbals), and adds a warning to the mechanism.
///
/// Conditions: the axes meet in one point; at zero, consecutive axes are at right angles and the
/// three are not in one plane. The two links between have no mass, shape, other child or loop end.
/// The joints occur in no coupling or function, have no damping, friction or armature, are not
/// marked as independent or actuated, and no limit is tighter than ±π/2.
///
/// The spherical joint has the name of the last of the three; the pose of its child at zero does
/// not change. A start pose of the three is converted into that of the ball.
void mergeGimbals(Mechanism& mechanism);

}  // namespace kempe::detail
