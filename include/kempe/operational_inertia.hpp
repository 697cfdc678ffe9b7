#pragma once

#include <span>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Ω = J H⁻¹ Jᵀ of a set of frames (C-EFPA; Chignoli et al. 2023, §VIII-E): how forces on frames
/// accelerate frames, with J the frameJacobian() of each, one below the other.
///
/// Cost: linear in bodies, times the frames' depth. Allocates nothing once it has been called with
/// as many frames.
/// @param frames  their numbers (Model::frameIndex), k of them; may repeat
/// @param Omega   output, 6k × 6k, symmetric; rows and columns are [linear; angular] of each frame
///
/// Throws std::invalid_argument and SingularityError as inverseDynamics() does.
template <typename T>
KEMPE_API void inverseOperationalInertia(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                         std::span<const int> frames, MatrixOutOf<T> Omega,
                                         Reference reference = Reference::LocalWorldAligned,
                                         Method method = Method::Cluster);

}  // namespace kempe
