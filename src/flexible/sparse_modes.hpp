#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "flexible/dense_modes.hpp"

namespace kempe::detail {

using Sparse = Eigen::SparseMatrix<double>;

/// The rows and columns of a symmetric matrix that are listed in `rows`, and in `columns`.
Sparse part(const Sparse& matrix, const std::vector<int>& rows, const std::vector<int>& columns);

/// A factorization of a symmetric matrix, scaled so that its diagonal is 1.
class ScaledFactorization {
 public:
  explicit ScaledFactorization(const Sparse& matrix);

  /// The smallest of the numbers D in L D Lᵀ; zero or less unless the matrix is positive definite.
  [[nodiscard]] double smallestPivot() const;
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const;

 private:
  Eigen::VectorXd scale_;
  Eigen::SimplicialLDLT<Sparse> factorization_;
};

/// The lowest `count` solutions of K φ = λ M φ; K and M positive definite.
Eigenmodes lowestModes(const Sparse& K, const Sparse& M, int count);

/// The lowest `count` elastic modes of a free body, whose rigid motions are the columns of `rigid`:
/// `clamped` lists the rows that, when held, prevent them all.
Eigenmodes lowestFreeModes(const Sparse& K, const Sparse& M, const Eigen::MatrixXd& rigid,
                           const std::vector<int>& clamped, int count);

}  // namespace kempe::detail
