#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "flexible/matrix_checks.hpp"

namespace kempe::detail {

/// Whether a node or set moves exactly as one node does, which has rotations.
bool isNode(const FiniteElements& elements, const NodeSet& set);

/// The place of a node or set.
Eigen::RowVector3d placeOf(const FiniteElements& elements, const NodeSet& set);

/// Six rows by which the displacements of all nodes give those of a node or set, with the least
/// error. Nothing if the nodes of a set lie on a line, so that it has no rotation.
std::optional<Sparse> displacementsOf(const FiniteElements& elements, const NodeSet& set);

/// As displacementsOf() of a single node without rotations of its own: it turns with its neighbours.
Sparse displacementsAmongNeighbours(const FiniteElements& elements, int node);

/// Six rows among those of the nodes that, when held, prevent all rigid motions; fewer if there are
/// none.
std::vector<int> supports(const FiniteElements& elements);

/// Coordinates of a mesh in which interface nodes and sets have six of their own:
///
///   u = T x,   six of the x of a set are its displacements C u
///
/// The other displacements stay what they are. With C = [C_1 C_2], where C_1 are the six columns that
/// the set's displacements replace, u_1 = C_1⁻¹ (x_1 − C_2 u_2).
struct InterfaceCoordinates {
  Sparse T{};
  std::vector<std::vector<int>> rows{};  ///< of x, six for each node or set
};
InterfaceCoordinates interfaceCoordinates(const FiniteElements& elements,
                                          const std::vector<NodeSet>& interface);

}  // namespace kempe::detail
