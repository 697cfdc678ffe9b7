#include "kempe/inverse_dynamics.hpp"

#include <algorithm>

#include "algorithms/baselines/baselines.hpp"
#include "algorithms/term_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void inverseDynamics(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                     VectorInOf<T> a, VectorOutOf<T> tau, const DynamicsOptions& how) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireInput("a", a);
  e.requireOutput("tau", tau);
  const ExternalForces<T, T> external = e.prepareExternal(how.external);
  if (how.method != Method::Cluster) {
    comparedInverseDynamics(e, how, external, q, v.data(), a.data(), tau.data());
    return;
  }
  e.require(e.kernels().inverseDynamics(e.context(WorkStage::Motion), q.data(), v.data(), a.data(),
                                        external, tau.data()),
            q);
}

namespace {

/// nv zeros in the scratch, for algorithms at rest.
template <typename T>
Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>> zeros(BasicData<T>& data) {
  std::vector<T>& zero = data.impl().vector;
  std::fill(zero.begin(), zero.end(), T(0));
  return {zero.data(), static_cast<Eigen::Index>(zero.size())};
}

}  // namespace

template <typename T>
void biasForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                VectorOutOf<T> h, const DynamicsOptions& how) {
  if (!how.external.empty() || how.method != Method::Cluster) {
    Evaluation<T>(model, data).requireOutput("h", h);
    inverseDynamics<T>(model, data, q, v, zeros(data), h, how);
    return;
  }
  TermEvaluation<T> e(model, data);
  e.requireOutput("h", h);
  e.request.bias = h.data();
  e.run(q, &v);
}

template <typename T>
void gravityForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorOutOf<T> tau) {
  TermEvaluation<T> e(model, data);
  e.requireOutput("tau", tau);
  e.request.gravity = tau.data();
  e.run(q);
}

template <typename T>
void generalizedForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                       VectorInOf<T> spanning, VectorOutOf<T> tau) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  requireVector("spanning", spanning, e.tables->velocities, "model.nvSpanning");
  e.requireOutput("tau", tau);
  e.place(q);
  projectForces(*e.tables, *e.work, spanning.data(), tau.data());
}

#define KEMPE_INSTANTIATE(T)                                                                    \
  template void inverseDynamics<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,   \
                                   VectorInOf<T>, VectorOutOf<T>, const DynamicsOptions&);      \
  template void biasForces<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,        \
                              VectorOutOf<T>, const DynamicsOptions&);                          \
  template void gravityForces<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorOutOf<T>);   \
  template void generalizedForces<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, \
                                     VectorOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
