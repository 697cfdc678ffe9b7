#pragma once

#include <cmath>

/// Numbers for exact derivatives in tests. They share nothing with those of the library, and they nest:
/// the coefficients can be such numbers themselves.
namespace kempe::test {

/// x + ε x′ with ε² = 0.
template <typename S>
struct Perturbed {
  S value{}, slope{};

  Perturbed() = default;
  explicit Perturbed(double constant) : value(constant) {}
  Perturbed(const S& x, const S& along) : value(x), slope(along) {}

  friend Perturbed operator+(const Perturbed& a, const Perturbed& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend Perturbed operator-(const Perturbed& a, const Perturbed& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend Perturbed operator-(const Perturbed& a) { return {-a.value, -a.slope}; }
  friend Perturbed operator*(const Perturbed& a, const Perturbed& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Perturbed operator/(const Perturbed& a, const Perturbed& b) {
    const S quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  friend Perturbed sin(const Perturbed& a) {
    using std::cos, std::sin;
    return {sin(a.value), cos(a.value) * a.slope};
  }
  friend Perturbed cos(const Perturbed& a) {
    using std::cos, std::sin;
    return {cos(a.value), -(sin(a.value) * a.slope)};
  }
  friend Perturbed sqrt(const Perturbed& a) {
    using std::sqrt;
    const S root = sqrt(a.value);
    return {root, a.slope / (root + root)};
  }
  friend Perturbed tanh(const Perturbed& a) {
    using std::tanh;
    const S t = tanh(a.value);
    return {t, a.slope - t * t * a.slope};
  }
};

/// f, f′ and f″ along a path.
template <typename S>
struct PathJet {
  S value{}, first{}, second{};

  PathJet() = default;
  explicit PathJet(double constant) : value(constant) {}
  PathJet(const S& f, const S& df, const S& ddf) : value(f), first(df), second(ddf) {}

  friend PathJet operator+(const PathJet& a, const PathJet& b) {
    return {a.value + b.value, a.first + b.first, a.second + b.second};
  }
  friend PathJet operator-(const PathJet& a, const PathJet& b) {
    return {a.value - b.value, a.first - b.first, a.second - b.second};
  }
  friend PathJet operator-(const PathJet& a) { return {-a.value, -a.first, -a.second}; }
  friend PathJet operator*(const PathJet& a, const PathJet& b) {
    const S cross = a.first * b.first;
    return {a.value * b.value, a.first * b.value + a.value * b.first,
            a.second * b.value + (cross + cross) + a.value * b.second};
  }
  friend PathJet operator/(const PathJet& a, const PathJet& b) {
    const S c = a.value / b.value;
    const S dc = (a.first - c * b.first) / b.value;
    return {c, dc, (a.second - (dc + dc) * b.first - c * b.second) / b.value};
  }
  friend PathJet sin(const PathJet& a) {
    using std::cos, std::sin;
    const S s = sin(a.value), c = cos(a.value);
    return {s, c * a.first, c * a.second - s * a.first * a.first};
  }
  friend PathJet cos(const PathJet& a) {
    using std::cos, std::sin;
    const S s = sin(a.value), c = cos(a.value);
    return {c, -(s * a.first), -(s * a.second) - c * a.first * a.first};
  }
  friend PathJet sqrt(const PathJet& a) {
    using std::sqrt;
    const S root = sqrt(a.value), slope = a.first / (root + root);
    return {root, slope, (a.second - (slope * slope + slope * slope)) / (root + root)};
  }
};

}  // namespace kempe::test
