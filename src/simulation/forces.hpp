#pragma once

#include <array>
#include <vector>

#include "kempe/force_elements.hpp"
#include "kempe/recording.hpp"
#include "simulation/switches.hpp"

/// The forces of springs, limits, friction and motors, and the power that they supply or dissipate.
namespace kempe::detail {

class ForceElements {
 public:
  int add(const Model& model, const JointSpring& spring);
  int add(const Model& model, const PointSpring& spring);
  int add(const Model& model, const JointLimit& limit);
  int add(const Model& model, const JointFriction& friction);
  int add(const Model& model, const Motor& motor);

  [[nodiscard]] int motors() const { return static_cast<int>(motors_.size()); }
  [[nodiscard]] bool actOnJoints() const {
    return !springs_.empty() || !smoothFrictions_.empty() || !motors_.empty() || !switches.empty();
  }
  [[nodiscard]] bool actBetweenPoints() const { return !pointSprings_.empty(); }

  /// Forces along joints. `commands` and `torques` are those of the motors.
  void applyToJoints(const ForceState& state, const Eigen::VectorXd& commands,
                     Eigen::VectorXd& torques) const;
  /// Forces of point springs, for bodies placed and moving.
  void applyBetweenPoints(const WorkView<double>& work, const ForceState& state) const;
  /// Energy in springs and end stops.
  [[nodiscard]] double potential(const std::vector<double>& positions) const;
  [[nodiscard]] double pointPotential(const WorkView<double>& work) const;

  /// Dry friction and end stops.
  Switches switches;

 private:
  template <typename Element>
  struct Placed {
    Element element;
    SpanningPlace place;
  };
  struct PlacedPoint {
    int frame = 0;
    FrameEntry entry{};
    Vector3 point{};
  };
  struct PlacedPointSpring {
    PointSpring element;
    PlacedPoint from, to;
  };

  std::vector<Placed<JointSpring>> springs_;
  std::vector<PlacedPointSpring> pointSprings_;
  std::vector<Placed<JointFriction>> smoothFrictions_;
  std::vector<Placed<Motor>> motors_;
  int limits_ = 0, frictions_ = 0;  // that were added
};

/// The power of forces on frames, for bodies placed and moving.
double externalPower(const ModelImpl& model, const WorkView<double>& work,
                     const std::vector<FrameForce>& external);

}  // namespace kempe::detail
