#pragma once

#include <optional>
#include <span>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Forces between bodies: what bearings, rods and gears are sized with. They come from what one
/// evaluation of the dynamics leaves behind (Jain, inter-body forces, eqs. 18 and 69), at a small
/// part of its cost.
///
/// A joint's force is what the parent does to the child, [force; moment], at the joint's origin on
/// the child. Motors, springs and gears that act along the joint are part of it: along the freedom
/// s of joint i, sᵀ f = τ_i + Σ (forces of couplings and functions on i) − resistance − armature q̈.
/// A folded rotor's force is that of its own joint.
///
/// A loop joint's or rod's force is what the predecessor does to the successor, [force; moment], at
/// the successor's frame or point. A coupling's or function's are the generalised forces along its
/// coordinates, in its order: of a gear, the torques on the two shafts.
///
/// Where a loop has redundant rows (Model::loops(), LoopInfo::forceIsUnique) its force is not
/// determined by the motion of rigid bodies. Of all forces that fit, those with the least sum of
/// squares of the loops' numbers are given (newton and newton metre alike), and the forces of the
/// cluster's tree joints go with them.
namespace kempe {

/// Where the forces τ of a cluster with loops act. It matters to nothing but what its loops carry.
enum class Actuation {
  Independent,  ///< at the independent joints
  /// At the rotors: geared motors. In clusters with as many rotors (bodies that turn about their
  /// axis of symmetry and carry nothing) as freedoms, ClusterInfo::rotorJoints, those forces there
  /// that come to the same τ; in the others at the independent joints.
  Rotors
};

/// What can be told beyond the state.
struct ForceOptions {
  std::span<const FrameForce> external{};
  /// Point and axes of wrenches, each of its own frame: a joint's is its child's, a loop joint's
  /// its successor's, a rod's that of the successor's body at the rod's end. Not given:
  /// LocalWorldAligned.
  std::optional<Reference> reference{};
  /// Write all wrenches at the origin and in the axes of this frame instead (Model::frameIndex).
  std::optional<int> frame{};
  Actuation actuation = Actuation::Independent;
  /// Forces at all tree joints that act beside τ, model.nvSpanning() (as generalizedForces() takes
  /// them); empty: none.
  std::span<const double> spanning{};
};

/// Forces of all tree joints in motion under `tau`.
///
/// Cost: that of forwardDynamics() and a fraction. Allocates nothing. One `data` per thread; `T` is
/// double or float.
/// @param forces  output, 6 × joints, in the order of model.jointNames()
///
/// Throws std::invalid_argument and SingularityError as forwardDynamics() does;
/// std::invalid_argument too where `reference` and `frame` are both given; SingularityError where
/// rotors are to act that cannot move their cluster at this position.
template <typename T>
KEMPE_API void jointForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                           VectorInOf<T> tau, MatrixOutOf<T> forces, const ForceOptions& how = {});

/// What all loops transmit in motion under `tau`; see jointForces().
/// @param forces  output, model.nLoopForces(); Model::loops() says which are whose
template <typename T>
KEMPE_API void loopForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                          VectorInOf<T> tau, VectorOutOf<T> forces, const ForceOptions& how = {});

/// forwardDynamics(), jointForces() and loopForces() from one evaluation. `a` may alias v or tau.
/// @param joints  output as of jointForces(), or of no size where not wanted
/// @param loops   output as of loopForces(), or of no size where not wanted
template <typename T>
KEMPE_API void forwardDynamicsAndForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        VectorInOf<T> v, VectorInOf<T> tau, VectorOutOf<T> a,
                                        MatrixOutOf<T> joints, VectorOutOf<T> loops,
                                        const ForceOptions& how = {});

/// The same of inverseDynamics(): the motion is given, `tau` is what it takes beside the external
/// and spanning forces; it may alias v or a.
template <typename T>
KEMPE_API void inverseDynamicsAndForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        VectorInOf<T> v, VectorInOf<T> a, VectorOutOf<T> tau,
                                        MatrixOutOf<T> joints, VectorOutOf<T> loops,
                                        const ForceOptions& how = {});

}  // namespace kempe
