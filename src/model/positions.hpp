#pragma once

#include <algorithm>

#include "model/model_impl.hpp"

/// Between the configuration q and the spanning positions of all tree joints.
namespace kempe::detail {

/// Spanning positions of a configuration, quaternions normalised.
void expandPositions(const ModelImpl& model, const double* q, double* positions);

/// The part of q that one cluster has, from the cluster's spanning positions.
template <typename Tables>
void contractPositions(const Tables& tables, const ClusterEntry& cluster,
                       const double* clusterPositions, double* q) {
  if (cluster.kind != ClusterKind::Explicit) {
    std::copy_n(clusterPositions, cluster.positions, q + cluster.firstQ);
    return;
  }
  const int* independent = tables.independent.data() + cluster.firstIndependent;
  for (int i = 0; i < cluster.nv; ++i) {
    q[cluster.firstQ + i] = clusterPositions[independent[i]];
  }
}

/// Texts for a cluster that cannot be closed, or is singular, at the given positions.
[[noreturn]] void throwAssemblyError(const ModelImpl& model, const ClusterEntry& cluster,
                                     const double* clusterPositions, double gap, int row);
[[noreturn]] void throwSingularityError(const ModelImpl& model, const ClusterEntry& cluster,
                                        const double* clusterPositions);

/// For a velocity that moves no inertia, or a spanning velocity of a method on the spanning tree.
[[noreturn]] void throwIndefiniteError(const ModelImpl& model, int velocity);
[[noreturn]] void throwSpanningIndefiniteError(const ModelImpl& model, int spanningVelocity);

/// For equations of motion whose solution has an estimated relative error that is not tolerable.
[[noreturn]] void throwIllConditionedError(double error);

/// For a cluster that its rotors should drive but cannot at the given positions.
[[noreturn]] void throwUndrivenError(const ModelImpl& model, const ClusterEntry& cluster,
                                     const double* clusterPositions);

}  // namespace kempe::detail
