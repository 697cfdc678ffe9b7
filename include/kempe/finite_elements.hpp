#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kempe/flexible.hpp"

namespace kempe {

/// A node of a mesh, or a set of nodes such as those of a flange. A set is a node of the body at the
/// mean of its nodes; it moves as the rigid body that fits their displacements best, in the sense of
/// least squares with equal weights.
struct NodeSet {
  std::string name{};  ///< of a single node: may be empty
  std::vector<int> nodes{};

  NodeSet() = default;
  NodeSet(int node) : nodes{node} {}
  NodeSet(std::string_view nodeName, int node) : name(nodeName), nodes{node} {}
  NodeSet(std::string_view setName, std::vector<int> members)
      : name(setName), nodes(std::move(members)) {}
};

struct FiniteElementOptions {
  int modes = 6;  ///< number of modal coordinates, those of `interface` included
  /// The first node or set is held: the body's frame moves with it. The displacements of the others
  /// are represented exactly under static loads there (Craig and Bampton 1968). Empty: modes of the
  /// free body without its six rigid motions. Without rotations of nodes, give sets of three or more.
  std::vector<NodeSet> interface = {};
  double damping = 0.0;              ///< ratio to critical damping, of every mode
  std::vector<std::string> names{};  ///< of the nodes; "0", "1", … if not given
  /// What becomes nodes of the body besides `interface`, to attach to. All nodes of the mesh if not
  /// given: of a large one list those that matter, because each of them costs memory and time.
  std::optional<std::vector<NodeSet>> keep{};
};

/// Reduces the matrices of a finite-element program to modes.
///
/// Each of the N nodes has six displacements in the body's axes, along x, y, z and about x, y, z; or
/// three, along x, y, z, as in meshes of solid elements. A node of the latter turns as the rigid body
/// does that fits best its displacement and those of the nodes to which elements connect it.
///
/// Matrices are those of the free body, without supports. Modes have modal mass 1 and no shortening.
/// The integrals h_i and c_i are exact; J_i and those of pairs of modes are computed
/// from displacements and rotations of the nodes, turned with the body, and are as accurate as a
/// linear interpolation between nodes.
/// @param nodes      N × 3, positions in the body's frame
/// @param mass       6N × 6N or 3N × 3N, symmetric and positive definite
/// @param stiffness  likewise, symmetric; zero for the six rigid motions, positive for all others
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
