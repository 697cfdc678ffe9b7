#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Throws std::invalid_argument if a loop is a callback, whose derivatives of higher order are not
/// known. Loops that are left cut do not affect kinematics.
void requireExpressions(const ModelImpl& impl);

/// Throws std::invalid_argument if the dynamics of a model cannot be differentiated, because a loop,
/// one that is left cut among them, is a callback.
void requireDifferentiable(const ModelImpl& impl);
/// The same for constraints that are switched on.
void requireDifferentiable(const ConstraintTable& table);

}  // namespace kempe::detail
