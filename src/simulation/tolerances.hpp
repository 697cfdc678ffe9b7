#pragma once

#include <algorithm>
#include <cmath>

namespace kempe::detail {

/// Tolerated errors of one step. Positions count relative to one radian or metre, velocities
/// relative to their size, and at least one.
struct Tolerances {
  double relative = 0.0, absolute = 0.0;

  [[nodiscard]] double ofPosition() const { return absolute + relative; }
  [[nodiscard]] double ofVelocity(double size) const {
    return absolute + relative * std::max(std::abs(size), 1.0);
  }
  /// Work changes with forces too, which are larger numbers than motions.
  [[nodiscard]] double ofWork(double size) const { return 10.0 * ofVelocity(size); }
};

}  // namespace kempe::detail
