#pragma once

#include <cmath>

#include "kempe/mechanism.hpp"
#include "spatial/mixed.hpp"

/// How each joint type moves: its placement, its directions of motion, and steps along them.
namespace kempe::detail {

/// The placement of a body whose joint frame is at `joint` (axis: z), at position q. `turn(i, sine,
/// cosine)` gives those of q[i].
template <typename T, typename R, typename Turn>
KEMPE_HD Transform<T> jointPlacement(JointType type, const Transform<T>& joint, const T* q,
                                     const Turn& turn, const R& pitch, const Mat3<R>& middle) {
  const auto turnedBy = [&](const Mat3<T>& about, int i) {
    T sine, cosine;
    turn(i, sine, cosine);
    return timesRotationZ(about, sine, cosine);
  };
  switch (type) {
    case JointType::Fixed:
    case JointType::Mode:
    case JointType::Node:  // loops/node_motion.hpp adds the motion of the node
      return joint;
    case JointType::Revolute:
    case JointType::Continuous:
      return {turnedBy(joint.R, 0), joint.p};
    case JointType::Prismatic:
      return {joint.R, joint.p + q[0] * joint.R.column(2)};
    case JointType::Helical:
      return {turnedBy(joint.R, 0), joint.p + (T(pitch) * q[0]) * joint.R.column(2)};
    case JointType::Cylindrical:
      return {turnedBy(joint.R, 0), joint.p + q[1] * joint.R.column(2)};
    case JointType::Universal:
      return {turnedBy(turned(turnedBy(joint.R, 0), middle), 1), joint.p};
    case JointType::Planar:
      return {turnedBy(joint.R, 2), joint.p + q[0] * joint.R.column(0) + q[1] * joint.R.column(1)};
    case JointType::Spherical:
      return {joint.R * rotationFromQuaternion(Quaternion<T>{q[0], q[1], q[2], q[3]}), joint.p};
    case JointType::Free:
      return {joint.R * rotationFromQuaternion(Quaternion<T>{q[3], q[4], q[5], q[6]}),
              joint.p + joint.R * Vec3<T>{q[0], q[1], q[2]}};
  }
  return joint;
}

/// The same, with sines and cosines computed here.
template <typename T, typename R>
KEMPE_HD Transform<T> jointPlacement(JointType type, const Transform<T>& joint, const T* q,
                                     const R& pitch, const Mat3<R>& middle) {
  const auto turn = [q](int i, T& sine, T& cosine) {
    using std::cos;
    using std::sin;
    sine = sin(q[i]);
    cosine = cos(q[i]);
  };
  return jointPlacement(type, joint, q, turn, pitch, middle);
}

/// The directions s of v_i = v_λ + Σ s_j q̇_j, in the frame in which `joint` and `body` (the
/// placements before and after the joint) are written.
template <typename T, typename R>
KEMPE_HD void jointDirections(JointType type, const Transform<T>& joint, const Transform<T>& body,
                              const R& pitch, Motion<T>* s) {
  const Vec3<T> zero{};
  const auto turn = [&](const Vec3<T>& axis) { return Motion<T>{axis, cross(body.p, axis)}; };
  const auto slide = [&](const Vec3<T>& axis) { return Motion<T>{zero, axis}; };
  const Vec3<T> z = body.R.column(2);
  switch (type) {
    case JointType::Fixed:
    case JointType::Node:
      return;
    case JointType::Mode:
      s[0] = {};
      return;
    case JointType::Revolute:
    case JointType::Continuous:
      s[0] = turn(z);
      return;
    case JointType::Prismatic:
      s[0] = slide(z);
      return;
    case JointType::Helical:
      s[0] = turn(z) + slide(T(pitch) * z);
      return;
    case JointType::Cylindrical:
      s[0] = turn(z);
      s[1] = slide(z);
      return;
    case JointType::Universal:
      s[0] = turn(joint.R.column(2));
      s[1] = turn(z);
      return;
    case JointType::Planar:
      s[0] = slide(joint.R.column(0));
      s[1] = slide(joint.R.column(1));
      s[2] = turn(z);
      return;
    case JointType::Spherical:
      for (int j = 0; j < 3; ++j) {
        s[j] = turn(body.R.column(j));
      }
      return;
    case JointType::Free:
      for (int j = 0; j < 3; ++j) {
        s[j] = slide(body.R.column(j));
        s[j + 3] = turn(body.R.column(j));
      }
      return;
  }
}

/// How many of the directions, the first ones, move with the parent; the rest move with the body.
KEMPE_HD constexpr int directionsFixedInParent(JointType type) {
  return type == JointType::Universal ? 1 : (type == JointType::Planar ? 2 : 0);
}

/// Σ ṡ_j q̇_j, given the directions, the rates and the velocities of parent and body.
template <typename T>
KEMPE_HD Motion<T> directionRates(JointType type, int n, const Motion<T>* s, const T* rates,
                                  const Motion<T>& parentVelocity, const Motion<T>& bodyVelocity) {
  const int parentFixed = directionsFixedInParent(type);
  Motion<T> withParent{}, withBody{};
  for (int j = 0; j < n; ++j) {
    (j < parentFixed ? withParent : withBody) += rates[j] * s[j];
  }
  return cross(parentVelocity, withParent) + cross(bodyVelocity, withBody);
}

/// V of the exponential of a rigid motion: ∫₀¹ exp(t ω×) dt, with which a body that moves with
/// constant [linear; angular] velocity in its own frame advances by V · linear.
template <typename T>
KEMPE_HD Mat3<T> expTranslation(const Vec3<T>& w) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const T square = dot(w, w);
  const auto small = square < T(1e-4);
  const T safe = select(small, T(1), square);
  const T angle = sqrt(safe);
  // (1 − cos θ)/θ² and (θ − sin θ)/θ³
  const T a = select(small, T(T(0.5) - square / T(24) + square * square / T(720)),
                     T((T(1) - cos(angle)) / safe));
  const T b = select(small, T(T(1) / T(6) - square / T(120) + square * square / T(5040)),
                     T((angle - sin(angle)) / (safe * angle)));
  const Mat3<T> W = skew(w);
  return Mat3<T>::identity() + a * W + b * (W * W);
}

