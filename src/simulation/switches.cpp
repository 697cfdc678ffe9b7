#include "simulation/switches.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spatial/dual.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Relative to the speed of a step, a velocity that counts as zero: rounding of G v.
constexpr double kZeroSpeed = 1e-13;
/// Speeds below this, in rad/s or m/s, are not told apart from rest more finely than by rounding of
/// speeds of this size.
constexpr double kSlowSpeed = 1e-3;
/// A stop is reached within this distance, relative to its position (at least 1).
constexpr double kTouch = 1e-13;
/// A force that holds gives way between these excesses, relative to its bound: above the rounding
/// of multipliers (1e-11 in badly conditioned loops), so that it certainly moves then; the joint
/// moves too late by a time of this order, and its velocity is wrong by the square.
constexpr double kGivesWay = 1e-9, kCertainly = 1e-8;
/// Accuracy with which an elastic stop lets go, relative to its force.
constexpr double kLetsGo = 1e-10;
/// An estimate of a margin within a step counts where it is this negative, relative to its ends.
constexpr double kInside = 1e-6;
/// It needs a step in which the joint moves by this, relative to its position (at least 1): rounding
/// of the mean velocity is then 1e-8.
constexpr double kMeasurable = 1e-8;
/// Impacts slower than this, in rad/s or m/s, do not bounce, so that bouncing ends: from a speed u,
/// with restitution e, after log(kBounces / u) / log(e) impacts.
constexpr double kBounces = 1e-6;
/// Joints that leave a rigid stop faster than this, in rad/s or m/s, rise above the distance at which
/// it counts as reached, unless 5e4 rad/s² or m/s² press them back. Two stops whose impacts lift each
/// other's joints would otherwise be hit in turn for ever, at the speed that is gained over the
/// rounding of positions.
constexpr double kMayReturn = 1e-4;
/// A joint this far beyond a rigid stop, relative to its position (at least 1), did not come there
/// by rounding.
constexpr double kOutside = 1e-9;

/// Stribeck's curve is flat to rounding above this many of its speeds: exp(−36) = 2e-16.
constexpr double kPeak = 6.0;
/// A speed this near to the start of a peak, relatively, has reached it: events are located to 1e-13.
constexpr double kReached = 1e-9;

/// The lowest point of a curve over (0, 1); at = 1 if that is not inside.
struct Lowest {
  double at = 1.0, value = 0.0;
};

/// Of a cubic with values a, b and slopes p, q at the ends.
Lowest lowestOfCubic(double a, double b, double p, double q) {
  const double t = p + q - 2.0 * (b - a), s = 3.0 * (b - a) - 2.0 * p - q;
  Lowest lowest{1.0, std::min(a, b)};
  const double square = s * s - 3.0 * t * p;
  if (square >= 0.0) {
    // The roots of its derivative p + 2 s u + 3 t u², without cancellation.
    const double half = -(s + std::copysign(std::sqrt(square), s));
    for (const double u : {half / (3.0 * t), p / half}) {
      const double value = a + u * (p + u * (s + u * t));
      if (u > 0.0 && u < 1.0 && value < lowest.value) {
        lowest = {u, value};
      }
    }
  }
  return lowest;
}

/// Of the parabola with values a, b at the ends and this mean.
Lowest lowestOfParabola(double a, double b, double mean) {
  const double p = 6.0 * mean - 4.0 * a - 2.0 * b;  // slopes
  const double q = 2.0 * a + 4.0 * b - 6.0 * mean;
  if (p < 0.0 && q > 0.0) {
    const double u = p / (p - q);
    return {u, a + 0.5 * p * u};
  }
  return {1.0, std::min(a, b)};
}

}  // namespace

void Readings::resize(int count) {
  for (std::vector<double>* list : {&position, &rate, &force}) {
    list->assign(static_cast<std::size_t>(count), 0.0);
  }
}

void Readings::setZero() {
  for (std::vector<double>* list : {&position, &rate, &force}) {
    std::ranges::fill(*list, 0.0);
  }
}

void Readings::add(double weight, const Readings& other) {
  for (std::size_t i = 0; i < position.size(); ++i) {
    position[i] += weight * other.position[i];
    rate[i] += weight * other.rate[i];
    force[i] += weight * other.force[i];
  }
}

void Switches::append(const ModelImpl& model, Switch one) {
  ConstraintEntry entry;
  entry.name = one.joint;
  entry.form.kind = RowKind::Held;
  entry.rows = 1;
  entry.enabled = false;
  entry.terms.push_back({one.place.position, one.place.velocity, 1.0});
  held_.append(model.tables, std::move(entry));
  switches_.push_back(std::move(one));
  saved_.resize(switches_.size());
}

