#pragma once

#include "spatial/joint_motion.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/tables.hpp"

/// How a node of a flexible body moves against the body. With its displacement x(η) and the rotation
/// vector θ = Σ r_i η_i of its turn, in the body's frame, and s = θ²:
///
///   x = Σ φ_i η_i + ½ Σ b_ij η_i η_j,  ẋ = Σ x_i η̇_i  with  x_i = φ_i + Σ b_ij η_j       (1)
///   ω_rel = V θ̇,   V = 1 + a θ× + b (θ×)² = (1 − b s) 1 + a θ× + b θ θᵀ                 (2)
///   R = exp θ× = (1 − a s) 1 + (1 − b s) θ× + a θ θᵀ                                    (3)
///   with a = (1 − cos|θ|)/s, b = (|θ| − sin|θ|)/(|θ| s)                                 (4)
namespace kempe::detail {

/// A body's modes, its placement and the directions of a node, which placeNode writes.
template <typename T>
struct NodeState {
  const T* eta;
  const T* rates;
  Motion<T>* s;
  const Transform<T>& X;
};

/// Up to this s, nodes that turn by less than half a radian, the series of (4) are exact to rounding.
inline constexpr double kSeriesTurn = 0.25;

/// Σ (−s)^k / (2k + first)! of (4), first = 2 for a and 3 for b, or its derivative by s.
template <int first, bool derivative, typename T>
KEMPE_HD T turnSeries(const T& s) {
  constexpr int kTerms = 7;
  struct Coefficients {
    double of[kTerms];
  };
  constexpr Coefficients c = [] {
    Coefficients result{};
    double value = 1.0 / (first == 2 ? 2.0 : 6.0);
    for (int k = 0; k < kTerms + 1; ++k) {
      if (derivative && k > 0) {
        result.of[k - 1] = k * value;
      } else if (!derivative && k < kTerms) {
        result.of[k] = value;
      }
      value /= -((2.0 * k + first + 1) * (2.0 * k + first + 2));
    }
    return result;
  }();
  T sum = T(c.of[kTerms - 1]);  // a cast: rounded in float
  for (int k = kTerms - 2; k >= 0; --k) {
    sum = sum * s + T(c.of[k]);
  }
  return sum;
}

/// a and b of (4).
template <typename T>
struct TurnCoefficients {
  T a, b;
};
template <typename T>
KEMPE_HD TurnCoefficients<T> turnCoefficients(const T& s) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  TurnCoefficients<T> result{turnSeries<2, false>(s), turnSeries<3, false>(s)};
  const auto large = s > T(kSeriesTurn);
  if (any(large)) {
    const T safe = select(large, s, T(1)), angle = sqrt(safe);
    result.a = select(large, T((T(1) - cos(angle)) / safe), result.a);
    result.b = select(large, T((angle - sin(angle)) / (safe * angle)), result.b);
  }
  return result;
}

/// Their derivatives by s.
template <typename T>
KEMPE_HD TurnCoefficients<T> turnCoefficientSlopes(const T& s, const TurnCoefficients<T>& at) {
  TurnCoefficients<T> result{turnSeries<2, true>(s), turnSeries<3, true>(s)};
  const auto large = s > T(kSeriesTurn);
  if (any(large)) {
    const T safe = select(large, s, T(1));
    result.a = select(large, T((T(1) - at.b * safe - T(2) * at.a) / (T(2) * safe)), result.a);
    result.b = select(large, T((at.a - T(3) * at.b) / (T(2) * safe)), result.b);
  }
  return result;
}

/// The turn of a node against its body.
template <typename T>
struct NodeTurn {
  Vec3<T> theta{};
  TurnCoefficients<T> c{};
};

/// N: the number of modes, 0 if the compiler does not know it.
template <int N = 0, typename T, typename Tables>
KEMPE_HD NodeTurn<T> turnOfNode(const Tables& tables, const auto& node, const NodeState<T>& state) {
  const auto* shapes = tables.nodeShapes + node.firstShape;
  const int n = N > 0 ? N : tables.flexibles[node.flexible].modes;
  NodeTurn<T> turn;
  for (int i = 0; i < n; ++i) {
    turn.theta += state.eta[i] * widened<T>(shapes[i].rotation);
  }
  turn.c = turnCoefficients(dot(turn.theta, turn.theta));
  return turn;
}

