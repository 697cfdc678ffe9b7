#pragma once

#include "model/tables.hpp"

namespace kempe::detail {

/// What the recursions want to have at hand, derived from the rest of the tables: central inertias,
/// the shapes of clusters, and the sizes of scratch. The last step of filling in tables.
void findShapes(ModelTables<double>& tables);

}  // namespace kempe::detail
