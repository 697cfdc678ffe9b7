#pragma once

#include "algorithms/evaluation.hpp"

/// Derivatives of inverse dynamics by dual numbers through its recursion, a direction at a time: exact,
/// and nv times its cost. Models with flexible bodies take this way, since the recursion of
/// kernels/inverse_dynamics_derivatives.hpp knows rigid bodies only.
namespace kempe::detail {

/// Whether derivatives of a model's dynamics take this way.
inline bool takesVariedDynamics(const ModelImpl& impl) {
  return !impl.tables.flexibles.empty();
}

/// Fills ∂τ/∂q and ∂τ/∂v of inverse dynamics, nv × nv; a null `v` or `a` is zero, and ∂τ/∂v may be
/// null. q must have been checked.
template <typename T>
void variedInverseDynamics(Evaluation<T>& e, VectorInOf<T> q, const T* v, const T* a,
                           const ExternalForces<T, T>& external, MatrixOutOf<T>* byQ,
                           MatrixOutOf<T>* byV);

}  // namespace kempe::detail
