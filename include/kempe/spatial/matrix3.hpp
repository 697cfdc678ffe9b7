#pragma once

#include "kempe/spatial/vector3.hpp"

namespace kempe {

/// A 3×3 matrix by rows; as a rotation, `R_AB * v_B == v_A`.
template <typename T>
struct Mat3 {
  Vec3<T> r0{}, r1{}, r2{};

  KEMPE_HD static constexpr Mat3 identity() {
    return {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  }

  KEMPE_HD constexpr Vec3<T>& row(int i) { return i == 0 ? r0 : (i == 1 ? r1 : r2); }
  KEMPE_HD constexpr const Vec3<T>& row(int i) const { return i == 0 ? r0 : (i == 1 ? r1 : r2); }
  KEMPE_HD constexpr Vec3<T> column(int j) const { return {r0[j], r1[j], r2[j]}; }
  KEMPE_HD constexpr T& operator()(int i, int j) { return row(i)[j]; }
  KEMPE_HD constexpr const T& operator()(int i, int j) const { return row(i)[j]; }

  KEMPE_HD constexpr Mat3 transposed() const { return {column(0), column(1), column(2)}; }

  KEMPE_HD constexpr Mat3& operator+=(const Mat3& b) {
    r0 += b.r0;
    r1 += b.r1;
    r2 += b.r2;
    return *this;
  }

  KEMPE_HD friend constexpr Mat3 operator+(Mat3 a, const Mat3& b) { return a += b; }
  KEMPE_HD friend constexpr Mat3 operator-(const Mat3& a, const Mat3& b) {
    return {a.r0 - b.r0, a.r1 - b.r1, a.r2 - b.r2};
  }
  KEMPE_HD friend constexpr Vec3<T> operator*(const Mat3& a, const Vec3<T>& v) {
    return {dot(a.r0, v), dot(a.r1, v), dot(a.r2, v)};
  }
  KEMPE_HD friend constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
    const auto rowTimes = [&b](const Vec3<T>& r) { return r.x * b.r0 + r.y * b.r1 + r.z * b.r2; };
    return {rowTimes(a.r0), rowTimes(a.r1), rowTimes(a.r2)};
  }
  KEMPE_HD friend constexpr Mat3 operator*(const T& s, const Mat3& a) {
    return {s * a.r0, s * a.r1, s * a.r2};
  }
  friend bool operator==(const Mat3&, const Mat3&) = default;

  template <typename U>
  KEMPE_HD constexpr Mat3<U> cast() const {
    return {r0.template cast<U>(), r1.template cast<U>(), r2.template cast<U>()};
  }
};

/// aᵀ v without forming aᵀ.
template <typename T>
KEMPE_HD constexpr Vec3<T> transposeTimes(const Mat3<T>& a, const Vec3<T>& v) {
  return v.x * a.r0 + v.y * a.r1 + v.z * a.r2;
}

/// The matrix v× with `skew(v) * w == cross(v, w)`.
template <typename T>
KEMPE_HD constexpr Mat3<T> skew(const Vec3<T>& v) {
  return {{T(0), -v.z, v.y}, {v.z, T(0), -v.x}, {-v.y, v.x, T(0)}};
}

/// a bᵀ
template <typename T>
KEMPE_HD constexpr Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x * b, a.y * b, a.z * b};
}

/// A symmetric 3×3 matrix: six numbers, so that symmetry cannot be lost.
template <typename T>
struct SymMat3 {
  T xx = T(0), xy = T(0), xz = T(0), yy = T(0), yz = T(0), zz = T(0);

  KEMPE_HD static constexpr SymMat3 diagonal(const T& x, const T& y, const T& z) {
    return {x, T(0), T(0), y, T(0), z};
  }
  /// The symmetric part of a matrix that is symmetric up to rounding.
  KEMPE_HD static constexpr SymMat3 symmetricPart(const Mat3<T>& a) {
    const T half(0.5);
    return {a.r0.x, half * (a.r0.y + a.r1.x), half * (a.r0.z + a.r2.x),
            a.r1.y, half * (a.r1.z + a.r2.y), a.r2.z};
  }

  KEMPE_HD constexpr Mat3<T> full() const { return {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}; }
  KEMPE_HD constexpr T trace() const { return xx + yy + zz; }
  KEMPE_HD constexpr const T& at(int i, int j) const {
    const T* const places[3][3] = {{&xx, &xy, &xz}, {&xy, &yy, &yz}, {&xz, &yz, &zz}};
    return *places[i][j];
  }

  KEMPE_HD constexpr SymMat3& operator+=(const SymMat3& b) {
    xx += b.xx;
    xy += b.xy;
    xz += b.xz;
    yy += b.yy;
    yz += b.yz;
    zz += b.zz;
    return *this;
  }
  KEMPE_HD constexpr SymMat3& operator-=(const SymMat3& b) { return *this += T(-1) * b; }
  KEMPE_HD friend constexpr SymMat3 operator+(SymMat3 a, const SymMat3& b) { return a += b; }
  KEMPE_HD friend constexpr SymMat3 operator-(SymMat3 a, const SymMat3& b) { return a -= b; }
  KEMPE_HD friend constexpr SymMat3 operator*(const T& s, const SymMat3& a) {
    return {s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
  }
  KEMPE_HD friend constexpr Vec3<T> operator*(const SymMat3& a, const Vec3<T>& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
  friend bool operator==(const SymMat3&, const SymMat3&) = default;

  template <typename U>
  KEMPE_HD constexpr SymMat3<U> cast() const {
    return {U(xx), U(xy), U(xz), U(yy), U(yz), U(zz)};
  }
};

/// R a Rᵀ
template <typename T>
KEMPE_HD constexpr SymMat3<T> congruence(const Mat3<T>& R, const SymMat3<T>& a) {
  const Vec3<T> a0 = a * R.r0, a1 = a * R.r1, a2 = a * R.r2;
  return {dot(R.r0, a0), dot(R.r0, a1), dot(R.r0, a2), dot(R.r1, a1), dot(R.r1, a2), dot(R.r2, a2)};
}

/// h·v 1 − h vᵀ, the inertia of a mass m at v, with h = m v its first moment.
template <typename T>
KEMPE_HD constexpr SymMat3<T> pointInertia(const Vec3<T>& h, const Vec3<T>& v) {
  const T xx = h.x * v.x, yy = h.y * v.y, zz = h.z * v.z;
  return {yy + zz, -(h.x * v.y), -(h.x * v.z), xx + zz, -(h.y * v.z), xx + yy};
}

/// −(v×)² = |v|² 1 − v vᵀ, the inertia of a unit mass at v.
template <typename T>
KEMPE_HD constexpr SymMat3<T> pointInertia(const Vec3<T>& v) {
  return pointInertia(v, v);
}

}  // namespace kempe
