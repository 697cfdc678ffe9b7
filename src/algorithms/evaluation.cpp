#include "algorithms/evaluation.hpp"

#include <cmath>

#include "model/positions.hpp"

namespace kempe::detail {

template <typename T>
void Evaluation<T>::place(VectorInOf<T> q) {
  const int singular = placeMechanism(*tables, *work, loops, q.data());
  if (singular >= 0) {
    throwSingular(singular, work->positions);
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
void Evaluation<T>::require(const KernelOutcome& outcome, VectorInOf<T> q) const {
  if (outcome.singular >= 0) {
    expandCluster(modelTables, modelTables.clusters[outcome.singular], q.data(), work->positions);
    throwSingular(outcome.singular, work->positions);
  }
  if (outcome.indefinite >= 0) {
    throwIndefinite(outcome.indefinite);
  }
}

template <typename T>
void Evaluation<T>::throwIndefinite(int velocity) const {
  if (tables != &modelTables) {
    throwSpanningIndefiniteError(impl, velocity);
  }
  throwIndefiniteError(impl, velocity);
}

template <typename T>
ExternalForces<T, T> Evaluation<T>::prepareExternal(std::span<const FrameForce> external) {
  work->wholeRotors = false;
  data.frames.clear();
  data.wrenches.clear();
  for (const FrameForce& force : external) {
    const FrameEntry& entry = frame(force.frame);
    for (const double x : force.wrench) {
      if (!std::isfinite(x)) {
        throw std::invalid_argument("external force on frame \"" +
                                    impl.frameNames[static_cast<std::size_t>(force.frame)] +
                                    "\" is not finite");
      }
    }
    if (entry.body != kWorld) {
      work->wholeRotors |= modelTables.bodies[entry.body].folded;
      data.frames.push_back(bodyFrame(entry, force.reference));
      data.wrenches.insert(data.wrenches.end(), force.wrench.begin(), force.wrench.end());
    }
  }
  return {data.frames.data(), data.wrenches.data(), static_cast<int>(data.frames.size())};
}

template <typename T>
const BodyFrame<T>* Evaluation<T>::prepareFrames(std::span<const int> frames, Reference reference) {
  data.frames.clear();
  for (const int index : frames) {
    const FrameEntry& entry = frame(index);
    work->wholeRotors |= entry.body != kWorld && modelTables.bodies[entry.body].folded;
    data.frames.push_back(bodyFrame(entry, reference));
  }
  return data.frames.data();
}

template class Evaluation<double>;
template class Evaluation<float>;

}  // namespace kempe::detail
