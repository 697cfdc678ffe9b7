#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

/// Derivatives of the momentum, of the centre of mass and of their rates (momentum.hpp).
///
/// Conventions, cost and exceptions are those of kinematics_derivatives.hpp; the cost is linear in
/// all bodies.
namespace kempe {

/// Computes the derivatives of momentum() with respect to q and v.
/// @param dh_dq  output, 6 × model.nv()
/// @param A      output, likewise: centroidalMomentumMatrix(), the derivative with respect to v
template <typename T>
KEMPE_API void momentumDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                   VectorInOf<T> v, MatrixOutOf<T> dh_dq, MatrixOutOf<T> A);

/// Computes the derivatives of momentumRate() with respect to q, v and a.
/// @param drate_dq  output, 6 × model.nv()
/// @param drate_dv  output, likewise
/// @param A         output, likewise: centroidalMomentumMatrix(), the derivative with respect to a
template <typename T>
KEMPE_API void momentumRateDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                       VectorInOf<T> v, VectorInOf<T> a, MatrixOutOf<T> drate_dq,
                                       MatrixOutOf<T> drate_dv, MatrixOutOf<T> A);

/// Computes the derivatives of centerOfMassVelocity() with respect to q and v.
/// @param dv_dq  output, 3 × model.nv()
/// @param J      output, likewise: centerOfMassJacobian(), the derivative with respect to v
template <typename T>
KEMPE_API void centerOfMassVelocityDerivatives(const Model& model, BasicData<T>& data,
                                               VectorInOf<T> q, VectorInOf<T> v,
                                               MatrixOutOf<T> dv_dq, MatrixOutOf<T> J);

/// Computes the derivatives of centerOfMassAcceleration() with respect to q, v and a.
/// @param da_dq  output, 3 × model.nv()
/// @param da_dv  output, likewise
/// @param J      output, likewise: centerOfMassJacobian(), the derivative with respect to a
template <typename T>
KEMPE_API void centerOfMassAccelerationDerivatives(const Model& model, BasicData<T>& data,
                                                   VectorInOf<T> q, VectorInOf<T> v,
                                                   VectorInOf<T> a, MatrixOutOf<T> da_dq,
                                                   MatrixOutOf<T> da_dv, MatrixOutOf<T> J);

}  // namespace kempe
