#pragma once

#include "kempe/spatial/vector3.hpp"

namespace kempe {

/// A spatial motion [ω; v]: velocity, acceleration or a joint's direction (Featherstone 2008,
/// §2.2).
template <typename T>
struct Motion {
  Vec3<T> angular{}, linear{};

  KEMPE_HD constexpr Motion& operator+=(const Motion& b) {
    angular += b.angular;
    linear += b.linear;
    return *this;
  }
  KEMPE_HD constexpr Motion& operator-=(const Motion& b) {
    angular -= b.angular;
    linear -= b.linear;
    return *this;
  }
  KEMPE_HD friend constexpr Motion operator+(Motion a, const Motion& b) { return a += b; }
  KEMPE_HD friend constexpr Motion operator-(Motion a, const Motion& b) { return a -= b; }
  KEMPE_HD friend constexpr Motion operator-(const Motion& a) { return {-a.angular, -a.linear}; }
  KEMPE_HD friend constexpr Motion operator*(const T& s, const Motion& a) {
    return {s * a.angular, s * a.linear};
  }
  KEMPE_HD constexpr T& operator[](int i) { return i < 3 ? angular[i] : linear[i - 3]; }
  KEMPE_HD constexpr const T& operator[](int i) const { return i < 3 ? angular[i] : linear[i - 3]; }

  template <typename U>
  KEMPE_HD constexpr Motion<U> cast() const {
    return {angular.template cast<U>(), linear.template cast<U>()};
  }
};

/// A spatial force [n; f]: moment about the origin, and force.
template <typename T>
struct Force {
  Vec3<T> moment{}, force{};

  KEMPE_HD constexpr Force& operator+=(const Force& b) {
    moment += b.moment;
    force += b.force;
    return *this;
  }
  KEMPE_HD constexpr Force& operator-=(const Force& b) {
    moment -= b.moment;
    force -= b.force;
    return *this;
  }
  KEMPE_HD friend constexpr Force operator+(Force a, const Force& b) { return a += b; }
  KEMPE_HD friend constexpr Force operator-(Force a, const Force& b) { return a -= b; }
  KEMPE_HD friend constexpr Force operator-(const Force& a) { return {-a.moment, -a.force}; }
  KEMPE_HD friend constexpr Force operator*(const T& s, const Force& a) {
    return {s * a.moment, s * a.force};
  }
  KEMPE_HD constexpr T& operator[](int i) { return i < 3 ? moment[i] : force[i - 3]; }
  KEMPE_HD constexpr const T& operator[](int i) const { return i < 3 ? moment[i] : force[i - 3]; }

  template <typename U>
  KEMPE_HD constexpr Force<U> cast() const {
    return {moment.template cast<U>(), force.template cast<U>()};
  }
};

/// Power of a force along a motion; the same in every frame.
template <typename T>
KEMPE_HD constexpr T dot(const Force<T>& f, const Motion<T>& m) {
  return dot(f.moment, m.angular) + dot(f.force, m.linear);
}

/// v × m, the rate of change of a motion m that moves with v (Featherstone 2008, eq. 2.31).
template <typename T>
KEMPE_HD constexpr Motion<T> cross(const Motion<T>& v, const Motion<T>& m) {
  return {cross(v.angular, m.angular), cross(v.angular, m.linear) + cross(v.linear, m.angular)};
}

/// v ×* f, the rate of change of a force f that moves with v (Featherstone 2008, eq. 2.32).
template <typename T>
KEMPE_HD constexpr Force<T> cross(const Motion<T>& v, const Force<T>& f) {
  return {cross(v.angular, f.moment) + cross(v.linear, f.force), cross(v.angular, f.force)};
}

}  // namespace kempe
