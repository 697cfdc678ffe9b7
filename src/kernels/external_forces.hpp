#pragma once

#include "kernels/outward.hpp"
#include "tables/kernel_arguments.hpp"

namespace kempe::detail {

/// The placement, in the common frame, of the point and axes that a frame's vectors are written
/// with.
template <typename T, typename R>
KEMPE_HD Transform<T> referenceFrame(const BodyFrame<R>& frame, const WorkView<T>& work) {
  if (frame.reference == Reference::World) {
    return {Mat3<T>::identity(), -*work.origin};
  }
  const Transform<T> X = placed(work.X[frame.body], frame.inBody);
  return frame.reference == Reference::Local ? X : Transform<T>{Mat3<T>::identity(), X.p};
}

/// −f_ext added to the forces on bodies from `first` to `last` − 1, after placing them.
template <typename T, typename R>
KEMPE_HD void subtractExternal(const ExternalForces<T, R>& external, int first, int last,
                               const WorkView<T>& work) {
  for (int i = 0; i < external.count; ++i) {
    const BodyFrame<R>& frame = external.frames[i];
    if (frame.body < first || frame.body >= last) {
      continue;
    }
    const T* w = external.wrenches + 6 * i;
    const Force<T> wrench{{w[3], w[4], w[5]}, {w[0], w[1], w[2]}};
    work.f[frame.body] -= referenceFrame(frame, work) * wrench;
  }
}

}  // namespace kempe::detail
