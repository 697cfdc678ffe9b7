#pragma once

#include "tables/tables.hpp"

namespace kempe::detail {

/// Precomputes values for the recursions from the rest of the tables: central inertias, the shapes
/// of clusters, and the sizes of scratch memory. The last step of filling in tables.
void findShapes(ModelTables<double>& tables);

}  // namespace kempe::detail
