#include "algorithms/evaluation.hpp"

#include <cmath>

#include "algorithms/kernels/articulated.hpp"
#include "algorithms/positions.hpp"

namespace kempe::detail {

template <typename T>
const FrameEntry& Evaluation<T>::frame(int index) const {
  if (index < 0 || index >= static_cast<int>(impl.frames.size())) {
    throw std::invalid_argument("frame " + std::to_string(index) + ": the model has frames 0 to " +
                                std::to_string(impl.frames.size() - 1) +
                                " (Model::frameIndex gives a frame's number)");
  }
  return impl.frames[static_cast<std::size_t>(index)];
}

template <typename T>
void Evaluation<T>::place(VectorInOf<T> q) {
  const int singular = placeMechanism(tables, work, loops, q.data());
  if (singular >= 0) {
    throwSingular(singular, work.positions);
  }
}

template <typename T>
void Evaluation<T>::throwSingular(int c, const T* positions) const {
  const ClusterEntry& cluster = impl.tables.clusters[c];
  const T* own = positions + cluster.firstPosition;
  const std::vector<double> at(own, own + cluster.positions);
  throwSingularityError(impl, cluster, at.data());
}

template <typename T>
void Evaluation<T>::condense() {
  const int indefinite = condenseInertias(tables, work);
  if (indefinite >= 0) {
    throwIndefiniteError(impl, impl.tables.clusters[indefinite]);
  }
}

template <typename T>
void Evaluation<T>::prepareExternal(std::span<const FrameForce> external) {
  work.wholeRotors = false;
  for (const FrameForce& force : external) {
    const FrameEntry& entry = frame(force.frame);
    for (const double x : force.wrench) {
      if (!std::isfinite(x)) {
        throw std::invalid_argument("external force on frame \"" +
                                    impl.frameNames[static_cast<std::size_t>(force.frame)] +
                                    "\" is not finite");
      }
    }
    work.wholeRotors |= entry.body != kWorld && tables.bodies[entry.body].folded;
  }
}

template <typename T>
void Evaluation<T>::applyExternal(std::span<const FrameForce> external) {
  for (int b = 0; b < tables.bodyCount; ++b) {
    work.f[b] = {};
  }
  for (const FrameForce& force : external) {
    const FrameEntry& entry = impl.frames[static_cast<std::size_t>(force.frame)];
    if (entry.body != kWorld) {
      work.f[entry.body] -= commonForce(entry, force);
    }
  }
}

template <typename T>
Vec3<T> Evaluation<T>::referencePoint(const FrameEntry& frame, Reference reference) const {
  return reference == Reference::World ? -*work.origin : framePlacement(frame).p;
}

template <typename T>
Mat3<T> Evaluation<T>::referenceAxes(const FrameEntry& frame, Reference reference) const {
  return reference == Reference::Local ? framePlacement(frame).R : Mat3<T>::identity();
}

template <typename T>
Force<T> Evaluation<T>::commonForce(const FrameEntry& frame, Reference reference,
                                    const Force<T>& wrench) const {
  return Transform<T>{referenceAxes(frame, reference), referencePoint(frame, reference)} * wrench;
}

template class Evaluation<double>;
template class Evaluation<float>;

}  // namespace kempe::detail
