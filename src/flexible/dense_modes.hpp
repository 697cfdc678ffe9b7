#pragma once

#include <Eigen/Core>
#include <vector>

namespace kempe::detail {

/// Solutions of K φ = λ M φ by ascending λ; columns φ of `shapes` have φᵀ M φ = 1.
struct Eigenmodes {
  Eigen::VectorXd values{};
  Eigen::MatrixXd shapes{};
};

/// All solutions but the lowest `rigid` ones, whose λ is zero. M must be positive definite, and K
/// positive semidefinite of rank n − rigid.
Eigenmodes eigenmodes(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M, int rigid);

/// How the rows of K and M divide; rows in neither list are clamped.
struct RowPartition {
  std::vector<int> kept{};   ///< displacements that stay coordinates
  std::vector<int> inner{};  ///< displacements that follow them, and vibrate
};

/// Free vibrations of the inner displacements, while all others are held: the fixed-interface
/// normal modes.
Eigenmodes innerModes(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M,
                      const RowPartition& partition, int rigid);

/// Modes of the body reduced to constraint modes and the first `count` inner modes (Craig and
/// Bampton 1968), as rows of the full body; all but the `rigid` ones with λ = 0.
Eigenmodes craigBampton(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M,
                        const RowPartition& partition, const Eigenmodes& inner, int count,
                        int rigid);

/// Makes the largest element of a shape positive, among those of every `stride` rows from 0 on
/// below `width`: translations of nodes. Of elements equal but for rounding the first one counts;
/// if all are zero, the elements of all rows are considered.
void orient(Eigen::Ref<Eigen::VectorXd> shape, int stride, int width);

}  // namespace kempe::detail
