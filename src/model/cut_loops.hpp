#pragma once

#include <vector>

#include "mechanism/clusters.hpp"

namespace kempe::detail {

struct ModelImpl;

/// Puts loops that are left cut into ModelImpl::cuts, and their names where names of loops are.
void compileCuts(const std::vector<LoopRef>& cut, ModelImpl& model);

/// Puts all loops, those of clusters and those that are left cut, into SpanningTree::loops.
void listAllLoops(ModelImpl& model);

}  // namespace kempe::detail
