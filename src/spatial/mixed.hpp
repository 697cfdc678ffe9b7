#pragma once

#include "kempe/spatial/transform.hpp"

/// Products of the state's numbers (type T) and the tables' (type R). Where the two differ, a
/// number of the tables stands for all states, or all components, that T holds.
namespace kempe::detail {

/// The inertia of a rigid body about its centre of mass, axes of the body.
template <typename R>
struct CentralInertia {
  R mass = R(0);
  Vec3<R> center{};
  SymMat3<R> rotation{};

  KEMPE_HD static CentralInertia fromRigid(const RigidInertia<R>& a) {
    if (!(a.mass > R(0))) {
      return {R(0), {}, a.rotation};
    }
    const Vec3<R> center = (R(1) / a.mass) * a.moment;
    return {a.mass, center, a.rotation - a.mass * pointInertia(center)};
  }

  template <typename U>
  KEMPE_HD CentralInertia<U> cast() const {
    return {U(mass), center.template cast<U>(), rotation.template cast<U>()};
  }
};

/// A vector of the tables with a number to spare, so that one load fills a register of four.
template <typename R>
struct PaddedVec3 {
  R x{}, y{}, z{}, spare{};

  KEMPE_HD static PaddedVec3 of(const Vec3<R>& a) { return {a.x, a.y, a.z, R(0)}; }
  KEMPE_HD operator Vec3<R>() const { return {x, y, z}; }  // NOLINT(google-explicit-constructor)
};

/// The same as numbers of the state.
template <typename T, typename R>
KEMPE_HD Vec3<T> widened(const PaddedVec3<R>& a) {
  if constexpr (requires { Vec3<T>::ofFour(&a); }) {
    return Vec3<T>::ofFour(&a);
  } else {
    return {T(a.x), T(a.y), T(a.z)};
  }
}

/// Σ of the dot products of pairs of vectors: a·x + b·y + …
template <typename T, typename... More>
KEMPE_HD T sumOfDots(const Vec3<T>& a, const Vec3<T>& x, const More&... more) {
  if constexpr (sizeof...(more) == 0) {
    return dot(a, x);
  } else {
    return dot(a, x) + sumOfDots(more...);
  }
}

/// The symmetric matrix of moments (xx, yy, zz) and products (yz, xz, xy).
template <typename T>
KEMPE_HD SymMat3<T> symmetricMatrix(const Vec3<T>& moments, const Vec3<T>& products) {
  return {moments[0], products[2], products[1], moments[1], products[0], moments[2]};
}

/// The matrix with these columns.
template <typename T>
KEMPE_HD Mat3<T> ofColumns(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
  if constexpr (requires { Mat3<T>::fromColumns(a, b, c); }) {
    return Mat3<T>::fromColumns(a, b, c);
  } else {
    return Mat3<T>{a, b, c}.transposed();
  }
}

/// A body's inertia in motion: mass, centre of mass in the common frame, and the rotational inertia
/// about the centre of mass in the common frame's axes.
template <typename T>
struct PlacedInertia {
  T mass;
  Vec3<T> center;
  SymMat3<T> rotation;
};

template <typename T, typename R>
KEMPE_HD Vec3<T> turned(const Mat3<T>& R_, const Vec3<R>& x) {
  return R_ * x.template cast<T>();
}
template <typename T, typename R>
KEMPE_HD Mat3<T> turned(const Mat3<T>& R_, const Mat3<R>& b) {
  return R_ * b.template cast<T>();
}
/// R a Rᵀ
template <typename T, typename R>
KEMPE_HD SymMat3<T> turned(const Mat3<T>& R_, const SymMat3<R>& a) {
  return congruence(R_, a.template cast<T>());
}

template <typename T, typename R>
KEMPE_HD Transform<T> placed(const Transform<T>& X, const Transform<R>& inX) {
  return {turned(X.R, inX.R), turned(X.R, inX.p) + X.p};
}

template <typename T, typename R>
KEMPE_HD PlacedInertia<T> placed(const Transform<T>& X, const CentralInertia<R>& inertia) {
  return {T(inertia.mass), turned(X.R, inertia.center) + X.p, turned(X.R, inertia.rotation)};
}

/// The same about the origin.
template <typename T>
KEMPE_HD RigidInertia<T> aboutOrigin(const PlacedInertia<T>& a) {
  const Vec3<T> h = a.mass * a.center;
  return {a.mass, h, a.rotation + pointInertia(h, a.center)};
}

/// Newton and Euler about the centre of mass: the force that moves a body with velocity v and
/// spatial acceleration a, which is I a + v ×* I v.
template <typename T>
KEMPE_HD Force<T> forceOn(const PlacedInertia<T>& body, const Motion<T>& v, const Motion<T>& a) {
  const Vec3<T> velocity = v.linear + cross(v.angular, body.center);
  const Vec3<T> acceleration =
      a.linear + cross(a.angular, body.center) + cross(v.angular, velocity);
  const Vec3<T> force = body.mass * acceleration;
  const Vec3<T> moment = body.rotation * a.angular + cross(v.angular, body.rotation * v.angular) +
                         cross(body.center, force);
  return {moment, force};
}

}  // namespace kempe::detail
