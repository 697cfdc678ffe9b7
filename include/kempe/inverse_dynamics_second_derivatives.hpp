#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"
#include "kempe/types.hpp"

/// Second derivatives of λᵀ τ, where τ = inverseDynamics(q, v, a) and λ is constant, for solvers that
/// use exact Hessians.
///
/// The first derivatives are those of inverseDynamicsDerivatives(), along the tangent. A second
/// derivative with respect to q is the derivative of the first one, whose entry j is the derivative
/// along e_j wherever q is: entry (j, k) of λᵀ ∂²τ/∂q∂q is the derivative along integrate(q, e_k, ε) of
/// λᵀ ∂τ/∂q_j. Where joints turn in space (spherical and free joints), and for loops with such joints,
/// directions e_j and e_k do not commute: this matrix is then not symmetric, but its entries (j, k)
/// and (k, j) differ by the derivative along their commutator. All others commute.
namespace kempe {

/// Computes how the gradient of λᵀ τ changes along a direction (dq, dv, da) of the state: the product
/// of the Hessian and the direction.
///
/// Cost: that of inverseDynamicsDerivatives() in dual numbers. Allocates at the first call with
/// `data` only.
/// @param lambda  weights of the forces, model.nv()
/// @param dq      direction of q, in the tangent, model.nv(); dv and da likewise
/// @param byQ     output, model.nv(): the change of λᵀ ∂τ/∂q
/// @param byV     output, likewise, of λᵀ ∂τ/∂v
/// @param byA     output, likewise, of λᵀ ∂τ/∂a = λᵀ H
///
/// Throws the same exceptions as inverseDynamicsDerivatives().
KEMPE_API void inverseDynamicsHessianProduct(const Model& model, Data& data, VectorIn q, VectorIn v,
                                             VectorIn a, VectorIn lambda, VectorIn dq, VectorIn dv,
                                             VectorIn da, VectorOut byQ, VectorOut byV,
                                             VectorOut byA, const DynamicsOptions& options = {});

/// Computes all second derivatives of λᵀ τ that are not zero, model.nv() × model.nv() each; those
/// with respect to v and a, and to a twice, are zero.
///
/// Cost: model.nv() products and as many first derivatives.
/// @param qq  output: λᵀ ∂²τ/∂q∂q, entry (j, k) as above
/// @param qv  output: λᵀ ∂²τ/∂q∂v, entry (j, k) of q_j and v_k
/// @param vv  output: λᵀ ∂²τ/∂v∂v, symmetric
/// @param qa  output: λᵀ ∂²τ/∂q∂a, entry (j, k) of q_j and a_k: λᵀ ∂H/∂q_j e_k
KEMPE_API void inverseDynamicsSecondDerivatives(const Model& model, Data& data, VectorIn q,
                                                VectorIn v, VectorIn a, VectorIn lambda,
                                                MatrixOut qq, MatrixOut qv, MatrixOut vv,
                                                MatrixOut qa, const DynamicsOptions& options = {});

}  // namespace kempe
