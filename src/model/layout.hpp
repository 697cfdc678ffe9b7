#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Last step of compiling: where each body and cluster has its place in the scratch memory of the
/// recursions, and what they need to know of the joints.
void layOut(ModelImpl& model);

}  // namespace kempe::detail
