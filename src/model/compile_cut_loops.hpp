#pragma once

#include "tables/tables.hpp"

namespace kempe::detail {

struct ModelImpl;

/// Fills in ModelImpl::cuts, and appends the names of the loops where those of clusters are.
void compileCuts(ModelImpl& model);

/// Puts all loops, those of clusters and those that are left cut, into SpanningTree::loops;
/// `spanning` has the tables of that tree.
void listAllLoops(ModelImpl& model, const ModelTables<double>& spanning);

}  // namespace kempe::detail
