#pragma once

#include <array>
#include <span>

namespace kempe {

/// Ways to compute the same thing (Chignoli et al. 2023, section II). All but Approximate and
/// Unconstrained are exact; all but Cluster are there to compare with. Each uses the sparsity that
/// the tree gives it and, where not said otherwise, allocates nothing.
enum class Method {
  /// Recursion over clusters: what to use.
  Cluster,
  /// The spanning tree (all joints, loops cut), projected: ÿ = (GᵀHG)⁻¹ (τ − Gᵀ(c + Hg)), H by CRBA
  /// and c + Hg by RNEA, GᵀHG factored along the tree of clusters.
  Projection,
  /// The spanning tree with a multiplier for each loop row that is not redundant: H factored along
  /// the tree, then K H⁻¹ Kᵀ.
  Lagrange,
  /// The spanning tree by the recursion, with a multiplier for each loop row through the recursive
  /// operational-space matrix at the cuts (Jain 2011, §11.3): no mass matrix is formed. Bodies that
  /// only their loop moves and that have no inertia get some, which iterations take off again.
  CutJoint,
  /// Every body free, all joints and loops held by multipliers (absolute coordinates): forward
  /// dynamics only, and only where every body has inertia of its own. Allocates.
  Absolute,
  /// The independent tree (of each cluster as many joints as it has freedoms, and the bodies they
  /// carry; the others are dropped with their inertia) with the inertia of dropped rotors and the
  /// armatures of dropped joints reflected on the diagonal: Σ J r², r the ratio between the joints,
  /// of loops that at the neutral configuration. Dropped joints have no damping, friction or spring.
  /// Models in which a dropped body carries others have no such tree: std::invalid_argument says
  /// which. So it does for external forces on dropped bodies.
  Approximate,
  /// The independent tree alone.
  Unconstrained,
};

/// The point and the axes that spatial vectors of a frame are written with. All are [linear;
/// angular] or [force; moment].
enum class Reference {
  LocalWorldAligned,  ///< at the frame's origin, axes of the world
  Local,              ///< at the frame's origin, axes of the frame
  World               ///< at the world's origin, axes of the world
};

/// A force on the body that carries a frame.
struct FrameForce {
  int frame = 0;                   ///< Model::frameIndex
  std::array<double, 6> wrench{};  ///< [force; moment]
  Reference reference = Reference::LocalWorldAligned;
};

/// What the dynamics algorithms can be told beyond the state.
struct DynamicsOptions {
  std::span<const FrameForce> external{};
  Method method = Method::Cluster;
};

}  // namespace kempe
