#include "kempe/model.hpp"

#include <stdexcept>

#include "model/model_impl.hpp"
#include "text/messages.hpp"

namespace kempe {

const std::string& Model::name() const {
  return impl_->mechanism.name;
}
const Mechanism& Model::mechanism() const {
  return impl_->mechanism;
}
const ModelOptions& Model::options() const {
  return impl_->options;
}
const Vector3& Model::gravity() const {
  return impl_->mechanism.gravity;
}
const std::vector<std::string>& Model::warnings() const {
  return impl_->warnings;
}

int Model::nq() const {
  return impl_->tables.nq;
}
int Model::nv() const {
  return impl_->tables.nv;
}
int Model::nqSpanning() const {
  return impl_->tables.positions;
}
int Model::nvSpanning() const {
  return impl_->tables.velocities;
}
int Model::nLoopRows() const {
  return impl_->tables.rows + impl_->cuts.rows;
}

const std::vector<std::string>& Model::qNames() const {
  return impl_->qNames;
}
const std::vector<std::string>& Model::vNames() const {
  return impl_->vNames;
}
const std::vector<std::string>& Model::spanningPositionNames() const {
  return impl_->positionNames;
}
const std::vector<std::string>& Model::spanningVelocityNames() const {
  return impl_->velocityNames;
}
const std::vector<std::string>& Model::loopRowNames() const {
  return impl_->rowNames;
}
const std::vector<std::string>& Model::bodyNames() const {
  return impl_->bodyNames;
}
const std::vector<std::string>& Model::jointNames() const {
  return impl_->jointNames;
}
const std::vector<std::string>& Model::frameNames() const {
  return impl_->frameNames;
}
const std::vector<ClusterInfo>& Model::clusters() const {
  return impl_->clusters;
}
const std::vector<std::string>& Model::cutLoops() const {
  return impl_->cutNames;
}
const std::vector<LoopInfo>& Model::loops() const {
  return impl_->loops;
}
int Model::nLoopForces() const {
  return impl_->tables.loopForces + impl_->cuts.forces;
}
const std::vector<std::string>& Model::foldedRotors() const {
  return impl_->foldedRotors;
}
const std::vector<std::string>& Model::actuated() const {
  return impl_->actuated;
}
double Model::totalMass() const {
  return impl_->totalMass;
}
const Vector& Model::neutral() const {
  return impl_->neutral;
}

namespace {

const detail::BodyEntry<double>& bodyAt(const detail::ModelImpl& model, std::string_view joint) {
  const auto it = model.bodyByJoint.find(std::string(joint));
  if (it == model.bodyByJoint.end()) {
    throw std::invalid_argument("joint " + kempe::quoted(joint) + ": model " +
                                kempe::quoted(model.mechanism.name) +
                                " has no moving joint of this name");
  }
  return model.tables.bodies[it->second];
}

}  // namespace

int Model::jointPositionIndex(std::string_view joint) const {
  return bodyAt(*impl_, joint).firstPosition;
}

int Model::jointVelocityIndex(std::string_view joint) const {
  return bodyAt(*impl_, joint).firstVelocity;
}

int Model::frameIndex(std::string_view frame) const {
  const auto it = impl_->frameByName.find(std::string(frame));
  if (it == impl_->frameByName.end()) {
    throw std::invalid_argument("frame " + kempe::quoted(frame) + ": model " +
                                kempe::quoted(impl_->mechanism.name) +
                                " has no body and no joint of this name");
  }
  return it->second;
}

template <typename T>
BasicData<T>::BasicData(const Model& model)
    : impl_(std::make_unique<detail::DataImpl<T>>(model.impl())) {}
template <typename T>
BasicData<T>::BasicData(BasicData&&) noexcept = default;
template <typename T>
BasicData<T>& BasicData<T>::operator=(BasicData&&) noexcept = default;
template <typename T>
BasicData<T>::~BasicData() = default;

template class BasicData<double>;
template class BasicData<float>;

namespace detail {

template <typename T>
DataImpl<T>::DataImpl(const ModelImpl& model)
    : modelId(model.id),
      loops(viewOf<T>(model)),
      kernels(kernelSets<T>().single),
      held(model.tables),
      vector(static_cast<std::size_t>(model.tables.nv)),
      forceScratch(model.tables),
      coriolis(kernelSets<T>().single.terms.coriolisMemorySize(viewOf<T>(model))),
      positions(static_cast<std::size_t>(model.tables.positions)),
      velocities(static_cast<std::size_t>(model.tables.velocities)),
      q(static_cast<std::size_t>(model.tables.nq)) {
  std::size_t largest = 0, longest = 0;
  for (const ClusterEntry& cluster : model.tables.clusters) {
    largest = std::max(largest, static_cast<std::size_t>(cluster.velocities * cluster.nv));
    longest = std::max(longest, static_cast<std::size_t>(cluster.velocities));
  }
  frames.reserve(model.frames.size());
  wrenches.reserve(6 * model.frames.size());
  G.resize(largest);
  g.resize(longest);
}

}  // namespace detail
}  // namespace kempe
