#pragma once

#include "spatial/joint_motion.hpp"
#include "tables/tables.hpp"

/// How a node of a flexible body moves against the body. With its displacement x(η) and the rotation
/// vector θ = Σ r_i η_i of its turn, in the body's frame, and V(θ) of expTranslation:
///
///   x = Σ φ_i η_i + ½ Σ b_ij η_i η_j,  ẋ = Σ x_i η̇_i  with  x_i = φ_i + Σ b_ij η_j       (1)
///   ω_rel = V θ̇,                      R = exp θ× = 1 + θ× V                              (2)
namespace kempe::detail {

/// A body's modes, its placement and the directions of a node, which placeNode writes.
template <typename T>
struct NodeState {
  const T* eta;
  const T* rates;
  Motion<T>* s;
  const Transform<T>& X;
};

/// The placement of a node, and its directions s_i along the modes.
template <typename T, typename Tables>
KEMPE_HD Transform<T> placeNode(const Tables& tables, const auto& node, const NodeState<T>& state) {
  const auto* shapes = tables.nodeShapes + node.firstShape;
  const int n = tables.flexibles[node.flexible].modes;
  Vec3<T> x = node.position.template cast<T>(), theta{};
  for (int i = 0; i < n; ++i) {
    Vec3<T> along = shapes[i].translation.template cast<T>();
    x += state.eta[i] * along;
    theta += state.eta[i] * shapes[i].rotation.template cast<T>();
    for (int j = 0; node.firstShortening >= 0 && j < n; ++j) {
      const Vec3<T> b = tables.shortenings[node.firstShortening + i * n + j].template cast<T>();
      along += state.eta[j] * b;
      x += (T(0.5) * state.eta[i] * state.eta[j]) * b;
    }
    state.s[i].linear = along;  // (1)
  }
  const Mat3<T> V = expTranslation(theta);
  const Mat3<T>& R = state.X.R;
  const Vec3<T> p = R * x + state.X.p;
  for (int i = 0; i < n; ++i) {
    const Vec3<T> turning = R * (V * shapes[i].rotation.template cast<T>());  // (2)
    state.s[i] = {turning, R * state.s[i].linear + cross(p, turning)};
  }
  return {R * (Mat3<T>::identity() + skew(theta) * V), p};
}

/// V̇ θ̇, the acceleration of a turn by θ where θ̈ = 0.
template <typename T>
KEMPE_HD Vec3<T> turningRate(const Vec3<T>& theta, const Vec3<T>& rate) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  // V = 1 + a θ× + b (θ×)²; of a and b the derivatives with respect to s = θ².
  const T s = dot(theta, theta);
  const auto small = s < T(1e-2);
  const T safe = select(small, T(1), s), angle = sqrt(safe);
  const T a = (T(1) - cos(angle)) / safe, b = (angle - sin(angle)) / (safe * angle);
  const T da =
      select(small, T(T(-1) / T(24) + s / T(360) - s * s / T(13440) + s * s * s / T(907200)),
             T((T(1) - b * safe - T(2) * a) / (T(2) * safe)));
  const T db =
      select(small, T(T(-1) / T(120) + s / T(2520) - s * s / T(120960) + s * s * s / T(9979200)),
             T((a - T(3) * b) / (T(2) * safe)));
  const T bHere =
      select(small, T(T(1) / T(6) - s / T(120) + s * s / T(5040) - s * s * s / T(362880)), b);
  const T ds = T(2) * dot(theta, rate);
  const Vec3<T> turned = cross(theta, rate);
  return (da * ds) * turned + (db * ds) * cross(theta, turned) + bHere * cross(rate, turned);
}

/// Velocity of a node relative to its body, or its acceleration by η̈ for `rates`.
template <typename T, typename Tables>
KEMPE_HD Motion<T> alongModes(const Tables& tables, const auto& node, const NodeState<T>& state,
                              const T* rates) {
  Motion<T> sum{};
  for (int i = 0; i < tables.flexibles[node.flexible].modes; ++i) {
    sum += rates[i] * state.s[i];
  }
  return sum;
}

/// Acceleration of a node relative to its body's where η̈ = 0: `X` is its placement, `relative` its
/// relative velocity and `bodyV` the velocity of its body.
template <typename T, typename Tables>
KEMPE_HD Motion<T> nodeAccelerationAtRest(const Tables& tables, const auto& node,
                                          const NodeState<T>& state, const Transform<T>& X,
                                          const Motion<T>& relative, const Motion<T>& bodyV) {
  const auto* shapes = tables.nodeShapes + node.firstShape;
  const int n = tables.flexibles[node.flexible].modes;
  Vec3<T> theta{}, thetaRate{}, bending{};
  for (int i = 0; i < n; ++i) {
    const Vec3<T> rotation = shapes[i].rotation.template cast<T>();
    theta += state.eta[i] * rotation;
    thetaRate += state.rates[i] * rotation;
    for (int j = 0; node.firstShortening >= 0 && j < n; ++j) {
      bending += (state.rates[i] * state.rates[j]) *
                 tables.shortenings[node.firstShortening + i * n + j].template cast<T>();
    }
  }
  // Of the point of the node and of the turn about it, as seen from the body.
  const Vec3<T> turning = state.X.R * turningRate(theta, thetaRate);
  const Vec3<T> pointRate = relative.linear + cross(relative.angular, X.p);
  const Motion<T> seen{
      turning, state.X.R * bending + cross(pointRate, relative.angular) + cross(X.p, turning)};
  return seen + cross(bodyV, relative);
}

}  // namespace kempe::detail
