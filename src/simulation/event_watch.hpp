#pragma once

#include <string>
#include <vector>

namespace kempe::detail {

/// Keeps account of events, most of them of dry friction and end stops, that a run could not follow
/// exactly.
class EventWatch {
 public:
  /// Forgets all of them.
  void restart() { *this = {}; }

  /// The forces at `element` do not fulfil their conditions: accelerations, or velocities after an
  /// impact, are wrong by this part of their terms.
  void addUnbalanced(double time, const std::string& element, double part);
  /// Impacts at one time, on the stop of `joint` among others, did not come to an end.
  void addEndlessImpacts(double time, const std::string& joint);
  /// Events that follow one another without end, that of `joint` among others.
  void startRapid(double time, const std::string& joint);
  /// Loops that are left cut are at rest in a change point, where several motions are possible.
  void addUndetermined(double time) { undetermined_.add(time, {}); }
  /// A step of h seconds that does not look for events, at the end of which velocities change by
  /// `velocity`, accelerations by `acceleration`, and joints are returned to their stops by
  /// `distance`, each the largest of all joints (rad, m); `speed` is the largest velocity.
  void addBlindStep(double h, double distance, double velocity, double acceleration, double speed);

  /// One for each kind of event.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct First {
    int count = 0;
    double time = 0.0;
    std::string element;
    void add(double at, const std::string& where);
  };
  First unbalanced_, endless_, rapid_, undetermined_;
  double part_ = 0.0;     // the largest of those unbalanced
  double seconds_ = 0.0;  // in steps that did not look for events
  double error_ = 0.0;    // of these, in rad or m, or of velocities relative to their size
};

}  // namespace kempe::detail
