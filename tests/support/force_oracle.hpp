#pragma once

#include <map>
#include <string>
#include <vector>

#include "kempe/method.hpp"
#include "support/projected_oracle.hpp"

namespace kempe::test {

/// The forces on a mechanism.
struct Load {
  Eigen::VectorXd tau;
  std::vector<FrameForce> external{};  ///< on frames of bodies
  Eigen::VectorXd spanning{};          ///< at all joints beside tau; may be empty
  bool atRotors = false;               ///< tau acts where Actuation::Rotors says
};

/// A dense, independent computation of forces between bodies: accelerations by projection,
/// Newton-Euler for each body, and loop forces by least squares over all forces that their joints
/// can transmit. All wrenches are [force; moment] in world axes.
class ForceOracle {
 public:
  using Wrench = Eigen::Matrix<double, 6, 1>;

  explicit ForceOracle(const Model& model);

  void set(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Load& load);

  /// The total force required on a moving joint's child and the bodies fixed to it, in addition to
  /// external forces: mass times acceleration less weight. About the world's origin.
  [[nodiscard]] Wrench demand(const std::string& joint) const;
  /// The moving joint that carries a body; empty for those fixed to the world.
  [[nodiscard]] std::string carrierOf(const std::string& body) const;
  /// Directions of a joint's DoFs [linear; angular] at its child's origin, axes of the world.
  [[nodiscard]] Eigen::MatrixXd directions(const std::string& joint) const;
  [[nodiscard]] Oracle::Motion at(const std::string& body,
                                  const Eigen::Vector3d& point = {0, 0, 0}) const;
  /// A wrench about another point.
  static Wrench shifted(const Wrench& w, const Eigen::Vector3d& from, const Eigen::Vector3d& to);

  ProjectedOracle projected;
  Eigen::VectorXd a, accelerations;  ///< ÿ and q̈ of the spanning tree
  Eigen::VectorXd applied;           ///< forces at all joints that are given
  Eigen::VectorXd left;              ///< spanning forces that are left to the loops
  Eigen::VectorXd loopForces;        ///< as loopForces() gives them
  Eigen::MatrixXd bearable;          ///< orthonormal basis of the forces that loops can transmit
  Eigen::MatrixXd felt;              ///< spanning forces of unit loop forces

 private:
  void applyAtRotors(const Eigen::VectorXd& tau);
  void solveLoops();
  /// Sum of external forces about the world's origin, by carrying joint.
  std::map<std::string, Wrench> external_;
  const Model model_;
  const Mechanism& mechanism_;
};

}  // namespace kempe::test
