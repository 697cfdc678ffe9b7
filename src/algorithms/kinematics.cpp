#include "kempe/kinematics.hpp"

#include "algorithms/evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// A motion of the common frame as [linear; angular] at `point`, axes `R`.
template <typename T, typename Out>
void write(const Motion<T>& m, const Vec3<T>& point, const Mat3<T>& R, Out&& out) {
  const Vec3<T> linear = transposeTimes(R, m.linear + cross(m.angular, point));
  const Vec3<T> angular = transposeTimes(R, m.angular);
  for (int i = 0; i < 3; ++i) {
    out[i] = linear[i];
    out[i + 3] = angular[i];
  }
}

template <typename T, typename Out>
void writeVelocity(const Evaluation<T>& e, const FrameEntry& frame, Reference reference,
                   Out&& out) {
  const Transform<T> at = e.referenceOf(frame, reference);
  write(e.work->v[frame.body], at.p, at.R, out);
}

template <typename T, typename Out>
void writeAcceleration(const Evaluation<T>& e, const FrameEntry& frame, Reference reference,
                       Out&& out) {
  // Without the upward acceleration that stands for gravity.
  Motion<T> a = e.work->a[frame.body];
  a.linear += e.tables->gravity;
  const Transform<T> at = e.referenceOf(frame, reference);
  if (reference == Reference::LocalWorldAligned) {
    // The origin moves: p̈ = spatial acceleration there + ω × ṗ.
    const Motion<T> v = e.work->v[frame.body];
    a.linear += cross(v.angular, v.linear + cross(v.angular, at.p));
  }
  write(a, at.p, at.R, out);
}

template <typename T>
Transform<T> inWorld(const Evaluation<T>& e, const FrameEntry& frame) {
  Transform<T> X = e.framePlacement(frame);
  X.p += *e.work->origin;
  return X;
}

template <typename T>
void requirePlacements(const Evaluation<T>& e, std::span<Transform<T>> placements) {
  requireSize("placements", static_cast<Eigen::Index>(placements.size()),
              static_cast<Eigen::Index>(e.impl.frames.size()), "the number of frames");
}

}  // namespace

template <typename T>
void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                       std::span<Transform<std::type_identity_t<T>>> placements) {
  const PlacedEvaluation<T> e(model, data, q);
  requirePlacements(e, placements);
  for (std::size_t i = 0; i < placements.size(); ++i) {
    placements[i] = inWorld(e, e.impl.frames[i]);
  }
}

template <typename T>
void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                       VectorInOf<T> a, std::span<Transform<std::type_identity_t<T>>> placements,
                       MatrixOutOf<T> velocities, MatrixOutOf<T> accelerations,
                       Reference reference) {
  PlacedEvaluation<T> e(model, data, q);
  e.requireInput("v", v);
  e.requireInput("a", a);
  requirePlacements(e, placements);
  const auto frames = static_cast<Eigen::Index>(placements.size());
  e.requireMatrix("velocities", velocities, 6, frames);
  e.requireMatrix("accelerations", accelerations, 6, frames);
  e.move(v.data(), a.data());
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const FrameEntry& frame = e.impl.frames[i];
    placements[i] = inWorld(e, frame);
    writeVelocity(e, frame, reference, velocities.col(static_cast<Eigen::Index>(i)));
    writeAcceleration(e, frame, reference, accelerations.col(static_cast<Eigen::Index>(i)));
  }
}

template <typename T>
Transform<T> framePlacement(const Model& model, BasicData<T>& data, VectorInOf<T> q, int frame) {
  const PlacedEvaluation<T> e(model, data, q);
  return inWorld(e, e.frame(frame));
}

template <typename T>
void frameVelocity(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                   int frame, VectorOutOf<T> velocity, Reference reference) {
  PlacedEvaluation<T> e(model, data, q);
  e.requireInput("v", v);
  requireSize("velocity", velocity.size(), 6, "the size of a spatial vector");
  e.move(v.data(), nullptr);
  writeVelocity(e, e.frame(frame), reference, velocity);
}

template <typename T>
void frameAcceleration(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                       VectorInOf<T> a, int frame, VectorOutOf<T> acceleration,
                       Reference reference) {
  PlacedEvaluation<T> e(model, data, q);
  e.requireInput("v", v);
  e.requireInput("a", a);
  requireSize("acceleration", acceleration.size(), 6, "the size of a spatial vector");
  e.move(v.data(), a.data());
  writeAcceleration(e, e.frame(frame), reference, acceleration);
}

template <typename T>
void frameJacobianRate(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                       int frame, VectorOutOf<T> rate, Reference reference) {
  PlacedEvaluation<T> e(model, data, q);
  e.requireInput("v", v);
  requireSize("rate", rate.size(), 6, "the size of a spatial vector");
  e.move(v.data(), nullptr);
  writeAcceleration(e, e.frame(frame), reference, rate);
}

template <typename T>
void frameJacobian(const Model& model, BasicData<T>& data, VectorInOf<T> q, int frame,
                   MatrixOutOf<T> J, Reference reference) {
  const PlacedEvaluation<T> e(model, data, q);
  e.requireMatrix("J", J, 6, e.tables->nv);
  const FrameEntry& entry = e.frame(frame);
  const Transform<T> at = e.referenceOf(entry, reference);
  J.setZero();
  for (int b = entry.body; b != kWorld;) {
    const ClusterEntry& cluster = e.tables->clusters[e.tables->bodies[b].cluster];
    for (int j = 0; j < cluster.nv; ++j) {
      write(e.work->S[e.tables->bodies[b].firstS + j], at.p, at.R, J.col(cluster.firstV + j));
    }
    b = cluster.output;
  }
}

#define KEMPE_INSTANTIATE(T)                                                                      \
  template void forwardKinematics<T>(const Model&, BasicData<T>&, VectorInOf<T>,                  \
                                     std::span<Transform<T>>);                                    \
  template void forwardKinematics<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,   \
                                     VectorInOf<T>, std::span<Transform<T>>, MatrixOutOf<T>,      \
                                     MatrixOutOf<T>, Reference);                                  \
  template Transform<T> framePlacement<T>(const Model&, BasicData<T>&, VectorInOf<T>, int);       \
  template void frameVelocity<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, int,  \
                                 VectorOutOf<T>, Reference);                                      \
  template void frameAcceleration<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,   \
                                     VectorInOf<T>, int, VectorOutOf<T>, Reference);              \
  template void frameJacobianRate<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,   \
                                     int, VectorOutOf<T>, Reference);                             \
  template void frameJacobian<T>(const Model&, BasicData<T>&, VectorInOf<T>, int, MatrixOutOf<T>, \
                                 Reference);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
