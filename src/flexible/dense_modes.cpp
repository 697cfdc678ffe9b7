#include "flexible/dense_modes.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace kempe::detail {
namespace {

using GeneralizedSolver = Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>;

Eigen::MatrixXd projected(const Eigen::MatrixXd& shapes, const Eigen::MatrixXd& matrix) {
  const Eigen::MatrixXd result = shapes.transpose() * matrix * shapes;
  return 0.5 * (result + result.transpose());
}

}  // namespace

Eigenmodes eigenmodes(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M, int rigid) {
  const Eigen::Index n = K.rows(), count = n - rigid;
  if (count <= 0) {
    return {Eigen::VectorXd(0), Eigen::MatrixXd(n, 0)};
  }
  // M φ = μ (K + σ M) φ: rounding errors are relative to the largest μ = 1 / (λ + σ), so that low
  // modes, which matter, are the most accurate. With σ near the lowest λ > 0, none is lost.
  Eigen::MatrixXd shifted = K;
  if (rigid > 0) {
    const Eigen::VectorXd estimate = GeneralizedSolver(K, M, Eigen::EigenvaluesOnly).eigenvalues();
    shifted += std::abs(estimate[rigid]) * M;
  }
  const GeneralizedSolver solver(M, shifted);
  Eigenmodes result{Eigen::VectorXd(count),
                    solver.eigenvectors().rowwise().reverse().rightCols(count)};
  for (Eigen::Index i = 0; i < count; ++i) {
    auto shape = result.shapes.col(i);
    shape /= std::sqrt(shape.dot(M * shape));
    result.values[i] = shape.dot(K * shape);
  }
  return result;
}

Eigenmodes innerModes(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M,
                      const RowPartition& partition, int rigid) {
  return eigenmodes(K(partition.inner, partition.inner), M(partition.inner, partition.inner),
                    rigid);
}

Eigenmodes craigBampton(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M,
                        const RowPartition& partition, const Eigenmodes& inner, int count,
                        int rigid) {
  const auto& [keptRows, innerRows] = partition;
  const auto kept = static_cast<Eigen::Index>(keptRows.size());
  if (kept == 0) {
    Eigenmodes result{inner.values.head(count), Eigen::MatrixXd::Zero(K.rows(), count)};
    result.shapes(innerRows, Eigen::all) = inner.shapes.leftCols(count);
    return result;
  }
  // Constraint modes: static displacements due to a unit displacement of a kept row,
  // K_ii Ψ = −K_ib.
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(K.rows(), kept + count);
  basis(keptRows, Eigen::seqN(0, kept)).setIdentity();
  if (!innerRows.empty()) {
    basis(innerRows, Eigen::seqN(0, kept)) = -Eigen::MatrixXd(K(innerRows, innerRows))
                                                  .llt()
                                                  .solve(Eigen::MatrixXd(K(innerRows, keptRows)));
    basis(innerRows, Eigen::seqN(kept, count)) = inner.shapes.leftCols(count);
  }
  Eigenmodes result = eigenmodes(projected(basis, K), projected(basis, M), rigid);
  result.shapes = basis * result.shapes;
  return result;
}

void orient(Eigen::Ref<Eigen::VectorXd> shape, int stride, int width) {
  double largest = 0.0;
  for (Eigen::Index i = 0; i < shape.size(); ++i) {
    largest = i % stride < width ? std::max(largest, std::abs(shape[i])) : largest;
  }
  // A pure rotation leaves rounding errors in the translations, if anything.
  if (largest <= 1e-9 * shape.cwiseAbs().maxCoeff()) {
    width = stride;
    largest = shape.cwiseAbs().maxCoeff();
  }
  for (Eigen::Index i = 0; i < shape.size(); ++i) {
    if (i % stride < width && std::abs(shape[i]) >= (1.0 - 1e-6) * largest) {
      if (shape[i] < 0.0) {
        shape = -shape;
      }
      return;
    }
  }
}

}  // namespace kempe::detail
