#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Accelerations that forces `tau` cause (C-ABA; Chignoli et al. 2023, Alg. 1).
///
/// Damping, friction, armature and springs of the joints count. Cost: linear in bodies. Allocates
/// nothing. One `data` per thread; `T` is double or float.
/// @param q    configuration, model.nq(); must close the loops (see project())
/// @param v    velocities, model.nv()
/// @param tau  forces, model.nv()
/// @param a    output, model.nv(); may alias v or tau
///
/// Throws std::invalid_argument for wrong sizes and numbers that are not finite, SingularityError
/// where a loop is at a singular position or a coordinate moves no inertia.
template <typename T>
KEMPE_API void forwardDynamics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                               VectorInOf<T> v, VectorInOf<T> tau, VectorOutOf<T> a,
                               const DynamicsOptions& how = {});

}  // namespace kempe
