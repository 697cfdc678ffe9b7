#pragma once

#include "kernels/bias_forces.hpp"
#include "kernels/centroidal.hpp"
#include "kernels/frame_motion.hpp"
#include "kernels/mass_matrix.hpp"

namespace kempe::detail {

/// Everything that is asked for but the Coriolis matrix, after bringMotion to the request's level.
template <typename T, typename R>
KEMPE_HD void writeTerms(const TablesView<R>& tables, const WorkView<T>& work, const T* v,
                         const TermRequest<T, R>& request) {
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
  if (request.centerOfMass != nullptr || request.momentum != nullptr || request.energy != nullptr ||
      request.momentumMatrix || request.centerOfMassJacobian) {
    const MassSum<T> masses = sumMasses(tables, work);
    const Vec3<T> center = masses.center();
    if (request.centerOfMass != nullptr) {
      const Vec3<T> inWorld = center + *work.origin;
      for (int i = 0; i < 3; ++i) {
        request.centerOfMass[i] = inWorld[i];
      }
    }
    if (request.momentumMatrix) {
      writeMomentumMatrix(tables, work, center, request.momentumMatrix);
    }
    if (request.centerOfMassJacobian) {
      writeCenterJacobian(tables, work, masses.mass, request.centerOfMassJacobian);
    }
    if (request.momentum != nullptr || request.energy != nullptr) {
      const MotionSum<T> motion = MotionSums<T, R>(tables, work, v).run();
      if (request.momentum != nullptr) {
        const Force<T>& h = motion.momentum;
        const Vec3<T> angular = h.moment - cross(center, h.force);
        for (int i = 0; i < 3; ++i) {
          request.momentum[i] = h.force[i];
          request.momentum[i + 3] = angular[i];
        }
      }
      if (request.energy != nullptr) {
        request.energy[0] = T(0.5) * motion.twiceKinetic;
        request.energy[1] = potentialEnergy(tables, work, masses);
      }
    }
  }
  if (request.bias != nullptr) {
    BiasForces<T, R>(tables, work, v, request.bias).run();
  }
}

}  // namespace kempe::detail
