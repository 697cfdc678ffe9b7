#pragma once

#include <cmath>

#include "kempe/spatial/matrix3.hpp"
#include "kempe/spatial/select.hpp"

namespace kempe {

template <typename T>
KEMPE_HD Mat3<T> rotationX(const T& angle) {
  using std::cos;
  using std::sin;
  const T s = sin(angle), c = cos(angle);
  return {{T(1), T(0), T(0)}, {T(0), c, -s}, {T(0), s, c}};
}

template <typename T>
KEMPE_HD Mat3<T> rotationY(const T& angle) {
  using std::cos;
  using std::sin;
  const T s = sin(angle), c = cos(angle);
  return {{c, T(0), s}, {T(0), T(1), T(0)}, {-s, T(0), c}};
}

template <typename T>
KEMPE_HD Mat3<T> rotationZ(const T& angle) {
  using std::cos;
  using std::sin;
  const T s = sin(angle), c = cos(angle);
  return {{c, -s, T(0)}, {s, c, T(0)}, {T(0), T(0), T(1)}};
}

/// R Rz(angle): three columns, of which the last does not change.
template <typename T>
KEMPE_HD Mat3<T> timesRotationZ(const Mat3<T>& R, const T& sine, const T& cosine) {
  const auto turned = [&](const Vec3<T>& r) {
    return Vec3<T>{cosine * r.x + sine * r.y, cosine * r.y - sine * r.x, r.z};
  };
  return {turned(R.r0), turned(R.r1), turned(R.r2)};
}

/// Roll, pitch, yaw about fixed axes x, y, z, as in URDF: Rz(yaw) Ry(pitch) Rx(roll).
template <typename T>
KEMPE_HD Mat3<T> rotationFromRollPitchYaw(const Vec3<T>& rpy) {
  return rotationZ(rpy.z) * rotationY(rpy.y) * rotationX(rpy.x);
}

/// Rotation vector → matrix (Rodrigues); smooth through zero.
template <typename T>
KEMPE_HD Mat3<T> rotationFromVector(const Vec3<T>& w) {
  using std::sin;
  using std::sqrt;
  const T square = dot(w, w);
  T a, b;  // sin θ / θ and (1 − cos θ) / θ²
  if (square < T(1e-8)) {
    a = T(1) - square / T(6);
    b = T(0.5) - square / T(24);
  } else {
    const T angle = sqrt(square);
    a = sin(angle) / angle;
    const T half = sin(angle / T(2)) / angle;  // 1 − cos θ = 2 sin²(θ/2) has no cancellation
    b = T(2) * half * half;
  }
  const Mat3<T> W = skew(w);
  return Mat3<T>::identity() + a * W + b * (W * W);
}

/// A unit quaternion, stored as the public coordinates are: vector part first.
template <typename T>
struct Quaternion {
  T x{}, y{}, z{}, w{T(1)};

  KEMPE_HD constexpr Vec3<T> vector() const { return {x, y, z}; }

  KEMPE_HD friend constexpr Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    const Vec3<T> v = a.w * b.vector() + b.w * a.vector() + cross(a.vector(), b.vector());
    return {v[0], v[1], v[2], a.w * b.w - dot(a.vector(), b.vector())};
  }
  KEMPE_HD constexpr Quaternion conjugate() const { return {-x, -y, -z, w}; }
};

template <typename T>
KEMPE_HD Quaternion<T> normalized(const Quaternion<T>& a) {
  using std::sqrt;
  const T scale = T(1) / sqrt(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w);
  return {scale * a.x, scale * a.y, scale * a.z, scale * a.w};
}

/// Returns the rotation of a unit quaternion; for any other length pass `s` = 2 / length².
template <typename T>
KEMPE_HD Mat3<T> rotationFromUnitQuaternion(const Quaternion<T>& a, const T& s = T(2)) {
  const T xx = s * a.x * a.x, xy = s * a.x * a.y, xz = s * a.x * a.z;
  const T yy = s * a.y * a.y, yz = s * a.y * a.z, zz = s * a.z * a.z;
  const T wx = s * a.w * a.x, wy = s * a.w * a.y, wz = s * a.w * a.z;
  return {{T(1) - yy - zz, xy - wz, xz + wy},
          {xy + wz, T(1) - xx - zz, yz - wx},
          {xz - wy, yz + wx, T(1) - xx - yy}};
}

