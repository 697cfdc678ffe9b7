#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Derivatives of the velocities and accelerations of frames (kinematics.hpp).
///
/// Those with respect to q are along the tangent: column j is the derivative along
/// integrate(model, data, q, e_j, ε), with all loops closed on the way and v, a constant. Columns of
/// degrees of freedom that do not move the frame are exactly zero. Loops that are left cut are
/// ignored, as in kinematics.hpp.
///
/// The motion of the bodies is shared with other functions of kinematics that are called at the same
/// state; the cost beyond that is linear in the bodies between the frame and the root. Memory is
/// allocated at the first call with `data` only. All functions throw the same exceptions as those of
/// kinematics.hpp, and std::invalid_argument if a loop is a function that is no expression.
namespace kempe {

/// Computes the derivatives of frameVelocity() with respect to q and v.
/// @param dv_dq  output, 6 × model.nv()
/// @param J      output, likewise: frameJacobian(), which is the derivative with respect to v
template <typename T>
KEMPE_API void frameVelocityDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        VectorInOf<T> v, int frame, MatrixOutOf<T> dv_dq,
                                        MatrixOutOf<T> J,
                                        Reference reference = Reference::LocalWorldAligned);

/// Computes the derivatives of frameAcceleration() with respect to q, v and a: of the classical
/// acceleration in Reference::LocalWorldAligned, of the spatial one otherwise. At a = 0 they are
/// those of frameJacobianRate().
/// @param da_dq  output, 6 × model.nv()
/// @param da_dv  output, likewise
/// @param J      output, likewise: frameJacobian(), which is the derivative with respect to a
template <typename T>
KEMPE_API void frameAccelerationDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                            VectorInOf<T> v, VectorInOf<T> a, int frame,
                                            MatrixOutOf<T> da_dq, MatrixOutOf<T> da_dv,
                                            MatrixOutOf<T> J,
                                            Reference reference = Reference::LocalWorldAligned);

/// Computes J̇, the time derivative of frameJacobian() at velocities v; J̇ v is frameJacobianRate().
/// @param rate  output, 6 × model.nv()
template <typename T>
KEMPE_API void frameJacobianTimeDerivative(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                           VectorInOf<T> v, int frame, MatrixOutOf<T> rate,
                                           Reference reference = Reference::LocalWorldAligned);

}  // namespace kempe
