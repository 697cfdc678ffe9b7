#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "kempe/spatial/transform.hpp"
#include "spatial/scalar_lanes.hpp"

namespace kempe::detail {

/// A number and its derivative along one direction: x + ε x′ with ε² = 0. Functions that are generic
/// in the scalar give exact directional derivatives when they compute with it.
template <typename T>
struct Dual {
  T value{};
  T slope{};

  Dual() = default;
  KEMPE_HD Dual(const T& x, const T& along) : value(x), slope(along) {}
  /// A constant.
  template <typename U>
  KEMPE_HD explicit Dual(const U& constant)
      : value(static_cast<typename Lanes<T>::Scalar>(constant)), slope(0) {}

  KEMPE_HD friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  KEMPE_HD friend Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  KEMPE_HD friend Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
  KEMPE_HD friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  KEMPE_HD friend Dual operator/(const Dual& a, const Dual& b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  KEMPE_HD Dual& operator+=(const Dual& b) { return *this = *this + b; }
  KEMPE_HD Dual& operator-=(const Dual& b) { return *this = *this - b; }
  KEMPE_HD Dual& operator*=(const Dual& b) { return *this = *this * b; }

  KEMPE_HD friend auto operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  KEMPE_HD friend auto operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  KEMPE_HD friend auto operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  KEMPE_HD friend auto operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
};

using kempe::select;  // which the one below would hide from what follows

/// Of packs; where the condition is a plain bool the general one serves.
template <typename Condition, typename T>
requires(!std::same_as<Condition, bool>) KEMPE_HD Dual<T> select(const Condition& condition,
                                                                 const Dual<T>& yes,
                                                                 const Dual<T>& no) {
  return {select(condition, yes.value, no.value), select(condition, yes.slope, no.slope)};
}

template <typename T>
KEMPE_HD Dual<T> sqrt(const Dual<T>& a) {
  using std::sqrt;
  const T root = sqrt(a.value);
  return {root, a.slope / (T(2) * root)};
}
template <typename T>
KEMPE_HD Dual<T> sin(const Dual<T>& a) {
  using std::cos;
  using std::sin;
  return {sin(a.value), a.slope * cos(a.value)};
}
template <typename T>
KEMPE_HD Dual<T> cos(const Dual<T>& a) {
  using std::cos;
  using std::sin;
  return {cos(a.value), -a.slope * sin(a.value)};
}
template <typename T>
KEMPE_HD Dual<T> abs(const Dual<T>& a) {
  using kempe::select;
  return select(a.value < T(0), -a, a);
}
template <typename T>
KEMPE_HD Dual<T> tan(const Dual<T>& a) {
  using std::tan;
  const T tangent = tan(a.value);
  return {tangent, a.slope * (T(1) + tangent * tangent)};
}
template <typename T>
KEMPE_HD Dual<T> asin(const Dual<T>& a) {
  using std::asin;
  using std::sqrt;
  return {asin(a.value), a.slope / sqrt(T(1) - a.value * a.value)};
}
template <typename T>
KEMPE_HD Dual<T> acos(const Dual<T>& a) {
  using std::acos;
  using std::sqrt;
  return {acos(a.value), -a.slope / sqrt(T(1) - a.value * a.value)};
}
template <typename T>
KEMPE_HD Dual<T> atan(const Dual<T>& a) {
  using std::atan;
  return {atan(a.value), a.slope / (T(1) + a.value * a.value)};
}
template <typename T>
KEMPE_HD Dual<T> atan2(const Dual<T>& y, const Dual<T>& x) {
  using std::atan2;
  const T square = x.value * x.value + y.value * y.value;
  return {atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / square};
}
template <typename T>
KEMPE_HD Dual<T> exp(const Dual<T>& a) {
  using std::exp;
  const T power = exp(a.value);
  return {power, a.slope * power};
}
template <typename T>
KEMPE_HD Dual<T> tanh(const Dual<T>& a) {
  using std::tanh;
  const T tangent = tanh(a.value);
  return {tangent, a.slope * (T(1) - tangent * tangent)};
}
template <typename T>
KEMPE_HD Dual<T> log(const Dual<T>& a) {
  using std::log;
  return {log(a.value), a.slope / a.value};
}
/// Of a constant exponent, or of a positive base.
template <typename T>
KEMPE_HD Dual<T> pow(const Dual<T>& a, const Dual<T>& exponent) {
  using kempe::select;
  using std::log;
  using std::pow;
  const T power = pow(a.value, exponent.value);
  const T byBase = exponent.value * pow(a.value, exponent.value - T(1)) * a.slope;
  const T safe = select(a.value > T(0), a.value, T(1));
  return {power, byBase + power * log(safe) * exponent.slope};
}
template <typename T>
KEMPE_HD Dual<T> hypot(const Dual<T>& a, const Dual<T>& b) {
  using std::hypot;
  const T length = hypot(a.value, b.value);
  return {length, (a.value * a.slope + b.value * b.slope) / length};
}

template <typename T>
struct Lanes<Dual<T>> : RowOperations<Dual<T>> {
  using Scalar = typename Lanes<T>::Scalar;
  static constexpr int count = Lanes<T>::count;
  static constexpr int kAnglesTogether = 0;

  KEMPE_HD static Scalar get(const Dual<T>& x, int lane) { return Lanes<T>::get(x.value, lane); }
  /// A result of a callback, whose slope is not known.
  KEMPE_HD static void set(Dual<T>& x, int lane, Scalar value) {
    Lanes<T>::set(x.value, lane, value);
    x.slope = T(std::numeric_limits<Scalar>::quiet_NaN());
  }
  KEMPE_HD static void sinCos(const Dual<T>* x, int n, Dual<T>* sines, Dual<T>* cosines) {
    for (int i = 0; i < n; ++i) {
      sines[i] = sin(x[i]);
      cosines[i] = cos(x[i]);
    }
  }
};

/// The number a + ε b, vectors and frames likewise.
template <typename T>
KEMPE_HD Vec3<Dual<T>> dual(const Vec3<T>& a, const Vec3<T>& along) {
  return {{a[0], along[0]}, {a[1], along[1]}, {a[2], along[2]}};
}
template <typename T>
KEMPE_HD Motion<Dual<T>> dual(const Motion<T>& a, const Motion<T>& along) {
  return {dual(a.angular, along.angular), dual(a.linear, along.linear)};
}

/// A frame that is displaced by a twist.
template <typename T>
KEMPE_HD Transform<Dual<T>> dual(const Transform<T>& X, const Motion<T>& displacement) {
  const auto column = [&](int j) {
    const Vec3<T> e = X.R.column(j);
    return dual(e, cross(displacement.angular, e));
  };
  return {Mat3<Dual<T>>{column(0), column(1), column(2)}.transposed(),
          dual(X.p, displacement.linear + cross(displacement.angular, X.p))};
}

/// The slopes alone.
template <typename T>
KEMPE_HD Force<T> slopeOf(const Force<Dual<T>>& f) {
  return {{f.moment[0].slope, f.moment[1].slope, f.moment[2].slope},
          {f.force[0].slope, f.force[1].slope, f.force[2].slope}};
}
}  // namespace kempe::detail
