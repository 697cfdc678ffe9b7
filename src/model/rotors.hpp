#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Finds the clusters that their rotors can drive: those with as many rotors as DoFs, whose
/// rows of G can be solved for ẏ at the neutral configuration. Whether rotors are folded or not
/// makes no difference.
void findDrives(ModelImpl& model);

/// Lists the data of folded rotors that forces between bodies need, after layOut.
void listRotors(ModelTables<double>& tables);

}  // namespace kempe::detail
