#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the Coriolis matrix C, model.nv() × model.nv(), of τ = H a + C v + (forces of gravity,
/// springs, damping and friction), factorised so that Ḣ − 2C is skew-symmetric. With J_i the
/// Jacobian of body i in an inertial frame,
///
///   C = Σ J_iᵀ (I_i J̇_i + B_i J_i),   B_i = ½ (v_i ×* I_i − I_i v_i × + (I_i v_i) ×̄*)
///
/// where f ×̄* m = m ×* f (after Echeandia and Wensing 2021; extended to clusters by J̇_i, which
/// contains Ġ). Cost: bodies times depth; with flexible bodies, whose energy has no such form, that of
/// model.nv() mass matrices, from whose derivatives the same connection follows. Allocates no memory
/// after the first call. Throws the same exceptions as inverseDynamics().
template <typename T>
KEMPE_API void coriolisMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              VectorInOf<T> v, MatrixOutOf<T> C);

}  // namespace kempe
