#include <array>

#include "algorithms/differentiable.hpp"
#include "algorithms/varied_dynamics.hpp"
#include "batch/batch_forces.hpp"
#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// Three nv × nv matrices of each state, under the names of the arguments.
template <typename T>
struct Outputs {
  std::array<const char*, 3> names;
  std::array<States<T>, 3> matrices;
};

template <typename T, typename Kernel, typename One>
void runDerivatives(const Model& model, BasicBatch<T>& batch, const States<const T>& q,
                    const States<const T>& v, const char* name, const States<const T>& x,
                    const Outputs<T>& outputs, const BatchForces<T>& external, Kernel kernel,
                    const One& one) {
  BatchCall<T> call(model, batch, q);
  if (kernel == &DerivativeKernels<T>::forwardDynamics) {
    call.mindCuts();
  }
  call.requireVelocity("v", v);
  call.requireVelocity(name, x);
  const int n = call.impl().tables.nv;
  const Eigen::Index entries = static_cast<Eigen::Index>(n) * n;
  for (std::size_t i = 0; i < 3; ++i) {
    call.require(outputs.names[i], outputs.matrices[i], entries, "model.nv squared");
  }
  const ForcesOfStates<T> forces(call, external, q.states);
  requireDifferentiable(call.impl());
  call.run(
      [&](Block<T>& block) {
        if (takesVariedDynamics(call.impl())) {
          return false;  // one state at a time
        }
        const T* blockQ = block.gatherQ();
        const T* blockV = block.gather(v, block.worker.v);
        const T* blockX = block.gather(x, block.worker.x);
        const T* wrenches = block.gather(forces.wrenches(), block.worker.wrenches);
        if (!block.finite) {
          return false;
        }
        const DerivativeKernels<T>& kernels = block.set().derivatives;
        T* result = block.room(block.worker.result, 3 * entries);
        T* memory =
            block.worker.derivatives.of(kernels.memorySize(viewOf<T>(call.impl())) / sizeof(T) + 1);
        const auto matrix = [&](Eigen::Index i) {
          return MatrixAt<T>{result + i * entries * block.set().lanes, n, 1};
        };
        const KernelOutcome outcome =
            (kernels.*kernel)(block.context(WorkStage::Articulated), blockQ, blockV, blockX,
                              forces.ofBlock(wrenches), {matrix(0), matrix(1), matrix(2), memory});
        for (std::size_t i = 0; i < 3; ++i) {
          block.finish(outcome, matrix(static_cast<Eigen::Index>(i)).numbers, outputs.matrices[i]);
        }
        return !outcome.failed();
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        SingleState<T>& single = worker.single;
        BatchCall<T>::readRow(q, state, single.q);
        BatchCall<T>::readRow(v, state, single.v);
        BatchCall<T>::readRow(x, state, single.x);
        auto& results = single.matrices;
        for (auto& result : results) {
          result.resize(n, n);
        }
        one(worker, single.q, single.v, single.x, results[0], results[1], results[2],
            DynamicsOptions{.external = forces.ofState(state, worker)});
        for (std::size_t i = 0; i < 3; ++i) {
          results[i].transposeInPlace();  // row by row, as outputs of batches are
          BatchCall<T>::setRow(results[i], outputs.matrices[i], state);
        }
      });
}

}  // namespace

template <typename T>
void inverseDynamicsDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                StatesIn<T> v, StatesIn<T> a, StatesOut<T> dtau_dq,
                                StatesOut<T> dtau_dv, StatesOut<T> H,
                                const BatchForces<std::type_identity_t<T>>& external) {
  runDerivatives<T>(
      model, batch, q, v, "a", a, {{"dtau_dq", "dtau_dv", "H"}, {dtau_dq, dtau_dv, H}}, external,
      &DerivativeKernels<T>::inverseDynamics, [&](BatchWorker<T>& worker, auto&&... arguments) {
        inverseDynamicsDerivatives<T>(model, worker.data, arguments...);
      });
}

template <typename T>
void forwardDynamicsDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                StatesIn<T> v, StatesIn<T> tau, StatesOut<T> da_dq,
                                StatesOut<T> da_dv, StatesOut<T> da_dtau,
                                const BatchForces<std::type_identity_t<T>>& external) {
  runDerivatives<T>(model, batch, q, v, "tau", tau,
                    {{"da_dq", "da_dv", "da_dtau"}, {da_dq, da_dv, da_dtau}}, external,
                    &DerivativeKernels<T>::forwardDynamics,
                    [&](BatchWorker<T>& worker, auto&&... arguments) {
                      forwardDynamicsDerivatives<T>(model, worker.data, arguments...);
                    });
}

template <typename T>
void gravityForcesDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesOut<T> dtau_dq) {
  BatchCall<T> call(model, batch, q);
  const int n = call.impl().tables.nv;
  call.require("dtau_dq", dtau_dq, static_cast<Eigen::Index>(n) * n, "model.nv squared");
  requireExpressions(call.impl());
  call.runOnQ(
      dtau_dq,
      [&](Block<T>& block, const T* blockQ, T* result) {
        if (takesVariedDynamics(call.impl())) {
          return KernelOutcome{0, -1};  // one state at a time
        }
        const DerivativeKernels<T>& kernels = block.set().derivatives;
        T* memory =
            block.worker.derivatives.of(kernels.memorySize(viewOf<T>(call.impl())) / sizeof(T) + 1);
        return kernels.gravityForces(block.context(WorkStage::Motion), blockQ,
                                     {{result, n, 1}, {}, {}, memory});
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        BatchCall<T>::readRow(q, state, worker.single.q);
        auto& result = worker.single.matrices[0];
        result.resize(n, n);
        gravityForcesDerivatives<T>(model, worker.data, worker.single.q, result);
        result.transposeInPlace();
        BatchCall<T>::setRow(result, dtau_dq, state);
      });
}

#define KEMPE_INSTANTIATE(T)                                                                      \
  template void inverseDynamicsDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>,          \
                                              StatesIn<T>, StatesIn<T>, StatesOut<T>,             \
                                              StatesOut<T>, StatesOut<T>, const BatchForces<T>&); \
  template void forwardDynamicsDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>,          \
                                              StatesIn<T>, StatesIn<T>, StatesOut<T>,             \
                                              StatesOut<T>, StatesOut<T>, const BatchForces<T>&); \
  template void gravityForcesDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>,            \
                                            StatesOut<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
