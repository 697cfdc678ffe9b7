#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Throws ModelError where a velocity exists that moves no inertia, so that a force along it would
/// cause an infinite acceleration. Judged at the neutral position, before rotors are folded.
void checkThatFreedomsMoveInertia(const ModelImpl& model);

}  // namespace kempe::detail
