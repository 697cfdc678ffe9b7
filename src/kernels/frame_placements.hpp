#pragma once

#include "kernels/outward.hpp"
#include "tables/kernel_arguments.hpp"

namespace kempe::detail {

/// Placement of a frame in the world, after placeMechanism: R row-major and p, 12 numbers.
template <typename T, typename R>
KEMPE_HD void writePlacement(const WorkView<T>& work, const BodyFrame<R>& frame, T* placement) {
  const Transform<T> X = placed(work.X[frame.body], frame.inBody);
  const Vec3<T> p = X.p + *work.origin;
  for (int j = 0; j < 3; ++j) {
    const Vec3<T> column = X.R.column(j);
    for (int i = 0; i < 3; ++i) {
      placement[3 * i + j] = column[i];
    }
    placement[9 + j] = p[j];
  }
}

}  // namespace kempe::detail
