#pragma once

#include "algorithms/evaluation.hpp"
#include "tables/motion_derivative_request.hpp"

/// Derivatives by dual numbers through the recursions, a direction at a time: exact, and nv times the
/// cost of one evaluation. Models with flexible bodies take this way, since the recursions of
/// kernels/motion_derivatives.hpp and others that derive from it know rigid bodies only.
namespace kempe::detail {

/// Whether derivatives of a model take this way.
inline bool takesVariedDynamics(const ModelImpl& impl) {
  return !impl.tables.flexibles.empty();
}

/// Fills ∂τ/∂q and ∂τ/∂v of inverse dynamics, nv × nv; a null `v` or `a` is zero, and ∂τ/∂v may be
/// null. q must have been checked.
template <typename T>
void variedInverseDynamics(Evaluation<T>& e, VectorInOf<T> q, const T* v, const T* a,
                           const ExternalForces<T, T>& external, MatrixOutOf<T>* byQ,
                           MatrixOutOf<T>* byV);

/// Fills derivatives of kinematics and momentum, without their memory; a null `a` is zero. The state
/// must have been checked, and rotors are whole where the evaluation says so.
template <typename T>
void variedMotion(Evaluation<T>& e, VectorInOf<T> q, const T* v, const T* a,
                  const MotionDerivativeRequest<T, T>& request);

/// Fills the Coriolis matrix of a state that has been checked (kempe/coriolis.hpp).
template <typename T>
void variedCoriolis(Evaluation<T>& e, VectorInOf<T> q, const T* v, const MatrixAt<T>& C);

/// Fills Ġ, nvSpanning × nv, of a state that has been checked.
void variedJacobianRate(Evaluation<double>& e, VectorIn q, const double* v, MatrixOut& rate);

}  // namespace kempe::detail
