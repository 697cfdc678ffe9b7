#pragma once

#include <Eigen/Core>

/// Dense matrices taken apart. Here and not where they are needed, because each of Eigen's
/// decompositions takes seconds to compile. All of this is for set-up and for errors.
namespace kempe::detail {

/// Descending.
Eigen::VectorXd singularValues(const Eigen::MatrixXd& A);

/// A = U S Vᵀ with U square.
struct LeftSingularVectors {
  Eigen::VectorXd values;  ///< descending
  Eigen::MatrixXd U;
};
LeftSingularVectors leftSingularVectors(const Eigen::MatrixXd& A);

/// A⁻¹ B of a regular A.
Eigen::MatrixXd solved(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// The shortest of the x for which A x is nearest to b.
Eigen::VectorXd leastNormSolution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// The same, where pivots of A below the fraction `threshold` of the largest count as zero.
Eigen::VectorXd leastNormSolution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                  double threshold);
Eigen::MatrixXd pseudoInverse(const Eigen::MatrixXd& A);

}  // namespace kempe::detail
