#include "algorithms/constraint_solver.hpp"
#include "batch/dynamics_call.hpp"
#include "kempe/constraints.hpp"

/// Forward dynamics of many states under constraints.
namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void constrainedForwardDynamics(const Model& model, BasicBatch<T>& batch,
                                const Constraints& constraints, double time, StatesIn<T> q,
                                StatesIn<T> v, StatesIn<T> tau, StatesOut<T> a,
                                StatesOut<T> multipliers,
                                const BatchForces<std::type_identity_t<T>>& external,
                                std::span<ConstraintReport> reports) {
  BatchCall<T> call(model, batch, q);
  requireFit(call.impl(), constraints, time);
  call.requireVelocity("v", v);
  call.requireVelocity("tau", tau);
  call.requireVelocity("a", a);
  call.require("multipliers", multipliers, constraints.rows(), "constraints.rows");
  if (!reports.empty() && static_cast<Eigen::Index>(reports.size()) != q.states) {
    throw std::invalid_argument("reports has " + std::to_string(reports.size()) +
                                " entries, but q has " + std::to_string(q.states) + " states");
  }
  const ActiveConstraints& active = call.useConstraints(&constraints.table());
  const int cutRows = call.impl().cuts.rows;
  runDynamics<T>(
      call, v, tau, a, external,
      [&](Block<T>& block, const T* blockQ, const T* blockV, const T* blockTau,
          const ExternalForces<T, T>& acting, T* result) {
        BlockUnderConstraints<T> under;
        if (!under.run(block, active, time, constraints.stabilization(), blockQ, blockV, blockTau,
                       acting, result)) {
          return false;
        }
        const int lanes = block.set().lanes;
        T* all = block.room(block.worker.W, multipliers.entries);
        std::fill_n(all, multipliers.entries * lanes, T(0));
        for (const ActiveConstraint& one : active.list) {
          if (one.firstOutput >= cutRows) {
            std::copy_n(under.lambda + one.firstRow * lanes, one.entry->rows * lanes,
                        all + (one.firstOutput - cutRows) * lanes);
          }
        }
        block.finish({}, all, multipliers);
        for (int l = 0; !reports.empty() && l < block.count; ++l) {
          reports[static_cast<std::size_t>(block.first + l)] = {active.rows, under.ranks[l],
                                                                under.inconsistencies[l]};
        }
        return true;
      },
      [&](BatchWorker<T>& worker, Eigen::Index state, const RowVector<T>& q_,
          const RowVector<T>& v_, const RowVector<T>& tau_, RowVector<T>& a_,
          const DynamicsOptions& how) {
        RowVector<T> lambda(multipliers.entries);
        ConstraintReport report;
        constrainedForwardDynamics<T>(model, worker.data, constraints, time, q_, v_, tau_, a_,
                                      lambda, how, &report);
        BatchCall<T>::setRow(lambda, multipliers, state);
        if (!reports.empty()) {
          reports[static_cast<std::size_t>(state)] = report;
        }
      });
}

#define KEMPE_INSTANTIATE(T)                                                                     \
  template void constrainedForwardDynamics<T>(const Model&, BasicBatch<T>&, const Constraints&,  \
                                              double, StatesIn<T>, StatesIn<T>, StatesIn<T>,     \
                                              StatesOut<T>, StatesOut<T>, const BatchForces<T>&, \
                                              std::span<ConstraintReport>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
