#pragma once

#include <span>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Placements, velocities, accelerations and Jacobians of frames. A frame is a body or a joint,
/// given by its index (Model::frameIndex); the frame of a joint moves with its child.
///
/// Spatial vectors are [linear; angular], expressed as `reference` specifies. All functions throw
/// std::invalid_argument if an argument has the wrong size or is not finite, and SingularityError
/// if a loop is in a singular configuration. They allocate no memory.
namespace kempe {

/// Computes the placements of all frames in the world, in the order of model.frameNames().
template <typename T>
KEMPE_API void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 std::span<Transform<std::type_identity_t<T>>> placements);

/// Computes placements, velocities and accelerations of all frames. Velocities and accelerations
/// are 6 × frames, with columns as returned by frameVelocity() and frameAcceleration().
template <typename T>
KEMPE_API void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, VectorInOf<T> a,
                                 std::span<Transform<std::type_identity_t<T>>> placements,
                                 MatrixOutOf<T> velocities, MatrixOutOf<T> accelerations,
                                 Reference reference = Reference::LocalWorldAligned);

/// Returns the placement of one frame in the world.
template <typename T>
KEMPE_API Transform<T> framePlacement(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                      int frame);

/// Computes the velocity J v of a frame.
template <typename T>
KEMPE_API void frameVelocity(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                             VectorInOf<T> v, int frame, VectorOutOf<T> velocity,
                             Reference reference = Reference::LocalWorldAligned);

/// Computes the time derivative of frameVelocity(): J a + J̇ v. In LocalWorldAligned it is the
/// classical acceleration of the frame's origin and the angular acceleration; in Local and World
/// it is the spatial acceleration.
template <typename T>
KEMPE_API void frameAcceleration(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, VectorInOf<T> a, int frame,
                                 VectorOutOf<T> acceleration,
                                 Reference reference = Reference::LocalWorldAligned);

/// Computes the Jacobian J of frameVelocity() with respect to the independent velocities v, the
/// motion of all loops included; 6 × model.nv().
template <typename T>
KEMPE_API void frameJacobian(const Model& model, BasicData<T>& data, VectorInOf<T> q, int frame,
                             MatrixOutOf<T> J, Reference reference = Reference::LocalWorldAligned);

/// Computes J̇ v, which is frameAcceleration() at a = 0.
template <typename T>
KEMPE_API void frameJacobianRate(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, int frame, VectorOutOf<T> rate,
                                 Reference reference = Reference::LocalWorldAligned);

}  // namespace kempe
