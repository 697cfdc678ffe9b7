#include "support/decompositions.hpp"

#include <Eigen/Dense>

namespace kempe::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Eigen does not solve for no columns.
template <typename Factors>
MatrixXd solution(const Factors& factors, const MatrixXd& B) {
  return B.cols() == 0 ? MatrixXd(factors.cols(), 0) : MatrixXd(factors.solve(B));
}

}  // namespace

VectorXd singularValues(const MatrixXd& A) {
  return Eigen::JacobiSVD<MatrixXd>(A).singularValues();
}

RightSingularVectors rightSingularVectors(const MatrixXd& A) {
  const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeFullV);
  return {svd.singularValues(), svd.matrixV()};
}

VectorXd eigenvalues(const MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

bool isPositiveDefinite(const MatrixXd& H) {
  return Eigen::LLT<MatrixXd>(H).info() == Eigen::Success;
}

MatrixXd choleskyFactorOf(const MatrixXd& H) {
  return Eigen::LLT<MatrixXd>(H).matrixL();
}

MatrixXd solveDefinite(const MatrixXd& H, const MatrixXd& B) {
  return solution(Eigen::LLT<MatrixXd>(H), B);
}

MatrixXd solveRegular(const MatrixXd& A, const MatrixXd& B) {
  return solution(Eigen::FullPivLU<MatrixXd>(A), B);
}

MatrixXd orthogonalized(const MatrixXd& A) {
  return Eigen::HouseholderQR<MatrixXd>(A).householderQ();
}

LeastNorm leastNorm(const MatrixXd& A, const MatrixXd& B, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
  solver.setThreshold(threshold);
  solver.compute(A);
  return {solution(solver, B), static_cast<int>(solver.rank())};
}

}  // namespace kempe::test
