#pragma once

#include <Eigen/Core>
#include <vector>

#include "loops/selection.hpp"
#include "tables/tables.hpp"

/// Properties of the forces in a cluster's loops, determined when a model is compiled.
namespace kempe::detail {

/// Per loop: whether the motion determines its force. It does if no multipliers that
/// balance each other (λ ≠ 0, Kᵀ λ = 0) act on its rows. `samples` have all rows of the cluster.
std::vector<bool> uniqueForces(const ModelTables<double>& tables, const ClusterEntry& cluster,
                               const RowSelection& rows, const std::vector<RowSample>& samples);

/// The matrix, row-major with a column per dependent velocity, that maps the forces that the
/// couplings balance at the dependent joints to the forces along the couplings' coordinates:
/// (3) of loop_forces.hpp, constant because K is.
std::vector<double> couplingForces(const ModelTables<double>& tables, const ClusterEntry& cluster,
                                   const Eigen::MatrixXd& K, const std::vector<int>& dependent);

}  // namespace kempe::detail
