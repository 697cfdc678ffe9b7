#include "simulation/effort_watch.hpp"

#include <algorithm>
#include <cmath>

#include "simulation/step_controller.hpp"

namespace kempe::detail {
namespace {

/// Fewer steps than this take well below a second, however many a smooth motion would take.
constexpr double kFew = 2e4;
/// More than this many times the expected steps are too many. Smooth motions take 0.3 to 2 times as
/// many as (1), forces that jump every 5 ms 4 to 35 times; friction as sign(v) 10⁵ times.
constexpr double kMany = 20.0;
/// Shares of all steps that name the cause. Where stability limits the steps, it does so in nearly
/// all of them (97 % and more), and to and fro across a jump half of them look so; the errors of
/// smooth forces let 2 % of the steps be refused, those of forces that jump 25 to 65 %. Locating an
/// event takes several steps besides the one that ends there.
constexpr double kMostlyStiff = 0.75, kMostlyRefused = 0.15, kMostlyEvents = 0.1;
constexpr double kMostlySingular = 0.5;

/// Errors of a step that are a larger part of the motion add up to 1e-4 of it or more in ten periods of
/// an oscillation. With the default tolerances those of usual motions are 1e-8 of it.
constexpr double kVisibleError = 1e-5;
/// Ways below this, in radians or metres, can be rounding.
constexpr double kRoundedWay = 1e-13;

}  // namespace

void EffortWatch::addStep(double h, double speed, double error, double stiffness) {
  ++steps_;
  fastest_ = std::max(fastest_, speed);
  errors_ += error;
  seconds_ += h;
  way_ += h * speed;
  stiff_ += stiffness > kStable ? 1 : 0;
}

void EffortWatch::addSingular(int cluster) {
  ++singular_;
  lastSingular_ = cluster;
}

void EffortWatch::addEvent(int which) {
  ++events_;
  lastEvent_ = which >= 0 ? which : lastEvent_;
}

double EffortWatch::excess(const Tolerances& tolerances) const {
  const double perStep = std::pow(tolerances.ofPosition(), 0.2);
  return taken() / (static_cast<double>(intervals_) + way_ / perStep);  // (1)
}

bool EffortWatch::isLarge(const Tolerances& tolerances) const {
  return taken() > kFew && excess(tolerances) > kMany;
}

double EffortWatch::errorOfMotion(const Tolerances& tolerances) const {
  const double ofPositions = tolerances.ofPosition() / way_;
  const double ofVelocities = tolerances.ofVelocity(fastest_) / fastest_;
  return errors_ / static_cast<double>(steps_) * std::min(ofPositions, ofVelocities);
}

bool EffortWatch::isTooSmall(const Tolerances& tolerances) const {
  return way_ > kRoundedWay && errorOfMotion(tolerances) > kVisibleError;
}

EffortWatch::Cause EffortWatch::cause() const {
  if (static_cast<double>(events_) > kMostlyEvents * taken() && lastEvent_ >= 0) {
    return Cause::Events;
  }
  if (static_cast<double>(singular_) > kMostlySingular * taken()) {
    return Cause::Singularity;
  }
  if (static_cast<double>(refusals_) > kMostlyRefused * taken()) {
    return Cause::Jumps;  // which look stiff, too
  }
  return static_cast<double>(stiff_) > kMostlyStiff * taken() ? Cause::Stiffness
                                                              : Cause::Oscillation;
}

}  // namespace kempe::detail
