#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Merges leaf bodies that turn about their own axis of symmetry into their parents. Such a body
/// looks the same at every angle, so its inertia is constant in the parent's frame; what is left of
/// it is its spin. Exact: no term is neglected.
void foldRotors(ModelImpl& model);

}  // namespace kempe::detail
