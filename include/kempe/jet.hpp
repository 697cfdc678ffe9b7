#pragma once

#include <cmath>
#include <compare>

namespace kempe {

/// A number with its first and second derivative along one direction: f, f′, f″ (forward-mode
/// automatic differentiation).
///
/// Constraint functions are evaluated on jets: the user writes φ once, and the library computes
/// K (first derivatives along each coordinate) and k = −φ″[q̇, q̇] (one jet along q̇).
struct Jet {
  double value = 0.0;
  double first = 0.0;
  double second = 0.0;

  constexpr Jet() = default;
  constexpr Jet(double constant) : value(constant) {}  // NOLINT: constants mix freely with jets
  constexpr Jet(double v, double d1, double d2) : value(v), first(d1), second(d2) {}

  constexpr Jet& operator+=(const Jet& b) { return *this = *this + b; }
  constexpr Jet& operator-=(const Jet& b) { return *this = *this - b; }
  constexpr Jet& operator*=(const Jet& b) { return *this = *this * b; }
  constexpr Jet& operator/=(const Jet& b) { return *this = *this / b; }

  friend constexpr Jet operator+(const Jet& a) { return a; }
  friend constexpr Jet operator-(const Jet& a) { return {-a.value, -a.first, -a.second}; }
  friend constexpr Jet operator+(const Jet& a, const Jet& b) {
    return {a.value + b.value, a.first + b.first, a.second + b.second};
  }
  friend constexpr Jet operator-(const Jet& a, const Jet& b) {
    return {a.value - b.value, a.first - b.first, a.second - b.second};
  }
  friend constexpr Jet operator*(const Jet& a, const Jet& b) {
    return {a.value * b.value, a.first * b.value + a.value * b.first,
            a.second * b.value + 2.0 * a.first * b.first + a.value * b.second};
  }
  friend constexpr Jet operator/(const Jet& a, const Jet& b) {
    const double c = a.value / b.value;
    const double dc = (a.first - c * b.first) / b.value;
    return {c, dc, (a.second - 2.0 * dc * b.first - c * b.second) / b.value};
  }
  friend constexpr bool operator==(const Jet& a, const Jet& b) { return a.value == b.value; }
  friend constexpr auto operator<=>(const Jet& a, const Jet& b) { return a.value <=> b.value; }
};

/// f(a) from f, f′ and f″ at a.value (chain rule to second order).
constexpr Jet composed(const Jet& a, double f, double df, double ddf) {
  return {f, df * a.first, ddf * a.first * a.first + df * a.second};
}

inline Jet sin(const Jet& a) {
  const double s = std::sin(a.value);
  return composed(a, s, std::cos(a.value), -s);
}
inline Jet cos(const Jet& a) {
  const double c = std::cos(a.value);
  return composed(a, c, -std::sin(a.value), -c);
}
inline Jet tan(const Jet& a) {
  const double t = std::tan(a.value), slope = 1.0 + t * t;
  return composed(a, t, slope, 2.0 * t * slope);
}
inline Jet sqrt(const Jet& a) {
  const double r = std::sqrt(a.value);
  return composed(a, r, 0.5 / r, -0.25 / (r * a.value));
}
inline Jet exp(const Jet& a) {
  const double e = std::exp(a.value);
  return composed(a, e, e, e);
}
inline Jet log(const Jet& a) {
  return composed(a, std::log(a.value), 1.0 / a.value, -1.0 / (a.value * a.value));
}
inline Jet pow(const Jet& a, double p) {
  // At a.value = 0 the power can be infinite; a zero factor must still give zero, not NaN.
  const double df = p == 0.0 ? 0.0 : p * std::pow(a.value, p - 1.0);
  const double ddf = p == 0.0 || p == 1.0 ? 0.0 : p * (p - 1.0) * std::pow(a.value, p - 2.0);
  return composed(a, std::pow(a.value, p), df, ddf);
}
inline Jet pow(const Jet& a, const Jet& p) {
  return p.first == 0.0 && p.second == 0.0 ? pow(a, p.value) : exp(p * log(a));
}
inline Jet asin(const Jet& a) {
  const double c = 1.0 - a.value * a.value, slope = 1.0 / std::sqrt(c);
  return composed(a, std::asin(a.value), slope, a.value * slope / c);
}
inline Jet acos(const Jet& a) {
  const double c = 1.0 - a.value * a.value, slope = -1.0 / std::sqrt(c);
  return composed(a, std::acos(a.value), slope, a.value * slope / c);
}
inline Jet atan(const Jet& a) {
  const double slope = 1.0 / (1.0 + a.value * a.value);
  return composed(a, std::atan(a.value), slope, -2.0 * a.value * slope * slope);
}
inline Jet atan2(const Jet& y, const Jet& x) {
  // The angle's derivatives are those of atan(y/x), or −atan(x/y) where y is the larger.
  Jet angle = std::abs(x.value) >= std::abs(y.value) ? atan(y / x) : -atan(x / y);
  angle.value = std::atan2(y.value, x.value);
  return angle;
}
inline Jet abs(const Jet& a) {
  return a.value < 0.0 ? -a : a;
}
inline Jet fabs(const Jet& a) {
  return abs(a);
}
inline Jet hypot(const Jet& a, const Jet& b) {
  return sqrt(a * a + b * b);
}
inline Jet min(const Jet& a, const Jet& b) {
  return b < a ? b : a;
}
inline Jet max(const Jet& a, const Jet& b) {
  return a < b ? b : a;
}

}  // namespace kempe
