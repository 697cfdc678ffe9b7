#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Throws std::invalid_argument if the dynamics of a model cannot be differentiated by the recursion
/// over clusters: a loop is a callback, which has no third derivatives, or is left cut.
void requireDifferentiable(const ModelImpl& impl);

}  // namespace kempe::detail
