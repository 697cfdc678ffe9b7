#include "support/decompositions.hpp"

#include <Eigen/Dense>

namespace kempe::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

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
  return Eigen::LLT<MatrixXd>(H).solve(B);
}

MatrixXd solveRegular(const MatrixXd& A, const MatrixXd& B) {
  return Eigen::FullPivLU<MatrixXd>(A).solve(B);
}

MatrixXd orthogonalized(const MatrixXd& A) {
  return Eigen::HouseholderQR<MatrixXd>(A).householderQ();
}

LeastNorm leastNorm(const MatrixXd& A, const MatrixXd& B, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
  solver.setThreshold(threshold);
  solver.compute(A);
  return {solver.solve(B), static_cast<int>(solver.rank())};
}

}  // namespace kempe::test