void Switches::addFriction(const ModelImpl& model, const std::string& joint, SpanningPlace place,
                           const JointFriction& friction) {
  havePeaks_ |= friction.breakaway > 0.0;
  for (Switch& one : switches_) {
    if (one.isFriction && one.place.velocity == place.velocity) {
      one.frictions.push_back(friction);
      return;
    }
  }
  append(model, {.joint = joint,
                 .place = place,
                 .isFriction = true,
                 .frictions = {friction},
                 .mode = Mode::Forward});
}

void Switches::addStops(const ModelImpl& model, SpanningPlace place, const JointLimit& limit) {
  for (const double side : {-1.0, 1.0}) {
    const double bound = side > 0.0 ? limit.upper : limit.lower;
    if (std::isfinite(bound)) {
      append(model, {.joint = limit.joint.joint,
                     .place = place,
                     .stop = limit,
                     .side = side,
                     .bound = bound});
    }
  }
}

template <typename T>
T Switches::resistance(const Switch& one, const T& speed) {
  using std::exp;
  T sum(0.0);
  for (const JointFriction& friction : one.frictions) {
    sum += T(friction.coulomb);
    if (friction.breakaway > 0.0) {
      const T x = speed / T(friction.stribeckSpeed);
      sum += T(friction.breakaway - friction.coulomb) * exp(-x * x);
    }
  }
  return sum;
}

double Switches::touch(const Switch& one) {
  return kTouch * std::max(1.0, std::abs(one.bound));
}

bool Switches::holds(int which) const {
  return switches_[at(which)].mode == Mode::Holding;
}

bool Switches::pushes(int which) const {
  return switches_[at(which)].mode == Mode::Pushing;
}

void Switches::setMode(int which, Mode mode) {
  switches_[at(which)].mode = mode;
  markImplied(which, false);
}

void Switches::markImplied(int which, bool implied) {
  switches_[at(which)].implied = implied;
  held_.entries[at(which)].enabled = holds(which) && !implied;
}

void Switches::apply(const ForceState& state) const {
  for (const Switch& one : switches_) {
    const double rate = state.velocities[one.place.velocity];
    double& force = state.forces[one.place.velocity];
    for (const JointFriction& friction : one.frictions) {
      force -= friction.viscous * rate;
      state.power[kDamping] += friction.viscous * rate * rate;
    }
    if (one.mode == Mode::Forward || one.mode == Mode::Backward) {
      const double dry = one.mode == Mode::Forward ? resistance(one, rate) : -resistance(one, rate);
      force -= dry;
      state.power[kFriction] += dry * rate;
    } else if (one.mode == Mode::Pushing) {
      force -= one.side * push(one, state.positions[one.place.position], rate);
      state.power[kLimits] += one.stop.damping * rate * rate;
    } else if (one.mode == Mode::Slack) {
      // The spring gives its energy to the damper.
      const double elastic = one.stop.stiffness * beyond(one, state.positions[one.place.position]);
      state.power[kLimits] -= elastic * one.side * rate;
    }
  }
}

void Switches::addSlopes(const Eigen::VectorXd& velocities, JointSlopes& slopes) const {
  for (const Switch& one : switches_) {
    const int velocity = one.place.velocity;
    for (const JointFriction& friction : one.frictions) {
      slopes.byVelocity[velocity] -= friction.viscous;
    }
    if (one.mode == Mode::Forward || one.mode == Mode::Backward) {
      const double slope = resistance(one, Dual<double>(velocities[velocity], 1.0)).slope;
      slopes.byVelocity[velocity] -= one.mode == Mode::Forward ? slope : -slope;
    } else if (one.mode == Mode::Pushing) {
      slopes.byPosition[velocity] -= one.stop.stiffness;
      slopes.byVelocity[velocity] -= one.stop.damping;
    }
  }
}

void Switches::read(const std::vector<double>& positions, const Eigen::VectorXd& velocities,
                    Readings& readings) const {
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    const SpanningPlace& place = switches_[i].place;
    readings.position[i] = place.position < 0 ? 0.0 : positions[place.position];
    readings.rate[i] = velocities[place.velocity];
    readings.force[i] = 0.0;
  }
}

double Switches::potential(const std::vector<double>& positions) const {
  double sum = 0.0;
  for (const Switch& one : switches_) {
    if (!one.isFriction && one.stop.stiffness > 0.0) {
      const double depth = std::max(0.0, beyond(one, positions[one.place.position]));
      sum += 0.5 * one.stop.stiffness * depth * depth;
    }
  }
  return sum;
}

void Switches::bounds(int which, double& lower, double& upper) const {
  const Switch& one = switches_[at(which)];
  if (one.isFriction) {
    upper = resistance(one, 0.0);
    lower = -upper;
  } else {
    (one.side > 0.0 ? upper : lower) = 0.0;  // it pushes inwards only
  }
}

