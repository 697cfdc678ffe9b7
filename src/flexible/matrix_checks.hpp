#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flexible/sparse_modes.hpp"
#include "kempe/finite_elements.hpp"

namespace kempe::detail {

/// Matrices of a finite-element program; those that checkMatrices() accepts are symmetric.
struct FiniteElements {
  Eigen::MatrixXd nodes{};  ///< N × 3
  Sparse mass{}, stiffness{};

  /// Displacements of a node: 6, or 3 if nodes have no rotation.
  [[nodiscard]] Eigen::Index rowsPerNode() const { return mass.rows() / nodes.rows(); }
};

/// Columns: displacements of the nodes as the body moves along x, y, z and turns about the origin.
Eigen::MatrixXd rigidMotions(const Eigen::MatrixXd& nodes, Eigen::Index rowsPerNode);

/// How messages call a node or set.
std::string nameOf(const NodeSet& set);

/// Throws a ModelError unless the matrices are those of a free body in space. Removes differences of
/// rounding between the two triangles.
void checkMatrices(std::string_view body, FiniteElements& elements,
                   const FiniteElementOptions& options);

[[noreturn]] void refuseFiniteElements(std::string_view body, const std::string& text);

}  // namespace kempe::detail
