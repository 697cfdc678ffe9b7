#include <array>

#include "algorithms/constrained_derivatives.hpp"
#include "algorithms/motion_derivative_evaluation.hpp"
#include "algorithms/varied_dynamics.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kempe/mass_matrix.hpp"

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
    prepareMemory();
  }
  /// For gravity forces, on which loops that are left cut have no effect.
  DerivativeEvaluation(const Model& model, BasicData<T>& userData)
      : Evaluation<T>(model, userData), external{} {
    requireExpressions(this->impl);
    prepareMemory();
  }

  void requireOutputs(const std::array<std::pair<const char*, MatrixOutOf<T>*>, 3>& outputs) {
    const Eigen::Index n = this->tables->nv;
    for (const auto& [name, matrix] : outputs) {
      this->requireMatrix(name, *matrix, n, n);
    }
    request.byQ = matrixAt<T>(*outputs[0].second);
    request.byV = matrixAt<T>(*outputs[1].second);
    request.third = matrixAt<T>(*outputs[2].second);
  }

  ExternalForces<T, T> external;
  DerivativeRequest<T, T> request;

 private:
  void prepareMemory() {
    if (!takesVariedDynamics(this->impl)) {
      request.memory = derivativeMemory(*this);
    }
  }
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
  if (takesVariedDynamics(e.impl)) {
    variedInverseDynamics<T>(e, q, v.data(), a.data(), e.external, &dtau_dq, &dtau_dv);
    massMatrix<T>(model, data, q, H);
    return;
  }
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
  const bool cut = !e.impl.cuts.entries.empty();
  if (takesVariedDynamics(e.impl) && !cut) {
    // ∂a/∂x = −H⁻¹ ∂τ/∂x where inverse dynamics gives τ.
    const int n = e.impl.tables.nv;
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> a(e.data.forceScratch.result.data(), n);
    forwardDynamics<T>(model, data, q, v, tau, a, options);
    variedInverseDynamics<T>(e, q, v.data(), a.data(), e.external, &da_dq, &da_dv);
    for (MatrixOutOf<T>* matrix : {&da_dq, &da_dv}) {
      for (int j = 0; j < n; ++j) {
        a = -matrix->col(j);
        applyInverseMassMatrix<T>(model, data, q, a, a);
        matrix->col(j) = a;
      }
    }
    inverseMassMatrix<T>(model, data, q, da_dtau);
    return;
  }
  if (cut) {
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

template <typename T>
void gravityForcesDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              MatrixOutOf<T> dtau_dq) {
  DerivativeEvaluation<T> e(model, data);
  e.requireQ(q);
  e.requireMatrix("dtau_dq", dtau_dq, e.tables->nv, e.tables->nv);
  if (takesVariedDynamics(e.impl)) {
    variedInverseDynamics<T>(e, q, nullptr, nullptr, e.external, &dtau_dq, nullptr);
    return;
  }
  e.request.byQ = matrixAt<T>(dtau_dq);
  e.require(
      e.kernels().derivatives.gravityForces(e.context(WorkStage::Motion), q.data(), e.request), q);
}

#define KEMPE_INSTANTIATE(T)                                                                    \
  template void inverseDynamicsDerivatives<T>(                                                  \
      const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, VectorInOf<T>, MatrixOutOf<T>, \
      MatrixOutOf<T>, MatrixOutOf<T>, const DynamicsOptions&);                                  \
  template void forwardDynamicsDerivatives<T>(                                                  \
      const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, VectorInOf<T>, MatrixOutOf<T>, \
      MatrixOutOf<T>, MatrixOutOf<T>, const DynamicsOptions&);                                  \
  template void gravityForcesDerivatives<T>(const Model&, BasicData<T>&, VectorInOf<T>,         \
                                            MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
