#pragma once

#include "kempe/configuration.hpp"
#include "kempe/model.hpp"

/// Positions of models with loops that are left cut. They are found by the dynamics under constraints.
namespace kempe::detail {

struct ConstraintTable;

/// The configuration nearest to q that closes the loops that are cut; those of clusters are closed
/// and stay so. Throws AssemblyError.
void closeCuts(const Model& model, Data& data, VectorIn q, VectorOut closed);

/// φ of the rows of loops that are cut.
void cutResidual(const Model& model, Data& data, VectorIn q, double* residual);

/// The velocity nearest to v, measured by inertia, that keeps the loops that are cut closed.
void projectOntoCuts(const Model& model, Data& data, VectorIn q, VectorOut v);

/// A closed configuration near Model::neutral(), within the limits if one is found. Throws
/// ModelError where none is found.
Eigen::VectorXd neutralWithCuts(const Model& model);

/// Puts a state onto the loops that are cut and the constraints of `table`, which may be null: the
/// nearest configuration, then the velocity after an impulse. Throws AssemblyError.
void projectState(const Model& model, Data& data, const ConstraintTable* table, double time,
                  VectorOut q, VectorOut v);

/// Throws AssemblyError if rows of those contradict each other at this state, in positions or
/// velocities, so that no motion satisfies them all. Accelerations show later in these; at a change
/// point, they contradict each other wherever the velocity is not along a branch.
void requireCompatible(const Model& model, Data& data, const ConstraintTable* table, double time,
                       VectorIn q, VectorIn v);

/// Whether the multipliers of cut loops are determined at Model::neutral().
bool cutForcesAreUnique(const Model& model);

}  // namespace kempe::detail
