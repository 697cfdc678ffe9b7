#pragma once

#include <optional>
#include <span>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Reaction forces in joints and loops, for sizing bearings, rods and gears. They are computed from
/// the intermediate results of one evaluation of the dynamics (Jain, inter-body forces, eqs. 18 and
/// 69), at a small part of its cost.
///
/// The force of a joint is the wrench [force; moment] that the parent exerts on the child, at the
/// joint's origin on the child. It includes motors, springs and gears that act along the joint:
/// along the degree of freedom (DoF) s of joint i, sᵀ f = τ_i + Σ (forces of couplings and
/// functions on i) − damping and friction − armature q̈. The force of a folded rotor is that of its
/// own joint.
///
/// The force of a loop joint or rod is the wrench [force; moment] that the predecessor exerts on
/// the successor, at the successor's frame or point. The forces of a coupling or function are the
/// generalised forces along its coordinates, in the order of these: for a gear, the torques on the
/// two shafts.
///
/// If a loop has redundant rows (Model::loops(), LoopInfo::forceIsUnique), the motion of rigid
/// bodies does not determine its force. The functions then return the solution with the least sum
/// of squares of the loop forces (newtons and newton metres weighted equally), and the forces of
/// the cluster's tree joints that are consistent with it.
namespace kempe {

/// Joints at which the forces τ of a cluster with loops act. The choice affects the forces within
/// the cluster only, not the motion.
enum class Actuation {
  Independent,  ///< at the independent joints
  /// At the rotors (geared motors). In a cluster with as many rotors (bodies that turn about their
  /// axis of symmetry and carry no other body) as DoFs, the equivalent torques act at
  /// ClusterInfo::rotorJoints; in other clusters τ acts at the independent joints.
  Rotors
};

/// Options of the functions that compute joint and loop forces.
struct ForceOptions {
  std::span<const FrameForce> external{};
  /// Reference point and axes of each wrench, relative to its own frame: the child's frame for a
  /// joint, the successor's for a loop joint, that of the successor's body at the rod's end for a
  /// rod. Default: LocalWorldAligned.
  std::optional<Reference> reference{};
  /// Express all wrenches at the origin and in the axes of this frame instead (Model::frameIndex).
  std::optional<int> frame{};
  Actuation actuation = Actuation::Independent;
  /// Additional forces at all tree joints, model.nvSpanning(), as for generalizedForces(); empty:
  /// none.
  std::span<const double> spanning{};
};

/// Computes the forces of all tree joints during the motion under the generalised forces `tau`.
///
/// Cost: slightly more than forwardDynamics(). Allocates no memory. Use one `data` per thread; `T`
/// is double or float.
/// @param forces  output, 6 × joints, in the order of model.jointNames()
///
/// Throws the same exceptions as forwardDynamics(); also std::invalid_argument if both `reference`
/// and `frame` are given, and SingularityError if `actuation` is Rotors and the rotors cannot move
/// their cluster in this configuration.
template <typename T>
KEMPE_API void jointForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                           VectorInOf<T> tau, MatrixOutOf<T> forces, const ForceOptions& how = {});

/// Computes the forces of all loops during the motion under `tau`; see jointForces().
/// @param forces  output, model.nLoopForces(); Model::loops() gives the entries of each loop
template <typename T>
KEMPE_API void loopForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                          VectorInOf<T> tau, VectorOutOf<T> forces, const ForceOptions& how = {});

/// Computes forwardDynamics(), jointForces() and loopForces() in one evaluation. `a` may alias v or
/// tau.
/// @param joints  output as in jointForces(); pass an empty matrix if not needed
/// @param loops   output as in loopForces(); pass an empty vector if not needed
template <typename T>
KEMPE_API void forwardDynamicsAndForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        VectorInOf<T> v, VectorInOf<T> tau, VectorOutOf<T> a,
                                        MatrixOutOf<T> joints, VectorOutOf<T> loops,
                                        const ForceOptions& how = {});

/// Computes inverseDynamics(), jointForces() and loopForces() in one evaluation: `tau` are the
/// generalised forces that the motion requires in addition to the external and spanning forces. It
/// may alias v or a.
template <typename T>
KEMPE_API void inverseDynamicsAndForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        VectorInOf<T> v, VectorInOf<T> a, VectorOutOf<T> tau,
                                        MatrixOutOf<T> joints, VectorOutOf<T> loops,
                                        const ForceOptions& how = {});

}  // namespace kempe
