#pragma once

#include "kernels/external_forces.hpp"
#include "kernels/frame_placements.hpp"
#include "kernels/motion.hpp"
#include "tables/term_request.hpp"

/// Velocities, accelerations and Jacobians of frames, from the motion of their bodies.
namespace kempe::detail {

/// The point at which the vectors of a frame are taken, and axes in which they are written.
template <typename T>
struct FramePoint {
  Vec3<T> p;
  Mat3<T> R;
  bool turned;  ///< whether R is other than the identity
};

template <typename T, typename R>
KEMPE_HD FramePoint<T> pointOf(const BodyFrame<R>& frame, const WorkView<T>& work) {
  if (frame.reference == Reference::World) {
    return {-*work.origin, Mat3<T>::identity(), false};
  }
  const Transform<T>& X = work.X[frame.body];
  const Vec3<T> p = turned(X.R, frame.inBody.p) + X.p;
  if (frame.reference == Reference::Local) {
    return {p, turned(X.R, frame.inBody.R), true};
  }
  return {p, Mat3<T>::identity(), false};
}

/// A motion of the common frame, as seen at a point.
template <typename T>
KEMPE_HD Motion<T> seenAt(const Vec3<T>& p, const Motion<T>& m) {
  return {m.angular, m.linear + cross(m.angular, p)};
}

/// A motion that is seen at the point, as [linear; angular], `stride` numbers apart.
template <typename T>
KEMPE_HD void writeSeen(const Motion<T>& m, const FramePoint<T>& at, T* out, int stride) {
  Vec3<T> linear = m.linear, angular = m.angular;
  if (at.turned) {
    linear = transposeTimes(at.R, linear);
    angular = transposeTimes(at.R, angular);
  }
  for (int i = 0; i < 3; ++i) {
    out[i * stride] = linear[i];
    out[(i + 3) * stride] = angular[i];
  }
}

/// The same of a motion of the common frame.
template <typename T>
KEMPE_HD void writeMotion(const Motion<T>& m, const FramePoint<T>& at, T* out, int stride) {
  writeSeen(seenAt(at.p, m), at, out, stride);
}

template <typename T, typename R>
KEMPE_HD void writeVelocity(const WorkView<T>& work, const BodyFrame<R>& frame, T* velocity) {
  writeMotion(work.v[frame.body], pointOf(frame, work), velocity, 1);
}

template <typename T, typename R>
KEMPE_HD void writeAcceleration(const TablesView<R>& tables, const WorkView<T>& work,
                                const BodyFrame<R>& frame, T* acceleration) {
  const FramePoint<T> at = pointOf(frame, work);
  Motion<T> a = ownAcceleration(tables, work, frame.body);
  if (frame.reference == Reference::LocalWorldAligned) {
    // The origin moves: p̈ = spatial acceleration there + ω × ṗ.
    const Motion<T> v = work.v[frame.body];
    a.linear += cross(v.angular, v.linear + cross(v.angular, at.p));
  }
  writeMotion(a, at, acceleration, 1);
}

/// J of a frame: S of the bodies on its way to the root.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void writeJacobian(const TablesView<R>& tables, const WorkView<T>& work,
                                          const BodyFrame<R>& frame, const MatrixAt<T>& J) {
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < tables.nv; ++j) {
      J(i, j) = T(0);
    }
  }
  const FramePoint<T> at = pointOf(frame, work);
  for (int b = frame.body; b != kWorld;) {
    const BodyEntry<R>& body = tables.bodies[b];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    for (int j = 0; j < cluster.nv; ++j) {
      writeMotion(work.S[body.firstS + j], at, &J(0, cluster.firstV + j), J.rowStride);
    }
    b = cluster.output;
  }
}

}  // namespace kempe::detail
