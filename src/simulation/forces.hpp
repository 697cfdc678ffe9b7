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
  /// Adds friction at a place, without a number of its own.
  void place(const Model& model, const std::string& joint, SpanningPlace at,
             const JointFriction& friction);
  int add(const Model& model, const Motor& motor);

  [[nodiscard]] int motors() const { return static_cast<int>(motors_.size()); }
  [[nodiscard]] bool actOnJoints() const {
    return !springs_.empty() || !smoothFrictions_.empty() || !motors_.empty() || !switches.empty();
  }
  [[nodiscard]] bool actBetweenPoints() const { return !pointSprings_.empty(); }

  /// Forces along joints. `commands` and `torques` are those of the motors.
  void applyToJoints(const ForceState& state, const Eigen::VectorXd& commands,
                     Eigen::VectorXd& torques) const;
  /// Adds how these forces change with the state of the joints, in the present modes of switches.
  void addSlopes(const Eigen::VectorXd& velocities, const Eigen::VectorXd& commands,
                 JointSlopes& slopes) const;
  /// Forces of point springs, for bodies placed and moving.
  void applyBetweenPoints(const WorkView<double>& work, const ForceState& state) const;
  /// Calls visit(spring, motion of its ends) for all point springs, for bodies placed and moving.
  template <typename T, typename Visit>
  void forPointSprings(const WorkView<T>& work, const Visit& visit) const {
    for (const PlacedPointSpring& spring : pointSprings_) {
      visit(spring, motionOf(work, spring.from), motionOf(work, spring.to));
    }
  }
  /// Energy in springs and end stops.
  [[nodiscard]] double potential(const std::vector<double>& positions) const;
  [[nodiscard]] double pointPotential(const WorkView<double>& work) const;

  /// A point on a frame.
  struct PlacedPoint {
    int frame = 0;
    FrameEntry entry{};
    Vector3 point{};
  };
  struct PlacedPointSpring {
    PointSpring element;
    PlacedPoint from, to;
  };
  /// Its motion, in the common frame.
  template <typename T>
  struct MovingPoint {
    Vec3<T> position, velocity, fromFrame;
  };

  /// Dry friction and end stops.
  Switches switches;

 private:
  template <typename Element>
  struct Placed {
    Element element;
    SpanningPlace place;
  };

  template <typename T>
  static MovingPoint<T> motionOf(const WorkView<T>& work, const PlacedPoint& at) {
    const Transform<T> X = placed(work.X[at.entry.body], at.entry.inBody);
    const Vec3<T> fromFrame = X.R * at.point.cast<T>();
    const Vec3<T> position = fromFrame + X.p;
    const Motion<T>& v = work.v[at.entry.body];
    return {position, v.linear + cross(v.angular, position), fromFrame};
  }

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
