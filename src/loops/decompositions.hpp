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
/// The same with only as many columns of U as there are values, for a matrix with many rows.
LeftSingularVectors firstLeftSingularVectors(const Eigen::MatrixXd& A);

/// A = V diag(values) Vᵀ of a symmetric A.
struct SymmetricEigen {
  Eigen::VectorXd values;  ///< ascending
  Eigen::MatrixXd V;
};
SymmetricEigen symmetricEigen(const Eigen::MatrixXd& A);

/// A⁻¹ B of a regular A.
Eigen::MatrixXd solved(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// The shortest of the x for which A x is nearest to b.
Eigen::VectorXd leastNormSolution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// The same, where pivots of A below the fraction `threshold` of the largest count as zero, with
/// the number of the others.
struct LeastNormSolution {
  Eigen::VectorXd x;
  int rank = 0;
};
LeastNormSolution leastNormSolution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                    double threshold);
Eigen::MatrixXd pseudoInverse(const Eigen::MatrixXd& A);

}  // namespace kempe::detail
