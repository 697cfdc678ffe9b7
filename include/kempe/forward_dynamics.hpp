#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the accelerations that the generalised forces `tau` cause (C-ABA; Chignoli et al. 2023,
/// Alg. 1).
///
/// Joint damping, friction, armature and springs are included. Cost: linear in bodies. Allocates no
/// memory. Use one `data` per thread; `T` is double or float.
/// @param q    configuration, model.nq(); must close the loops (see project())
/// @param v    velocities, model.nv()
/// @param tau  generalised forces, model.nv()
/// @param a    output, accelerations, model.nv(); may alias v or tau
///
/// Throws std::invalid_argument if an argument has the wrong size or is not finite, and
/// SingularityError if a loop is in a singular configuration or a coordinate moves no inertia.
template <typename T>
KEMPE_API void forwardDynamics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                               VectorInOf<T> v, VectorInOf<T> tau, VectorOutOf<T> a,
                               const DynamicsOptions& how = {});

}  // namespace kempe
