#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"
#include "kempe/types.hpp"

/// Configurations that close their loops, and the velocities that keep them closed.
///
/// Every function checks sizes and finiteness of its input (std::invalid_argument names the
/// argument) and allocates nothing, unless it throws. Outputs may alias inputs of the same size.
namespace kempe {

/// Closes the loops: holds the independent positions and solves for the others by damped Newton
/// steps from where they are, so that the branch (elbow up or down) is kept. Loops that are left
/// cut are closed by the least motion of what they connect.
/// @param q       configuration, model.nq(); need not close the loops
/// @param closed  output, model.nq(); loops closed to 1e-12
///
/// Throws AssemblyError where the loops cannot be closed from q or from starts near it.
KEMPE_API void project(const Model& model, Data& data, VectorIn q, VectorOut closed);

/// The configuration reached from q by moving with the constant velocity v for a time dt; stays on
/// the loops (1e-12) and keeps quaternions of unit length. Loops that are left cut are not looked
/// at: they open by what v does to them. Throws AssemblyError where the motion leaves what the
/// loops allow.
KEMPE_API void integrate(const Model& model, Data& data, VectorIn q, VectorIn v, double dt,
                         VectorOut result);

/// The velocity that leads from one configuration to another in unit time:
/// integrate(from, difference(from, to), 1) == to, where they are on one branch.
KEMPE_API void difference(const Model& model, Data& data, VectorIn from, VectorIn to, VectorOut v);

/// Positions and velocities of all tree joints, loops cut: q_span and q̇_span = G v.
KEMPE_API void spanning(const Model& model, Data& data, VectorIn q, VectorIn v, VectorOut positions,
                        VectorOut velocities);
/// Positions alone: defined at singular positions too.
KEMPE_API void spanningPositions(const Model& model, Data& data, VectorIn q, VectorOut positions);

/// G of q̇_span = G v, nvSpanning × nv. Throws SingularityError at singular positions.
KEMPE_API void constraintJacobian(const Model& model, Data& data, VectorIn q, MatrixOut G);

/// g of q̈_span = G v̇ + g, nvSpanning. Throws SingularityError at singular positions.
KEMPE_API void constraintBias(const Model& model, Data& data, VectorIn q, VectorIn v, VectorOut g);

/// What is left open: one number per row of every loop (metres, radians or the function's unit),
/// nLoopRows. Zero where the loops are closed.
KEMPE_API void loopResidual(const Model& model, Data& data, VectorIn q, VectorOut residual);

}  // namespace kempe
