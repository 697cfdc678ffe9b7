#pragma once

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/coordinates.hpp"
#include "simulation/forces.hpp"

namespace kempe::detail {

/// A point in phase space, in the current coordinates.
struct State {
  double time = 0.0;
  Vector q, v;
  Power work{};
};

/// The rates of change of a state, and their causes.
struct Rates {
  void resize(const Coordinates& coordinates, const ForceElements& elements);
  void resizeForElements(const ForceElements& elements);
  void setZero();
  /// Adds `weight` times another.
  void add(double weight, const Rates& other);

  Eigen::VectorXd a;                 ///< accelerations
  Eigen::VectorXd velocities;        ///< of all tree joints
  Eigen::VectorXd v;                 ///< of the user's coordinates
  Vector tau;                        ///< the controller's, in the user's coordinates
  Eigen::VectorXd torques;           ///< of motors, at the rotor
  Readings readings;                 ///< of friction and stops
  Eigen::VectorXd forces;            ///< of elements at all tree joints, but for those that hold
  std::vector<FrameForce> external;  ///< on bodies, also of springs between points
  Power power{};
  std::vector<double> G;
  std::vector<double> regularity;  ///< of the loops of each cluster; 1 where they go straight on
  /// At a change point, from the position to that on the branch, per spanning velocity.
  Eigen::VectorXd displacement;
  bool crossing = false;  ///< a change point
  /// The same of loops that are left cut and constraints: displacement of the coordinates, and
  /// velocities on the branch.
  Eigen::VectorXd rowDisplacement, rowVelocities;
  bool crossingRows = false;
  double rowRegularity = 1.0;  ///< of the rows of cut loops, relative to the usual
  /// The longest step that such rows allow where they only come near a change point.
  double secondsAhead = std::numeric_limits<double>::infinity();
};

/// A state is beyond all bounds, or forces there are not finite. Where a stage of a step leads
/// there, the step was too long, if its error is controlled.
class Diverged : public std::runtime_error {
 public:
  Diverged(const std::string& event, const std::string& remedy)
      : std::runtime_error("the simulation diverged: " + event + ". " + remedy), event_(event) {}
  [[nodiscard]] const std::string& event() const { return event_; }

 private:
  std::string event_;
};
class ForceNotFinite : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace kempe::detail
