#pragma once

#include <cstdint>

#include "tables/kernel_arguments.hpp"

/// What a kernel can compute of one state, in one pass over its bodies.
namespace kempe::detail {

/// How far the motion of the bodies is known in the memory of a kernel; each level includes those
/// before it, but Accelerations replaces the accelerations of BiasAccelerations.
enum class MotionLevel : std::uint8_t {
  None,
  Placements,         ///< at q: placements, G and S
  Velocities,         ///< at q, v
  BiasAccelerations,  ///< at q, v: accelerations where ÿ = 0
  Accelerations       ///< at q, v, ÿ
};

/// A matrix as output; entry (i, j) is at numbers[i * rowStride + j * columnStride].
template <typename T>
struct MatrixAt {
  T* numbers = nullptr;
  int rowStride = 1, columnStride = 0;

  KEMPE_HD T& operator()(int i, int j) const { return numbers[i * rowStride + j * columnStride]; }
  KEMPE_HD explicit operator bool() const { return numbers != nullptr; }
};

/// Outputs of one evaluation; those that are null are not computed.
template <typename T, typename R>
struct TermRequest {
  const BodyFrame<R>* frames = nullptr;
  int frameCount = 0;
  T* placements = nullptr;                         ///< 12 of each frame: R row-major, p
  T* velocities = nullptr;                         ///< 6 of each frame, [linear; angular]
  T* accelerations = nullptr;                      ///< 6 of each frame
  int velocityStride = 6, accelerationStride = 6;  ///< from frame to frame
  MatrixAt<T> jacobians{};                         ///< 6 × nv of each frame
  int jacobianStride = 0;                          ///< from frame to frame
  T* centerOfMass = nullptr;                       ///< 3
  T* momentum = nullptr;                           ///< 6, about the centre of mass
  T* momentumRate = nullptr;                       ///< 6, of the same
  T* centerVelocity = nullptr;                     ///< 3
  T* centerAcceleration = nullptr;                 ///< 3
  T* energy = nullptr;                             ///< 2: kinetic, potential
  MatrixAt<T> centerOfMassJacobian{};              ///< 3 × nv
  MatrixAt<T> momentumMatrix{};                    ///< 6 × nv
  T* H = nullptr;                                  ///< nv × nv, both triangles
  int stride = 0;                                  ///< of H
  T* gravity = nullptr;                            ///< nv, springs included
  T* bias = nullptr;                               ///< nv
  MatrixAt<T> coriolis{};                          ///< nv × nv; needs whole rotors
  void* coriolisMemory = nullptr;                  ///< KernelSet::coriolisMemorySize
  bool needsVelocities = false;                    ///< for what is computed next
  bool needsAccelerations = false;                 ///< likewise

  /// The motion that must be known. `accelerates`: ÿ is given.
  [[nodiscard]] KEMPE_HD MotionLevel level(bool accelerates) const {
    const bool needsA = accelerations != nullptr || momentumRate != nullptr ||
                        centerAcceleration != nullptr || needsAccelerations;
    if (needsA && accelerates) {
      return MotionLevel::Accelerations;
    }
    if (needsA || bias != nullptr || coriolis) {
      return MotionLevel::BiasAccelerations;
    }
    return velocities != nullptr || momentum != nullptr || centerVelocity != nullptr ||
                   energy != nullptr || needsVelocities
               ? MotionLevel::Velocities
               : MotionLevel::Placements;
  }
};

}  // namespace kempe::detail
