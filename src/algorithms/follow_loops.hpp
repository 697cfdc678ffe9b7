#pragma once

#include <span>

#include "model/model_impl.hpp"

namespace kempe::detail {

inline std::span<const int> independentOf(const ModelTables<double>& tables,
                                          const ClusterEntry& cluster) {
  return {tables.independent.data() + cluster.firstIndependent,
          static_cast<std::size_t>(cluster.nv)};
}

inline std::span<const int> dependentOf(const ModelTables<double>& tables,
                                        const ClusterEntry& cluster) {
  return {tables.dependent.data() + cluster.firstDependent, static_cast<std::size_t>(cluster.kept)};
}

/// Moves an implicit cluster from `base` so that its independent DoFs go as `tangent` says (n
/// numbers) and the others follow on their branch, which `tangent` predicts; the result is in
/// data.loops.q. A long way goes in parts, none longer than `part` radians or metres along the
/// tangent. Overwrites data.g. Throws AssemblyError where the loops cannot follow.
void followLoops(const ModelImpl& model, const ClusterEntry& cluster, DataImpl<double>& data,
                 const double* base, const double* tangent, double part);

}  // namespace kempe::detail
