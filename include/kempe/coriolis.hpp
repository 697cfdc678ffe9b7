#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// C of τ = H a + C v + gravity and resistance, factorised so that Ḣ − 2C is skew-symmetric;
/// model.nv() × model.nv(). With J_i the Jacobian of body i in an inertial frame,
///
///   C = Σ J_iᵀ (I_i J̇_i + B_i J_i),   B_i = ½ (v_i ×* I_i − I_i v_i × + (I_i v_i) ×̄*)
///
/// where f ×̄* m = m ×* f (after Echeandia and Wensing 2021; extended to clusters by J̇_i, which
/// contains Ġ). Cost: bodies times depth. Allocates nothing. Throws as inverseDynamics()
/// does.
template <typename T>
KEMPE_API void coriolisMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              VectorInOf<T> v, MatrixOutOf<T> C);

}  // namespace kempe
