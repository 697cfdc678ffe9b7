#pragma once

#include <span>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Where frames are and how they move. A frame is a body or a joint, by its number
/// (Model::frameIndex); a joint's frame moves with its child.
///
/// Spatial vectors are [linear; angular], written as `reference` says. All functions throw
/// std::invalid_argument for wrong sizes and numbers that are not finite, SingularityError where a
/// loop is at a singular position, and allocate nothing.
namespace kempe {

/// Placements of all frames in the world, in the order of model.frameNames().
template <typename T>
KEMPE_API void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 std::span<Transform<std::type_identity_t<T>>> placements);

/// Placements, velocities and accelerations of all frames, the latter 6 × frames and as
/// frameVelocity() and frameAcceleration() give them.
template <typename T>
KEMPE_API void forwardKinematics(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, VectorInOf<T> a,
                                 std::span<Transform<std::type_identity_t<T>>> placements,
                                 MatrixOutOf<T> velocities, MatrixOutOf<T> accelerations,
                                 Reference reference = Reference::LocalWorldAligned);

/// Placement of one frame in the world.
template <typename T>
KEMPE_API Transform<T> framePlacement(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                      int frame);

/// Velocity of a frame, J v.
template <typename T>
KEMPE_API void frameVelocity(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                             VectorInOf<T> v, int frame, VectorOutOf<T> velocity,
                             Reference reference = Reference::LocalWorldAligned);

/// The rate of frameVelocity(): J a + J̇ v. In LocalWorldAligned that is the acceleration of the
/// frame's origin and the angular acceleration; in Local and World the spatial acceleration.
template <typename T>
KEMPE_API void frameAcceleration(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, VectorInOf<T> a, int frame,
                                 VectorOutOf<T> acceleration,
                                 Reference reference = Reference::LocalWorldAligned);

/// J of frameVelocity() in independent coordinates, through all loops; 6 × model.nv().
template <typename T>
KEMPE_API void frameJacobian(const Model& model, BasicData<T>& data, VectorInOf<T> q, int frame,
                             MatrixOutOf<T> J, Reference reference = Reference::LocalWorldAligned);

/// J̇ v: frameAcceleration() where a = 0.
template <typename T>
KEMPE_API void frameJacobianRate(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, int frame, VectorOutOf<T> rate,
                                 Reference reference = Reference::LocalWorldAligned);

}  // namespace kempe
