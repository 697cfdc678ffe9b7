#pragma once

#include "spatial/mixed.hpp"

namespace kempe::detail {

/// B of bodies, about the origin of the common frame. With c the centre of mass of a body, p its
/// linear momentum and I_c its inertia there, the formula of kempe/coriolis.hpp gives for a motion
/// m = [α; a]
///
///   B m = [N α; α × p],   N = ½ (ω× I_c − I_c ω× − (I_c ω)×) − c× p×        (1)
///
/// in which a does not occur: the linear parts cancel at the centre of mass.
template <typename T>
struct CoriolisInertia {
  Mat3<T> N{};
  Vec3<T> p{};

  KEMPE_HD CoriolisInertia& operator+=(const CoriolisInertia& b) {
    N += b.N;
    p += b.p;
    return *this;
  }
  /// What the momentum h of rotors that spin in the body adds.
  KEMPE_HD void addSpin(const Vec3<T>& h) { N += skew(T(-0.5) * h); }
  KEMPE_HD friend Force<T> operator*(const CoriolisInertia& B, const Motion<T>& m) {
    return {B.N * m.angular, cross(m.angular, B.p)};
  }
  KEMPE_HD friend Force<T> transposeTimes(const CoriolisInertia& B, const Motion<T>& m) {
    return {transposeTimes(B.N, m.angular) + cross(B.p, m.linear), {}};
  }
};

/// (1), column by column.
template <typename T>
KEMPE_HD CoriolisInertia<T> coriolisOf(const PlacedInertia<T>& body, const Motion<T>& v) {
  const Vec3<T> p = body.mass * (v.linear + cross(v.angular, body.center));
  const Vec3<T> spin = body.rotation * v.angular;
  const auto column = [&](const Vec3<T>& axis) {
    return T(0.5) * (cross(v.angular, body.rotation * axis) -
                     body.rotation * cross(v.angular, axis) + cross(axis, spin)) +
           cross(body.center, cross(axis, p));
  };
  const Vec3<T> x = column({T(1), T(0), T(0)}), y = column({T(0), T(1), T(0)}),
                z = column({T(0), T(0), T(1)});
  return {Mat3<T>{x, y, z}.transposed(), p};
}

}  // namespace kempe::detail
