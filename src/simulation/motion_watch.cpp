#include "simulation/motion_watch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kempe/errors.hpp"
#include "simulation/regularity.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// A larger part of the energy exchanged means that the balance is lost.
constexpr double kLost = 0.01;
/// Errors of steps that add up to more than this, radians or metres, are too large.
constexpr double kTooLarge = 0.01;
/// Errors below the energy that lifts the robot by this height, in metres, are rounding.
constexpr double kNegligibleHeight = 1e-9;

/// Steps in a row near a singular position, after which the motion is said to be along it. A motion
/// past one takes 2 log(kForcesDetermined / √kMiss) / kStepAhead = 550 (change_points.hpp,
/// coordinates.hpp).
constexpr int kMostAlong = 50'000;
std::string percent(double part) {
  return shortNumber(std::round(part * 1e4) / 1e2) + " %";
}

}  // namespace

void MotionWatch::restart() {
  account_.energy.reset();
  account_.errors.restart();
  account_.events.restart();
  account_.effort.restart();
  account_.alongSingular = 0;
  account_.prescribed.restart();
  account_.stepLength = 0.0;
  account_.leastRegularity = 1.0;
  account_.leastRegular = -1;
}

void MotionWatch::startInterval(double end, const ConstraintTable* constraints) {
  const double time = motion_.state.time;
  if (constraints != nullptr) {
    account_.prescribed.check(*constraints, time, end - time);
  }
  account_.stepLength = std::max(account_.stepLength, std::min(end - time, options_.maxStep));
  account_.effort.startInterval();
  if (motion_.first->rowRegularity == 0.0 && !(motion_.speed() > 0.0)) {
    account_.events.addUndetermined(time);
  }
}

void MotionWatch::addStep(double time, std::size_t choice) {
  if (!steps_.controlsError()) {
    account_.errors.add(steps_.inUse(), time - motion_.state.time, choice, motion_.state.v,
                        motion_.first->a, motion_.next.v, motion_.last->a,
                        steps_.integrators().classic.lastStage());
  }
}

void MotionWatch::addState(const std::vector<char>& crossing) {
  const Rates& rates = *motion_.first;
  for (std::size_t c = 0; c < rates.regularity.size(); ++c) {
    const double regularity = rates.crossing && crossing[c] != 0 ? 0.0 : rates.regularity[c];
    if (regularity < account_.leastRegularity) {
      account_.leastRegularity = regularity;
      account_.leastRegular = static_cast<int>(c);
    }
  }
  const Work done = motion_.work();
  account_.energy.addFlows(done.supplied(), done.lost());
}

void MotionWatch::addControlledStep(double h, double error) {
  const bool explicitPair = steps_.inUse() == Integrator::Adaptive;
  account_.effort.addStep(h, motion_.speed(), error,
                          explicitPair ? steps_.integrators().pair.stiffness() : 0.0);
}

void MotionWatch::addEvent(int which) {
  interrupt();
  account_.effort.addEvent(which);
}

void MotionWatch::addSample(const Energy& energy) {
  const Work done = motion_.work();
  account_.energy.add({motion_.state.time, energy.kinetic, energy.potential, done.supplied(),
                       done.lost(), account_.leastRegularity, account_.leastRegular});
  account_.leastRegularity = 1.0;
  account_.leastRegular = -1;
}

double MotionWatch::energyError(const Energy& energy) const {
  EnergyWatch now = account_.energy;
  const Work done = motion_.work();
  now.add({motion_.state.time, energy.kinetic, energy.potential, done.supplied(), done.lost()});
  return now.error();
}

std::string MotionWatch::stepsAreTooLong() const {
  return "steps of " + shortNumber(account_.stepLength) + " s are too long for this motion";
}

