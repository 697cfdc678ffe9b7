#include "kempe/momentum_derivatives.hpp"

#include "algorithms/motion_derivative_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void momentumDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                         MatrixOutOf<T> dh_dq, MatrixOutOf<T> A) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("dh_dq", dh_dq, 6, e.tables->nv);
  e.requireMatrix("A", A, 6, e.tables->nv);
  e.derivatives.momentumByQ = matrixAt<T>(dh_dq);
  e.request.momentumMatrix = matrixAt<T>(A);
  e.run(q, v);
}

template <typename T>
void momentumRateDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                             VectorInOf<T> v, VectorInOf<T> a, MatrixOutOf<T> drate_dq,
                             MatrixOutOf<T> drate_dv, MatrixOutOf<T> A) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("drate_dq", drate_dq, 6, e.tables->nv);
  e.requireMatrix("drate_dv", drate_dv, 6, e.tables->nv);
  e.requireMatrix("A", A, 6, e.tables->nv);
  e.derivatives.momentumRateByQ = matrixAt<T>(drate_dq);
  e.derivatives.momentumRateByV = matrixAt<T>(drate_dv);
  e.request.momentumMatrix = matrixAt<T>(A);
  e.run(q, v, &a);
}

template <typename T>
void centerOfMassVelocityDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                     VectorInOf<T> v, MatrixOutOf<T> dv_dq, MatrixOutOf<T> J) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("dv_dq", dv_dq, 3, e.tables->nv);
  e.requireMatrix("J", J, 3, e.tables->nv);
  e.derivatives.centerVelocityByQ = matrixAt<T>(dv_dq);
  e.request.centerOfMassJacobian = matrixAt<T>(J);
  e.run(q, v);
}

template <typename T>
void centerOfMassAccelerationDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                         VectorInOf<T> v, VectorInOf<T> a, MatrixOutOf<T> da_dq,
                                         MatrixOutOf<T> da_dv, MatrixOutOf<T> J) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("da_dq", da_dq, 3, e.tables->nv);
  e.requireMatrix("da_dv", da_dv, 3, e.tables->nv);
  e.requireMatrix("J", J, 3, e.tables->nv);
  e.derivatives.centerAccelerationByQ = matrixAt<T>(da_dq);
  e.derivatives.centerAccelerationByV = matrixAt<T>(da_dv);
  e.request.centerOfMassJacobian = matrixAt<T>(J);
  e.run(q, v, &a);
}

#define KEMPE_INSTANTIATE(T)                                                                       \
  template void momentumDerivatives<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,  \
                                       MatrixOutOf<T>, MatrixOutOf<T>);                            \
  template void momentumRateDerivatives<T>(const Model&, BasicData<T>&, VectorInOf<T>,             \
                                           VectorInOf<T>, VectorInOf<T>, MatrixOutOf<T>,           \
                                           MatrixOutOf<T>, MatrixOutOf<T>);                        \
  template void centerOfMassVelocityDerivatives<T>(const Model&, BasicData<T>&, VectorInOf<T>,     \
                                                   VectorInOf<T>, MatrixOutOf<T>, MatrixOutOf<T>); \
  template void centerOfMassAccelerationDerivatives<T>(                                            \
      const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, VectorInOf<T>, MatrixOutOf<T>,    \
      MatrixOutOf<T>, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
