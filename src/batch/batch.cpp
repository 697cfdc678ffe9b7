#include "kempe/batch.hpp"

#include <cmath>
#include <thread>

#include "batch/dynamics_call.hpp"
#include "kempe/configuration.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/operational_inertia.hpp"

namespace kempe {
using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
BasicBatch<T>::BasicBatch(const Model& model, const BatchOptions& options) {
  if (options.threads < 0) {
    throw std::invalid_argument("threads is " + std::to_string(options.threads) +
                                ", but must be 0 (all) or a number of threads");
  }
  const int available = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  impl_ = std::make_unique<BatchImpl<T>>(model, options.threads == 0 ? available : options.threads);
}
template <typename T>
BasicBatch<T>::BasicBatch(BasicBatch&&) noexcept = default;
template <typename T>
BasicBatch<T>& BasicBatch<T>::operator=(BasicBatch&&) noexcept = default;
template <typename T>
BasicBatch<T>::~BasicBatch() = default;
template <typename T>
int BasicBatch<T>::lanes() const {
  return impl_->set.lanes;
}
template <typename T>
int BasicBatch<T>::threads() const {
  return static_cast<int>(impl_->workers.size());
}
template class BasicBatch<double>;
template class BasicBatch<float>;

template <typename T>
void inverseDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                     StatesIn<T> a, StatesOut<T> tau,
                     const BatchForces<std::type_identity_t<T>>& external) {
  BatchCall<T> call(model, batch, q);
  call.requireVelocity("v", v);
  call.requireVelocity("a", a);
  call.requireVelocity("tau", tau);
  runDynamics<T>(
      call, v, a, tau, external,
      [](Block<T>& block, const T* bq, const T* bv, const T* ba, const auto& acting, T* result) {
        return !block.set()
                    .inverseDynamics(block.context(WorkStage::Motion), bq, bv, ba, acting, result)
                    .failed();
      },
      [&](BatchWorker<T>& worker, Eigen::Index, auto&&... arguments) {
        inverseDynamics<T>(model, worker.data, arguments...);
      });
}

template <typename T>
void forwardDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                     StatesIn<T> tau, StatesOut<T> a,
                     const BatchForces<std::type_identity_t<T>>& external) {
  BatchCall<T> call(model, batch, q);
  call.requireVelocity("v", v);
  call.requireVelocity("tau", tau);
  call.requireVelocity("a", a);
  const bool cut = !call.impl().cuts.entries.empty();
  const ActiveConstraints& cuts = call.useConstraints(nullptr);
  runDynamics<T>(
      call, v, tau, a, external,
      [&](Block<T>& block, const T* bq, const T* bv, const T* bt, const auto& acting, T* result) {
        return cut ? BlockUnderConstraints<T>().run(block, cuts, 0.0, 0.0, bq, bv, bt, acting,
                                                    result)
                   : !block.set()
                          .forwardDynamics(block.context(WorkStage::Articulated), bq, bv, bt,
                                           acting, result)
                          .failed();
      },
      [&](BatchWorker<T>& worker, Eigen::Index, auto&&... arguments) {
        forwardDynamics<T>(model, worker.data, arguments...);
      });
}

template <typename T>
void inverseOperationalInertia(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                               std::span<const int> frames, StatesOut<T> Omega,
                               Reference reference) {
  BatchCall<T> call(model, batch, q);
  const int size = 6 * static_cast<int>(frames.size());
  call.require("Omega", Omega, static_cast<Eigen::Index>(size) * size, "(6 frames) squared");
  const BodyFrame<T>* bodyFrames = call.prepareFrames(frames, reference);
  call.mindCuts();
  call.runOnQ(
      Omega,
      [&](Block<T>& block, const T* blockQ, T* result) {
        T* W = block.room(block.worker.W, static_cast<Eigen::Index>(size) * call.impl().tables.nv);
        return block.set().inverseOperationalInertia(block.context(WorkStage::Articulated), blockQ,
                                                     bodyFrames, static_cast<int>(frames.size()), W,
                                                     result, size);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> one(size, size);
        inverseOperationalInertia<T>(model, worker.data, call.qOf(state), frames, one, reference);
        call.setRow(one, Omega, state);
      });
}

template <typename T>
void integrate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
               std::type_identity_t<T> dt, StatesOut<T> result) {
  BatchCall<T> call(model, batch, q);
  call.requireVelocity("v", v);
  call.require("result", result, call.impl().tables.nq, "model.nq");
  if (!std::isfinite(dt)) {
    throw std::invalid_argument("dt is not finite");
  }
  bool implicit = false;
  for (const ClusterEntry& cluster : call.impl().tables.clusters) {
    implicit |= cluster.kind == ClusterKind::Implicit;
  }
  call.run(
      [&](Block<T>& block) {
        if (implicit) {
          return false;
        }
        const T* blockQ = block.gatherQ();
        const T* blockV = block.gather(v, block.worker.v);
        if (!block.finite) {
          return false;
        }
        T* next = block.room(block.worker.result, result.entries);
        block.set().integrate(block.context(WorkStage::Motion), blockQ, blockV, dt, next);
        return block.finish({}, next, result);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        call.readRow(q, state, worker.position);
        call.readRow(v, state, worker.velocity);
        integrate(model, worker.dataDouble, worker.position, worker.velocity,
                  static_cast<double>(dt), worker.position);
        call.setRow(worker.position, result, state);
      });
}

template <typename T>
void forEachState(const Model& model, BasicBatch<T>& batch, Eigen::Index states,
                  const std::function<void(BasicData<std::type_identity_t<T>>& data,
                                           Eigen::Index state)>& compute,
                  Eigen::Index firstNumber) {
  requireBatch(model.impl(), batch.impl());
  forEachBlock(batch.impl(), states, [&](BatchWorker<T>& worker, Eigen::Index state) {
    computeWithNumber(firstNumber + state, [&] { compute(worker.data, state); });
  });
}

#define KEMPE_INSTANTIATE(T)                                                                 \
  template void inverseDynamics<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,   \
                                   StatesIn<T>, StatesOut<T>, const BatchForces<T>&);        \
  template void forwardDynamics<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,   \
                                   StatesIn<T>, StatesOut<T>, const BatchForces<T>&);        \
  template void inverseOperationalInertia<T>(const Model&, BasicBatch<T>&, StatesIn<T>,      \
                                             std::span<const int>, StatesOut<T>, Reference); \
  template void integrate<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, T,      \
                             StatesOut<T>);                                                  \
  template void forEachState<T>(const Model&, BasicBatch<T>&, Eigen::Index,                  \
                                const std::function<void(BasicData<T>&, Eigen::Index)>&,     \
                                Eigen::Index);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