std::vector<std::string> MotionWatch::warnings() const {
  std::vector<std::string> texts;
  // They have one cause, of which the first says most: prescribed motions that contradict themselves
  // lose the balance, and so do motions below the tolerances and errors of steps.
  for (const std::string& text :
       {account_.prescribed.warning(), smallMotionWarning(), energyWarning(), errorWarning()}) {
    if (!text.empty() && texts.empty()) {
      texts.push_back(text);
    }
  }
  std::ranges::move(account_.events.warnings(), std::back_inserter(texts));
  if (std::string text = effortWarning(); !text.empty()) {
    texts.push_back(std::move(text));
  }
  return texts;
}

bool MotionWatch::balanceIsLost() const {
  const Vector3& g = model_.gravity();
  const double weight = model_.totalMass() * std::sqrt(dot(g, g));
  return !(account_.energy.drift() <= kLost) &&
         !(account_.energy.largestError() <= kNegligibleHeight * weight);
}

std::string MotionWatch::lostBalance() const {
  const EnergyWatch::Jump& jump = account_.energy.largestJump();
  return "the energy balance is off by " + percent(account_.energy.drift()) +
         " of the energy exchanged (most energy was " + (jump.change < 0.0 ? "lost" : "gained") +
         " at t = " + shortNumber(jump.time) + " s)";
}

std::string MotionWatch::energyWarning() const {
  if (!balanceIsLost()) {
    return {};
  }
  const EnergyWatch::Jump& jump = account_.energy.largestJump();
  const std::string steps = !steps_.controlsError()
                                ? stepsAreTooLong()
                                : "the tolerances of the integrator are too large for this motion";
  const std::string remedy = !steps_.controlsError()
                                 ? "Use the integrator \"adaptive\", or a smaller dt."
                                 : "Use smaller tolerances, or smoother forces.";
  if (account_.energy.diverged()) {
    return "the simulation diverged: " + steps + "; " + lostBalance() + ". " + remedy;
  }
  if (jump.cluster >= 0 && jump.regularity < kAtSingular) {
    const ModelImpl& m = model_.impl();
    const ClusterEntry& cluster = m.tables.clusters[static_cast<std::size_t>(jump.cluster)];
    return "the motion passed a singular position of loop " +
           kempe::quoted(m.rowNames[static_cast<std::size_t>(cluster.firstRow)]) +
           " at t = " + shortNumber(jump.time) + " s; " + lostBalance() + ". " + remedy;
  }
  return steps + ": " + lostBalance() + ". " + remedy;
}

std::string MotionWatch::errorWarning() const {
  if (!(account_.errors.sum() > kTooLarge)) {
    return {};
  }
  return stepsAreTooLong() + ": their errors, " + "estimated from the accelerations, add up to " +
         shortNumber(account_.errors.sum()) +
         " rad or m. Use the integrator \"adaptive\", or a smaller dt.";
}

std::string MotionWatch::smallMotionWarning() const {
  if (!steps_.controlsError() || account_.energy.isAtRest() ||
      !account_.effort.isTooSmall(steps_.tolerances())) {
    return {};
  }
  const double size = account_.effort.sizeOfMotion();
  return "the motion is small, " + shortNumber(size) +
         " rad or m in all (or per second, if that is more), and the tolerances of the integrator, "
         "which count relative to one, are too large for it: the error of a step is " +
         shortNumber(account_.effort.errorOfMotion(steps_.tolerances())) +
         " of the motion on average. Use a relative tolerance of " +
         shortNumber(size * options_.relativeTolerance) + " and an absolute one of " +
         shortNumber(size * options_.absoluteTolerance) + ".";
}

