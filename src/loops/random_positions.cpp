#include "loops/random_positions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kempe::detail {

Quaternion<double> randomQuaternion(Random& random) {
  for (;;) {
    const Quaternion<double> q{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1),
                               random.uniform(-1, 1)};
    const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (square > 0.01 && square < 1.0) {
      return normalized(q);
    }
  }
}

namespace {

/// A modal coordinate that displaces nodes by a fiftieth of the size of the body.
double bendOf(const ModelTables<double>& tables, int b) {
  constexpr double kSmall = 0.02;
  const int velocity = tables.bodies[b].firstVelocity;
  const auto found = std::ranges::find_if(tables.flexibles, [&](const FlexibleEntry& flexible) {
    return velocity >= flexible.firstVelocity && velocity < flexible.firstVelocity + flexible.modes;
  });
  const BodyEntry<double>& body = tables.bodies[found->body];
  const int mode = velocity - found->firstVelocity;
  double largest = 0.0;
  for (const NodeEntry<double>& node : tables.nodes) {
    if (node.flexible == body.flexible) {
      const NodeShapeEntry<double>& shape = tables.nodeShapes[node.firstShape + mode];
      largest = std::max(largest, norm(Vec3<double>(shape.translation)));
    }
  }
  const double size = std::sqrt(body.inertia.rotation.trace() / body.inertia.mass);
  return largest > 0.0 ? kSmall * size / largest : kSmall;
}

}  // namespace

void randomPositions(const ModelTables<double>& tables, const ClusterEntry& cluster,
                     const double* lower, const double* upper, double reach, Random& random,
                     double* q) {
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    const int first = body.firstPosition - cluster.firstPosition;
    const auto draw = [&](int i, double range) {
      double low = lower[first + i], high = upper[first + i];
      if (!std::isfinite(low) || !std::isfinite(high)) {
        // One-sided limits leave the other side open: `range` beyond the limit.
        low = std::max(low, std::min(-range, high - range));
        high = std::min(high, std::max(range, low + range));
      }
      q[first + i] = random.uniform(low, high);
    };
    const auto drawQuaternion = [&](int i) {
      const Quaternion<double> turn = randomQuaternion(random);
      q[first + i] = turn.x;
      q[first + i + 1] = turn.y;
      q[first + i + 2] = turn.z;
      q[first + i + 3] = turn.w;
    };
    constexpr double kTurn = std::numbers::pi;
    switch (body.type) {
      case JointType::Fixed:
      case JointType::Node:
        break;
      case JointType::Mode:
        draw(0, bendOf(tables, cluster.firstBody + b));
        break;
      case JointType::Revolute:
      case JointType::Continuous:
      case JointType::Helical:
        draw(0, kTurn);
        break;
      case JointType::Prismatic:
        draw(0, reach);
        break;
      case JointType::Cylindrical:
        draw(0, kTurn);
        draw(1, reach);
        break;
      case JointType::Universal:
        draw(0, kTurn);
        draw(1, kTurn);
        break;
      case JointType::Planar:
        draw(0, reach);
        draw(1, reach);
        draw(2, kTurn);
        break;
      case JointType::Spherical:
        drawQuaternion(0);
        break;
      case JointType::Free:
        draw(0, reach);
        draw(1, reach);
        draw(2, reach);
        drawQuaternion(3);
        break;
    }
  }
}

}  // namespace kempe::detail