/// Returns the rotation of a non-zero quaternion, which need not be normalised.
template <typename T>
KEMPE_HD Mat3<T> rotationFromQuaternion(const Quaternion<T>& a) {
  return rotationFromUnitQuaternion(a, T(T(2) / (a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w)));
}

/// Rotation vector → quaternion; smooth through zero.
template <typename T>
KEMPE_HD Quaternion<T> quaternionFromVector(const Vec3<T>& w) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const T square = dot(w, w);
  const auto small = square < T(1e-8);
  const T angle = sqrt(select(small, T(1), square));
  const T a = select(small, T(T(0.5) - square / T(48)), T(sin(angle / T(2)) / angle));
  const T c = select(small, T(T(1) - square / T(8)), T(cos(angle / T(2))));
  return {a * w[0], a * w[1], a * w[2], c};
}

/// The shortest rotation vector of a unit quaternion (length at most π).
template <typename T>
KEMPE_HD Vec3<T> vectorFromQuaternion(const Quaternion<T>& a) {
  using std::atan2;
  using std::sqrt;
  const T sign = a.w < T(0) ? T(-1) : T(1);
  const Vec3<T> v = sign * a.vector();
  const T w = sign * a.w;
  const T square = dot(v, v);
  if (square < T(1e-8)) {
    // 2 atan(s/w)/s to fourth order in s = |v|; no root, which has no derivative at zero.
    return (T(2) / w * (T(1) - square / (T(3) * w * w))) * v;
  }
  const T length = sqrt(square);
  return (T(2) * atan2(length, w) / length) * v;
}

/// The quaternion of a rotation matrix, w ≥ 0 (Shepperd's method: divides by the largest
/// component).
template <typename T>
KEMPE_HD Quaternion<T> quaternionFromRotation(const Mat3<T>& R) {
  using std::sqrt;
  const T trace = R.r0.x + R.r1.y + R.r2.z;
  Quaternion<T> q;
  if (trace > T(0)) {
    const T s = T(2) * sqrt(trace + T(1));
    q = {(R.r2.y - R.r1.z) / s, (R.r0.z - R.r2.x) / s, (R.r1.x - R.r0.y) / s, s / T(4)};
  } else if (R.r0.x > R.r1.y && R.r0.x > R.r2.z) {
    const T s = T(2) * sqrt(T(1) + R.r0.x - R.r1.y - R.r2.z);
    q = {s / T(4), (R.r0.y + R.r1.x) / s, (R.r0.z + R.r2.x) / s, (R.r2.y - R.r1.z) / s};
  } else if (R.r1.y > R.r2.z) {
    const T s = T(2) * sqrt(T(1) + R.r1.y - R.r0.x - R.r2.z);
    q = {(R.r0.y + R.r1.x) / s, s / T(4), (R.r1.z + R.r2.y) / s, (R.r0.z - R.r2.x) / s};
  } else {
    const T s = T(2) * sqrt(T(1) + R.r2.z - R.r0.x - R.r1.y);
    q = {(R.r0.z + R.r2.x) / s, (R.r1.z + R.r2.y) / s, s / T(4), (R.r1.x - R.r0.y) / s};
  }
  if (q.w < T(0)) {
    q = {-q.x, -q.y, -q.z, -q.w};
  }
  return normalized(q);
}

/// A rotation whose third column is the unit vector `axis`: it turns z onto the axis by the
/// shortest way; from below the equator it turns −z onto it, after a half turn about x.
template <typename T>
KEMPE_HD Mat3<T> rotationTakingZTo(const Vec3<T>& axis) {
  // The shortest way is ill-defined at −z, and the formula loses precision on the way there.
  const T side = axis.z < T(-0.5) ? T(-1) : T(1);
  const Vec3<T> a = side * axis;
  const T k = T(1) / (T(1) + a.z);
  const Vec3<T> x{T(1) - a.x * a.x * k, -(a.x * a.y * k), -a.x};
  const Vec3<T> y{-(a.x * a.y * k), T(1) - a.y * a.y * k, -a.y};
  return Mat3<T>{x, side * y, axis}.transposed();
}

}  // namespace kempe
