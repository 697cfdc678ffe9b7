#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Finds the clusters that their rotors can drive: those with as many rotors as freedoms, whose
/// rows of G can be solved for ẏ at the neutral configuration. Whether rotors are folded or not
/// makes no difference.
void findDrives(ModelImpl& model);

}  // namespace kempe::detail
