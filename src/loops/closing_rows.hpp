#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loops/joint_rows.hpp"

/// Rows of loop joints for closing them from afar.
///
/// The rows of joint_rows.hpp forbid rotations by dot products of axes, which vanish for eight relative
/// rotations although only one is meant. Here each forbidden rotation is a component of the
/// logarithm of the relative rotation, which vanishes at that one alone and grows with the angle.
/// With R = Aᵀ B, w = log R and b = R e_z, and ω the relative angular velocity in the axes of A:
///
///   fixed, prismatic:              φ_i = −w_i,        φ̇ = −(J_l⁻¹(w) ω)_i                     (1)
///   revolute, cylindrical, planar: φ_i = f(θ) b_i,    φ̇ = f ḃ_i − h b_i ḃ_z,  ḃ = ω × b       (2)
///     f = θ / sin θ,  h = (sin θ − θ cos θ) / sin³ θ,  cos θ = b_z
///
/// In a closed position values and slopes are those of joint_rows.hpp.
namespace kempe::detail {

/// All rows of a loop joint, in the order of rowRules().
struct ClosingRows {
  int count = 0;
  double value[6];
  Force<double> wrench[6];  ///< φ̇ = wrenchᵀ (v_B − v_A), as (1) of joint_rows.hpp
};

/// w = log(AᵀB) and the rows of J_l⁻¹(w), in the axes of the world: (1).
struct RotationRows {
  double value[3];
  Vec3<double> moment[3];
};

inline RotationRows rotationRows(const Mat3<double>& A, const Mat3<double>& B) {
  const Vec3<double> w = vectorFromQuaternion(quaternionFromRotation(A.transposed() * B));
  const double square = dot(w, w), half = 0.5 * std::sqrt(square);
  // J_l⁻¹ = 1 − [w]×/2 + c [w]×²
  const double c = square < 1e-4 ? 1.0 / 12.0 + square / 720.0
                                 : (1.0 - half * std::cos(half) / std::sin(half)) / square;
  RotationRows rows;
  for (int i = 0; i < 3; ++i) {
    Vec3<double> e;
    e[i] = 1.0;
    const Vec3<double> across = cross(w, e);
    rows.value[i] = -w[i];
    rows.moment[i] = -(A * (e + 0.5 * across + c * cross(w, across)));
  }
  return rows;
}

/// The tilt of B's z axis out of A's: (2).
inline RotationRows tiltRows(const Mat3<double>& A, const Mat3<double>& B) {
  Vec3<double> b = transposeTimes(A, B.column(2));
  double sine = std::hypot(b.x, b.y);
  const double angle = std::atan2(sine, b.z);
  if (sine < 1e-6 && b.z < 0.0) {  // upside down every way back is as good as any other
    b.x = sine = 1e-6;
    b.y = 0.0;
  }
  double f = 0.0, h = 0.0;
  if (sine < 1e-2 && b.z > 0.0) {
    const double s = sine * sine;
    f = 1.0 + s * (1.0 / 6.0 + s * (3.0 / 40.0));
    h = 1.0 / 3.0 + s * (2.0 / 15.0);
  } else {
    f = angle / sine;
    // Near a half turn the direction of the tilt turns ever faster; the slope is bounded there.
    const double bounded = std::max(sine, 0.02);
    h = (bounded - angle * b.z) / (bounded * bounded * bounded);
  }
  RotationRows rows;
  const Vec3<double> slopeZ = cross(b, Vec3<double>{0, 0, 1});
  for (int i = 0; i < 2; ++i) {
    Vec3<double> e;
    e[i] = 1.0;
    rows.value[i] = f * b[i];
    rows.moment[i] = A * (f * cross(b, e) - (h * b[i]) * slopeZ);
  }
  return rows;
}

inline ClosingRows closingRows(LoopType type, double cosine, const Transform<double>& A,
                               const Transform<double>& B) {
  const RowRules rules = rowRules(type);
  const bool universal = type == LoopType::Universal;
  const bool turns =
      type == LoopType::Revolute || type == LoopType::Cylindrical || type == LoopType::Planar;
  RotationRows rotation{};
  if (type != LoopType::Spherical && !universal) {
    rotation = turns ? tiltRows(A.R, B.R) : rotationRows(A.R, B.R);
  }
  ClosingRows rows;
  rows.count = rules.count;
  int aligned = 0;
  for (int r = 0; r < rules.count; ++r) {
    const RowRule& rule = rules.first[r];
    if (rule.kind == RowRule::Alignment && !universal) {
      rows.value[r] = rotation.value[aligned];
      rows.wrench[r] = {rotation.moment[aligned], {}};
      ++aligned;
    } else {
      rows.value[r] = rowValue(rule, cosine, A, B);
      rows.wrench[r] = rowWrench(rule, A, B);
    }
  }
  return rows;
}

}  // namespace kempe::detail
