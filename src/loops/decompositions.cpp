#include "loops/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

namespace kempe::detail {

namespace {

/// Jacobi's method costs more with every sweep over a large matrix, and is more accurate for the
/// small ones.
constexpr Eigen::Index kLargest = 32;

template <typename Use>
auto decompose(const Eigen::MatrixXd& A, unsigned options, const Use& use) {
  if (std::min(A.rows(), A.cols()) <= kLargest) {
    return use(Eigen::JacobiSVD<Eigen::MatrixXd>(A, options));
  }
  return use(Eigen::BDCSVD<Eigen::MatrixXd>(A, options));
}

LeftSingularVectors withLeftVectors(const Eigen::MatrixXd& A, unsigned options) {
  return decompose(A, options, [](const auto& svd) -> LeftSingularVectors {
    return {svd.singularValues(), svd.matrixU()};
  });
}

}  // namespace

Eigen::VectorXd singularValues(const Eigen::MatrixXd& A) {
  return decompose(A, 0, [](const auto& svd) -> Eigen::VectorXd { return svd.singularValues(); });
}

LeftSingularVectors leftSingularVectors(const Eigen::MatrixXd& A) {
  return withLeftVectors(A, Eigen::ComputeFullU);
}

LeftSingularVectors firstLeftSingularVectors(const Eigen::MatrixXd& A) {
  return withLeftVectors(A, Eigen::ComputeThinU);
}

SymmetricEigen symmetricEigen(const Eigen::MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::MatrixXd solved(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  if (B.size() == 0) {  // Eigen solves neither no equations nor for no columns
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
