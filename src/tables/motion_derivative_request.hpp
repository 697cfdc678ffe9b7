#pragma once

#include "tables/term_request.hpp"

namespace kempe::detail {

/// Derivatives of kinematics along the tangent of q and with respect to v; those that are null are
/// not computed. Those with respect to a, and of velocities with respect to v, are the Jacobians of
/// TermRequest.
template <typename T, typename R>
struct MotionDerivativeRequest {
  const BodyFrame<R>* frames = nullptr;
  int frameCount = 0;
  MatrixAt<T> velocityByQ{};                         ///< 6 × nv of each frame
  MatrixAt<T> accelerationByQ{}, accelerationByV{};  ///< likewise
  MatrixAt<T> jacobianRate{};                        ///< likewise: J̇
  int frameStride = 0;                               ///< from frame to frame
  MatrixAt<T> momentumByQ{};                         ///< 6 × nv, about the centre of mass
  MatrixAt<T> momentumRateByQ{}, momentumRateByV{};  ///< likewise
  MatrixAt<T> centerVelocityByQ{};                   ///< 3 × nv
  MatrixAt<T> centerAccelerationByQ{}, centerAccelerationByV{};  ///< likewise
  void* memory = nullptr;                                        ///< DerivativeKernels::memorySize

  /// Whether accelerations of the bodies must be known, rather than velocities only.
  [[nodiscard]] KEMPE_HD bool accelerates() const {
    return accelerationByQ || accelerationByV || jacobianRate || momentumRateByQ ||
           momentumRateByV || centerAccelerationByQ || centerAccelerationByV;
  }
  [[nodiscard]] KEMPE_HD bool ofMomentum() const {
    return momentumByQ || momentumRateByQ || momentumRateByV || centerVelocityByQ ||
           centerAccelerationByQ || centerAccelerationByV;
  }
};

}  // namespace kempe::detail
