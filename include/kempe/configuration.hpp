#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"
#include "kempe/types.hpp"

/// Configurations that close the loops, and the velocities that keep them closed.
///
/// Every function checks that its inputs have the right size and are finite (std::invalid_argument
/// names the argument) and allocates no memory unless it throws. Outputs may alias inputs of the
/// same size.
namespace kempe {

/// Closes the loops: keeps the independent positions and solves for the dependent ones by damped
/// Newton steps that start at q, so that the solution stays on the same branch (elbow up or down).
/// Loops that are left cut are closed by the smallest motion of the bodies that they connect.
/// @param q       configuration, model.nq(); need not close the loops
/// @param closed  output, model.nq(); loops closed to 1e-12
///
/// Throws AssemblyError if the loops cannot be closed from q or from starting points near it.
KEMPE_API void project(const Model& model, Data& data, VectorIn q, VectorOut closed);

/// Computes the configuration reached from q at constant velocity v after a time dt. The result
/// closes the loops to 1e-12 and has unit quaternions. Loops that are left cut are ignored: they
/// open if v opens them. Throws AssemblyError if the loops do not allow the whole motion.
KEMPE_API void integrate(const Model& model, Data& data, VectorIn q, VectorIn v, double dt,
                         VectorOut result);

/// Computes the constant velocity that leads from one configuration to another in unit time:
/// integrate(from, difference(from, to), 1) == to, if both are on the same branch.
KEMPE_API void difference(const Model& model, Data& data, VectorIn from, VectorIn to, VectorOut v);

/// Computes the spanning positions q_span and velocities q̇_span = G v: those of all tree joints,
/// the dependent ones included.
KEMPE_API void spanning(const Model& model, Data& data, VectorIn q, VectorIn v, VectorOut positions,
                        VectorOut velocities);
/// Computes the spanning positions only, which are defined in singular configurations too.
KEMPE_API void spanningPositions(const Model& model, Data& data, VectorIn q, VectorOut positions);

/// Returns G, the Jacobian from independent to spanning velocities: q̇_span = G v. This is NOT the
/// constraint matrix K of φ̇ = K q̇_span, which other libraries call the constraint Jacobian.
/// @param G  output, model.nvSpanning() × model.nv()
///
/// Throws SingularityError in singular configurations.
KEMPE_API void constraintJacobian(const Model& model, Data& data, VectorIn q, MatrixOut G);

/// Computes the bias acceleration g = Ġ v of q̈_span = G v̇ + g.
/// @param g  output, model.nvSpanning()
///
/// Throws SingularityError in singular configurations.
KEMPE_API void constraintBias(const Model& model, Data& data, VectorIn q, VectorIn v, VectorOut g);

/// Computes Ġ, the time derivative of constraintJacobian() at velocities v; Ġ v is constraintBias().
/// @param rate  output, model.nvSpanning() × model.nv()
///
/// Throws SingularityError in singular configurations, and std::invalid_argument for models with loops on
/// nodes of flexible bodies and with functions that are callbacks.
KEMPE_API void constraintJacobianRate(const Model& model, Data& data, VectorIn q, VectorIn v,
                                      MatrixOut rate);

/// Computes the loop closure error φ(q), one entry per constraint row of every loop (in metres,
/// radians or the unit of the constraint function). It is zero if the loops are closed.
/// @param residual  output, model.nLoopRows()
KEMPE_API void loopResidual(const Model& model, Data& data, VectorIn q, VectorOut residual);

}  // namespace kempe
