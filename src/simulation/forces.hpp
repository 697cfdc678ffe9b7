#pragma once

#include <array>
#include <vector>

#include "kempe/force_elements.hpp"
#include "kempe/recording.hpp"
#include "simulation/coordinates.hpp"

/// The forces of springs, limits, friction and motors, and the power that they supply or dissipate.
namespace kempe::detail {

/// Power supplied to and dissipated by a robot; see Work.
inline constexpr int kController = 0, kExternal = 1, kMotors = 2;
inline constexpr int kDamping = 3, kFriction = 4, kLimits = 5, kFlows = 6;
using Power = std::array<double, kFlows>;

/// One coordinate of a joint in the spanning position and velocity.
struct SpanningPlace {
  int position = 0, velocity = 0;
};

/// A state of all tree joints and the forces that act on it.
struct ForceState {
  const std::vector<double>& positions;
  const Eigen::VectorXd& velocities;
  Eigen::VectorXd& forces;            ///< along the velocities; added to
  std::vector<FrameForce>& external;  ///< added to
  Power& power;                       ///< added to
};

class ForceElements {
 public:
  int add(const Model& model, const JointSpring& spring);
  int add(const Model& model, const PointSpring& spring);
  int add(const Model& model, const JointLimit& limit);
  int add(const Model& model, const JointFriction& friction);
  int add(const Model& model, const Motor& motor);

  [[nodiscard]] int motors() const { return static_cast<int>(motors_.size()); }
  [[nodiscard]] bool actOnJoints() const {
    return !springs_.empty() || !limits_.empty() || !frictions_.empty() || !motors_.empty();
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
  std::vector<Placed<JointLimit>> limits_;
  std::vector<Placed<JointFriction>> frictions_;
  std::vector<Placed<Motor>> motors_;
};

/// The power of forces on frames, for bodies placed and moving.
double externalPower(const ModelImpl& model, const WorkView<double>& work,
                     const std::vector<FrameForce>& external);

}  // namespace kempe::detail
