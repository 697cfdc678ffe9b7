#pragma once

#include "loops/node_motion.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/workspace.hpp"

/// Bodies that bend, with the integrals h, c, J of include/kempe/flexible.hpp.
///
/// The frame of such a body F has velocity v = [ω; v] and the modal coordinates η; in its own axes,
/// about its own origin, with I(η) the inertia of the bent body and C_i(η) the momentum of η̇_i,
///
///   momentum   p   = I v + Σ C_i η̇_i                                                   (1)
///   force      f   = I a + v ×* I v + Σ C_i η̈_i + [J̇ ω + ω × A + Q ; 2 ω × L + q]      (2)
///   with       L   = Σ C_i.linear η̇_i,  A = Σ C_i.angular η̇_i,  J̇ = Σ J'_i η̇_i,
///              Q   = Σ c_ij η̇_i η̇_j,    q = Σ h_ij η̇_i η̇_j,     J'_i = J_i + Σ J_ij η_j
///   on mode i  τ_i = C_iᵀ a + h'_i · (ω × v) − ½ ωᵀ J'_i ω + Σ_j (c_ij − c_ji) · ω η̇_j       (3)
///                    + m_i η̈_i + d_i η̇_i + k_i η_i
///
/// which are the equations of Boltzmann and Hamel of the kinetic energy ½ vᵀ I v + vᵀ Σ C_i η̇_i +
/// ½ Σ m_i η̇_i², so that power balances exactly (Shabana, Dynamics of Multibody Systems, ch. 5). The
/// last line of (3) is that of any joint with armature, damping and a spring.
///
/// Terms with C_i are the same in every frame: only ω, J̇, Q and q are needed in the body's own.
namespace kempe::detail {

/// The inertia of the bent body and C and J' of its modes, after its placement. N: their number, 0 if
/// the compiler does not know it.
template <int N, typename T, typename Tables>
KEMPE_HD void bendModes(const Tables& tables, int index, const WorkView<T>& work) {
  using R = typename Tables::Scalar;
  const FlexibleEntry& flexible = tables.flexibles[index];
  const BodyEntry<R>& body = tables.bodies[flexible.body];
  const int n = N > 0 ? N : flexible.modes;
  const Transform<T> X = work.X[flexible.body];
  const T* eta = work.positions + flexible.firstPosition;
  const RigidInertia<R>& straight = body.inertia;
  const SymMat3<R>& J = straight.rotation;
  // h(η) and J(η) by half the terms of second order: η_i ½ (x_i + x'_i).
  Vec3<T> h = straight.moment.template cast<T>();
  Vec3<T> moments{T(J.xx), T(J.yy), T(J.zz)}, products{T(J.yz), T(J.xz), T(J.xy)};
  for (int i = 0; i < n; ++i) {
    const ModeTerms<R>& mode = tables.modes[flexible.firstMode + i];
    const ModePairTerms<R>* pairs = tables.modePairs + flexible.firstPair + i * n;
    const Vec3<T> ownLinear = widened<T>(mode.linear);
    const Vec3<T> ownMoments = widened<T>(mode.moments), ownProducts = widened<T>(mode.products);
    Vec3<T> linear = ownLinear, angular = widened<T>(mode.angular);
    BentMode<T> bent;
    bent.moments = ownMoments;
    bent.products = ownProducts;
    for (int j = 0; j < n; ++j) {
      linear += eta[j] * widened<T>(pairs[j].linear);
      angular += eta[j] * widened<T>(pairs[j].angular);
      bent.moments += eta[j] * widened<T>(pairs[j].moments);
      bent.products += eta[j] * widened<T>(pairs[j].products);
    }
    const T half = T(0.5) * eta[i];
    h += half * (ownLinear + linear);
    moments += half * (ownMoments + bent.moments);
    products += half * (ownProducts + bent.products);
    const Vec3<T> force = X.R * linear;
    bent.C = {X.R * angular + cross(X.p, force), force};
    work.bentModes[flexible.firstMode + i] = bent;
  }
  const T mass(straight.mass);
  const Vec3<T> center = (T(1) / mass) * h;
  work.bent[index] = {
      mass, X.R * center + X.p,
      congruence(X.R, symmetricMatrix(moments, products) - pointInertia(h, center))};
}

/// The same, for callers in which bodies that bend are rare.
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void bendBody(const Tables& tables, int index, const WorkView<T>& work) {
  bendModes<0>(tables, index, work);
}

/// The inertia of a body in the common frame, after its placement; `body.central` of rigid ones.
template <typename T, typename Tables>
KEMPE_HD PlacedInertia<T> inertiaAt(const Tables& tables, int b, const WorkView<T>& work) {
  const auto& body = tables.bodies[b];
  return body.flexible < 0 ? placed(work.X[b], body.central) : work.bent[body.flexible];
}

/// The part of (2) that I does not give, with η̈ from `accelerations` (spanning; null: zero), in the
/// common frame; calls addModal(velocity, τ) with (3) but its last line, where `accelerated` is a of
/// the body's frame. N as above.
template <int N, typename T, typename Tables, typename AddModal>
KEMPE_HD Force<T> forceOfModes(const Tables& tables, int index, const WorkView<T>& work,
                               const T* accelerations, const Motion<T>& accelerated,
                               const AddModal& addModal) {
  using R = typename Tables::Scalar;
  const FlexibleEntry& flexible = tables.flexibles[index];
  const int n = N > 0 ? N : flexible.modes;
  const Transform<T> X = work.X[flexible.body];
  const Motion<T> velocity = work.v[flexible.body];
  const T* rates = work.rates + flexible.firstVelocity;
  const Vec3<T> w = transposeTimes(X.R, velocity.angular);
  // a + ω × v at the body's origin, and ½ ωᵀ J' ω by the moments and products of J'.
  const Vec3<T> pull =
      accelerated.linear + cross(velocity.angular, velocity.linear + cross(velocity.angular, X.p));
  const T half(-0.5);
  const Vec3<T> squares{half * w[0] * w[0], half * w[1] * w[1], half * w[2] * w[2]};
  const Vec3<T> mixed{-(w[1] * w[2]), -(w[0] * w[2]), -(w[0] * w[1])};
  Force<T> momentum{}, sum{};
  Vec3<T> moments{}, products{}, Q{}, q{};
  for (int i = 0; i < n; ++i) {
    const BentMode<T>& mode = work.bentModes[flexible.firstMode + i];
    const ModePairTerms<R>* pairs = tables.modePairs + flexible.firstPair + i * n;
    momentum += rates[i] * mode.C;
    moments += rates[i] * mode.moments;
    products += rates[i] * mode.products;
    Vec3<T> gyroscopic{};
    for (int j = 0; j < n; ++j) {
      gyroscopic += rates[j] * widened<T>(pairs[j].gyroscopic);
    }
    if (flexible.pairForces) {
      Vec3<T> linear{};
      for (int j = 0; j < n; ++j) {
        linear += rates[j] * widened<T>(pairs[j].linear);
      }
      q += rates[i] * linear;
    }
    if (flexible.pairMoments) {
      Vec3<T> angular{};
      for (int j = 0; j < n; ++j) {
        angular += rates[j] * widened<T>(pairs[j].angular);
      }
      Q += rates[i] * angular;
    }
    if (accelerations != nullptr) {
      sum += accelerations[flexible.firstVelocity + i] * mode.C;
    }
    addModal(flexible.firstVelocity + i,
             sumOfDots(mode.C.moment, accelerated.angular, mode.C.force, pull, mode.moments,
                       squares, mode.products, mixed, gyroscopic, w));  // (3)
  }
  const Vec3<T>& L = momentum.force;  // and A = momentum.moment − p × L
  const Vec3<T> force = T(2) * cross(velocity.angular, L) + X.R * q;
  const Vec3<T> moment = X.R * (symmetricMatrix(moments, products) * w + Q) +
                         cross(velocity.angular, momentum.moment - cross(X.p, L));
  return sum + Force<T>{moment + cross(X.p, force), force};  // (2)
}

/// The same, for callers in which bodies that bend are rare.
template <typename T, typename Tables, typename AddModal>
[[gnu::noinline]] KEMPE_HD Force<T> bendingForce(const Tables& tables, int index,
                                                 const WorkView<T>& work, const T* accelerations,
                                                 const Motion<T>& accelerated,
                                                 const AddModal& addModal) {
  return forceOfModes<0>(tables, index, work, accelerations, accelerated, addModal);
}

/// Σ C_i η̇_i in the common frame, of (1).
template <typename T, typename Tables>
KEMPE_HD Force<T> momentumOfBending(const Tables& tables, int index, const WorkView<T>& work) {
  const FlexibleEntry& flexible = tables.flexibles[index];
  Force<T> sum{};
  for (int i = 0; i < flexible.modes; ++i) {
    sum += work.rates[flexible.firstVelocity + i] * work.bentModes[flexible.firstMode + i].C;
  }
  return sum;
}

/// Adds C of the modes to U and D of articulated.hpp: U += Σ C_i r_i, D += r_iᵀ C_iᵀ S + (…)ᵀ with the
/// rows r_i of G and S of the body.
template <int M, typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void addBending(const Tables& tables, const ClusterEntry& cluster,
                                           int index, const WorkView<T>& work, Force<T>* U, T* D) {
  const int m = M > 0 ? M : cluster.nv;
  const FlexibleEntry& flexible = tables.flexibles[index];
  const auto& body = tables.bodies[flexible.body];
  const bool inside = body.parent >= cluster.firstBody;
  const Motion<T>* S = work.S + body.firstS;
  for (int i = 0; i < flexible.modes; ++i) {
    const Force<T>& C = work.bentModes[flexible.firstMode + i].C;
    const int row = flexible.firstVelocity + i - cluster.firstVelocity;
    if (cluster.loops == 0) {
      U[row] += C;
      continue;
    }
    const T* r = work.G + cluster.firstRatio + row * m;
    for (int j = 0; j < m; ++j) {
      U[j] += r[j] * C;
      for (int k = 0; inside && k <= j; ++k) {
        D[j * m + k] += r[j] * dot(C, S[k]) + r[k] * dot(C, S[j]);
      }
    }
  }
}

/// A node of a flexible body in the memory of the recursions.
template <typename T, typename Tables>
KEMPE_HD NodeState<T> nodeState(const Tables& tables, int b, const WorkView<T>& work) {
  const auto& body = tables.bodies[b];
  const auto& node = tables.nodes[body.node];
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  return {work.positions + flexible.firstPosition, work.rates + flexible.firstVelocity,
          work.nodeS + node.firstShape, work.X[body.parent]};
}

/// Placement of a node, and its directions along the modes.
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void placeNode(const Tables& tables, int b, const WorkView<T>& work) {
  work.X[b] = placeNode(tables, tables.nodes[tables.bodies[b].node], nodeState(tables, b, work));
}

/// Forces along the modes of a force on a node, onto the spanning forces.
template <typename T, typename Tables>
KEMPE_HD void addNodeForce(const Tables& tables, int b, const WorkView<T>& work, const Force<T>& f,
                           T* spanning) {
  const auto& node = tables.nodes[tables.bodies[b].node];
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  for (int i = 0; i < flexible.modes; ++i) {
    spanning[flexible.firstVelocity + i] += dot(f, work.nodeS[node.firstShape + i]);
  }
}

/// S of a node: that of its body and its own directions.
template <int M, typename T, typename Tables>
KEMPE_HD void spanNode(const Tables& tables, const ClusterEntry& cluster, int b,
                       const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  const auto& body = tables.bodies[b];
  const auto& node = tables.nodes[body.node];
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  Motion<T>* S = work.S + body.firstS;
  const Motion<T>* parentS = work.S + tables.bodies[body.parent].firstS;
  const int first = flexible.firstVelocity - cluster.firstVelocity;
  const T* G = work.G + cluster.firstRatio + first * m;
  for (int j = 0; j < m; ++j) {
    S[j] = parentS[j];
    for (int i = 0; cluster.loops > 0 && i < flexible.modes; ++i) {
      S[j] += G[i * m + j] * work.nodeS[node.firstShape + i];
    }
  }
  for (int i = 0; cluster.loops == 0 && i < flexible.modes; ++i) {
    S[first + i] += work.nodeS[node.firstShape + i];
  }
}

}  // namespace kempe::detail
