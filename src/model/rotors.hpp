#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Finds the clusters that their rotors can drive: those with as many rotors as DoFs, whose
/// rows of G can be solved for ẏ at the neutral configuration. Whether rotors are folded or not
/// makes no difference.
void findDrives(ModelImpl& model);

/// What forces between bodies need of the folded rotors, after layOut.
void listRotors(ModelTables<double>& tables);

}  // namespace kempe::detail
