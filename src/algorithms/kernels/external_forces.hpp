#pragma once

#include "algorithms/kernels/outward.hpp"
#include "kempe/method.hpp"

namespace kempe::detail {

/// A frame on a body, and the reference in which its spatial vectors are expressed.
template <typename R>
struct BodyFrame {
  int body = kWorld;
  Transform<R> inBody{};
  Reference reference = Reference::LocalWorldAligned;
};

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

/// Forces on frames, `wrenches` [force; moment] of each.
template <typename T, typename R>
struct ExternalForces {
  const BodyFrame<R>* frames = nullptr;
  const T* wrenches = nullptr;
  int count = 0;
};

/// −f_ext added to the forces on bodies, after placing.
template <typename T, typename R>
KEMPE_HD void subtractExternal(const ExternalForces<T, R>& external, const WorkView<T>& work) {
  for (int i = 0; i < external.count; ++i) {
    const BodyFrame<R>& frame = external.frames[i];
    const T* w = external.wrenches + 6 * i;
    const Force<T> wrench{{w[3], w[4], w[5]}, {w[0], w[1], w[2]}};
    work.f[frame.body] -= referenceFrame(frame, work) * wrench;
  }
}

}  // namespace kempe::detail
