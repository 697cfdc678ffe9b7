#include "kempe/forward_dynamics.hpp"

#include "algorithms/baselines/baselines.hpp"
#include "algorithms/evaluation.hpp"
#include "algorithms/kernels/forward_dynamics.hpp"
#include "algorithms/positions.hpp"

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
  e.prepareExternal(how.external);
  if (how.method != Method::Cluster) {
    comparedForwardDynamics(e, how, q, v.data(), tau.data(), a.data());
    return;
  }
  e.place(q);
  e.applyExternal(how.external);
  const int indefinite =
      forwardDynamicsKernel(e.tables, e.work, e.loops, v.data(), tau.data(), a.data());
  if (indefinite >= 0) {
    throwIndefiniteError(e.impl, e.impl.tables.clusters[indefinite]);
  }
}

template void forwardDynamics<double>(const Model&, BasicData<double>&, VectorInOf<double>,
                                      VectorInOf<double>, VectorInOf<double>, VectorOutOf<double>,
                                      const DynamicsOptions&);
template void forwardDynamics<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                     VectorInOf<float>, VectorInOf<float>, VectorOutOf<float>,
                                     const DynamicsOptions&);

}  // namespace kempe
