#pragma once

#include "algorithms/constraint_solver.hpp"
#include "tables/term_request.hpp"

namespace kempe::detail {

/// Where derivatives with respect to q, v and τ go; those of multipliers may be null.
template <typename T>
struct ConstrainedDerivativeOutputs {
  MatrixAt<T> accelerations[3];  ///< nv × nv
  MatrixAt<T> multipliers[3];    ///< rows of all constraints beside the cut loops × nv
};

/// Derivatives of forward dynamics under the constraints that the solver has been given; arguments as
/// for constrainedAccelerations(). Throws SingularityError where they are not defined.
template <typename T>
ConstraintReport differentiateConstrained(ConstraintSolver<T>& solver, double time,
                                          double stabilization, const T* q, const T* v,
                                          const T* tau, const ExternalForces<T, T>& external,
                                          const ConstrainedDerivativeOutputs<T>& outputs);

/// Where derivatives with respect to q and v go.
struct ProjectionDerivativeOutputs {
  MatrixAt<double> positions;      ///< by q, nv × nv; may be null
  MatrixAt<double> velocities[2];  ///< nv × nv
  MatrixAt<double> impulses[2];    ///< rows of `table` × nv; may be null
};

/// Derivatives of the impulse that takes v onto the loops that are cut and the constraints of `table`,
/// which may be null, and of the least motion, measured by inertia, that takes positions there, at a
/// q that is there. Throws SingularityError where they are not defined.
void differentiateProjection(const Model& model, Data& data, const ConstraintTable* table,
                             double time, VectorIn q, VectorIn v,
                             const ProjectionDerivativeOutputs& outputs);

}  // namespace kempe::detail
