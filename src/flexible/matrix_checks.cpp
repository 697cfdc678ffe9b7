#include "flexible/matrix_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "flexible/element_options.hpp"
#include "flexible/node_sets.hpp"
#include "kempe/errors.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

// Files hold as few as six digits.
constexpr double kRoundedNumbers = 1e-5;
// Pivots of scaled matrices: those of a slender beam of n elements are as small as 1 / n³, those of
// mechanisms and massless displacements are rounding errors.
constexpr double kZeroPivot = 1e-12;

constexpr std::array kDirections{"along x", "along y", "along z", "about x", "about y", "about z"};

std::string rowName(Eigen::Index row, Eigen::Index rowsPerNode) {
  return "node " + std::to_string(row / rowsPerNode) + " " +
         kDirections[static_cast<std::size_t>(row % rowsPerNode)];
}

/// Sizes, numbers, diagonals and symmetry; makes the matrix exactly symmetric.
void checkSymmetric(std::string_view body, const std::string& name, Sparse& matrix,
                    Eigen::Index nodes, Eigen::Index rowsPerNode) {
  const Eigen::Index n = rowsPerNode * nodes;
  if (matrix.rows() != n || matrix.cols() != n) {
    std::string expected = std::to_string(n) + " displacements";
    if (name == "mass") {
      expected += ", or " + std::to_string(3 * nodes) + " without rotations";
    }
    refuseFiniteElements(
        body, name + " is " + std::to_string(matrix.rows()) + " × " +
                  std::to_string(matrix.cols()) + ", but " +
                  counted(nodes, "node has ", "nodes have ") + expected +
                  "; give a square matrix with " +
                  (rowsPerNode == 3 ? "three rows for each node, along x, y, z, like mass"
                                    : "six rows for each node: along x, y, z and about x, y, z"));
  }
  for (Eigen::Index column = 0; column < n; ++column) {
    for (Sparse::InnerIterator entry(matrix, column); entry; ++entry) {
      if (!std::isfinite(entry.value())) {
        refuseFiniteElements(body, name + " holds " + shortNumber(entry.value()) + " in row " +
                                       std::to_string(entry.row()) + ", column " +
                                       std::to_string(column) + "; give finite numbers");
      }
    }
  }
  const Eigen::VectorXd diagonal = matrix.diagonal();
  for (Eigen::Index row = 0; row < n; ++row) {
    if (!(diagonal[row] > 0.0)) {
      refuseFiniteElements(
          body, name + " of " + rowName(row, rowsPerNode) + " is " + shortNumber(diagonal[row]) +
                    (name == "mass"
                         ? "; a mode must not move without mass: give a consistent mass matrix, or "
                           "lumped masses with rotational inertia"
                         : "; it must be positive: use elements that resist this displacement"));
    }
  }
  const Sparse transposed = matrix.transpose();
  const Sparse difference = matrix - transposed;
  for (Eigen::Index column = 0; column < n; ++column) {
    for (Sparse::InnerIterator entry(difference, column); entry; ++entry) {
      const Eigen::Index row = entry.row();
      if (std::abs(entry.value()) > kRoundedNumbers * std::sqrt(diagonal[row] * diagonal[column])) {
        refuseFiniteElements(
            body, name + " is not symmetric: row " + std::to_string(row) + ", column " +
                      std::to_string(column) + " holds " + shortNumber(matrix.coeff(row, column)) +
                      " and its mirror image " + shortNumber(matrix.coeff(column, row)) +
                      "; give both triangles of a symmetric matrix");
      }
    }
  }
  matrix = Sparse(0.5 * (matrix + transposed));
}

