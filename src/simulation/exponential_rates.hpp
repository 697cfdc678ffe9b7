#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "spatial/dual.hpp"

namespace kempe::detail {

inline double plainValue(double x) {
  return x;
}
inline double plainValue(const Dual<double>& x) {
  return x.value;
}

/// ad_x y: of angular velocities, or of velocities [linear; angular].
template <typename T>
void bracket(int size, const T* x, const T* y, T* result) {
  const auto at = [](const T* a) { return Vec3<T>{a[0], a[1], a[2]}; };
  const auto write = [](const Vec3<T>& a, T* to) {
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
  };
  if (size == 3) {
    write(cross(at(x), at(y)), result);
    return;
  }
  const Vec3<T> linear = cross(at(x + 3), at(y)) + cross(at(x), at(y + 3));
  const Vec3<T> angular = cross(at(x + 3), at(y + 3));
  write(linear, result);
  write(angular, result + 3);
}

/// ẏ at y = step, from the velocity in the moved body's frame: the inverse of the right Jacobian
/// Σ (−ad)ᵏ/(k+1)!, which is Σ B_k (−1)ᵏ adᵏ/k! with Bernoulli's numbers. Terms to ad² would do for
/// order five, as y is of the order of a step (Hairer, Lubich, Wanner, Geometric Numerical
/// Integration, theorem IV.8.4). The first that is left out is ad¹⁰/5e7: below 1e-10 for steps of
/// half a radian, which estimates of the error do not see. Short steps need fewer terms: no entry of
/// ad y is larger than 4 times the largest of the step times the largest of y.
template <typename T>
void coordinateRates(int size, const T* step, const T* velocity, T* rates) {
  T power[2][6];
  double longest = 0.0;
  for (int i = 0; i < size; ++i) {
    longest = std::max(longest, std::abs(plainValue(step[i])));
  }
  double bound = 4.0 * longest;
  std::copy_n(velocity, size, rates);
  std::copy_n(velocity, size, power[0]);
  const double coefficients[] = {0.5, 1.0 / 12,    0.0, -1.0 / 720,
                                 0.0, 1.0 / 30240, 0.0, -1.0 / 1209600};
  for (int k = 0; k < static_cast<int>(std::size(coefficients)) && bound > 1e-17; ++k) {
    bracket(size, step, power[k % 2], power[(k + 1) % 2]);
    for (int i = 0; i < size; ++i) {
      rates[i] += T(coefficients[k]) * power[(k + 1) % 2][i];
    }
    bound *= 4.0 * longest;
  }
}

}  // namespace kempe::detail
