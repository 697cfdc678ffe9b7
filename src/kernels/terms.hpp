#pragma once

#include "kernels/bias_forces.hpp"
#include "kernels/centroidal.hpp"
#include "kernels/frame_motion.hpp"
#include "kernels/mass_matrix.hpp"

namespace kempe::detail {

template <typename T>
KEMPE_HD void writeVector(const Vec3<T>& x, T* out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = x[i];
  }
}

/// Momenta, their rates and energies, after bringMotion to the request's level.
template <typename T, typename R>
KEMPE_HD void writeMotionSums(const TablesView<R>& tables, const WorkView<T>& work, const T* v,
                              const T* ydd, const MassSum<T>& masses, const Vec3<T>& center,
                              const TermRequest<T, R>& request) {
  /// [force; moment about the centre of mass], and force / mass.
  const auto write = [&](const Force<T>& f, T* aboutCenter, T* ofCenter) {
    if (aboutCenter != nullptr) {
      writeVector(f.force, aboutCenter);
      writeVector(f.moment - cross(center, f.force), aboutCenter + 3);
    }
    if (ofCenter != nullptr) {
      writeVector((T(1) / masses.mass) * f.force, ofCenter);
    }
  };
  if (request.momentum != nullptr || request.centerVelocity != nullptr ||
      request.energy != nullptr) {
    const MotionSum<T> motion = MotionSums<T, R>(tables, work, v).run();
    write(motion.momentum, request.momentum, request.centerVelocity);
    if (request.energy != nullptr) {
      request.energy[0] = T(0.5) * motion.twiceKinetic;
      request.energy[1] = potentialEnergy(tables, work, masses);
    }
  }
  if (request.momentumRate != nullptr || request.centerAcceleration != nullptr) {
    write(sumMomentumRates(tables, work, v, ydd), request.momentumRate, request.centerAcceleration);
  }
}

/// Everything that is asked for but the Coriolis matrix, after bringMotion to the request's level.
/// `ydd` is null where it is zero.
template <typename T, typename R>
KEMPE_HD void writeTerms(const TablesView<R>& tables, const WorkView<T>& work, const T* v,
                         const T* ydd, const TermRequest<T, R>& request) {
  for (int f = 0; f < request.frameCount; ++f) {
    const BodyFrame<R>& frame = request.frames[f];
    if (request.placements != nullptr) {
      writePlacement(work, frame, request.placements + 12 * f);
    }
    if (request.velocities != nullptr) {
      writeVelocity(work, frame, request.velocities + request.velocityStride * f);
    }
    if (request.accelerations != nullptr) {
      writeAcceleration(tables, work, frame,
                        request.accelerations + request.accelerationStride * f);
    }
    if (request.jacobians) {
      MatrixAt<T> J = request.jacobians;
      J.numbers += f * request.jacobianStride;
      writeJacobian(tables, work, frame, J);
    }
  }
  const bool ofMomenta =
      request.momentumMatrix || request.centerOfMassJacobian || request.gravity != nullptr;
  if (request.H != nullptr) {
    MassMatrixKernel(tables, work, request.H, request.stride).run();
    if (ofMomenta) {
      composeBaseMomenta(tables, work);
    }
  } else if (ofMomenta) {
    composeMomenta(tables, work);
  }
  if (request.gravity != nullptr) {
    writeGravityForces(tables, work, request.gravity);
  }
  if (request.centerOfMass != nullptr || request.momentum != nullptr ||
      request.momentumRate != nullptr || request.centerVelocity != nullptr ||
      request.centerAcceleration != nullptr || request.energy != nullptr ||
      request.momentumMatrix || request.centerOfMassJacobian) {
    const MassSum<T> masses = sumMasses(tables, work);
    const Vec3<T> center = masses.center();
    if (request.centerOfMass != nullptr) {
      writeVector(center + *work.origin, request.centerOfMass);
    }
    if (request.momentumMatrix) {
      writeMomentumMatrix(tables, work, center, request.momentumMatrix);
    }
    if (request.centerOfMassJacobian) {
      writeCenterJacobian(tables, work, masses.mass, request.centerOfMassJacobian);
    }
    writeMotionSums(tables, work, v, ydd, masses, center, request);
  }
  if (request.bias != nullptr) {
    BiasForces<T, R>(tables, work, v, request.bias).run();
  }
}

}  // namespace kempe::detail
