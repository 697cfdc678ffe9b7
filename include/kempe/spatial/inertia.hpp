#pragma once

#include "kempe/spatial/matrix3.hpp"
#include "kempe/spatial/motion_force.hpp"

namespace kempe {

/// The inertia of a rigid body: ten numbers, about the frame's origin (Featherstone 2008,
/// eq. 2.63).
template <typename T>
struct RigidInertia {
  T mass = T(0);
  Vec3<T> moment{};       ///< mass × centre of mass, h
  SymMat3<T> rotation{};  ///< rotational inertia about the origin, Ī

  /// From mass, centre of mass and rotational inertia about the centre of mass.
  KEMPE_HD static constexpr RigidInertia fromCenterOfMass(const T& mass, const Vec3<T>& com,
                                                          const SymMat3<T>& atCenter) {
    return {mass, mass * com, atCenter + mass * pointInertia(com)};
  }

  KEMPE_HD constexpr RigidInertia& operator+=(const RigidInertia& b) {
    mass += b.mass;
    moment += b.moment;
    rotation += b.rotation;
    return *this;
  }
  KEMPE_HD friend constexpr RigidInertia operator+(RigidInertia a, const RigidInertia& b) {
    return a += b;
  }

  /// Momentum of the body that moves with m.
  KEMPE_HD friend constexpr Force<T> operator*(const RigidInertia& a, const Motion<T>& m) {
    return {a.rotation * m.angular + cross(a.moment, m.linear),
            a.mass * m.linear - cross(a.moment, m.angular)};
  }

  template <typename U>
  KEMPE_HD constexpr RigidInertia<U> cast() const {
    return {U(mass), moment.template cast<U>(), rotation.template cast<U>()};
  }
};

/// A symmetric 6×6 map from motions to forces: 21 numbers in blocks [A B; Bᵀ C].
///
/// Articulated inertias have this form and no simpler one (Featherstone 2008, §7.1).
template <typename T>
struct ArticulatedInertia {
  SymMat3<T> A{};  ///< moment from angular motion
  Mat3<T> B{};     ///< moment from linear motion; its transpose: force from angular motion
  SymMat3<T> C{};  ///< force from linear motion

  KEMPE_HD static constexpr ArticulatedInertia fromRigid(const RigidInertia<T>& a) {
    return {a.rotation, skew(a.moment), SymMat3<T>::diagonal(a.mass, a.mass, a.mass)};
  }

  /// Assigns fromRigid(a) block by block, since copies of the whole are slow if T is a large type.
  KEMPE_HD constexpr void setRigid(const RigidInertia<T>& a) {
    A = a.rotation;
    B = skew(a.moment);
    C = SymMat3<T>::diagonal(a.mass, a.mass, a.mass);
  }

  KEMPE_HD constexpr ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
    A += b.A;
    B += b.B;
    C += b.C;
    return *this;
  }
  KEMPE_HD constexpr ArticulatedInertia& operator+=(const RigidInertia<T>& b) {
    const Vec3<T>& h = b.moment;
    A += b.rotation;
    B.r0.y -= h.z;
    B.r0.z += h.y;
    B.r1.x += h.z;
    B.r1.z -= h.x;
    B.r2.x -= h.y;
    B.r2.y += h.x;
    C.xx += b.mass;
    C.yy += b.mass;
    C.zz += b.mass;
    return *this;
  }
  KEMPE_HD friend constexpr ArticulatedInertia operator+(ArticulatedInertia a,
                                                         const ArticulatedInertia& b) {
    return a += b;
  }

  KEMPE_HD friend constexpr Force<T> operator*(const ArticulatedInertia& a, const Motion<T>& m) {
    return {a.A * m.angular + a.B * m.linear, transposeTimes(a.B, m.angular) + a.C * m.linear};
  }

  /// Row i, column j of the 6×6 matrix.
  KEMPE_HD constexpr T at(int i, int j) const {
    if (i < 3 && j >= 3) {
      return B(i, j - 3);
    }
    if (i >= 3 && j < 3) {
      return B(j, i - 3);
    }
    return (i < 3 ? A : C).at(i % 3, j % 3);
  }

  /// Adds inertia + scale · f fᵀ: the inertia that remains of a body when a DoF moves freely, where
  /// f is the force on the body due to a unit acceleration of that DoF.
  template <typename Inertia>
  KEMPE_HD constexpr void addCondensed(const Inertia& inertia, const T& scale, const Force<T>& f) {
    *this += inertia;
    addOuter(scale, f);
  }

  /// Adds scale · a aᵀ to the moment from angular motion.
  KEMPE_HD constexpr void addTurning(const T& scale, const Vec3<T>& a) {
    const Vec3<T> n = scale * a;
    A += SymMat3<T>{n.x * a.x, n.x * a.y, n.x * a.z, n.y * a.y, n.y * a.z, n.z * a.z};
  }

  /// Adds scale · f fᵀ, the rank-one update by which a joint's DoF removes inertia.
  KEMPE_HD constexpr void addOuter(const T& scale, const Force<T>& f) {
    const Vec3<T> n = scale * f.moment, l = scale * f.force;
    A += SymMat3<T>{n.x * f.moment.x, n.x * f.moment.y, n.x * f.moment.z,
                    n.y * f.moment.y, n.y * f.moment.z, n.z * f.moment.z};
    B += outer(n, f.force);
    C += SymMat3<T>{l.x * f.force.x, l.x * f.force.y, l.x * f.force.z,
                    l.y * f.force.y, l.y * f.force.z, l.z * f.force.z};
  }

  /// Subtracts Σ scales[i] · f[i] f[i]ᵀ of n forces.
  KEMPE_HD constexpr void subtractOuters(int n, const T* scales, const Force<T>* f) {
    for (int i = 0; i < n; ++i) {
      addOuter(-scales[i], f[i]);
    }
  }
};

}  // namespace kempe
