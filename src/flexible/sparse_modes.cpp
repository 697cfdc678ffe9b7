#include "flexible/sparse_modes.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace kempe::detail {
namespace {

using Apply = std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>;

// Up to this size, all solutions of the dense problem take less than a second.
constexpr Eigen::Index kMostlyAll = 300;

/// Numbers between −1 and 1, the same on every machine.
class StartVectors {
 public:
  Eigen::MatrixXd operator()(Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd result(rows, columns);
    for (double& number : result.reshaped()) {
      // A linear congruential generator (Knuth's MMIX); the high bits are the random ones.
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      number = static_cast<double>(state_ >> 11) * 0x1p-52 - 1.0;
    }
    return result;
  }

 private:
  std::uint64_t state_ = 1;
};

/// Largest solutions of A φ = μ φ, where A is symmetric in the inner product of M, by a block
/// Lanczos method with full orthogonalization (Golub and Underwood 1977). Blocks find the equal
/// frequencies of symmetric bodies. `project` removes what A maps to zero; `dimension` is A's rank.
Eigen::MatrixXd largestModes(const Apply& A, const Sparse& M, const Apply& project,
                             Eigen::Index dimension, int count) {
  constexpr Eigen::Index kBlock = 8;
  constexpr double kResidual = 1e-10;
  const Eigen::Index n = M.rows();
  StartVectors start;
  Eigen::MatrixXd Q(n, 0), H(0, 0);
  Eigen::MatrixXd next = project(start(n, std::min(kBlock, dimension)));
  while (true) {
    // Append `next` to the basis. Twice is enough for orthogonality up to rounding errors.
    const Eigen::Index before = Q.cols(), added = std::min(next.cols(), dimension - before);
    Q.conservativeResize(n, before + added);
    for (Eigen::Index i = before; i < Q.cols(); ++i) {
      Eigen::VectorXd x = next.col(i - before);
      const auto basis = Q.leftCols(i);
      const auto size = [&] { return std::sqrt(x.dot(M * x)); };
      for (int pass = 0; pass < 3; ++pass) {
        const double original = size();
        x -= basis * (basis.transpose() * (M * x));
        if (!(size() > 1e-10 * original)) {
          x = project(start(n, 1));  // it was in the span of the others
          pass = -1;
          continue;
        }
        x /= size();
      }
      Q.col(i) = x;
    }
    // Solve the problem projected on the basis; A maps all of it but the last block into it.
    const Eigen::Index end = Q.cols();
    const Eigen::MatrixXd W = A(Q.rightCols(added));
    const Eigen::MatrixXd fresh = Q.transpose() * (M * W);
    H.conservativeResize(end, end);
    H.rightCols(added) = fresh;
    H.bottomRows(added) = fresh.transpose();
    const Eigen::MatrixXd corner = H.bottomRightCorner(added, added);
    H.bottomRightCorner(added, added) = 0.5 * (corner + corner.transpose());
    next = W - Q * fresh;
    if (end < count) {
      continue;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(H);
    const Eigen::MatrixXd vectors = solver.eigenvectors().rowwise().reverse().leftCols(count);
    const Eigen::VectorXd values = solver.eigenvalues().reverse().head(count);
    const Eigen::MatrixXd residuals = next * vectors.bottomRows(added);
    const Eigen::VectorXd squares = (residuals.transpose() * (M * residuals)).diagonal();
    bool converged = true;
    for (Eigen::Index i = 0; i < count; ++i) {
      converged = converged && std::sqrt(std::max(squares[i], 0.0)) <= kResidual * values[i];
    }
    if (converged || end == dimension) {
      return Q * vectors;
    }
  }
}

Eigenmodes normalizedModes(const Sparse& K, const Sparse& M, const Eigen::MatrixXd& shapes) {
  Eigenmodes result{Eigen::VectorXd(shapes.cols()), shapes};
  for (Eigen::Index i = 0; i < shapes.cols(); ++i) {
    auto shape = result.shapes.col(i);
    shape /= std::sqrt(shape.dot(M * shape));
    result.values[i] = shape.dot(K * shape);
  }
  return result;
}

Eigenmodes firstOf(const Eigenmodes& modes, int count) {
  return {modes.values.head(count), modes.shapes.leftCols(count)};
}

}  // namespace

Sparse part(const Sparse& matrix, const std::vector<int>& rows, const std::vector<int>& columns) {
  std::vector<int> place(static_cast<std::size_t>(matrix.rows()), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    place[static_cast<std::size_t>(rows[i])] = static_cast<int>(i);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (Sparse::InnerIterator entry(matrix, columns[j]); entry; ++entry) {
      const int row = place[static_cast<std::size_t>(entry.row())];
      if (row >= 0) {
        entries.emplace_back(row, static_cast<int>(j), entry.value());
      }
    }
  }
  Sparse result(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns.size()));
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

ScaledFactorization::ScaledFactorization(const Sparse& matrix)
    : scale_(matrix.diagonal().cwiseSqrt().cwiseInverse()),
      factorization_(Sparse(scale_.asDiagonal() * matrix * scale_.asDiagonal())) {}

double ScaledFactorization::smallestPivot() const {
  if (factorization_.info() != Eigen::Success) {
    return 0.0;  // a pivot is exactly zero
  }
  return scale_.size() == 0 ? 1.0 : Eigen::VectorXd(factorization_.vectorD()).minCoeff();
}

Eigen::MatrixXd ScaledFactorization::solve(const Eigen::MatrixXd& right) const {
  const Eigen::MatrixXd scaled = scale_.asDiagonal() * right;
  const Eigen::MatrixXd solution = factorization_.solve(scaled);
  return scale_.asDiagonal() * solution;
}

Eigenmodes lowestModes(const Sparse& K, const Sparse& M, int count) {
  if (K.rows() <= kMostlyAll) {
    return firstOf(eigenmodes(Eigen::MatrixXd(K), Eigen::MatrixXd(M), 0), count);
  }
  const ScaledFactorization factorization(K);
  const Apply A = [&](const Eigen::MatrixXd& x) { return factorization.solve(M * x); };
  const Apply all = [](const Eigen::MatrixXd& x) { return x; };
  return normalizedModes(K, M, largestModes(A, M, all, K.rows(), count));
}

Eigenmodes lowestFreeModes(const Sparse& K, const Sparse& M, const Eigen::MatrixXd& rigid,
                           const std::vector<int>& clamped, int count) {
  if (K.rows() <= kMostlyAll) {
    return firstOf(eigenmodes(Eigen::MatrixXd(K), Eigen::MatrixXd(M), 6), count);
  }
  std::vector<int> held(static_cast<std::size_t>(K.rows()), 0), others;
  for (const int row : clamped) {
    held[static_cast<std::size_t>(row)] = 1;
  }
  for (int row = 0; row < K.rows(); ++row) {
    if (held[static_cast<std::size_t>(row)] == 0) {
      others.push_back(row);
    }
  }
  // Loads minus the inertia forces of the rigid acceleration that they cause are in equilibrium;
  // the body held anywhere then deflects as the free one does, but for a rigid motion:
  // A = P F Pᵀ M, P = 1 − R (Rᵀ M R)⁻¹ Rᵀ M (Craig and Kurdila 2006, §17.7).
  const Eigen::MatrixXd MR = M * rigid;
  const Eigen::LDLT<Eigen::MatrixXd> rigidMass(rigid.transpose() * MR);
  const Apply project = [&](const Eigen::MatrixXd& x) -> Eigen::MatrixXd {
    return x - rigid * rigidMass.solve(MR.transpose() * x);
  };
  const ScaledFactorization factorization(part(K, others, others));
  const Apply A = [&](const Eigen::MatrixXd& x) -> Eigen::MatrixXd {
    const Eigen::MatrixXd load = M * project(x);
    Eigen::MatrixXd deflection = Eigen::MatrixXd::Zero(x.rows(), x.cols());
    deflection(others, Eigen::all) = factorization.solve(load(others, Eigen::all));
    return project(deflection);
  };
  return normalizedModes(K, M, largestModes(A, M, project, K.rows() - 6, count));
}

}  // namespace kempe::detail
