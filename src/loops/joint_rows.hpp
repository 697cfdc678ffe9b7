#pragma once

#include "kempe/mechanism.hpp"
#include "kempe/spatial/transform.hpp"

/// The rows of loop joints and rods. Every row is a wrench f in the common frame:
///
///   φ̇ = fᵀ (v_B − v_A)                                   (1)
///   φ̈ = fᵀ (a_B − a_A) + ḟᵀ (v_B − v_A)                  (2)
///
/// with A the predecessor's and B the successor's body. So K_j = ± fᵀ s_j for a DoF s_j that
/// moves B (+) or A (−), and k = −φ̈ where a_A, a_B are the accelerations for q̈ = 0.
namespace kempe::detail {

/// The motion that one row of a loop joint prevents. Axes 0, 1, 2 are x, y, z of the two frames.
struct RowRule {
  enum Kind { Offset, Alignment } kind;
  int axisA;  ///< Offset: the axis of A along which the origin of B may not move
  int axisB;  ///< Alignment: axis `axisA` of A and `axisB` of B keep their angle
};

struct RowRules {
  const RowRule* first;
  int count;
};

/// The table of loop joints; each type's axis is z of both frames (universal: z of each).
KEMPE_HD inline RowRules rowRules(LoopType type) {
  using R = RowRule;
  static constexpr R kFixed[] = {{R::Offset, 0, 0},    {R::Offset, 1, 0},    {R::Offset, 2, 0},
                                 {R::Alignment, 1, 2}, {R::Alignment, 2, 0}, {R::Alignment, 0, 1}};
  static constexpr R kRevolute[] = {{R::Offset, 0, 0},
                                    {R::Offset, 1, 0},
                                    {R::Offset, 2, 0},
                                    {R::Alignment, 0, 2},
                                    {R::Alignment, 1, 2}};
  static constexpr R kPrismatic[] = {{R::Offset, 0, 0},
                                     {R::Offset, 1, 0},
                                     {R::Alignment, 1, 2},
                                     {R::Alignment, 2, 0},
                                     {R::Alignment, 0, 1}};
  static constexpr R kCylindrical[] = {
      {R::Offset, 0, 0}, {R::Offset, 1, 0}, {R::Alignment, 0, 2}, {R::Alignment, 1, 2}};
  static constexpr R kUniversal[] = {
      {R::Offset, 0, 0}, {R::Offset, 1, 0}, {R::Offset, 2, 0}, {R::Alignment, 2, 2}};
  static constexpr R kSpherical[] = {{R::Offset, 0, 0}, {R::Offset, 1, 0}, {R::Offset, 2, 0}};
  static constexpr R kPlanar[] = {{R::Offset, 2, 0}, {R::Alignment, 0, 2}, {R::Alignment, 1, 2}};
  switch (type) {
    case LoopType::Fixed:
      return {kFixed, 6};
    case LoopType::Revolute:
      return {kRevolute, 5};
    case LoopType::Prismatic:
      return {kPrismatic, 5};
    case LoopType::Cylindrical:
      return {kCylindrical, 4};
    case LoopType::Universal:
      return {kUniversal, 4};
    case LoopType::Spherical:
      return {kSpherical, 3};
    case LoopType::Planar:
      return {kPlanar, 3};
  }
  return {nullptr, 0};
}

/// The axes of a loop joint in its two frames. Ball and weld have none; a universal joint has one
/// on each, with an angle between them.
struct LoopAxes {
  Vector3 predecessor{0, 0, 1}, successor{0, 0, 1};
  double cosine = 0.0;
};

inline LoopAxes loopAxes(const LoopJoint& joint) {
  if (joint.type == LoopType::Spherical || joint.type == LoopType::Fixed) {
    return {};
  }
  const Vector3 axis = normalized(joint.axis);
  if (joint.type != LoopType::Universal) {
    return {axis, axis, 0.0};
  }
  const Vector3 second = normalized(joint.axis2);
  return {axis, second, dot(axis, second)};
}

/// A loop's end in motion: its frame, and its body's velocity and bias acceleration.
template <typename T>
struct EndMotion {
  Transform<T> X{};
  Motion<T> v{}, a{};
};

/// φ of one row; `cosine` is that of the angle an Alignment row keeps.
template <typename T>
KEMPE_HD T rowValue(const RowRule& rule, const T& cosine, const Transform<T>& A,
                    const Transform<T>& B) {
  const Vec3<T> e = A.R.column(rule.axisA);
  return rule.kind == RowRule::Offset ? dot(e, B.p - A.p) : dot(e, B.R.column(rule.axisB)) - cosine;
}

/// f of (1).
template <typename T>
KEMPE_HD Force<T> rowWrench(const RowRule& rule, const Transform<T>& A, const Transform<T>& B) {
  const Vec3<T> e = A.R.column(rule.axisA);
  if (rule.kind == RowRule::Offset) {
    return {cross(B.p, e), e};
  }
  return {cross(B.R.column(rule.axisB), e), {}};
}

/// ḟ of (2).
template <typename T>
KEMPE_HD Force<T> rowWrenchRate(const RowRule& rule, const EndMotion<T>& A, const EndMotion<T>& B) {
  const Vec3<T> e = A.X.R.column(rule.axisA);
  const Vec3<T> eRate = cross(A.v.angular, e);
  if (rule.kind == RowRule::Offset) {
    const Vec3<T> pRate = B.v.linear + cross(B.v.angular, B.X.p);
    return {cross(pRate, e) + cross(B.X.p, eRate), eRate};
  }
  const Vec3<T> g = B.X.R.column(rule.axisB);
  return {cross(cross(B.v.angular, g), e) + cross(g, eRate), {}};
}

/// Rods: φ = (|d|² − L²) / 2L, which near zero is the change of length in metres.
template <typename T>
KEMPE_HD T rodValue(const T& length, const Transform<T>& A, const Transform<T>& B) {
  const Vec3<T> d = B.p - A.p;
  return (dot(d, d) - length * length) / (T(2) * length);
}

template <typename T>
KEMPE_HD Force<T> rodWrench(const T& length, const Transform<T>& A, const Transform<T>& B) {
  const Vec3<T> u = (T(1) / length) * (B.p - A.p);
  return {cross(A.p, u), u};
}

template <typename T>
KEMPE_HD Force<T> rodWrenchRate(const T& length, const EndMotion<T>& A, const EndMotion<T>& B) {
  const Vec3<T> aRate = A.v.linear + cross(A.v.angular, A.X.p);
  const Vec3<T> bRate = B.v.linear + cross(B.v.angular, B.X.p);
  const Vec3<T> u = (T(1) / length) * (B.X.p - A.X.p);
  const Vec3<T> uRate = (T(1) / length) * (bRate - aRate);
  return {cross(aRate, u) + cross(A.X.p, uRate), uRate};
}

}  // namespace kempe::detail
