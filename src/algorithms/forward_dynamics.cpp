#include "kempe/forward_dynamics.hpp"

#include "algorithms/baselines/baselines.hpp"
#include "algorithms/constraint_solver.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void forwardDynamics(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                     VectorInOf<T> tau, VectorOutOf<T> a, const DynamicsOptions& how) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireInput("tau", tau);
  e.requireOutput("a", a);
  const ExternalForces<T, T> external = e.prepareExternal(how.external);
  if (how.method != Method::Cluster) {
    comparedForwardDynamics(e, how, external, q, v.data(), tau.data(), a.data());
    return;
  }
  if (!e.impl.cuts.entries.empty()) {
    ConstraintSolver<T> solver(e);
    solver.add(e.impl.cuts);
    if (!kernelAccelerations(solver, 0.0, 0.0, q.data(), v.data(), tau.data(), external,
                             a.data())) {
      constrainedAccelerations(solver, 0.0, 0.0, q.data(), v.data(), tau.data(), external,
                               a.data());
    }
    return;
  }
  const bool solved = e.data.held.hasLoopsAt(q.data(), e.work->wholeRotors);
  KernelContext<T> context = e.context(WorkStage::Articulated);
  context.loopsSolved = solved;
  e.require(
      e.kernels().forwardDynamics(context, q.data(), v.data(), tau.data(), external, a.data()), q);
  if (solved) {
    e.data.held.keepLoops();
  }
}

template void forwardDynamics<double>(const Model&, BasicData<double>&, VectorInOf<double>,
                                      VectorInOf<double>, VectorInOf<double>, VectorOutOf<double>,
                                      const DynamicsOptions&);
template void forwardDynamics<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                     VectorInOf<float>, VectorInOf<float>, VectorOutOf<float>,
                                     const DynamicsOptions&);

}  // namespace kempe
