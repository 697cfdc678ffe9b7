#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Throws std::invalid_argument if the dynamics of a model cannot be differentiated, because a loop is
/// a callback, which has no third derivatives.
void requireDifferentiable(const ModelImpl& impl);
/// The same for constraints that are switched on.
void requireDifferentiable(const ConstraintTable& table);

}  // namespace kempe::detail