std::string MotionWatch::effortWarning() const {
  if (!account_.effort.isLarge(steps_.tolerances())) {
    return {};
  }
  std::string text = "steps are very short, " + shortNumber(account_.effort.meanStep()) +
                     " s on average, and " +
                     shortNumber(account_.effort.excess(steps_.tolerances())) +
                     " times as many as a smooth motion takes: ";
  switch (account_.effort.cause()) {
    case EffortWatch::Cause::Events:
      return text + "they end at events of friction and end stops, the last of joint " +
             kempe::quoted(switches_.joint(account_.effort.lastEvent())) +
             ". Use a lower restitution, or an integrator with steps of fixed length, \"rk4\".";
    case EffortWatch::Cause::Singularity:
      return text + "a singular position of " + loopsOf(account_.effort.lastSingular()) +
             " is always near and limits them. Keep the robot away from it, or, if the lengths of "
             "links are rounded, give them with all digits.";
    case EffortWatch::Cause::Stiffness:
      return text + "the motion is stiff, and stability limits them. Use the integrator \"radau\"" +
             (options_.integrator == Integrator::Auto ? ", or softer springs." : " or \"auto\".");
    case EffortWatch::Cause::Jumps:
      return text +
             "forces jump. Use a controller that is continuous in time and state, addFriction() "
             "for dry friction, or an integrator with steps of fixed length, \"rk4\".";
    case EffortWatch::Cause::Oscillation:
      return text +
             "an oscillation is fast, or forces jump. Use softer springs and stops or rigid ones, "
             "damping with the integrator \"radau\", and controllers that are continuous." +
             (model_.mechanism().flexibleBodies.empty()
                  ? std::string()
                  : std::string(" Give flexible bodies damping or fewer modes, or use tolerances "
                                "above their fastest vibrations."));
  }
  return text;
}

std::string MotionWatch::loopsOf(int cluster) const {
  if (cluster < 0) {
    return "loops that are left cut";
  }
  const ModelImpl& m = model_.impl();
  const ClusterEntry& entry = m.tables.clusters[static_cast<std::size_t>(cluster)];
  return "loop " + kempe::quoted(m.loopNames[static_cast<std::size_t>(entry.firstLoop)]) +
         (entry.loops > 1 ? " and those connected with it" : "");
}

void MotionWatch::addSingularStep(double h, bool limited, const ChangePoints& points) {
  const auto least = std::ranges::min_element(motion_.first->regularity);
  const bool cut =
      least == motion_.first->regularity.end() || motion_.first->rowRegularity < *least;
  const double regularity = cut ? motion_.first->rowRegularity : *least;
  const int cluster = cut ? -1 : static_cast<int>(least - motion_.first->regularity.begin());
  const auto refuse = [&](const std::string& text) {
    const ModelImpl& m = model_.impl();
    throw SingularityError(
        text,
        cut ? std::string()
            : m.loopNames[static_cast<std::size_t>(
                  m.tables.clusters[static_cast<std::size_t>(cluster)].firstLoop)],
        1.0 / regularity);
  };
  const SingularPoint* point = cut ? nullptr : points.pointOf(static_cast<std::size_t>(cluster));
  if (point != nullptr && regularity < kAtSingular && point->isOfKeptRows()) {
    refuse("rounded dimensions decide how the motion goes on at t = " +
           shortNumber(motion_.state.time) + " s: some equations of " + loopsOf(cluster) +
           " are redundant, and those that the model keeps lose rank here, which all together do "
           "not; there they miss each other by " +
           shortNumber(point->miss()) +
           " of the size of the loops. Give lengths, origins and axes with more digits");
  }
  if (limited) {
    account_.effort.addSingular(cluster);
  }
  // Steps that end at samples are shorter still.
  account_.alongSingular =
      regularity < kForcesDetermined ? account_.alongSingular + (limited ? 1 : 0) : 0;
  if (account_.alongSingular > kMostAlong) {
    refuse(
        "the motion does not pass a singular position of " + loopsOf(cluster) +
        ", but runs along such positions: for the last " + std::to_string(kMostAlong) +
        " steps, now of " + shortNumber(h) +
        " s, they have almost left another degree of freedom, as where links of equal length lie "
        "on each other. The smallest differences of lengths decide the motion there. Give the "
        "lengths of links with all digits, or keep the robot away from this position");
  }
}

}  // namespace kempe::detail
