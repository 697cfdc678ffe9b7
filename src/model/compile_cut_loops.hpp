#pragma once

#include "constraints/table.hpp"

namespace kempe::detail {

struct ModelImpl;

/// Fills in ModelImpl::cuts, and appends the names of the loops where those of clusters are.
void compileCuts(ModelImpl& model);

/// All loops, those of clusters and those that are left cut, for a tree with the tables `spanning`.
ConstraintTable allLoops(const ModelImpl& model, const ModelTables<double>& spanning);

}  // namespace kempe::detail
