#pragma once

#include <vector>

#include "batch/batch_forces.hpp"
#include "kempe/method.hpp"

namespace kempe::detail {

/// Forward or inverse dynamics of many states, x → y. `kernel(block, q, v, x, external, y)` returns
/// false where it failed; `one(worker, state, q, v, x, y, options)` then computes each state.
template <typename T, typename Kernel, typename One>
void runDynamics(BatchCall<T>& call, const States<const T>& v, const States<const T>& x,
                 const States<T>& y, const BatchForces<T>& external, const Kernel& kernel,
                 const One& one) {
  const ForcesOfStates<T> forces(call, external, y.states);
  call.run(
      [&](Block<T>& block) {
        const T* blockQ = block.gatherQ();
        const T* blockV = block.gather(v, block.worker.v);
        const T* blockX = block.gather(x, block.worker.x);
        const T* wrenches = block.gather(forces.wrenches(), block.worker.wrenches);
        if (!block.finite) {
          return false;
        }
        T* result = block.room(block.worker.result, y.entries);
        return kernel(block, blockQ, blockV, blockX, forces.ofBlock(wrenches), result) &&
               block.finish({}, result, y);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        const std::vector<FrameForce>& single = forces.ofState(state, worker);
        RowVector<T> result(y.entries);
        one(worker, state, call.qOf(state), BatchCall<T>::row(v, state),
            BatchCall<T>::row(x, state), result, DynamicsOptions{.external = single});
        BatchCall<T>::setRow(result, y, state);
      });
}

/// Runs the kernel for constraints on a block: those of `active`, with room for λ of all its rows in
/// the worker, and for rank and inconsistency of each state.
template <typename T>
struct BlockUnderConstraints {
  /// States in one vector register, of any instruction set.
  static constexpr int kMostLanes = static_cast<int>(Carver::kAlignment / sizeof(float));

  int ranks[kMostLanes];
  double inconsistencies[kMostLanes];
  const T* lambda = nullptr;

  bool run(Block<T>& block, const ActiveConstraints& active, double time, double stabilization,
           const T* q, const T* v, const T* tau, const ExternalForces<T, T>& external, T* a) {
    ConstraintScratch<T>& scratch = block.worker.data.impl().constraints;
    const ConstraintKernels<T>& kernels = block.set().constraints;
    const KernelContext<T> context = block.context(WorkStage::Articulated);
    for (const ActiveConstraint& one : active.list) {
      scratch.functions.makeRoomFor(one.entry->arguments(), one.entry->rows);
    }
    ConstraintRequest<T> request = requestOf<T>(active, scratch.functions.view());
    request.time = time;
    request.stabilization = stabilization;
    request.memory = scratch.kernel.of(kernels.memorySize(context.tables, request));
    request.lambda = block.room(block.worker.multipliers, active.rows);
    request.ranks = ranks;
    request.inconsistencies = inconsistencies;
    lambda = request.lambda;
    return kernels.forwardDynamics(context, q, v, tau, external, request, a);
  }
};

}  // namespace kempe::detail
