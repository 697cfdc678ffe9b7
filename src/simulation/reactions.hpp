#pragma once

#include <memory>
#include <vector>

#include "kempe/joint_forces.hpp"
#include "simulation/coordinates.hpp"

/// The reactions in joints and loops under the loads of a simulation.
namespace kempe::detail {

/// All forces but gravity, the dampers of the model's joints, and those of its loops.
struct Loads {
  Vector joints{};  ///< generalised forces at all tree joints
  /// [force; moment] on the body of each joint, about the world's origin; empty if there are none.
  Vector bodies{};
};

/// Computes reactions under loads, at any state of a model. The coordinates are chosen for each state
/// so that they determine the others there. The models have no dry friction, since that is among
/// the loads.
class Reactions {
 public:
  explicit Reactions(const Model& model);

  /// As the functions of joint_forces.hpp. Of `how`, reference and frame apply; throw
  /// std::invalid_argument if anything else is set, SingularityError near a change point.
  void joints(VectorIn q, VectorIn velocities, const Loads& loads, MatrixOut forces,
              const ForceOptions& how);
  void loops(VectorIn q, VectorIn velocities, const Loads& loads, VectorOut forces,
             const ForceOptions& how);
  /// Whether the loads give these accelerations of the model's own coordinates. If not, the loads
  /// are of another model. Also true in positions where other coordinates are chosen.
  bool explain(VectorIn q, VectorIn velocities, const Loads& loads, VectorIn a);

 private:
  /// Chooses coordinates, and writes v in them.
  Coordinates& choose(VectorIn q, VectorIn velocities);
  Coordinates& bestAt(VectorIn q);
  /// Options with the loads.
  ForceOptions under(const Loads& loads, const ForceOptions& how);

  LoopScales scales_;
  std::vector<std::unique_ptr<Coordinates>> choices_;  // the model's own first
  std::vector<double> G_;
  std::vector<std::vector<int>> lists_;
  std::vector<int> frames_;  // one on the body of each joint
  std::vector<FrameForce> external_;
  Eigen::VectorXd v_, none_, tau_, a_;
};

}  // namespace kempe::detail
