#pragma once

#include <array>
#include <cmath>
#include <span>

#include "kempe/jet.hpp"
#include "kempe/mechanism.hpp"

/// Placements by homogeneous matrices, on any scalar: the kinematics of the tests' oracle. It
/// shares nothing with the library's; it reads a mechanism as a person would.
namespace kempe::test {

template <typename S>
using Triple = std::array<S, 3>;

template <typename S>
struct Frame {
  std::array<Triple<S>, 3> R{};  ///< rows
  Triple<S> p{};

  static Frame identity() {
    Frame frame;
    for (std::size_t i = 0; i < 3; ++i) {
      frame.R[i][i] = S(1.0);
    }
    return frame;
  }

  static Frame from(const Pose& pose) {
    Frame frame;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        frame.R[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = S(pose.R(i, j));
      }
      frame.p[static_cast<std::size_t>(i)] = S(pose.p[i]);
    }
    return frame;
  }

  [[nodiscard]] Triple<S> rotate(const Triple<S>& x) const {
    Triple<S> y{};
    for (std::size_t i = 0; i < 3; ++i) {
      y[i] = R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2];
    }
    return y;
  }

  [[nodiscard]] Triple<S> point(const Triple<S>& x) const {
    Triple<S> y = rotate(x);
    for (std::size_t i = 0; i < 3; ++i) {
      y[i] = y[i] + p[i];
    }
    return y;
  }

  friend Frame operator*(const Frame& a, const Frame& b) {
    Frame c;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        c.R[i][j] = a.R[i][0] * b.R[0][j] + a.R[i][1] * b.R[1][j] + a.R[i][2] * b.R[2][j];
      }
    }
    c.p = a.point(b.p);
    return c;
  }

  [[nodiscard]] Frame inverse() const {
    Frame c;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        c.R[i][j] = R[j][i];
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      c.p[i] = -(R[0][i] * p[0] + R[1][i] * p[1] + R[2][i] * p[2]);
    }
    return c;
  }
};

template <typename S>
Triple<S> tripleOf(const Vector3& v) {
  return {S(v.x), S(v.y), S(v.z)};
}

inline Vector3 unit(const Vector3& v) {
  const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  return {v.x / length, v.y / length, v.z / length};
}

/// Turn by an angle about an axis through the origin (Rodrigues' formula).
template <typename S>
Frame<S> turnAbout(const Vector3& axis, const S& angle) {
  using std::cos;
  using std::sin;
  const Vector3 u = unit(axis);
  const std::array<double, 3> a{u.x, u.y, u.z};
  const S s = sin(angle), c = cos(angle);
  const std::array<Triple<double>, 3> W{
      {{0.0, -a[2], a[1]}, {a[2], 0.0, -a[0]}, {-a[1], a[0], 0.0}}};
  Frame<S> frame;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double same = i == j ? 1.0 : 0.0;
      frame.R[i][j] = c * S(same) + s * S(W[i][j]) + (S(1.0) - c) * S(a[i] * a[j]);
    }
  }
  return frame;
}

template <typename S>
Frame<S> shiftAlong(const Vector3& axis, const S& distance) {
  Frame<S> frame = Frame<S>::identity();
  const Vector3 u = unit(axis);
  frame.p = {distance * S(u.x), distance * S(u.y), distance * S(u.z)};
  return frame;
}

/// The turn of a quaternion (x, y, z, w) of any length but zero.
template <typename S>
Frame<S> turnOfQuaternion(const S* q) {
  const S n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  const S x = q[0], y = q[1], z = q[2], w = q[3], two(2.0);
  Frame<S> f;
  f.R[0] = {(w * w + x * x - y * y - z * z) / n, two * (x * y - w * z) / n,
            two * (x * z + w * y) / n};
  f.R[1] = {two * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n,
            two * (y * z - w * x) / n};
  f.R[2] = {two * (x * z - w * y) / n, two * (y * z + w * x) / n,
            (w * w - x * x - y * y + z * z) / n};
  return f;
}

/// The two directions that a planar joint slides along: x and y, turned by the smallest turn that
/// takes z to the axis. An axis well below the horizon turns the other way, with y reversed.
inline std::array<Vector3, 2> planarDirections(const Vector3& axis) {
  Vector3 u = unit(axis);
  const double side = u.z < -0.5 ? -1.0 : 1.0;
  u = side * u;
  const double across = std::sqrt(u.x * u.x + u.y * u.y);
  const Frame<double> turn =
      across < 1e-12 ? Frame<double>::identity()
                     : turnAbout<double>(Vector3{-u.y, u.x, 0.0}, std::atan2(across, u.z));
  return {Vector3{turn.R[0][0], turn.R[1][0], turn.R[2][0]},
          side * Vector3{turn.R[0][1], turn.R[1][1], turn.R[2][1]}};
}

/// Where a joint at position q carries its child's frame, in the joint's own frame.
template <typename S>
Frame<S> jointFrame(const Joint& joint, const S* q) {
  switch (joint.type) {
    case JointType::Fixed:
    case JointType::Mode:  // of flexible bodies, which the oracles of rigid mechanisms do not know
    case JointType::Node:
      return Frame<S>::identity();
    case JointType::Revolute:
    case JointType::Continuous:
      return turnAbout(joint.axis, q[0]);
    case JointType::Prismatic:
      return shiftAlong(joint.axis, q[0]);
    case JointType::Helical:
      return shiftAlong(joint.axis, S(joint.pitch) * q[0]) * turnAbout(joint.axis, q[0]);
    case JointType::Cylindrical:
      return shiftAlong(joint.axis, q[1]) * turnAbout(joint.axis, q[0]);
    case JointType::Universal:
      return turnAbout(joint.axis, q[0]) * turnAbout(joint.axis2, q[1]);
    case JointType::Planar: {
      const auto directions = planarDirections(joint.axis);
      return shiftAlong(directions[0], q[0]) * shiftAlong(directions[1], q[1]) *
             turnAbout(joint.axis, q[2]);
    }
    case JointType::Spherical:
      return turnOfQuaternion(q);
    case JointType::Free: {
      Frame<S> frame = turnOfQuaternion(q + 3);
      frame.p = {q[0], q[1], q[2]};
      return frame;
    }
  }
  return Frame<S>::identity();
}

}  // namespace kempe::test
