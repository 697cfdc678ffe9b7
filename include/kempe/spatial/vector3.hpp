#pragma once

#include <cmath>

#include "kempe/spatial/host_device.hpp"

namespace kempe {

/// Three numbers with the operations of Euclidean space.
template <typename T>
struct Vec3 {
  T x = T(0), y = T(0), z = T(0);

  KEMPE_HD constexpr T& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }
  KEMPE_HD constexpr const T& operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }

  KEMPE_HD constexpr Vec3& operator+=(const Vec3& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  KEMPE_HD constexpr Vec3& operator-=(const Vec3& b) {
    x -= b.x;
    y -= b.y;
    z -= b.z;
    return *this;
  }

  KEMPE_HD friend constexpr Vec3 operator+(Vec3 a, const Vec3& b) { return a += b; }
  KEMPE_HD friend constexpr Vec3 operator-(Vec3 a, const Vec3& b) { return a -= b; }
  KEMPE_HD friend constexpr Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  KEMPE_HD friend constexpr Vec3 operator*(const T& s, const Vec3& a) {
    return {s * a.x, s * a.y, s * a.z};
  }
  KEMPE_HD friend constexpr Vec3 operator*(const Vec3& a, const T& s) { return s * a; }
  friend bool operator==(const Vec3&, const Vec3&) = default;

  template <typename U>
  KEMPE_HD constexpr Vec3<U> cast() const {
    return {U(x), U(y), U(z)};
  }
};

template <typename T>
KEMPE_HD constexpr T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <typename T>
KEMPE_HD constexpr Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <typename T>
KEMPE_HD T norm(const Vec3<T>& a) {
  using std::sqrt;
  return sqrt(dot(a, a));
}

template <typename T>
KEMPE_HD Vec3<T> normalized(const Vec3<T>& a) {
  return (T(1) / norm(a)) * a;
}

}  // namespace kempe
