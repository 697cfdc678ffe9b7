#pragma once

#include <vector>

#include "model/model_impl.hpp"

/// Models of the same bodies, joints and loops with a few things changed, without the search for
/// closed configurations that compiling a mechanism takes.
namespace kempe::detail {

struct ModelChanges {
  /// Per cluster: its independent velocities, within the cluster, ascending; empty: as they are.
  std::vector<std::vector<int>> independent{};
  std::vector<double> addedArmature{};  ///< per joint of the mechanism; empty: none
  bool withoutFriction = false;         ///< no dry friction
};

/// Returns `from` with changes. The caller ensures that the coordinates determine the others.
ModelImpl derived(const ModelImpl& from, const ModelChanges& changes);

/// Computes all values that depend on the choice of coordinates, inertias, damping and friction:
/// the last part of compiling.
void finishTables(ModelImpl& model);

/// Fills in ModelImpl::clusters.
void describeClusters(ModelImpl& model);

/// A unique number by which Data identifies its model.
std::uint64_t nextModelId();

}  // namespace kempe::detail
