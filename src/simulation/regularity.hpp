#pragma once

/// Bounds of the regularity r of loops: their smallest pivot relative to the usual one. r is about
/// the distance s from a position where they lose rank, in radians or lengths of the cluster.
/// Rounding ε ≈ 3e-16 changes G by ε / r² and accelerations by v² ε / r³ (change_points.hpp).
namespace kempe::detail {

/// A singular position may be near. Accelerations are right to v² ε / 0.2³ = 4e-14 above; below,
/// loops are closed to rounding, change points are looked for and steps do not leap over them.
constexpr double kNearSingular = 0.2;
/// What happens here is put down to the singular position: a step that fails, or energy that is
/// lost. At 0.05 a step of 1 ms at 10 rad/s has come within five of its lengths.
constexpr double kAtSingular = 0.05;
/// Linkages with several DoFs pass most singular positions at a distance. They are looked for only
/// where rounding of G has come to ε / r² = 3e-10.
constexpr double kNarrow = 1e-3;
/// Forces in loops are not computed below: accelerations are wrong by v² ε / r³ = 3e-7, and the
/// forces by 1 / r times that.
constexpr double kForcesDetermined = 1e-3;
/// G is wrong by ε / r² = 3e-8: velocities that are given are not checked against it.
constexpr double kUndetermined = 1e-4;

}  // namespace kempe::detail
