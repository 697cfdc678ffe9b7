#pragma once

#include <string>
#include <vector>

#include "loops/cluster_problem.hpp"

/// Warnings about what the analysis of a cluster found, for its author; empty where there is none.
namespace kempe::detail {

/// A start pose that the neutral position is far away from.
std::string startPoseWarning(const ClusterProblem& problem, const std::vector<double>& neutral);

/// A neutral position beyond limits.
std::string limitsWarning(const ClusterProblem& problem, const std::vector<double>& neutral);

/// Rows that are redundant only to the rounding of the numbers in the file. `phi` are all rows at the
/// neutral position.
std::string roundingWarning(const ClusterProblem& problem, const RowSelection& rows,
                            const std::vector<double>& phi);

/// Choices of independent coordinates that nobody asked for. Coordinates of flexible bodies count as
/// marked, but nobody marked them: they are left out.
std::vector<std::string> independentWarnings(const ClusterProblem& problem,
                                             const ColumnSelection& columns, int mobility);

}  // namespace kempe::detail
