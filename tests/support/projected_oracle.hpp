#pragma once

#include "support/oracle.hpp"

namespace kempe::test {

/// The oracle's dynamics in the independent coordinates of a model: everything by dense projection,
/// with G and g from the oracle's own constraint rows.
class ProjectedOracle {
 public:
  explicit ProjectedOracle(const Model& model);

  /// Takes the state from the model's configuration and velocity.
  void set(const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  [[nodiscard]] Eigen::MatrixXd massMatrix() const { return G.transpose() * H * G; }
  [[nodiscard]] Eigen::VectorXd biasForces() const {
    return G.transpose() * (H * g + h + resistance + springs);
  }
  /// Jacobian of a body's point, [linear; angular], axes of the world; and J̇ v.
  [[nodiscard]] Eigen::MatrixXd jacobian(const std::string& body,
                                         const Eigen::Vector3d& point = {0, 0, 0}) const;
  [[nodiscard]] Eigen::VectorXd jacobianRate(const std::string& body,
                                             const Eigen::Vector3d& point = {0, 0, 0}) const;

  Eigen::VectorXd positions, rates;  ///< spanning
  Eigen::MatrixXd G, H;              ///< q̇ = G ẏ; mass matrix of the spanning tree
  Eigen::VectorXd g, h, resistance;  ///< q̈ = G ÿ + g; bias; damping and friction, spanning
  Eigen::VectorXd springs;           ///< forces that hold the springs, spanning
  const Oracle oracle;

 private:
  const Model model_;
  Data data_;
};

}  // namespace kempe::test
