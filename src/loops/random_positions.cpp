#include "loops/random_positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "loops/scales.hpp"

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

/// A modal coordinate that holds its share of the energy of a body that one mode, the softest, displaces by
/// a fiftieth of its size, or turns by 0.02 rad. High modes are small then, as they are in loaded
/// bodies: inertia is expanded for small deformations, and short waves of the amplitude of long ones
/// would be large.
double bendOf(const ModelTables<double>& tables, int b) {
  constexpr double kSmall = 0.02;
  const FlexibleEntry& flexible = flexibleOfMode(tables, b);
  double energy = std::numeric_limits<double>::infinity();  // twice that of a mode
  for (int mode = 0; mode < flexible.modes; ++mode) {
    const double bend = kSmall * modalUnit(tables, flexible, mode);
    const double stiffness = tables.stiffness[flexible.firstVelocity + mode];
    energy = stiffness > 0.0 ? std::min(energy, stiffness * bend * bend) : energy;
  }
  const int velocity = tables.bodies[b].firstVelocity;
  const double stiffness = tables.stiffness[velocity];
  return stiffness > 0.0 ? std::sqrt(energy / (stiffness * flexible.modes))
                         : kSmall * modalUnit(tables, flexible, velocity - flexible.firstVelocity);
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
