#include "loops/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace kempe::detail {

Eigen::VectorXd singularValues(const Eigen::MatrixXd& A) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(A).singularValues();
}

LeftSingularVectors leftSingularVectors(const Eigen::MatrixXd& A) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(A, Eigen::ComputeFullU);
  return {svd.singularValues(), svd.matrixU()};
}

SymmetricEigen symmetricEigen(const Eigen::MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::MatrixXd solved(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  if (B.cols() == 0) {  // Eigen does not solve for no columns
    return B;
  }
  return Eigen::FullPivLU<Eigen::MatrixXd>(A).solve(B);
}

Eigen::VectorXd leastNormSolution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>(A).solve(b);
}

LeastNormSolution leastNormSolution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                    double threshold) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(threshold);
  decomposition.compute(A);
  return {decomposition.solve(b), static_cast<int>(decomposition.rank())};
}

Eigen::MatrixXd pseudoInverse(const Eigen::MatrixXd& A) {
  return Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>(A).pseudoInverse();
}

}  // namespace kempe::detail