/// q ⊞ step: the position after moving with constant velocity `step` for unit time. `result` may be
/// q. Quaternions come out normalised.
template <typename T>
KEMPE_HD void jointRetract(JointType type, const T* q, const T* step, T* result) {
  const auto turnQuaternion = [](const T* from, const Vec3<T>& w, T* to) {
    const Quaternion<T> turned =
        normalized(Quaternion<T>{from[0], from[1], from[2], from[3]} * quaternionFromVector(w));
    to[0] = turned.x;
    to[1] = turned.y;
    to[2] = turned.z;
    to[3] = turned.w;
  };
  if (type == JointType::Spherical) {
    turnQuaternion(q, {step[0], step[1], step[2]}, result);
  } else if (type == JointType::Free) {
    const Vec3<T> w{step[3], step[4], step[5]};
    const Mat3<T> R = rotationFromQuaternion(Quaternion<T>{q[3], q[4], q[5], q[6]});
    const Vec3<T> shift = R * (expTranslation(w) * Vec3<T>{step[0], step[1], step[2]});
    for (int i = 0; i < 3; ++i) {
      result[i] = q[i] + shift[i];
    }
    turnQuaternion(q + 3, w, result + 3);
  } else {
    const int n = velocitySize(type);
    for (int i = 0; i < n; ++i) {
      result[i] = q[i] + step[i];
    }
  }
}

/// The step that leads from one position to another: jointRetract(from, step) == to.
template <typename T>
void jointDifference(JointType type, const T* from, const T* to, T* step) {
  const auto between = [](const T* a, const T* b) {
    const Quaternion<T> qa{a[0], a[1], a[2], a[3]}, qb{b[0], b[1], b[2], b[3]};
    return vectorFromQuaternion(normalized(qa.conjugate() * qb));
  };
  if (type == JointType::Spherical) {
    const Vec3<T> w = between(from, to);
    step[0] = w.x;
    step[1] = w.y;
    step[2] = w.z;
  } else if (type == JointType::Free) {
    const Vec3<T> w = between(from + 3, to + 3);
    const Mat3<T> R = rotationFromQuaternion(Quaternion<T>{from[3], from[4], from[5], from[6]});
    const Vec3<T> shift =
        transposeTimes(R, Vec3<T>{to[0] - from[0], to[1] - from[1], to[2] - from[2]});
    // linear = V⁻¹ shift, by Cramer's rule: V is well conditioned for |ω| ≤ π.
    const Mat3<T> V = expTranslation(w);
    const Vec3<T> c0 = V.column(0), c1 = V.column(1), c2 = V.column(2);
    const T scale = T(1) / dot(c0, cross(c1, c2));
    step[0] = scale * dot(shift, cross(c1, c2));
    step[1] = scale * dot(shift, cross(c2, c0));
    step[2] = scale * dot(shift, cross(c0, c1));
    step[3] = w.x;
    step[4] = w.y;
    step[5] = w.z;
  } else {
    const int n = velocitySize(type);
    for (int i = 0; i < n; ++i) {
      step[i] = to[i] - from[i];
    }
  }
}

/// Row-major n×n matrix (n = 3 or 6) that takes a change of `step` to the velocity it causes at
/// q ⊞ step: the right Jacobian Σ_k (−ad_step)ᵏ / (k+1)!, summed until its terms vanish.
/// For plain numbers it is the identity, and this is not called.
template <typename T>
void retractJacobian(JointType type, const T* step, T* J) {
  using std::abs;
  const int n = velocitySize(type);
  const bool free = type == JointType::Free;
  // ad of [linear; angular] = [ω× v×; 0 ω×], of a rotation alone ω×.
  T ad[36] = {};
  const T* w = free ? step + 3 : step;
  const Mat3<T> W = skew(Vec3<T>{w[0], w[1], w[2]});
  const Mat3<T> V = free ? skew(Vec3<T>{step[0], step[1], step[2]}) : Mat3<T>{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      ad[i * n + j] = W(i, j);
      if (free) {
        ad[i * n + j + 3] = V(i, j);
        ad[(i + 3) * n + j + 3] = W(i, j);
      }
    }
  }
  T term[36] = {}, next[36] = {};
  for (int i = 0; i < n * n; ++i) {
    J[i] = term[i] = (i % (n + 1) == 0) ? T(1) : T(0);
  }
  for (int k = 1; k < 60; ++k) {
    T largest(0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        T sum(0);
        for (int l = 0; l < n; ++l) {
          sum += term[i * n + l] * ad[l * n + j];
        }
        next[i * n + j] = -sum / T(k + 1);
        largest = abs(next[i * n + j]) > largest ? abs(next[i * n + j]) : largest;
      }
    }
    for (int i = 0; i < n * n; ++i) {
      term[i] = next[i];
      J[i] += next[i];
    }
    if (largest < T(1e-17)) {
      return;
    }
  }
}

}  // namespace kempe::detail
