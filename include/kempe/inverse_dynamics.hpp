#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Forces that cause accelerations `a` (C-RNEA; Chignoli et al. 2023, §VI-C): τ = H a + h.
///
/// Damping, friction, armature and springs of the joints count. Cost: linear in bodies. Allocates
/// nothing. One `data` per thread; `T` is double or float.
/// @param q    configuration, model.nq(); must close the loops (see project())
/// @param v    velocities, model.nv()
/// @param a    accelerations, model.nv()
/// @param tau  output, model.nv(); may alias v or a
///
/// Throws std::invalid_argument for wrong sizes and numbers that are not finite, SingularityError
/// where a loop is at a singular position.
template <typename T>
KEMPE_API void inverseDynamics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                               VectorInOf<T> v, VectorInOf<T> a, VectorOutOf<T> tau,
                               const DynamicsOptions& how = {});

/// h of τ = H a + h: forces of velocity, gravity, resistance, springs and external forces.
template <typename T>
KEMPE_API void biasForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                          VectorOutOf<T> h, const DynamicsOptions& how = {});

/// Generalised gravity forces: tau at v = 0, a = 0, which holds the robot at rest. Springs of the
/// joints count: it is the gradient of the potential energy of energy().
template <typename T>
KEMPE_API void gravityForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                             VectorOutOf<T> tau);

/// τ = Gᵀ τ_span: the generalised forces of forces at all tree joints, motors among them.
/// @param spanning  forces, model.nvSpanning(); place them with model.jointVelocityIndex()
template <typename T>
KEMPE_API void generalizedForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> spanning, VectorOutOf<T> tau);

}  // namespace kempe
