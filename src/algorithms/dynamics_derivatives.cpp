#include <array>

#include "algorithms/constrained_derivatives.hpp"
#include "algorithms/differentiable.hpp"
#include "algorithms/term_evaluation.hpp"
#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// What the derivatives of inverse and forward dynamics have in common.
template <typename T>
class DerivativeEvaluation : public Evaluation<T> {
 public:
  DerivativeEvaluation(const Model& model, BasicData<T>& userData, const DynamicsOptions& how)
      : Evaluation<T>(model, userData), external(this->prepareExternal(how.external)) {
    if (how.method != Method::Cluster) {
      throw std::invalid_argument("derivatives are computed by Method::Cluster only");
    }
    requireDifferentiable(this->impl);
    if (!this->data.derivatives) {
      this->data.derivatives.emplace(this->kernels().derivatives.memorySize(this->modelTables));
    }
  }

  void requireOutputs(const std::array<std::pair<const char*, MatrixOutOf<T>*>, 3>& outputs) {
    const Eigen::Index n = this->tables->nv;
    for (const auto& [name, matrix] : outputs) {
      this->requireMatrix(name, *matrix, n, n);
    }
    request = {matrixAt<T>(*outputs[0].second), matrixAt<T>(*outputs[1].second),
               matrixAt<T>(*outputs[2].second), this->data.derivatives->data()};
  }

  ExternalForces<T, T> external;
  DerivativeRequest<T, T> request;
};

}  // namespace

template <typename T>
void inverseDynamicsDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                VectorInOf<T> v, VectorInOf<T> a, MatrixOutOf<T> dtau_dq,
                                MatrixOutOf<T> dtau_dv, MatrixOutOf<T> H,
                                const DynamicsOptions& options) {
  DerivativeEvaluation<T> e(model, data, options);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireInput("a", a);
  e.requireOutputs({{{"dtau_dq", &dtau_dq}, {"dtau_dv", &dtau_dv}, {"H", &H}}});
  e.require(e.kernels().derivatives.inverseDynamics(e.context(WorkStage::Motion), q.data(),
                                                    v.data(), a.data(), e.external, e.request),
            q);
}

template <typename T>
void forwardDynamicsDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                VectorInOf<T> v, VectorInOf<T> tau, MatrixOutOf<T> da_dq,
                                MatrixOutOf<T> da_dv, MatrixOutOf<T> da_dtau,
                                const DynamicsOptions& options) {
  DerivativeEvaluation<T> e(model, data, options);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireInput("tau", tau);
  e.requireOutputs({{{"da_dq", &da_dq}, {"da_dv", &da_dv}, {"da_dtau", &da_dtau}}});
  if (!e.impl.cuts.entries.empty()) {
    ConstraintSolver<T> solver(e);
    solver.add(e.impl.cuts);
    differentiateConstrained<T>(solver, 0.0, 0.0, q.data(), v.data(), tau.data(), e.external,
                                {{e.request.byQ, e.request.byV, e.request.third}, {}});
    return;
  }
  e.require(e.kernels().derivatives.forwardDynamics(e.context(WorkStage::Articulated), q.data(),
                                                    v.data(), tau.data(), e.external, e.request),
            q);
}

#define KEMPE_INSTANTIATE(T)                                                                    \
  template void inverseDynamicsDerivatives<T>(                                                  \
      const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, VectorInOf<T>, MatrixOutOf<T>, \
      MatrixOutOf<T>, MatrixOutOf<T>, const DynamicsOptions&);                                  \
  template void forwardDynamicsDerivatives<T>(                                                  \
      const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, VectorInOf<T>, MatrixOutOf<T>, \
      MatrixOutOf<T>, MatrixOutOf<T>, const DynamicsOptions&);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
