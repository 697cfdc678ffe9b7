#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "kempe/method.hpp"

namespace kempe::detail {

/// Power supplied to and dissipated by a robot; see Work.
inline constexpr int kController = 0, kExternal = 1, kMotors = 2;
inline constexpr int kDamping = 3, kFriction = 4, kLimits = 5, kFlows = 6;
using Power = std::array<double, kFlows>;

/// One coordinate of a joint in the spanning position and velocity.
struct SpanningPlace {
  int position = 0;  ///< −1: none, as for a component of a ball joint
  int velocity = 0;
};

/// A state of all tree joints and the forces that act on it.
struct ForceState {
  const std::vector<double>& positions;
  const Eigen::VectorXd& velocities;
  Eigen::VectorXd& forces;            ///< along the velocities; added to
  std::vector<FrameForce>& external;  ///< added to
  Power& power;                       ///< added to
};

/// How forces along tree joints change with the positions and velocities there.
struct JointSlopes {
  Eigen::VectorXd byPosition, byVelocity;  ///< per spanning velocity
};

}  // namespace kempe::detail
