#pragma once

#include <Eigen/Core>
#include <vector>

#include "loops/analysis.hpp"

/// Couplings of an explicit cluster: linear equations with constant coefficients.
namespace kempe::detail {

/// Throws ModelError where the couplings, whose rows are K, contradict each other.
void requireAgreement(const ClusterProblem& problem, const Eigen::MatrixXd& K);

/// q = G y + offset, and the neutral positions, where the independent ones are those of `start`.
/// `solution` has the independent and the dependent coordinates; `allRows` is K.
void writeExplicitSolution(const ClusterProblem& problem, const RowSelection& rows,
                           const Eigen::MatrixXd& allRows, const std::vector<double>& start,
                           ClusterSolution& solution);

}  // namespace kempe::detail
