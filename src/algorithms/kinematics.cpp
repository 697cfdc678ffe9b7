#include "kempe/kinematics.hpp"

#include <algorithm>

#include "algorithms/term_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

constexpr const char* kSpatial = "the size of a spatial vector";

/// Requests the placements of all frames.
template <typename T>
void setAllFrames(TermEvaluation<T>& e, std::span<Transform<T>> placements, Reference reference) {
  static_assert(sizeof(Transform<T>) == 12 * sizeof(T), "R row-major, p");
  const std::vector<FrameEntry>& frames = e.impl.frames;
  requireSize("placements", static_cast<Eigen::Index>(placements.size()),
              static_cast<Eigen::Index>(frames.size()), "the number of frames");
  e.data.frames.clear();
  for (const FrameEntry& frame : frames) {
    e.data.frames.push_back(e.bodyFrame(frame, reference));
  }
  e.setFrames(e.data.frames.data(), frames.size());
  e.wholeRotors = std::ranges::any_of(frames, [&](const FrameEntry& frame) {
    return frame.body != kWorld && e.modelTables.bodies[frame.body].folded;
  });
  e.request.placements = reinterpret_cast<T*>(placements.data());
}

}  // namespace

template <typename T>
void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                       std::span<Transform<std::type_identity_t<T>>> placements) {
  TermEvaluation<T> e(model, data);
  setAllFrames<T>(e, placements, Reference::Local);
  e.run(q);
}

template <typename T>
void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                       VectorInOf<T> a, std::span<Transform<std::type_identity_t<T>>> placements,
                       MatrixOutOf<T> velocities, MatrixOutOf<T> accelerations,
                       Reference reference) {
  TermEvaluation<T> e(model, data);
  setAllFrames<T>(e, placements, reference);
  const auto frames = static_cast<Eigen::Index>(placements.size());
  e.requireMatrix("velocities", velocities, 6, frames);
  e.requireMatrix("accelerations", accelerations, 6, frames);
  e.request.velocities = velocities.data();
  e.request.velocityStride = static_cast<int>(velocities.outerStride());
  e.request.accelerations = accelerations.data();
  e.request.accelerationStride = static_cast<int>(accelerations.outerStride());
  e.run(q, &v, &a);
}

template <typename T>
Transform<T> framePlacement(const Model& model, BasicData<T>& data, VectorInOf<T> q, int frame) {
  TermEvaluation<T> e(model, data);
  e.setFrame(frame, Reference::Local);
  Transform<T> X;
  e.request.placements = reinterpret_cast<T*>(&X);
  e.run(q);
  return X;
}

template <typename T>
void frameVelocity(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                   int frame, VectorOutOf<T> velocity, Reference reference) {
  TermEvaluation<T> e(model, data);
  requireSize("velocity", velocity.size(), 6, kSpatial);
  e.setFrame(frame, reference);
  e.request.velocities = velocity.data();
  e.run(q, &v);
}

template <typename T>
void frameAcceleration(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                       VectorInOf<T> a, int frame, VectorOutOf<T> acceleration,
                       Reference reference) {
  TermEvaluation<T> e(model, data);
  requireSize("acceleration", acceleration.size(), 6, kSpatial);
  e.setFrame(frame, reference);
  e.request.accelerations = acceleration.data();
  e.run(q, &v, &a);
}

template <typename T>
void frameJacobianRate(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                       int frame, VectorOutOf<T> rate, Reference reference) {
  TermEvaluation<T> e(model, data);
  requireSize("rate", rate.size(), 6, kSpatial);
  e.setFrame(frame, reference);
  e.request.accelerations = rate.data();
  e.run(q, &v);
}

template <typename T>
void frameJacobian(const Model& model, BasicData<T>& data, VectorInOf<T> q, int frame,
                   MatrixOutOf<T> J, Reference reference) {
  TermEvaluation<T> e(model, data);
  e.requireMatrix("J", J, 6, e.tables->nv);
  e.setFrame(frame, reference);
  e.request.jacobians = matrixAt<T>(J);
  e.run(q);
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
