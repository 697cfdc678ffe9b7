#include "kempe/kinematics_derivatives.hpp"

#include "algorithms/motion_derivative_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void frameVelocityDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              VectorInOf<T> v, int frame, MatrixOutOf<T> dv_dq, MatrixOutOf<T> J,
                              Reference reference) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("dv_dq", dv_dq, 6, e.tables->nv);
  e.requireMatrix("J", J, 6, e.tables->nv);
  e.setFrame(frame, reference);
  e.derivatives.velocityByQ = matrixAt<T>(dv_dq);
  e.request.jacobians = matrixAt<T>(J);
  e.run(q, v);
}

template <typename T>
void frameAccelerationDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                  VectorInOf<T> v, VectorInOf<T> a, int frame, MatrixOutOf<T> da_dq,
                                  MatrixOutOf<T> da_dv, MatrixOutOf<T> J, Reference reference) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("da_dq", da_dq, 6, e.tables->nv);
  e.requireMatrix("da_dv", da_dv, 6, e.tables->nv);
  e.requireMatrix("J", J, 6, e.tables->nv);
  e.setFrame(frame, reference);
  e.derivatives.accelerationByQ = matrixAt<T>(da_dq);
  e.derivatives.accelerationByV = matrixAt<T>(da_dv);
  e.request.jacobians = matrixAt<T>(J);
  e.run(q, v, &a);
}

template <typename T>
void frameJacobianTimeDerivative(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, int frame, MatrixOutOf<T> rate,
                                 Reference reference) {
  MotionDerivativeEvaluation<T> e(model, data);
  e.requireMatrix("rate", rate, 6, e.tables->nv);
  e.setFrame(frame, reference);
  e.derivatives.jacobianRate = matrixAt<T>(rate);
  e.run(q, v);
}

#define KEMPE_INSTANTIATE(T)                                                                       \
  template void frameVelocityDerivatives<T>(const Model&, BasicData<T>&, VectorInOf<T>,            \
                                            VectorInOf<T>, int, MatrixOutOf<T>, MatrixOutOf<T>,    \
                                            Reference);                                            \
  template void frameAccelerationDerivatives<T>(const Model&, BasicData<T>&, VectorInOf<T>,        \
                                                VectorInOf<T>, VectorInOf<T>, int, MatrixOutOf<T>, \
                                                MatrixOutOf<T>, MatrixOutOf<T>, Reference);        \
  template void frameJacobianTimeDerivative<T>(const Model&, BasicData<T>&, VectorInOf<T>,         \
                                               VectorInOf<T>, int, MatrixOutOf<T>, Reference);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