double Switches::margin(int which, const Readings& readings) const {
  const Switch& one = switches_[at(which)];
  const double position = readings.position[at(which)], rate = readings.rate[at(which)];
  const double force = readings.force[at(which)];
  switch (one.mode) {
    case Mode::Forward:
      return rate - one.peak;
    case Mode::Backward:
      return -rate - one.peak;
    case Mode::Clear:
      return -beyond(one, position);
    case Mode::Pushing:
      return push(one, position, rate);
    case Mode::Slack:
      return std::min(one.stop.stiffness * beyond(one, position), -push(one, position, rate));
    case Mode::Holding:
      return one.isFriction ? resistance(one, 0.0) - std::abs(force) : -one.side * force;
  }
  return 0.0;
}

SwitchEvent Switches::endOf(int which, const Readings& start, const Readings& end) const {
  const Switch& one = switches_[at(which)];
  SwitchEvent event{.which = which, .before = margin(which, start), .after = margin(which, end)};
  switch (one.mode) {
    case Mode::Forward:
    case Mode::Backward:
      event.most = kZeroSpeed *
                   std::max({std::abs(event.before), std::abs(event.after), one.peak, kSlowSpeed});
      event.least = -event.most;
      break;
    case Mode::Clear:
      // One that is leaving may still be as far beyond the stop as an impact was located.
      event.least = std::min(-touch(one), event.before);
      break;
    case Mode::Pushing:
    case Mode::Slack:
      event.most = kLetsGo * (std::max(std::abs(event.before), std::abs(event.after)) +
                              one.stop.stiffness * touch(one));
      event.least = -event.most;
      break;
    case Mode::Holding: {
      const double size =
          one.isFriction ? resistance(one, 0.0) : std::abs(event.before) + std::abs(event.after);
      event.most = -kGivesWay * size;
      event.least = -kCertainly * size;
      break;
    }
  }
  if (!(event.after < event.least)) {
    return {};
  }
  const double before = std::max(event.before, 0.0);
  event.part = before / (before - event.after);
  return event;
}

double Switches::lowestInside(int which, const Readings& start, const Readings& end,
                              double h) const {
  const Switch& one = switches_[at(which)];
  const auto i = at(which);
  const double before = margin(which, start), after = margin(which, end);
  if (one.mode == Mode::Clear) {
    const double slope = -one.side * h;
    const Lowest lowest = lowestOfCubic(before, after, slope * start.rate[i], slope * end.rate[i]);
    return lowest.value < -touch(one) ? lowest.at : 1.0;
  }
  if ((one.mode == Mode::Forward || one.mode == Mode::Backward) && one.place.position >= 0) {
    // The mean of a short step is rounding of positions.
    if (!(h * (before + after) > kMeasurable * std::max(1.0, std::abs(end.position[i])))) {
      return 1.0;
    }
    const double sign = one.mode == Mode::Forward ? 1.0 : -1.0;
    const double mean = sign * (end.position[i] - start.position[i]) / h - one.peak;
    const Lowest lowest = lowestOfParabola(before, after, mean);
    return lowest.value < -kInside * (before + after) ? lowest.at : 1.0;
  }
  return 1.0;
}

void Switches::watchPeaks(const Readings& start) {
  if (!havePeaks_) {
    return;
  }
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    Switch& one = switches_[i];
    const double speed = std::abs(start.rate[i]);
    one.peak = 0.0;
    for (const JointFriction& friction : one.frictions) {
      const double begins = kPeak * friction.stribeckSpeed;
      if (friction.breakaway > 0.0 && begins * (1.0 + kReached) < speed) {
        one.peak = std::max(one.peak, begins);
      }
    }
  }
}

SwitchEvent Switches::firstEvent(const Readings& start, const Readings& end, double h,
                                 bool ignoreHolding) const {
  SwitchEvent first;
  for (int i = 0; i < count(); ++i) {
    if (ignoreHolding && holds(i)) {
      continue;
    }
    SwitchEvent event = endOf(i, start, end);
    if (event.which < 0) {
      event.part = lowestInside(i, start, end, h);
      event.inside = event.part < 1.0;
      event.which = event.inside ? i : -1;
    }
    if (event.which >= 0 && (first.which < 0 || event.part < first.part)) {
      first = event;
    }
  }
  return first;
}

Switches::Mode Switches::elasticMode(const Switch& one, double position, double rate) {
  const double depth = beyond(one, position);
  if (depth <= touch(one)) {
    return depth >= -touch(one) && one.side * rate > 0.0 ? Mode::Pushing : Mode::Clear;
  }
  return push(one, position, rate) > 0.0 ? Mode::Pushing : Mode::Slack;
}

