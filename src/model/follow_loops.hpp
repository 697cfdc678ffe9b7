#pragma once

#include <span>

#include "model/model_impl.hpp"

namespace kempe::detail {

template <typename Tables>
std::span<const int> independentOf(const Tables& tables, const ClusterEntry& cluster) {
  return {tables.independent.data() + cluster.firstIndependent,
          static_cast<std::size_t>(cluster.nv)};
}

template <typename Tables>
std::span<const int> dependentOf(const Tables& tables, const ClusterEntry& cluster) {
  return {tables.dependent.data() + cluster.firstDependent, static_cast<std::size_t>(cluster.kept)};
}

/// Moves an implicit cluster from `base`: its independent DoFs by `tangent` (n numbers), the others
/// along their branch, predicted by `tangent`. The result is in data.loops.q. A long motion is
/// divided into parts of at most `part` radians or metres along the tangent. Overwrites data.g.
/// Throws AssemblyError if the loops do not allow the motion.
void followLoops(const ModelImpl& model, const ClusterEntry& cluster, DataImpl<double>& data,
                 const double* base, const double* tangent, double part);

}  // namespace kempe::detail
