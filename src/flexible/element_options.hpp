#pragma once

#include <string_view>
#include <vector>

#include "flexible/matrix_checks.hpp"

namespace kempe::detail {

/// Throws a ModelError unless nodes, names and sets in the options fit a mesh of so many nodes.
void checkNodesOfOptions(std::string_view body, Eigen::Index nodes,
                         const FiniteElementOptions& options);

/// Throws a ModelError unless the options fit matrices of the right size.
void checkElementOptions(std::string_view body, const FiniteElements& elements,
                         const FiniteElementOptions& options);

/// The nodes and sets that become nodes of the body, with their names, which all differ.
std::vector<NodeSet> keptNodes(std::string_view body, const FiniteElements& elements,
                               const FiniteElementOptions& options);

}  // namespace kempe::detail
