#pragma once

#include "kempe/constraints.hpp"

namespace kempe {

/// Computes the derivatives of constrainedForwardDynamics(), of accelerations a and multipliers λ,
/// with respect to q, v and tau, at constant time.
///
/// Those with respect to q are along the tangent, as in inverseDynamicsDerivatives(): column j is the
/// derivative along integrate(model, data, q, e_j, ε). Embedded loops stay closed on the way;
/// constraints, and loops that are left cut, do not, since integrate() knows nothing of them. What is
/// differentiated is constrainedForwardDynamics() as it is also defined for states that violate the
/// constraints, Baumgarte stabilisation included. Derivatives along motions that satisfy the
/// constraints are combinations of columns, ∂a/∂q δ with K δ = 0.
///
/// Where rows are redundant, λ is that of least norm, and so are its derivatives, which are defined
/// if the rank of the rows stays the same. If it does so only along motions that satisfy the
/// constraints, as in an overconstrained spatial linkage, only combinations of columns along these are
/// meaningful. The rows of constraints that are switched off are zero.
///
/// Cost: some three evaluations of inverseDynamicsDerivatives(), plus (3 nv + rows) nv², plus
/// rows² nv; twice as much if rows are redundant. Allocates memory only if `data` has not been used
/// with as many rows before, or if masses differ by many orders of magnitude.
/// @param da_dq         output, model.nv() × model.nv(); likewise da_dv and da_dtau
/// @param dlambda_dq    output, constraints.rows() × model.nv(); likewise dlambda_dv and dlambda_dtau
///
/// Throws the same exceptions as constrainedForwardDynamics(); std::invalid_argument if a function
/// among the loops or the constraints is no expression, since its third derivatives are not known; and
/// SingularityError at positions where the constraints lose rank, and where rounding spoils the result
/// because masses differ by many orders of magnitude.
template <typename T>
KEMPE_API void constrainedForwardDynamicsDerivatives(
    const Model& model, BasicData<T>& data, const Constraints& constraints, double time,
    VectorInOf<T> q, VectorInOf<T> v, VectorInOf<T> tau, MatrixOutOf<T> da_dq, MatrixOutOf<T> da_dv,
    MatrixOutOf<T> da_dtau, MatrixOutOf<T> dlambda_dq, MatrixOutOf<T> dlambda_dv,
    MatrixOutOf<T> dlambda_dtau, const DynamicsOptions& how = {},
    ConstraintReport* report = nullptr);

}  // namespace kempe
