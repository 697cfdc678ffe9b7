#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "constraints/table.hpp"
#include "kempe/force_elements.hpp"
#include "model/model_impl.hpp"
#include "simulation/force_state.hpp"

/// Dry friction and end stops: forces that are smooth except where they switch between modes.
///
/// Modes are fixed within a step, so that every integrator integrates a smooth equation. Each mode
/// has a margin, a number that is positive as long as it lasts; where it becomes negative within a
/// step, the step is shortened to end there, and new modes are chosen (switch_events.hpp).
namespace kempe::detail {

/// Positions and velocities along all switches at one state, and the forces of those that hold.
struct Readings {
  void resize(int count);
  void setZero();
  void add(double weight, const Readings& other);

  std::vector<double> position, rate, force;
};

/// The end of a mode within a step.
struct SwitchEvent {
  int which = -1;                    ///< none if negative
  double before = 0.0, after = 0.0;  ///< margins at the start and at the end of the step
  /// Margins between these are near enough to the end of the mode.
  double least = 0.0, most = 0.0;
  double part = 1.0;     ///< of the step, where the mode is estimated to end
  bool inside = false;   ///< the margin is estimated to be negative there, but not at the end
  bool yesOrNo = false;  ///< margins are not numbers that can be interpolated
};

/// A step cannot end at a rigid stop; shorter ones may.
class StopPassed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Switches {
 public:
  /// Adds dry friction; that of one coordinate is added up.
  void addFriction(const ModelImpl& model, const std::string& joint, SpanningPlace place,
                   const JointFriction& friction);
  /// Adds stops at the bounds that are finite.
  void addStops(const ModelImpl& model, SpanningPlace place, const JointLimit& limit);

  [[nodiscard]] int count() const { return static_cast<int>(switches_.size()); }
  [[nodiscard]] bool empty() const { return switches_.empty(); }

  /// Forces in the present modes, but for those that hold.
  void apply(const ForceState& state) const;
  /// Adds the slopes of these forces, in the present modes.
  void addSlopes(const Eigen::VectorXd& velocities, JointSlopes& slopes) const;
  void read(const std::vector<double>& positions, const Eigen::VectorXd& velocities,
            Readings& readings) const;
  /// Energy in elastic stops.
  [[nodiscard]] double potential(const std::vector<double>& positions) const;

  /// Velocities that are held at zero, one entry per switch; those that hold are enabled, but for
  /// those that others imply.
  [[nodiscard]] const ConstraintTable& held() const { return held_; }
  [[nodiscard]] bool holds() const;
  [[nodiscard]] bool holds(int which) const;
  /// Whether some that hold are implied by others: forces of single ones are then not unique.
  [[nodiscard]] bool isRedundant() const;
  /// Whether rounding has left a velocity to one that holds.
  [[nodiscard]] bool slips(const Readings& readings, double speed) const;
  /// Bounds of the force of a switch that holds.
  void bounds(int which, double& lower, double& upper) const;

  /// Before a step: joints that slide end it, too, where they enter the peak of their friction at low
  /// speeds (breakaway), so that no step passes the peak unseen.
  void watchPeaks(const Readings& start);
  /// The first event of a step of length h between two readings, without those of switches that
  /// hold if `ignoreHolding`.
  [[nodiscard]] SwitchEvent firstEvent(const Readings& start, const Readings& end, double h,
                                       bool ignoreHolding) const;
  [[nodiscard]] double margin(int which, const Readings& readings) const;

  /// Chooses modes from a state; every switch that may hold is made to hold: at rest, or moving
  /// slowly away from a stop. `speed` is the
  /// largest of all joints, `event` the switch whose mode ended there, or −1. Returns whether any
  /// may hold.
  bool chooseModes(const Readings& readings, double speed, int event);
  /// A switch that was made to hold does not: it accelerates.
  void release(int which, double acceleration);
  /// Whether a joint moves away from a stop that was made to hold and gets farther than the distance
  /// at which it counts as reached, if `back` is its acceleration towards the stop.
  [[nodiscard]] bool escapes(int which, const Readings& readings, double speed, double back) const;
  /// Others that hold imply this one.
  void markImplied(int which, bool implied);

  /// Rigid stops that are reached at a speed; `speed` is the largest of all joints.
  [[nodiscard]] bool isHit(int which, const Readings& readings, double speed) const;
  [[nodiscard]] bool isRigidContact(int which, const Readings& readings) const;
  /// Newton's coefficient of restitution for an impact at this rate.
  [[nodiscard]] double restitution(int which, double rate) const;
  /// +1 for an upper bound, −1 for a lower one.
  [[nodiscard]] double side(int which) const { return switches_[at(which)].side; }

