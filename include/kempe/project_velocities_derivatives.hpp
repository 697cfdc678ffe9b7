#pragma once

#include "kempe/constraints.hpp"

namespace kempe {

/// Computes the derivatives of projectVelocities(), of the velocities after the impulse and of the
/// impulses Λ, with respect to q and v. Conventions as in constrainedForwardDynamicsDerivatives().
/// @param dprojected_dq  output, model.nv() × model.nv(); likewise dprojected_dv
/// @param dimpulses_dq   output, constraints.rows() × model.nv(); likewise dimpulses_dv
///
/// Throws the same exceptions as projectVelocities() and constrainedForwardDynamicsDerivatives().
KEMPE_API void projectVelocitiesDerivatives(const Model& model, Data& data,
                                            const Constraints& constraints, double time, VectorIn q,
                                            VectorIn v, MatrixOut dprojected_dq,
                                            MatrixOut dprojected_dv, MatrixOut dimpulses_dq,
                                            MatrixOut dimpulses_dv);

}  // namespace kempe
