#pragma once

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the derivatives of inverseDynamics() with respect to q, v and a.
///
/// Those with respect to q are along the tangent: column j is the derivative along
/// integrate(model, data, q, e_j, ε), with all loops closed on the way and v, a constant. Everything
/// that inverseDynamics() includes is differentiated: rotors, armatures, dampers, springs, gravity
/// and smooth friction (Mechanism::frictionSlipSpeed). Without a slip speed dry friction is constant
/// between changes of direction. External forces given in
/// Reference::Local turn with their frame; those in Reference::LocalWorldAligned keep their direction
/// and move with the frame's origin; those in Reference::World stay where they are.
///
/// Loops that are left cut are ignored, as in inverseDynamics(), and do not stay closed on the way.
///
/// Cost: linear in bodies plus the entries that are not zero; rows and columns of branches that do
/// not carry one another are exactly zero. Allocates memory at the first call with `data` only.
/// @param dtau_dq  output, model.nv() × model.nv()
/// @param dtau_dv  output, likewise
/// @param H        output, likewise: the mass matrix, which is the derivative with respect to a
///
/// Throws the same exceptions as inverseDynamics(), and std::invalid_argument if a loop is a function
/// that cannot be differentiated three times because it is no expression, or if options.method is
/// not Method::Cluster.
template <typename T>
KEMPE_API void inverseDynamicsDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                          VectorInOf<T> v, VectorInOf<T> a, MatrixOutOf<T> dtau_dq,
                                          MatrixOutOf<T> dtau_dv, MatrixOutOf<T> H,
                                          const DynamicsOptions& options = {});

/// Computes the derivative of gravityForces() with respect to q, along the tangent as above.
/// @param dtau_dq  output, model.nv() × model.nv()
///
/// Throws the same exceptions as gravityForces(), and std::invalid_argument if a loop is a function
/// that is no expression.
template <typename T>
KEMPE_API void gravityForcesDerivatives(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        MatrixOutOf<T> dtau_dq);

}  // namespace kempe