/// The placement of a node, and its directions s_i along the modes. N as above.
template <int N = 0, typename T, typename Tables>
KEMPE_HD Transform<T> placeNode(const Tables& tables, const auto& node, const NodeState<T>& state,
                                const NodeTurn<T>& turned) {
  const auto* shapes = tables.nodeShapes + node.firstShape;
  const int n = N > 0 ? N : tables.flexibles[node.flexible].modes;
  Vec3<T> x = node.position.template cast<T>();
  for (int i = 0; i < n; ++i) {
    const Vec3<T> shape = widened<T>(shapes[i].translation);
    Vec3<T> along = shape;
    if (node.firstShortening >= 0) {
      const auto* b = tables.shortenings + node.firstShortening + i * n;
      for (int j = 0; j < n; ++j) {
        along += state.eta[j] * widened<T>(b[j]);
      }
    }
    x += (T(0.5) * state.eta[i]) * (shape + along);
    state.s[i].linear = along;  // (1)
  }
  // (2) and (3) in the frame of the placement, with ϑ = R θ.
  const Mat3<T>& R = state.X.R;
  const Vec3<T>& theta = turned.theta;
  const TurnCoefficients<T>& c = turned.c;
  const Vec3<T> turn = R * theta, p = R * x + state.X.p;
  const T s = dot(theta, theta);
  const T sinc = T(1) - c.b * s, cosine = T(1) - c.a * s;
  Vec3<T> rate[3], placed[3];  // columns of R V and R exp θ×
  for (int j = 0; j < 3; ++j) {
    const Vec3<T> column = R.column(j), across = cross(turn, column);
    rate[j] = sinc * column + c.a * across + (c.b * theta[j]) * turn;
    placed[j] = cosine * column + sinc * across + (c.a * theta[j]) * turn;
  }
  const Mat3<T> RV = ofColumns(rate[0], rate[1], rate[2]);
  for (int i = 0; i < n; ++i) {
    const Vec3<T> turning = RV * widened<T>(shapes[i].rotation);  // (2)
    state.s[i] = {turning, R * state.s[i].linear + cross(p, turning)};
  }
  return {ofColumns(placed[0], placed[1], placed[2]), p};
}

template <typename T, typename Tables>
KEMPE_HD Transform<T> placeNode(const Tables& tables, const auto& node, const NodeState<T>& state) {
  return placeNode(tables, node, state, turnOfNode(tables, node, state));
}

/// V̇ θ̇, the acceleration of a turn where θ̈ = 0.
template <typename T>
KEMPE_HD Vec3<T> turningRate(const NodeTurn<T>& turn, const Vec3<T>& rate) {
  const Vec3<T>& theta = turn.theta;
  const T s = dot(theta, theta), ds = T(2) * dot(theta, rate);
  const TurnCoefficients<T> slope = turnCoefficientSlopes(s, turn.c);
  const Vec3<T> across = cross(theta, rate);
  return (slope.a * ds) * across + (slope.b * ds) * cross(theta, across) +
         turn.c.b * cross(rate, across);
}

/// Velocity of a node relative to its body, or its acceleration by η̈ for `rates`.
template <int N = 0, typename T, typename Tables>
KEMPE_HD Motion<T> alongModes(const Tables& tables, const auto& node, const NodeState<T>& state,
                              const T* rates) {
  const int n = N > 0 ? N : tables.flexibles[node.flexible].modes;
  Motion<T> sum{};
  for (int i = 0; i < n; ++i) {
    sum += rates[i] * state.s[i];
  }
  return sum;
}

/// Acceleration of a node relative to its body's where η̈ = 0: `X` is its placement, `relative` its
/// relative velocity and `bodyV` the velocity of its body.
template <int N = 0, typename T, typename Tables>
KEMPE_HD Motion<T> nodeAccelerationAtRest(const Tables& tables, const auto& node,
                                          const NodeState<T>& state, const NodeTurn<T>& turn,
                                          const Transform<T>& X, const Motion<T>& relative,
                                          const Motion<T>& bodyV) {
  const auto* shapes = tables.nodeShapes + node.firstShape;
  const int n = N > 0 ? N : tables.flexibles[node.flexible].modes;
  Vec3<T> thetaRate{}, bending{};
  for (int i = 0; i < n; ++i) {
    thetaRate += state.rates[i] * widened<T>(shapes[i].rotation);
    if (node.firstShortening >= 0) {
      const auto* b = tables.shortenings + node.firstShortening + i * n;
      Vec3<T> rate{};  // of x_i
      for (int j = 0; j < n; ++j) {
        rate += state.rates[j] * widened<T>(b[j]);
      }
      bending += state.rates[i] * rate;
    }
  }
  // Of the point of the node and of the turn about it, as seen from the body.
  const Vec3<T> turning = state.X.R * turningRate(turn, thetaRate);
  const Vec3<T> pointRate = relative.linear + cross(relative.angular, X.p);
  const Motion<T> seen{
      turning, state.X.R * bending + cross(pointRate, relative.angular) + cross(X.p, turning)};
  return seen + cross(bodyV, relative);
}

template <typename T, typename Tables>
KEMPE_HD Motion<T> nodeAccelerationAtRest(const Tables& tables, const auto& node,
                                          const NodeState<T>& state, const Transform<T>& X,
                                          const Motion<T>& relative, const Motion<T>& bodyV) {
  return nodeAccelerationAtRest(tables, node, state, turnOfNode(tables, node, state), X, relative,
                                bodyV);
}

}  // namespace kempe::detail