bool Switches::chooseModes(const Readings& readings, double speed, int event) {
  bool any = false;
  const double rest = kZeroSpeed * std::max(speed, kSlowSpeed);
  for (int i = 0; i < count(); ++i) {
    Switch& one = switches_[at(i)];
    const double position = readings.position[at(i)], rate = readings.rate[at(i)];
    Mode mode = Mode::Clear;
    if (one.isFriction) {
      const bool stopped = i == event && one.peak == 0.0;
      const bool resting = stopped || one.mode == Mode::Holding || std::abs(rate) <= rest;
      mode = resting ? Mode::Holding : rate > 0.0 ? Mode::Forward : Mode::Backward;
    } else if (isRigid(one)) {
      const double leaving = -one.side * rate;
      const bool resting = one.mode == Mode::Holding || std::abs(rate) <= rest ||
                           (leaving > 0.0 && leaving <= kMayReturn);
      mode = resting && isRigidContact(i, readings) ? Mode::Holding : Mode::Clear;
    } else if (i == event && one.mode == Mode::Pushing) {
      mode = beyond(one, position) > touch(one) ? Mode::Slack : Mode::Clear;
    } else if (i == event && one.mode == Mode::Slack) {
      mode = beyond(one, position) > touch(one) ? Mode::Pushing : Mode::Clear;
    } else {
      mode = elasticMode(one, position, rate);
    }
    setMode(i, mode);
    any |= mode == Mode::Holding;
  }
  return any;
}

void Switches::release(int which, double acceleration) {
  const bool friction = switches_[at(which)].isFriction;
  setMode(which, !friction ? Mode::Clear : acceleration > 0.0 ? Mode::Forward : Mode::Backward);
}

bool Switches::escapes(int which, const Readings& readings, double speed, double back) const {
  const Switch& one = switches_[at(which)];
  const double leaving = -one.side * readings.rate[at(which)];
  return isRigid(one) && leaving > kZeroSpeed * std::max(speed, kSlowSpeed) &&
         leaving * leaving > 2.0 * touch(one) * back;
}

bool Switches::isRigidContact(int which, const Readings& readings) const {
  const Switch& one = switches_[at(which)];
  return isRigid(one) && beyond(one, readings.position[at(which)]) >= -touch(one);
}

bool Switches::isHit(int which, const Readings& readings, double speed) const {
  const Switch& one = switches_[at(which)];
  return isRigidContact(which, readings) &&
         one.side * readings.rate[at(which)] > kZeroSpeed * std::max(speed, kSlowSpeed);
}

double Switches::restitution(int which, double rate) const {
  return std::abs(rate) > kBounces ? switches_[at(which)].stop.restitution : 0.0;
}

int Switches::beyondStop(const Readings& readings) const {
  for (int i = 0; i < count(); ++i) {
    const Switch& one = switches_[at(i)];
    if (isRigid(one) &&
        beyond(one, readings.position[at(i)]) > kOutside * std::max(1.0, std::abs(one.bound))) {
      return i;
    }
  }
  return -1;
}

void Switches::requireStopsMet(const Readings& readings, const char* why) const {
  const int stop = beyondStop(readings);
  if (stop >= 0) {
    throw StopPassed("joint " + kempe::quoted(joint(stop)) +
                     " cannot be stopped by its rigid end stop at " +
                     shortNumber(switches_[at(stop)].bound) + ": " + why);
  }
}

void Switches::requireWithin(const Readings& readings) const {
  const int stop = beyondStop(readings);
  if (stop >= 0) {
    throw std::invalid_argument("joint " + kempe::quoted(joint(stop)) + " is at " +
                                shortNumber(readings.position[at(stop)]) +
                                ", beyond its rigid end stop at " +
                                shortNumber(switches_[at(stop)].bound) +
                                ". Start within the limits, or give the stop a stiffness.");
  }
}

void Switches::restoreHeld() {
  for (int i = 0; i < count(); ++i) {
    held_.entries[at(i)].enabled = holds(i) && !switches_[at(i)].implied;
  }
}

bool Switches::holds() const {
  return std::ranges::any_of(switches_,
                             [](const Switch& one) { return one.mode == Mode::Holding; });
}

bool Switches::isRedundant() const {
  return std::ranges::any_of(switches_, &Switch::implied);
}

void Switches::resetModes() {
  for (int i = 0; i < count(); ++i) {
    setMode(i, switches_[at(i)].isFriction ? Mode::Forward : Mode::Clear);
  }
}

bool Switches::slips(const Readings& readings, double speed) const {
  for (int i = 0; i < count(); ++i) {
    if (holds(i) && std::abs(readings.rate[at(i)]) > kZeroSpeed * std::max(speed, kSlowSpeed)) {
      return true;
    }
  }
  return false;
}

void Switches::saveModes() {
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    saved_[i] = switches_[i].mode;
  }
}

void Switches::restoreModes() {
  for (int i = 0; i < count(); ++i) {
    setMode(i, saved_[at(i)]);
  }
}

}  // namespace kempe::detail
