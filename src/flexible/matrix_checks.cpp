#include "flexible/matrix_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

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

std::string rowName(Eigen::Index row) {
  return "node " + std::to_string(row / 6) + " " + kDirections[static_cast<std::size_t>(row % 6)];
}

/// Sizes, numbers, diagonals and symmetry; makes the matrix exactly symmetric.
void checkSymmetric(std::string_view body, const std::string& name, Sparse& matrix,
                    Eigen::Index nodes) {
  const Eigen::Index n = 6 * nodes;
  if (matrix.rows() != n || matrix.cols() != n) {
    refuseFiniteElements(body,
                         name + " is " + std::to_string(matrix.rows()) + " × " +
                             std::to_string(matrix.cols()) + ", but " +
                             counted(static_cast<std::size_t>(nodes), "node has ", "nodes have ") +
                             std::to_string(n) +
                             " displacements; give a square matrix with six rows for each "
                             "node: along x, y, z and about x, y, z");
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
          body, name + " of " + rowName(row) + " is " + shortNumber(diagonal[row]) +
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
  const Eigen::MatrixXd R = rigidMotions(elements.nodes);
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

void checkStiffness(std::string_view body, const FiniteElements& elements, int clampedNode) {
  const Sparse& K = elements.stiffness;
  const Eigen::MatrixXd R = rigidMotions(elements.nodes);
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
                      rowName(row) +
                      "; leave supports out of the matrices, and give node positions in the axes "
                      "and units of the matrices");
      }
    }
  }
  std::vector<int> others;
  for (int row = 0; row < K.rows(); ++row) {
    if (row / 6 != clampedNode) {
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
    refuseFiniteElements(body, "stiffness has more than six zero-energy modes: with node " +
                                   std::to_string(clampedNode) +
                                   " held, the body still moves without deforming; connect all "
                                   "its parts, or make them bodies with joints");
  }
}

}  // namespace

void refuseFiniteElements(std::string_view body, const std::string& text) {
  throw ModelError("flexible body " + quoted(asUtf8(body)) + ": " + text);
}

Eigen::MatrixXd rigidMotions(const Eigen::MatrixXd& nodes) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(6 * nodes.rows(), 6);
  for (Eigen::Index i = 0; i < nodes.rows(); ++i) {
    const double x = nodes(i, 0), y = nodes(i, 1), z = nodes(i, 2);
    result.block<6, 6>(6 * i, 0).setIdentity();
    result.block<3, 3>(6 * i, 3) << 0, z, -y, -z, 0, x, y, -x, 0;  // columns: unit axis × r
  }
  return result;
}

void checkFiniteElementOptions(std::string_view body, Eigen::Index nodes,
                               const FiniteElementOptions& options) {
  if (options.modes < 1) {
    refuseFiniteElements(body, "modes is " + std::to_string(options.modes) +
                                   "; give at least 1, or make the body rigid");
  }
  if (!(options.damping >= 0.0) || !std::isfinite(options.damping)) {
    refuseFiniteElements(body, "damping is " + shortNumber(options.damping) +
                                   "; give a ratio to critical damping of zero or more, such as "
                                   "0.01");
  }
  std::vector<bool> taken(static_cast<std::size_t>(nodes), false);
  for (const int node : options.interface) {
    if (node < 0 || node >= nodes) {
      refuseFiniteElements(body, "interface names node " + std::to_string(node) +
                                     ", which does not exist; nodes are numbered from 0 to " +
                                     std::to_string(nodes - 1));
    }
    if (taken[static_cast<std::size_t>(node)]) {
      refuseFiniteElements(body,
                           "interface names node " + std::to_string(node) + " twice; name it once");
    }
    taken[static_cast<std::size_t>(node)] = true;
  }
  if (!options.names.empty() && options.names.size() != static_cast<std::size_t>(nodes)) {
    refuseFiniteElements(body, "names holds " + std::to_string(options.names.size()) +
                                   " names for " + std::to_string(nodes) +
                                   " nodes; give one for each node, or none");
  }
  std::vector<std::string> names = options.names;
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    refuseFiniteElements(
        body, "two nodes are named " + quoted(asUtf8(*twice)) + "; give each another name");
  }
  const int kept = std::max(0, static_cast<int>(options.interface.size()) - 1);
  const int available = static_cast<int>(6 * nodes) - 6;
  if (options.modes > available) {
    refuseFiniteElements(
        body, "modes is " + std::to_string(options.modes) + ", but " +
                  counted(static_cast<std::size_t>(nodes), "node has ", "nodes have ") +
                  std::to_string(available) + " besides the rigid motions; give fewer modes");
  }
  if (options.modes < 6 * kept) {
    refuseFiniteElements(body, "modes is " + std::to_string(options.modes) +
                                   ", but the nodes of interface after the first take " +
                                   std::to_string(6 * kept) +
                                   "; give at least that many modes or fewer interface nodes");
  }
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
  checkFiniteElementOptions(body, nodes.rows(), options);
  checkSymmetric(body, "mass", elements.mass, nodes.rows());
  checkSymmetric(body, "stiffness", elements.stiffness, nodes.rows());
  checkMass(body, elements);
  checkStiffness(body, elements, options.interface.empty() ? 0 : options.interface.front());
}

}  // namespace kempe::detail
