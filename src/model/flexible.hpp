#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Fills the tables of flexible bodies, after their parts have been placed among the bodies.
void compileFlexibleBodies(ModelImpl& model);

/// Marks nodes on which nothing hangs and the massless bodies of modes, so that they are placed only
/// for frames and forces on them, after everything that needs them as bodies.
void foldParts(ModelImpl& model);

}  // namespace kempe::detail
