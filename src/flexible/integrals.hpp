#pragma once

#include <span>
#include <vector>

#include "kempe/flexible.hpp"

namespace kempe::detail {

/// 2 a·b 1 − a bᵀ − b aᵀ
constexpr SymMat3<double> mixedInertia(const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> d{a.x * b.x, a.y * b.y, a.z * b.z};
  return {2.0 * (d.y + d.z), -(a.x * b.y + a.y * b.x), -(a.x * b.z + a.z * b.x),
          2.0 * (d.x + d.z), -(a.y * b.z + a.z * b.y), 2.0 * (d.x + d.y)};
}

/// Adds mass dm at r, which moves by `shapes` (one per mode) and `shortening` (b_ij row-major, or
/// empty), to the integrals of a body: equations (2) to (4) of kempe/flexible.hpp. The body has its
/// modes and pairs.
void addMassPoint(FlexibleBody& body, double dm, const Vec3<double>& r,
                  std::span<const Vec3<double>> shapes, std::span<const Vec3<double>> shortening);

}  // namespace kempe::detail
