#pragma once

#include <array>
#include <span>

namespace kempe {

/// Ways to compute the same thing. All but Approximate and Unconstrained are exact.
enum class Method {
  Cluster,        ///< recursion over clusters: what to use
  Projection,     ///< spanning tree's mass matrix and bias, projected by G
  Lagrange,       ///< spanning tree and multipliers for the loops
  Approximate,    ///< independent tree with reflected rotor inertias on the diagonal
  Unconstrained,  ///< independent tree alone
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
