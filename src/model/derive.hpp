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
};

/// `from`, changed. Whether the coordinates determine the others is for the caller to know.
ModelImpl derived(const ModelImpl& from, const ModelChanges& changes);

/// Sets all that follows from the choice of coordinates, inertias and resistances: the last part of
/// compiling.
void finishTables(ModelImpl& model);

/// Fills in ModelImpl::clusters.
void describeClusters(ModelImpl& model);

/// A number by which Data knows its model.
std::uint64_t nextModelId();

}  // namespace kempe::detail
