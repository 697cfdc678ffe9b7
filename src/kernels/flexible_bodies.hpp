#pragma once

#include "spatial/joint_motion.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/workspace.hpp"

/// Bodies that bend (include/kempe/flexible.hpp has the integrals h, c, J, and DESIGN section 13).
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
/// A node moves against F by its displacement x(η) and turns by the rotation vector θ = Σ r_i η_i,
/// with V(θ) of expTranslation:
///
///   ω_rel = V θ̇,  x' _i = φ_i + Σ b_ij η_j                                               (4)
namespace kempe::detail {

/// Σ of vectors: x_i + Σ_j x_ij η_j of mode i.
template <typename T, typename Tables>
KEMPE_HD BentMode<T> bentMode(const Tables& tables, const FlexibleEntry& flexible, int i,
                              const T* eta) {
  using R = typename Tables::Scalar;
  const ModeTerms<R>& mode = tables.modes[flexible.firstMode + i];
  BentMode<T> bent;
  bent.linear = mode.linear.template cast<T>();
  bent.angular = mode.angular.template cast<T>();
  bent.inertia = mode.inertia.template cast<T>();
  const ModeTerms<R>* pairs = tables.modePairs + flexible.firstPair + i * flexible.modes;
  for (int j = 0; j < flexible.modes; ++j) {
    bent.linear += eta[j] * pairs[j].linear.template cast<T>();
    bent.angular += eta[j] * pairs[j].angular.template cast<T>();
    bent.inertia += eta[j] * pairs[j].inertia.template cast<T>();
  }
  return bent;
}

/// The inertia of the bent body and C of its modes, after its placement.
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void bendBody(const Tables& tables, int index, const WorkView<T>& work) {
  using R = typename Tables::Scalar;
  const FlexibleEntry& flexible = tables.flexibles[index];
  const BodyEntry<R>& body = tables.bodies[flexible.body];
  const Transform<T>& X = work.X[flexible.body];
  const T* eta = work.positions + flexible.firstPosition;
  // h(η) and J(η) by half the terms of second order: η_i ½ (x_i + x'_i).
  const RigidInertia<T> straight = body.inertia.template cast<T>();
  Vec3<T> h = straight.moment;
  SymMat3<T> J = straight.rotation;
  for (int i = 0; i < flexible.modes; ++i) {
    BentMode<T> bent = bentMode<T>(tables, flexible, i, eta);
    const ModeTerms<R>& mode = tables.modes[flexible.firstMode + i];
    const T half = T(0.5) * eta[i];
    h += half * (mode.linear.template cast<T>() + bent.linear);
    J += half * (mode.inertia.template cast<T>() + bent.inertia);
    const Vec3<T> linear = X.R * bent.linear;
    bent.C = {X.R * bent.angular + cross(X.p, linear), linear};
    work.bentModes[flexible.firstMode + i] = bent;
  }
  const Vec3<T> center = (T(1) / straight.mass) * h;
  work.bent[index] = {straight.mass, X.R * center + X.p,
                      congruence(X.R, J - pointInertia(h, center))};
}

/// The inertia of a body in the common frame, after its placement; `body.central` of rigid ones.
template <typename T, typename Tables>
KEMPE_HD PlacedInertia<T> inertiaAt(const Tables& tables, int b, const WorkView<T>& work) {
  const auto& body = tables.bodies[b];
  return body.flexible < 0 ? placed(work.X[b], body.central) : work.bent[body.flexible];
}

/// The part of (2) that I does not give, with η̈ from `accelerations` (spanning; null: zero), in the
/// common frame; calls addModal(velocity, τ) with (3) but its last line, where `accelerated` is a of
/// the body's frame.
template <typename T, typename Tables, typename AddModal>
[[gnu::noinline]] KEMPE_HD Force<T> bendingForce(const Tables& tables, int index,
                                                 const WorkView<T>& work, const T* accelerations,
                                                 const Motion<T>& a, const AddModal& addModal) {
  using R = typename Tables::Scalar;
  const FlexibleEntry& flexible = tables.flexibles[index];
  const Transform<T>& X = work.X[flexible.body];
  const Motion<T>& velocity = work.v[flexible.body];
  const T* rates = work.rates + flexible.firstVelocity;
  const Vec3<T> w = transposeTimes(X.R, velocity.angular);
  const Vec3<T> v = transposeTimes(X.R, velocity.linear + cross(velocity.angular, X.p));
  const Vec3<T> wv = cross(w, v);
  Vec3<T> L{}, A{}, Jw{}, Q{}, q{};
  Force<T> sum{};
  for (int i = 0; i < flexible.modes; ++i) {
    const BentMode<T>& mode = work.bentModes[flexible.firstMode + i];
    const ModeTerms<R>* pairs = tables.modePairs + flexible.firstPair;
    const Vec3<T> turning = mode.inertia * w;
    L += rates[i] * mode.linear;
    A += rates[i] * mode.angular;
    Jw += rates[i] * turning;
    Vec3<T> gyroscopic{};
    for (int j = 0; j < flexible.modes; ++j) {
      const ModeTerms<R>& ij = pairs[i * flexible.modes + j];
      const ModeTerms<R>& ji = pairs[j * flexible.modes + i];
      const Vec3<T> own = ij.angular.template cast<T>();
      const T product = rates[i] * rates[j];
      Q += product * own;
      q += product * ij.linear.template cast<T>();
      gyroscopic += rates[j] * (own - ji.angular.template cast<T>());
    }
    if (accelerations != nullptr) {
      sum += accelerations[flexible.firstVelocity + i] * mode.C;
    }
    addModal(flexible.firstVelocity + i, dot(mode.C, a) + dot(mode.linear, wv) -
                                             T(0.5) * dot(turning, w) + dot(gyroscopic, w));  // (3)
  }
  const Vec3<T> force = X.R * (T(2) * cross(w, L) + q);
  return sum + Force<T>{X.R * (Jw + cross(w, A) + Q) + cross(X.p, force), force};  // (2)
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
    const T* r = work.G + cluster.firstRatio +
                 (flexible.firstVelocity + i - cluster.firstVelocity) * m;
    for (int j = 0; j < m; ++j) {
      U[j] += r[j] * C;
      for (int k = 0; inside && k <= j; ++k) {
        D[j * m + k] += r[j] * dot(C, S[k]) + r[k] * dot(C, S[j]);
      }
    }
  }
}

