#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the generalised forces required for the accelerations `a`: τ = H a + h (C-RNEA;
/// Chignoli et al. 2023, §VI-C).
///
/// Joint damping, friction, armature and springs are included. Cost: linear in bodies. Allocates no
/// memory. Use one `data` per thread; `T` is double or float.
/// @param q    configuration, model.nq(); must close the loops (see project())
/// @param v    velocities, model.nv()
/// @param a    accelerations, model.nv()
/// @param tau  output, generalised forces, model.nv(); may alias v or a
///
/// Throws std::invalid_argument if an argument has the wrong size or is not finite, and
/// SingularityError if a loop is in a singular configuration.
template <typename T>
KEMPE_API void inverseDynamics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                               VectorInOf<T> v, VectorInOf<T> a, VectorOutOf<T> tau,
                               const DynamicsOptions& how = {});

/// Computes the bias forces h of τ = H a + h: Coriolis and centrifugal forces, gravity, damping and
/// friction, springs and external forces.
template <typename T>
KEMPE_API void biasForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                          VectorOutOf<T> h, const DynamicsOptions& how = {});

/// Computes the generalised gravity forces: tau at v = 0, a = 0, which holds the robot still. Joint
/// springs are included: tau is the gradient of the potential energy that energy() returns.
template <typename T>
KEMPE_API void gravityForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                             VectorOutOf<T> tau);

/// Computes the generalised forces τ = Gᵀ τ_span that are equivalent to joint forces and torques at
/// all tree joints, e.g. those of motors.
/// @param spanning  joint torques τ_span, model.nvSpanning(), at model.jointVelocityIndex()
template <typename T>
KEMPE_API void generalizedForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> spanning, VectorOutOf<T> tau);

}  // namespace kempe
