#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/flexible.hpp"

namespace kempe {

struct FiniteElementOptions {
  int modes = 6;  ///< number of modal coordinates, those of `interface` included
  /// The first node is clamped: the body's frame moves with it. The displacements of the others are
  /// represented exactly under static loads there (Craig and Bampton 1968). Empty: modes of the free
  /// body without its six rigid motions.
  std::vector<int> interface = {};
  double damping = 0.0;              ///< ratio to critical damping, of every mode
  std::vector<std::string> names{};  ///< of the nodes; "0", "1", … if not given
};

/// Reduces the matrices of a finite-element program to modes.
///
/// Each of the N nodes has six displacements in the body's axes: along x, y, z and about x, y, z.
/// Matrices are those of the free body, without supports. Modes have modal mass 1 and no shortening.
/// The integrals h_i and c_i are exact; J_i and those of pairs of modes are computed
/// from displacements and rotations of the nodes, turned with the body, and are as accurate as a
/// linear interpolation between nodes.
/// @param nodes      N × 3, positions in the body's frame
/// @param mass       6N × 6N, symmetric and positive definite
/// @param stiffness  6N × 6N, symmetric; zero for the six rigid motions, positive for all others
/// @throws ModelError if the matrices and options describe no flexible body
[[nodiscard]] KEMPE_API FlexibleBody reduceFiniteElements(
    std::string_view body, const Eigen::Ref<const Eigen::MatrixXd>& nodes,
    const Eigen::Ref<const Eigen::MatrixXd>& mass,
    const Eigen::Ref<const Eigen::MatrixXd>& stiffness, const FiniteElementOptions& options = {});
/// The same from sparse matrices, of which both triangles are stored.
[[nodiscard]] KEMPE_API FlexibleBody
reduceFiniteElements(std::string_view body, const Eigen::Ref<const Eigen::MatrixXd>& nodes,
                     const Eigen::Ref<const Eigen::SparseMatrix<double>>& mass,
                     const Eigen::Ref<const Eigen::SparseMatrix<double>>& stiffness,
                     const FiniteElementOptions& options = {});

}  // namespace kempe
