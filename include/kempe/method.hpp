#pragma once

#include <array>
#include <span>

namespace kempe {

/// Alternative methods to compute the dynamics (Chignoli et al. 2023, section II). All except
/// Approximate and Unconstrained are exact; all except Cluster exist for comparison. Each exploits
/// the sparsity due to the tree and, unless stated otherwise, allocates no memory.
enum class Method {
  /// Recursion over clusters: the recommended method.
  Cluster,
  /// Projection of the spanning tree (all joints, loops cut): ÿ = (GᵀHG)⁻¹ (τ − Gᵀ(c + Hg)), with H
  /// by CRBA, c + Hg by RNEA, and GᵀHG factored along the tree of clusters.
  Projection,
  /// The spanning tree with a Lagrange multiplier for each loop row that is not redundant: H is
  /// factored along the tree, then K H⁻¹ Kᵀ.
  Lagrange,
  /// Recursion over the spanning tree with a multiplier for each loop row, from the recursively
  /// computed operational-space matrix at the cuts (Jain 2011, §11.3); the mass matrix is not
  /// formed. Massless bodies that only their loop can move are given a small inertia, whose effect
  /// is removed by iteration.
  CutJoint,
  /// Absolute coordinates: every body is free, and multipliers enforce all joints and loops. For
  /// forward dynamics only, and only if every body has its own inertia. Allocates memory.
  Absolute,
  /// The independent tree with reflected inertia. The independent tree has, from each cluster, as
  /// many joints as the cluster has degrees of freedom (DoFs), and the bodies that they carry; the
  /// other bodies are dropped with their inertia. The inertia of dropped rotors and the armatures
  /// of dropped joints are added to the diagonal: Σ J r², where r is the ratio between the joints
  /// (for loops, the ratio at the neutral configuration). Damping, friction and springs of dropped
  /// joints are ignored. Throws std::invalid_argument if a dropped body carries others, since the
  /// model then has no such tree, or if an external force acts on a dropped body; the message names
  /// the body.
  Approximate,
  /// The independent tree without reflected inertia.
  Unconstrained,
};

/// The reference point and axes in which spatial vectors of a frame are expressed. All vectors are
/// [linear; angular] or [force; moment].
enum class Reference {
  LocalWorldAligned,  ///< at the frame's origin, axes of the world
  Local,              ///< at the frame's origin, axes of the frame
  World               ///< at the world's origin, axes of the world
};

/// An external force on the body that carries a frame.
struct FrameForce {
  int frame = 0;                   ///< Model::frameIndex
  std::array<double, 6> wrench{};  ///< [force; moment]
  Reference reference = Reference::LocalWorldAligned;
};

/// Options of the dynamics algorithms.
struct DynamicsOptions {
  std::span<const FrameForce> external{};
  Method method = Method::Cluster;
};

}  // namespace kempe
