#include "kempe/kinematics_derivatives.hpp"

#include "batch/term_call.hpp"
#include "kempe/momentum_derivatives.hpp"

/// Derivatives of kinematics and of momenta, of many states.
namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

constexpr const char* kSix = "6 model.nv";
constexpr const char* kThree = "3 model.nv";

}  // namespace

template <typename T>
void frameVelocityDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesIn<T> v, std::span<const int> frames, StatesOut<T> dv_dq,
                              StatesOut<T> J, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  call.outputDerivativeOfFrames("dv_dq", dv_dq, [](auto& d, T* x, int n) {
    d.velocityByQ = {x, n, 1};
  });
  addJacobians<T>(call, J);
  call.run();
}

template <typename T>
void frameAccelerationDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                  StatesIn<T> v, StatesIn<T> a, std::span<const int> frames,
                                  StatesOut<T> da_dq, StatesOut<T> da_dv, StatesOut<T> J,
                                  Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a).takeFrames(frames, reference);
  call.outputDerivativeOfFrames("da_dq", da_dq, [](auto& d, T* x, int n) {
    d.accelerationByQ = {x, n, 1};
  });
  call.outputDerivativeOfFrames("da_dv", da_dv, [](auto& d, T* x, int n) {
    d.accelerationByV = {x, n, 1};
  });
  addJacobians<T>(call, J);
  call.run();
}

template <typename T>
void frameJacobianTimeDerivative(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                 StatesIn<T> v, std::span<const int> frames, StatesOut<T> rate,
                                 Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  call.outputDerivativeOfFrames("rate", rate, [](auto& d, T* x, int n) {
    d.jacobianRate = {x, n, 1};
  });
  call.run();
}

template <typename T>
void momentumDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                         StatesOut<T> dh_dq, StatesOut<T> A) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).outputDerivative("dh_dq", dh_dq, 6, kSix, [](auto& d, T* x, int n) {
    d.momentumByQ = {x, n, 1};
  });
  addMomentumMatrix<T>(call, A);
  call.run();
}

template <typename T>
void momentumRateDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                             StatesIn<T> a, StatesOut<T> drate_dq, StatesOut<T> drate_dv,
                             StatesOut<T> A) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a);
  call.outputDerivative("drate_dq", drate_dq, 6, kSix, [](auto& d, T* x, int n) {
    d.momentumRateByQ = {x, n, 1};
  });
  call.outputDerivative("drate_dv", drate_dv, 6, kSix, [](auto& d, T* x, int n) {
    d.momentumRateByV = {x, n, 1};
  });
  addMomentumMatrix<T>(call, A);
  call.run();
}

template <typename T>
void centerOfMassVelocityDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                     StatesIn<T> v, StatesOut<T> dv_dq, StatesOut<T> J) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).outputDerivative("dv_dq", dv_dq, 3, kThree, [](auto& d, T* x, int n) {
    d.centerVelocityByQ = {x, n, 1};
  });
  addCenterJacobian<T>(call, J);
  call.run();
}

template <typename T>
void centerOfMassAccelerationDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                         StatesIn<T> v, StatesIn<T> a, StatesOut<T> da_dq,
                                         StatesOut<T> da_dv, StatesOut<T> J) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a);
  call.outputDerivative("da_dq", da_dq, 3, kThree, [](auto& d, T* x, int n) {
    d.centerAccelerationByQ = {x, n, 1};
  });
  call.outputDerivative("da_dv", da_dv, 3, kThree, [](auto& d, T* x, int n) {
    d.centerAccelerationByV = {x, n, 1};
  });
  addCenterJacobian<T>(call, J);
  call.run();
}

#define KEMPE_INSTANTIATE(T)                                                                       \
  template void frameVelocityDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>,             \
                                            StatesIn<T>, std::span<const int>, StatesOut<T>,       \
                                            StatesOut<T>, Reference);                              \
  template void frameAccelerationDerivatives<T>(                                                   \
      const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, StatesIn<T>, std::span<const int>,   \
      StatesOut<T>, StatesOut<T>, StatesOut<T>, Reference);                                        \
  template void frameJacobianTimeDerivative<T>(const Model&, BasicBatch<T>&, StatesIn<T>,          \
                                               StatesIn<T>, std::span<const int>, StatesOut<T>,    \
                                               Reference);                                         \
  template void momentumDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,     \
                                       StatesOut<T>, StatesOut<T>);                                \
  template void momentumRateDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, \
                                           StatesIn<T>, StatesOut<T>, StatesOut<T>, StatesOut<T>); \
  template void centerOfMassVelocityDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>,      \
                                                   StatesIn<T>, StatesOut<T>, StatesOut<T>);       \
  template void centerOfMassAccelerationDerivatives<T>(const Model&, BasicBatch<T>&, StatesIn<T>,  \
                                                       StatesIn<T>, StatesIn<T>, StatesOut<T>,     \
                                                       StatesOut<T>, StatesOut<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
