#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the derivatives of forwardDynamics() with respect to q, v and tau, as
/// ∂a/∂x = −H⁻¹ ∂τ/∂x with those of inverseDynamicsDerivatives(), where the conventions are.
///
/// Loops that are left cut act, as in forwardDynamics(). Columns are along integrate(), which does not
/// keep them closed; see constrainedForwardDynamicsDerivatives().
/// @param da_dq    output, model.nv() × model.nv()
/// @param da_dv    output, likewise
/// @param da_dtau  output, likewise: the inverse of the mass matrix, if no loop is left cut
///
/// Throws the same exceptions as forwardDynamics() and inverseDynamicsDerivatives(); if loops are left
/// cut, also those of constrainedForwardDynamicsDerivatives().
template <typename T>
KEMPE_API void forwardDynamicsDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                          VectorInOf<T> v, VectorInOf<T> tau, MatrixOutOf<T> da_dq,
                                          MatrixOutOf<T> da_dv, MatrixOutOf<T> da_dtau,
                                          const DynamicsOptions& options = {});

}  // namespace kempe
