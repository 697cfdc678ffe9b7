#pragma once

#include "kempe/spatial/inertia.hpp"
#include "kempe/spatial/motion_force.hpp"
#include "kempe/spatial/rotation.hpp"

namespace kempe {

/// A rigid placement X_AB of frame B in frame A: transforms coordinates in B to coordinates in A.
template <typename T>
struct Transform {
  Mat3<T> R = Mat3<T>::identity();
  Vec3<T> p{};

  KEMPE_HD friend constexpr Transform operator*(const Transform& a, const Transform& b) {
    return {a.R * b.R, a.R * b.p + a.p};
  }
  KEMPE_HD constexpr Transform inverse() const { return {R.transposed(), -transposeTimes(R, p)}; }

  KEMPE_HD constexpr Vec3<T> point(const Vec3<T>& x) const { return R * x + p; }

  KEMPE_HD friend constexpr Motion<T> operator*(const Transform& X, const Motion<T>& m) {
    const Vec3<T> w = X.R * m.angular;
    return {w, X.R * m.linear + cross(X.p, w)};
  }
  KEMPE_HD friend constexpr Force<T> operator*(const Transform& X, const Force<T>& f) {
    const Vec3<T> l = X.R * f.force;
    return {X.R * f.moment + cross(X.p, l), l};
  }
  /// X* I X⁻¹: the same body seen from A (Featherstone 2008, eq. 2.66).
  KEMPE_HD friend constexpr RigidInertia<T> operator*(const Transform& X,
                                                      const RigidInertia<T>& a) {
    const Vec3<T> h = X.R * a.moment;
    // Ī' = R Ī Rᵀ + (terms of the shift): 2 p·h 1 − (p hᵀ + h pᵀ) + m (|p|² 1 − p pᵀ)
    const T ph = T(2) * dot(X.p, h);
    const SymMat3<T> shift = {ph - T(2) * X.p.x * h.x,      -(X.p.x * h.y + X.p.y * h.x),
                              -(X.p.x * h.z + X.p.z * h.x), ph - T(2) * X.p.y * h.y,
                              -(X.p.y * h.z + X.p.z * h.y), ph - T(2) * X.p.z * h.z};
    return {a.mass, h + a.mass * X.p,
            congruence(X.R, a.rotation) + shift + a.mass * pointInertia(X.p)};
  }
  KEMPE_HD friend constexpr ArticulatedInertia<T> operator*(const Transform& X,
                                                            const ArticulatedInertia<T>& a) {
    // Rotate the blocks, then shift the origin by p.
    const SymMat3<T> A = congruence(X.R, a.A), C = congruence(X.R, a.C);
    const Mat3<T> B = X.R * a.B * X.R.transposed();
    const Mat3<T> P = skew(X.p);
    const Mat3<T> PC = P * C.full();
    const Mat3<T> shifted = A.full() + P * B.transposed() - B * P - PC * P;
    return {SymMat3<T>::symmetricPart(shifted), B + PC, C};
  }

  template <typename U>
  KEMPE_HD constexpr Transform<U> cast() const {
    return {R.template cast<U>(), p.template cast<U>()};
  }
};

}  // namespace kempe
