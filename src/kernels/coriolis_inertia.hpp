#pragma once

#include "spatial/mixed.hpp"

namespace kempe::detail {

/// B of bodies, about the origin of the common frame. With c the centre of mass of a body, p its
/// linear momentum and I_c its inertia there, the formula of kempe/coriolis.hpp gives for a motion
/// m = [α; a]
///
///   B m = [N α; α × p],   N = ½ (ω× I_c − I_c ω× − (I_c ω)×) − c× p×        (1)
///
/// in which a does not occur: the linear parts cancel at the centre of mass. Because of
/// ω× I_c + I_c ω× = (tr(I_c) ω − I_c ω)×, this is
///
///   N = ω× (I_c − ½ tr(I_c) 1) + (c·p) 1 − p cᵀ                             (2)
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

/// N of (2).
template <typename T>
KEMPE_HD Mat3<T> coriolisMatrix(const Vec3<T>& omega, const SymMat3<T>& I, const Vec3<T>& c,
                                const Vec3<T>& p) {
  const T half = T(0.5) * I.trace(), along = dot(c, p);
  const Vec3<T> r0{I.xx - half, I.xy, I.xz}, r1{I.xy, I.yy - half, I.yz},
      r2{I.xz, I.yz, I.zz - half};
  Mat3<T> N{omega.y * r2 - omega.z * r1 - p.x * c, omega.z * r0 - omega.x * r2 - p.y * c,
            omega.x * r1 - omega.y * r0 - p.z * c};
  N.r0.x += along;
  N.r1.y += along;
  N.r2.z += along;
  return N;
}

template <typename T>
KEMPE_HD CoriolisInertia<T> coriolisOf(const PlacedInertia<T>& body, const Motion<T>& v) {
  const Vec3<T> p = body.mass * (v.linear + cross(v.angular, body.center));
  return {coriolisMatrix(v.angular, body.rotation, body.center, p), p};
}

}  // namespace kempe::detail
