#pragma once

#include "spatial/scalar_lanes.hpp"

namespace kempe::detail {

/// A quaternion of unit length.
template <typename T>
KEMPE_HD void normalizeQuaternion(T* turn) {
  using std::abs;
  using std::sqrt;
  const auto squareOf = [turn] {
    return turn[0] * turn[0] + turn[1] * turn[1] + (turn[2] * turn[2] + turn[3] * turn[3]);
  };
  T square = squareOf();
  if (any(square > T(1e30))) {
    // Divide by the largest entry so that squares do not overflow.
    T largest = abs(turn[0]);
    for (int i = 1; i < 4; ++i) {
      const T size = abs(turn[i]);
      largest = select(size > largest, size, largest);
    }
    for (int i = 0; i < 4; ++i) {
      turn[i] = turn[i] / largest;
    }
    square = squareOf();
  }
  const T inverse = T(1) / sqrt(square);
  for (int i = 0; i < 4; ++i) {
    turn[i] = turn[i] * inverse;
  }
}

}  // namespace kempe::detail
