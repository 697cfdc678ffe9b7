#pragma once

#include "simulation/tolerances.hpp"

namespace kempe::detail {

/// Compares the number of steps of an integrator with error control with that which a smooth motion
/// along the same way would take.
///
/// A method of order 5 changes the state by about tolerance^(1/5) in a step, in radians or metres.
/// A way of s, in n intervals between samples, is then expected to take
///
///   n + s / tolerance^(1/5)                                                             (1)
///
/// steps.
class EffortWatch {
 public:
  /// Forgets all steps.
  void restart() { *this = {}; }
  void startInterval() { ++intervals_; }
  /// A step of h seconds that was completed, at this largest speed and with this error relative to the
  /// tolerances; `stiffness` is h times the largest eigenvalue, 0 if it is not known.
  void addStep(double h, double speed, double error, double stiffness);
  /// That step could not be longer because loops of a cluster (−1: loops that are left cut) are near
  /// a singular position.
  void addSingular(int cluster);
  /// A step that had to be repeated with a shorter one because of its error.
  void addRefusal() { ++refusals_; }
  /// A step that ended at an event of the switch of this index.
  void addEvent(int which);

  /// Whether there are so many steps that the user should know.
  [[nodiscard]] bool isLarge(const Tolerances& tolerances) const;
  /// Steps taken, those refused included, by those expected.
  [[nodiscard]] double excess(const Tolerances& tolerances) const;
  /// Jumps are certain only where many steps are refused; without that they look like oscillations.
  enum class Cause { Events, Singularity, Stiffness, Jumps, Oscillation };
  [[nodiscard]] Cause cause() const;
  /// Whether the tolerances are too large to follow the motion, because it is so small, but not as
  /// small as rounding.
  [[nodiscard]] bool isTooSmall(const Tolerances& tolerances) const;
  /// The mean error of a step relative to the motion. Of an oscillation with frequency ω, positions or
  /// velocities have the larger error relative to their tolerances, and the smaller relative to their
  /// size, depending on whether ω < 1/s.
  [[nodiscard]] double errorOfMotion(const Tolerances& tolerances) const;
  /// Radians or metres (per second), the larger of the way so far and of the highest speed.
  [[nodiscard]] double sizeOfMotion() const { return way_ > fastest_ ? way_ : fastest_; }
  /// Seconds.
  [[nodiscard]] double meanStep() const { return seconds_ / static_cast<double>(steps_); }
  /// The switch of the most recent event.
  [[nodiscard]] int lastEvent() const { return lastEvent_; }
  /// The cluster of the most recent step that a singular position limited.
  [[nodiscard]] int lastSingular() const { return lastSingular_; }

 private:
  [[nodiscard]] double taken() const { return static_cast<double>(steps_ + refusals_); }

  long long intervals_ = 0, steps_ = 0, refusals_ = 0, events_ = 0, stiff_ = 0, singular_ = 0;
  double seconds_ = 0.0, way_ = 0.0, fastest_ = 0.0, errors_ = 0.0;
  int lastEvent_ = -1, lastSingular_ = -1;
};

}  // namespace kempe::detail
