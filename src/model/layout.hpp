#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Last step of compiling: assigns each body and cluster its indices in the scratch memory of the
/// recursions, and collects the properties of joints that they need.
void layOut(ModelImpl& model);

}  // namespace kempe::detail
