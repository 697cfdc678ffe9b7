#include "flexible/integrals.hpp"

#include <cstddef>

namespace kempe::detail {

void addMassPoint(FlexibleBody& body, double dm, const Vec3<double>& r,
                  std::span<const Vec3<double>> shapes, std::span<const Vec3<double>> shortening) {
  body.rigid += RigidInertia<double>{dm, dm * r, dm * pointInertia(r)};
  const std::size_t n = shapes.size();
  for (std::size_t i = 0; i < n; ++i) {
    Mode& mode = body.modes[i];
    mode.linear += dm * shapes[i];
    mode.angular += dm * cross(r, shapes[i]);
    mode.inertia += dm * mixedInertia(r, shapes[i]);
    for (std::size_t j = 0; j < n; ++j) {
      ModePair& pair = body.pairs[i * n + j];
      pair.angular += dm * cross(shapes[j], shapes[i]);
      pair.inertia += dm * mixedInertia(shapes[i], shapes[j]);
      if (!shortening.empty()) {
        const Vec3<double>& b = shortening[i * n + j];
        pair.linear += dm * b;
        pair.angular += dm * cross(r, b);
        pair.inertia += dm * mixedInertia(r, b);
      }
    }
  }
}

}  // namespace kempe::detail
