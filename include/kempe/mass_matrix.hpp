#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// H of τ = H a + h (C-CRBA): symmetric, positive definite, model.nv() × model.nv(); both triangles
/// are written. Cost: bodies times depth. Allocates nothing.
/// Throws std::invalid_argument and SingularityError as inverseDynamics() does.
template <typename T>
KEMPE_API void massMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                          MatrixOutOf<T> H);

/// H⁻¹, without H: by the recursion of forwardDynamics().
template <typename T>
KEMPE_API void inverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 MatrixOutOf<T> inverse);

/// H⁻¹ x in time linear in bodies. `result` may be x.
template <typename T>
KEMPE_API void applyInverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                      VectorInOf<T> x, VectorOutOf<T> result);

}  // namespace kempe
