#pragma once

#include <cmath>

#include "kempe/mechanism.hpp"

namespace kempe {

inline bool isFinite(const Vector3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

}  // namespace kempe
