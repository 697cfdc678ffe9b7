#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the mass matrix H of τ = H a + h (C-CRBA): symmetric, positive definite, model.nv() ×
/// model.nv(); both triangles are written. Cost: bodies times depth. Allocates no memory. Throws
/// the same exceptions as inverseDynamics().
template <typename T>
KEMPE_API void massMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                          MatrixOutOf<T> H);

/// Computes H⁻¹ without forming H, by the recursion of forwardDynamics().
template <typename T>
KEMPE_API void inverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 MatrixOutOf<T> inverse);

/// Computes H⁻¹ x in time linear in bodies. `result` may alias x.
template <typename T>
KEMPE_API void applyInverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                      VectorInOf<T> x, VectorOutOf<T> result);

}  // namespace kempe
