#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kempe/constraints.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe::test {

/// A state and a direction in which it changes; that of q is a tangent, nv numbers.
struct VaryingState {
  Eigen::VectorXd q, v, a;
  Eigen::VectorXd alongQ, alongV, alongA;
};

/// The derivative of inverseDynamics() along a direction, exactly: by dual numbers through the
/// recursion itself, loops included.
Eigen::VectorXd inverseDynamicsAlong(const Model& model, const VaryingState& state,
                                     std::span<const FrameForce> external = {});

/// Derivatives of φ, φ̇ and φ̈ of all rows along a direction, likewise; those of φ are not a number for
/// locks of joints.
struct RowSlopes {
  Eigen::VectorXd value, rate, second;
};
RowSlopes rowsAlong(const Model& model, const detail::ConstraintTable& table, double time,
                    const VaryingState& state);

/// A frame and the reference in which its motion is expressed.
struct FrameIn {
  int frame = 0;
  Reference reference = Reference::LocalWorldAligned;
};

/// Derivatives of kinematics along a direction.
struct KinematicsAlong {
  Eigen::MatrixXd velocities, accelerations;  ///< of frameVelocity(), frameAcceleration(), 6 × k
  std::vector<Eigen::MatrixXd> jacobians;     ///< of frameJacobian()
  Eigen::VectorXd momentum, momentumRate;     ///< of the functions with these names
  Eigen::VectorXd centerOfMass, centerOfMassVelocity, centerOfMassAcceleration;  ///< likewise
  Eigen::VectorXd gravityForces;                                                 ///< likewise
};
/// By dual numbers through the functions of kinematics themselves, loops included.
KinematicsAlong kinematicsAlong(const Model& model, const VaryingState& state,
                                std::span<const FrameIn> frames);

}  // namespace kempe::test
