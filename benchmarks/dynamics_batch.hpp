#pragma once

#include <string>

#include "kempe/model.hpp"

namespace kempe::bench {

/// Registers method `cluster_batch`: many states in one call on one thread; items_per_second counts
/// states.
void registerBatch(const std::string& robot, const Model& model);

}  // namespace kempe::bench
