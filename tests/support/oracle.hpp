#pragma once

#include <Eigen/Geometry>
#include <map>
#include <string>
#include <vector>

#include "kempe/model.hpp"
#include "support/frames.hpp"

namespace kempe::test {

/// A slow, dense second opinion on a mechanism with its loops cut: kinematics by homogeneous
/// matrices on jets, dynamics by Newton and Euler about each body's centre of mass. From the
/// library it takes the mechanism's description and the order of the spanning coordinates.
class Oracle {
 public:
  explicit Oracle(const Model& model);

  /// The loop closure error at spanning positions, in the oracle's own choice of rows.
  [[nodiscard]] Eigen::VectorXd residual(const Eigen::VectorXd& positions) const;
  /// K of φ̇ = K q̇_span.
  [[nodiscard]] Eigen::MatrixXd constraintRows(const Eigen::VectorXd& positions) const;
  /// k of K q̈_span = k.
  [[nodiscard]] Eigen::VectorXd constraintBias(const Eigen::VectorXd& positions,
                                               const Eigen::VectorXd& velocities) const;

  /// Motion of a frame fixed on a body at `point` (body frame), axes of the world. The Jacobians
  /// are 3 × nvSpanning; the accelerations are those at q̈_span = 0.
  struct Motion {
    Eigen::Matrix3d R;
    Eigen::Vector3d p, velocity, angularVelocity, acceleration, angularAcceleration;
    Eigen::MatrixXd linear, angular;
  };
  [[nodiscard]] Motion motion(const std::string& body, const Eigen::Vector3d& point,
                              const Eigen::VectorXd& positions,
                              const Eigen::VectorXd& velocities) const;

  /// Placement of a body's frame in the world.
  [[nodiscard]] Frame<double> placement(const std::string& body,
                                        const Eigen::VectorXd& positions) const;

  /// Mass matrix of the spanning tree, armatures included.
  [[nodiscard]] Eigen::MatrixXd massMatrix(const Eigen::VectorXd& positions) const;
  /// Spanning forces that hold q̈_span = 0 against velocity and gravity.
  [[nodiscard]] Eigen::VectorXd biasForces(const Eigen::VectorXd& positions,
                                           const Eigen::VectorXd& velocities) const;
  /// Spanning forces that hold the springs of the joints.
  [[nodiscard]] Eigen::VectorXd springForces(const Eigen::VectorXd& positions) const;
  [[nodiscard]] double springEnergy(const Eigen::VectorXd& positions) const;
  [[nodiscard]] double kineticEnergy(const Eigen::VectorXd& positions,
                                     const Eigen::VectorXd& velocities) const;
  /// Of gravity and of the springs of the joints.
  [[nodiscard]] double potentialEnergy(const Eigen::VectorXd& positions) const;

 private:
  struct Place {
    int position = 0;
    int velocity = 0;
  };
  using JetVector = std::vector<Jet>;

  /// Joint positions as jets along constant velocities.
  [[nodiscard]] std::map<std::string, JetVector> along(const Eigen::VectorXd& positions,
                                                       const Eigen::VectorXd& velocities) const;
  [[nodiscard]] Frame<Jet> frameOf(const std::string& body,
                                   const std::map<std::string, JetVector>& q) const;
  [[nodiscard]] JetVector rows(const std::map<std::string, JetVector>& q) const;

  const Mechanism mechanism_;
  std::map<std::string, Place> places_;  ///< by joint
  int positions_ = 0, velocities_ = 0;
};

}  // namespace kempe::test
