#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Finds how flexible bodies bend at rest under gravity, the forces `tau` along modal coordinates and
/// external forces: changes the modal coordinates of `q`, holds all other independent coordinates, and
/// keeps loops closed. Forces at the held coordinates are whatever holds them.
///
/// Newton's method, by the derivatives of inverse dynamics; allocates.
/// @param q       configuration from which it starts, model.nq()
/// @param tau     model.nv(); only the entries of modal coordinates matter
/// @param result  output, model.nq(); may alias q
/// @throws std::runtime_error where there is no equilibrium nearby, as beyond the load at which a
///         beam buckles
KEMPE_API void staticDeflection(const Model& model, Data& data, VectorIn q, VectorIn tau,
                                VectorOut result, const DynamicsOptions& options = {});

}  // namespace kempe