void checkMass(std::string_view body, const FiniteElements& elements) {
  if (!(ScaledFactorization(elements.mass).smallestPivot() > kZeroPivot)) {
    refuseFiniteElements(body,
                         "mass is not positive definite, so that some displacement moves no mass, "
                         "or less than none; give a consistent mass matrix, or lumped masses with "
                         "rotational inertia");
  }
  const Eigen::MatrixXd R = rigidMotions(elements.nodes, elements.rowsPerNode());
  const Eigen::MatrixXd rigid = R.transpose() * (elements.mass * R);
  const Eigen::Matrix3d linear = rigid.topLeftCorner<3, 3>(), mixed = rigid.topRightCorner<3, 3>();
  const double mass = linear.trace() / 3.0;
  const bool isotropic = (linear - mass * Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() <
                         10 * kRoundedNumbers * mass;
  const double turning = rigid.bottomRightCorner<3, 3>().trace();
  const bool skew = (mixed + mixed.transpose()).cwiseAbs().maxCoeff() <
                    10 * kRoundedNumbers * std::sqrt(mass * turning);
  if (!isotropic || !skew) {
    refuseFiniteElements(body, "mass is not that of a body: moving it along x, y and z moves " +
                                   shortNumber(linear(0, 0)) + ", " + shortNumber(linear(1, 1)) +
                                   " and " + shortNumber(linear(2, 2)) +
                                   " kg; order the rows node by node: along x, y, z and about x, "
                                   "y, z, in the axes of the node positions");
  }
}

void checkStiffness(std::string_view body, const FiniteElements& elements) {
  const Sparse& K = elements.stiffness;
  const Eigen::MatrixXd R = rigidMotions(elements.nodes, elements.rowsPerNode());
  const Eigen::VectorXd root = K.diagonal().cwiseSqrt();
  const Eigen::MatrixXd forces = K * R;
  for (Eigen::Index motion = 0; motion < 6; ++motion) {
    // The forces of a rigid motion are differences of large numbers; entries of the matrix are at
    // most the root of the product of their diagonal entries.
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(K.rows());
    for (Eigen::Index column = 0; column < K.cols(); ++column) {
      for (Sparse::InnerIterator entry(K, column); entry; ++entry) {
        largest[entry.row()] += root[entry.row()] * root[column] * std::abs(R(column, motion));
      }
    }
    for (Eigen::Index row = 0; row < K.rows(); ++row) {
      if (std::abs(forces(row, motion)) > kRoundedNumbers * largest[row]) {
        refuseFiniteElements(
            body, "stiffness resists the rigid motion " +
                      std::string(kDirections[static_cast<std::size_t>(motion)]) + " at " +
                      rowName(row, elements.rowsPerNode()) +
                      "; leave supports out of the matrices, and give node positions in the axes "
                      "and units of the matrices");
      }
    }
  }
  const std::vector<int> held = supports(elements);
  if (held.size() < 6) {
    refuseFiniteElements(body,
                         "the nodes lie on a line, about which nodes without rotations cannot "
                         "turn; use elements with rotations");
  }
  std::vector<int> others;
  for (int row = 0; row < K.rows(); ++row) {
    if (!std::ranges::binary_search(held, row)) {
      others.push_back(row);
    }
  }
  const double pivot = ScaledFactorization(part(K, others, others)).smallestPivot();
  if (pivot < -kZeroPivot) {
    refuseFiniteElements(body,
                         "stiffness is not positive semidefinite: some deformation has "
                         "negative energy; check how the matrix was assembled and written");
  }
  if (pivot < kZeroPivot) {
    refuseFiniteElements(body,
                         "stiffness has more than six zero-energy modes: besides rigid motions "
                         "the body moves without deforming; connect all its parts, or make them "
                         "bodies with joints");
  }
}

}  // namespace

void refuseFiniteElements(std::string_view body, const std::string& text) {
  throw ModelError("flexible body " + quoted(asUtf8(body)) + ": " + text);
}

std::string nameOf(const NodeSet& set) {
  return set.nodes.size() == 1 ? "node " + std::to_string(set.nodes.front())
                               : "set " + quoted(asUtf8(set.name));
}

Eigen::MatrixXd rigidMotions(const Eigen::MatrixXd& nodes, Eigen::Index rowsPerNode) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rowsPerNode * nodes.rows(), 6);
  for (Eigen::Index i = 0; i < nodes.rows(); ++i) {
    const double x = nodes(i, 0), y = nodes(i, 1), z = nodes(i, 2);
    result.block(rowsPerNode * i, 0, rowsPerNode, 6).setIdentity();
    result.block<3, 3>(rowsPerNode * i, 3) << 0, z, -y, -z, 0, x, y, -x, 0;  // unit axis × r
  }
  return result;
}

void checkMatrices(std::string_view body, FiniteElements& elements,
                   const FiniteElementOptions& options) {
  const Eigen::MatrixXd& nodes = elements.nodes;
  if (nodes.cols() != 3 || nodes.rows() < 1) {
    refuseFiniteElements(body, "nodes is " + std::to_string(nodes.rows()) + " × " +
                                   std::to_string(nodes.cols()) +
                                   "; give a row x, y, z for each node");
  }
  if (!nodes.allFinite()) {
    refuseFiniteElements(body, "a position in nodes is not finite; give finite numbers in m");
  }
  checkNodesOfOptions(body, nodes.rows(), options);
  const Eigen::Index rowsPerNode = elements.mass.rows() == 3 * nodes.rows() ? 3 : 6;
  checkSymmetric(body, "mass", elements.mass, nodes.rows(), rowsPerNode);
  checkSymmetric(body, "stiffness", elements.stiffness, nodes.rows(), rowsPerNode);
  checkElementOptions(body, elements, options);
  checkMass(body, elements);
  checkStiffness(body, elements);
}

}  // namespace kempe::detail