  /// Elastic stops that push: stiffness and damping.
  [[nodiscard]] bool pushes(int which) const;
  [[nodiscard]] double stiffness(int which) const { return switches_[at(which)].stop.stiffness; }
  [[nodiscard]] double damping(int which) const { return switches_[at(which)].stop.damping; }
  [[nodiscard]] const std::string& joint(int which) const { return switches_[at(which)].joint; }
  /// Whether a rigid stop that does not hold has been passed, by however little.
  [[nodiscard]] bool isPassed(int which, const Readings& readings) const {
    const Switch& one = switches_[at(which)];
    return isRigid(one) && !holds(which) && beyond(one, readings.position[at(which)]) > 0.0;
  }
  [[nodiscard]] double bound(int which) const { return switches_[at(which)].bound; }
  /// Whether a position is beyond a rigid stop.
  [[nodiscard]] bool isBeyond(const Readings& readings) const { return beyondStop(readings) >= 0; }
  /// Throws StopPassed if it is.
  void requireStopsMet(const Readings& readings, const char* why) const;
  /// Throws std::invalid_argument if it is.
  void requireWithin(const Readings& readings) const;

  /// While it lives, exactly these rows of held() are enabled, whatever the modes.
  class EnabledRows {
   public:
    EnabledRows(Switches& switches, const std::vector<char>& rows) : switches_(switches) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        switches_.held_.entries[i].enabled = rows[i] != 0;
      }
    }
    ~EnabledRows() { switches_.restoreHeld(); }
    EnabledRows(const EnabledRows&) = delete;
    EnabledRows& operator=(const EnabledRows&) = delete;

   private:
    Switches& switches_;
  };

  /// Forgets what holds, before another state is set.
  void resetModes();
  /// Modes of a step's start, for a step that fails.
  void saveModes();
  void restoreModes();

 private:
  enum class Mode : signed char {
    Backward,  ///< friction that resists a negative rate
    Forward,   ///< friction that resists a positive rate
    Clear,     ///< a stop that is not reached
    Pushing,   ///< an elastic stop
    Slack,     ///< an elastic stop whose damper would have to pull
    Holding    ///< friction that sticks, or a rigid stop
  };
  struct Switch {
    std::string joint{};
    SpanningPlace place{};
    bool isFriction = false;
    std::vector<JointFriction> frictions{};
    JointLimit stop{};  ///< of one side
    double side = 1.0, bound = 0.0;
    Mode mode = Mode::Clear;
    bool implied = false;  ///< it holds if others do
    double peak = 0.0;     ///< speed at which its friction begins to rise, in this step; 0 below
  };

  static std::size_t at(int which) { return static_cast<std::size_t>(which); }
  /// Dry friction at a speed.
  template <typename T>
  static T resistance(const Switch& one, const T& speed);
  static double beyond(const Switch& one, double position) {
    return one.side * (position - one.bound);
  }
  /// The force with which an elastic stop pushes back, negative where it would pull.
  static double push(const Switch& one, double position, double rate) {
    return one.stop.stiffness * beyond(one, position) + one.stop.damping * one.side * rate;
  }
  static bool isRigid(const Switch& one) { return !one.isFriction && one.stop.stiffness == 0.0; }
  /// The distance at which a stop counts as reached.
  static double touch(const Switch& one);
  static Mode elasticMode(const Switch& one, double position, double rate);
  /// A rigid stop that a position is beyond; −1 if there is none.
  [[nodiscard]] int beyondStop(const Readings& readings) const;
  void append(const ModelImpl& model, Switch one);
  /// Enables the rows that the modes want.
  void restoreHeld();
  void setMode(int which, Mode mode);
  /// The event if the mode has ended by the end of a step.
  [[nodiscard]] SwitchEvent endOf(int which, const Readings& start, const Readings& end) const;
  /// The part of a step after which a margin is lowest, if it is negative there but not at the end;
  /// otherwise 1.
  [[nodiscard]] double lowestInside(int which, const Readings& start, const Readings& end,
                                    double h) const;

  std::vector<Switch> switches_;
  std::vector<Mode> saved_;
  bool havePeaks_ = false;
  ConstraintTable held_;
};

}  // namespace kempe::detail
