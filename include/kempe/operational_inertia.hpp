#pragma once

#include <span>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Computes the inverse operational-space inertia Ω = J H⁻¹ Jᵀ of a set of frames (C-EFPA; Chignoli
/// et al. 2023, §VIII-E), which maps forces on the frames to accelerations of the frames. J is the
/// stack of their frameJacobian().
///
/// Cost: linear in bodies, times the frames' depth. Allocates memory only on the first call with as
/// many frames.
/// @param frames  indices of k frames (Model::frameIndex); may contain duplicates
/// @param Omega   output, 6k × 6k, symmetric; rows and columns are [linear; angular] of each frame
///
/// Throws the same exceptions as inverseDynamics().
template <typename T>
KEMPE_API void inverseOperationalInertia(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                         std::span<const int> frames, MatrixOutOf<T> Omega,
                                         Reference reference = Reference::LocalWorldAligned,
                                         Method method = Method::Cluster);

}  // namespace kempe
