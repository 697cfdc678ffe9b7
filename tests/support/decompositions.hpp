#pragma once

#include <Eigen/Core>

/// Eigen's decompositions, compiled once: each takes seconds in every file that uses it.
namespace kempe::test {

/// Descending.
Eigen::VectorXd singularValues(const Eigen::MatrixXd& A);
/// A = U S Vᵀ with V square.
struct RightSingularVectors {
  Eigen::VectorXd values;
  Eigen::MatrixXd V;
};
RightSingularVectors rightSingularVectors(const Eigen::MatrixXd& A);
/// Of a symmetric matrix, ascending.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& A);

bool isPositiveDefinite(const Eigen::MatrixXd& H);
/// L of H = L Lᵀ.
Eigen::MatrixXd choleskyFactorOf(const Eigen::MatrixXd& H);
/// H⁻¹ B of a positive definite H.
Eigen::MatrixXd solveDefinite(const Eigen::MatrixXd& H, const Eigen::MatrixXd& B);
/// A⁻¹ B of a regular A.
Eigen::MatrixXd solveRegular(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// An orthogonal matrix made of the columns of a square one.
Eigen::MatrixXd orthogonalized(const Eigen::MatrixXd& A);

/// The shortest X for which A X is nearest to B; pivots below `threshold` of the largest are zero.
struct LeastNorm {
  Eigen::MatrixXd X;
  int rank = 0;
};
LeastNorm leastNorm(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, double threshold);

}  // namespace kempe::test