/// Placement of a node, and its directions along the modes, (4).
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void placeNode(const Tables& tables, int b, const WorkView<T>& work) {
  using R = typename Tables::Scalar;
  const BodyEntry<R>& body = tables.bodies[b];
  const NodeEntry<R>& node = tables.nodes[body.node];
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  const Transform<T>& X = work.X[body.parent];
  const T* eta = work.positions + flexible.firstPosition;
  const NodeShapeEntry<R>* shapes = tables.nodeShapes + node.firstShape;
  const int n = flexible.modes;
  Vec3<T> x = node.position.template cast<T>(), theta{};
  Motion<T>* s = work.nodeS + node.firstShape;
  for (int i = 0; i < n; ++i) {
    Vec3<T> along = shapes[i].translation.template cast<T>();
    x += eta[i] * along;
    theta += eta[i] * shapes[i].rotation.template cast<T>();
    for (int j = 0; node.firstShortening >= 0 && j < n; ++j) {
      const Vec3<T> b_ij =
          tables.shortenings[node.firstShortening + i * n + j].template cast<T>();
      along += eta[j] * b_ij;
      x += (T(0.5) * eta[i] * eta[j]) * b_ij;
    }
    s[i].linear = along;
  }
  const Mat3<T> V = expTranslation(theta);
  const Vec3<T> p = X.R * x + X.p;
  for (int i = 0; i < n; ++i) {
    const Vec3<T> turning = X.R * (V * shapes[i].rotation.template cast<T>());
    s[i] = {turning, X.R * s[i].linear + cross(p, turning)};
  }
  // exp(θ×) = 1 + θ× V.
  work.X[b] = {X.R * (Mat3<T>::identity() + skew(theta) * V), p};
}

/// V̇ θ̇, the acceleration of turning by θ where θ̈ = 0.
template <typename T>
KEMPE_HD Vec3<T> turningRate(const Vec3<T>& theta, const Vec3<T>& rate) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  // V = 1 + a θ× + b (θ×)², and their derivatives with respect to s = θ².
  const T s = dot(theta, theta);
  const auto small = s < T(1e-2);
  const T safe = select(small, T(1), s), angle = sqrt(safe);
  const T a = (T(1) - cos(angle)) / safe, b = (angle - sin(angle)) / (safe * angle);
  const T bHere = select(small, T(T(1) / T(6) - s / T(120) + s * s / T(5040) - s * s * s / T(362880)), b);
  const T da = select(small, T(T(-1) / T(24) + s / T(360) - s * s / T(13440) + s * s * s / T(907200)),
                      T((T(1) - b * safe - T(2) * a) / (T(2) * safe)));
  const T db = select(small,
                      T(T(-1) / T(120) + s / T(2520) - s * s / T(120960) + s * s * s / T(9979200)),
                      T((a - T(3) * b) / (T(2) * safe)));
  const T ds = T(2) * dot(theta, rate);
  const Vec3<T> cross1 = cross(theta, rate);
  return (da * ds) * cross1 + (db * ds) * cross(theta, cross1) + bHere * cross(rate, cross1);
}

/// Velocity of a node relative to its body.
template <typename T, typename Tables>
KEMPE_HD Motion<T> nodeVelocity(const Tables& tables, int b, const WorkView<T>& work,
                                const T* rates) {
  const auto& node = tables.nodes[tables.bodies[b].node];
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  Motion<T> velocity{};
  for (int i = 0; i < flexible.modes; ++i) {
    velocity += rates[flexible.firstVelocity + i] * work.nodeS[node.firstShape + i];
  }
  return velocity;
}

/// Acceleration of a node relative to its body's where η̈ = 0; `relative` is its relative velocity.
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD Motion<T> nodeAccelerationAtRest(const Tables& tables, int b,
                                                            const WorkView<T>& work,
                                                            const Motion<T>& parentV,
                                                            const Motion<T>& relative) {
  using R = typename Tables::Scalar;
  const BodyEntry<R>& body = tables.bodies[b];
  const NodeEntry<R>& node = tables.nodes[body.node];
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  const Transform<T>& X = work.X[body.parent];
  const T* eta = work.positions + flexible.firstPosition;
  const T* rates = work.rates + flexible.firstVelocity;
  const NodeShapeEntry<R>* shapes = tables.nodeShapes + node.firstShape;
  Vec3<T> theta{}, thetaRate{}, bending{};
  for (int i = 0; i < flexible.modes; ++i) {
    const Vec3<T> rotation = shapes[i].rotation.template cast<T>();
    theta += eta[i] * rotation;
    thetaRate += rates[i] * rotation;
    for (int j = 0; node.firstShortening >= 0 && j < flexible.modes; ++j) {
      bending += (rates[i] * rates[j]) *
                 tables.shortenings[node.firstShortening + i * flexible.modes + j].template cast<T>();
    }
  }
  // In the common frame: of the point p of the node, and of the turn about it, as seen from the body.
  const Vec3<T> p = work.X[b].p;
  const Vec3<T> turning = X.R * turningRate(theta, thetaRate);
  const Vec3<T> pointRate = relative.linear + cross(relative.angular, p);
  const Motion<T> seen{turning, X.R * bending + cross(pointRate, relative.angular) +
                                    cross(p, turning)};
  return seen + cross(parentV, relative);
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
  const T* G = work.G + cluster.firstRatio +
               (flexible.firstVelocity - cluster.firstVelocity) * m;
  for (int j = 0; j < m; ++j) {
    S[j] = parentS[j];
    for (int i = 0; i < flexible.modes; ++i) {
      S[j] += G[i * m + j] * work.nodeS[node.firstShape + i];
    }
  }
}

}  // namespace kempe::detail
