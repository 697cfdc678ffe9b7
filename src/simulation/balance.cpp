#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

#include "kempe/momentum.hpp"
#include "simulation/regularity.hpp"
#include "simulation/simulation.hpp"
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
/// past one takes 2 log(kForcesDetermined / √kMiss) / kStepAhead = 550 (change_points.cpp,
/// coordinates.hpp).
constexpr int kMostAlong = 50'000;
/// Radians or metres per second that no robot reaches: a motion that needs a million steps for one
/// interval at such a speed diverges, and would not end.
constexpr double kFastest = 1e6;
/// A kinetic energy below this part of that at Model::neutral() with the same velocities: no robot
/// whose links all have mass comes near it.
constexpr double kVanished = 1e-5;

std::string percent(double part) {
  return shortNumber(std::round(part * 1e4) / 1e2) + " %";
}

}  // namespace

void Simulation::restartBalance() {
  watch_.reset();
  errors_.restart();
  events_.restart();
  effort_.restart();
  alongSingular_ = 0;
  prescribed_.restart();
  stepLength_ = 0.0;
  leastRegularity_ = 1.0;
  leastRegular_ = -1;
}

void Simulation::watchLoops() {
  for (std::size_t c = 0; c < motion_.first->regularity.size(); ++c) {
    const bool crossing = motion_.first->crossing && work().crossing()[c] != 0;
    const double regularity = crossing ? 0.0 : motion_.first->regularity[c];
    if (regularity < leastRegularity_) {
      leastRegularity_ = regularity;
      leastRegular_ = static_cast<int>(c);
    }
  }
}

void Simulation::watchEnergy(const Energy& energy) {
  const Work done = workNow();
  watch_.add({motion_.state.time, energy.kinetic, energy.potential, done.supplied(), done.lost(),
              leastRegularity_, leastRegular_});
  leastRegularity_ = 1.0;
  leastRegular_ = -1;
}

double Simulation::energyErrorNow() {
  refresh();
  EnergyWatch now = watch_;
  const Energy energy = energyNow();
  const Work done = workNow();
  now.add({motion_.state.time, energy.kinetic, energy.potential, done.supplied(), done.lost()});
  return now.error();
}

bool Simulation::balanceIsLost() const {
  const Vector3& g = model.gravity();
  const double weight = model.totalMass() * std::sqrt(dot(g, g));
  return !(watch_.drift() <= kLost) && !(watch_.largestError() <= kNegligibleHeight * weight);
}

std::string Simulation::lostBalance() const {
  const EnergyWatch::Jump& jump = watch_.largestJump();
  return "the energy balance is off by " + percent(watch_.drift()) +
         " of the energy exchanged (most energy was " + (jump.change < 0.0 ? "lost" : "gained") +
         " at t = " + shortNumber(jump.time) + " s)";
}

std::string Simulation::energyWarning() const {
  if (!balanceIsLost()) {
    return {};
  }
  const EnergyWatch::Jump& jump = watch_.largestJump();
  const std::string steps =
      !controlsError() ? "steps of " + shortNumber(stepLength_) + " s are too long for this motion"
                       : "the tolerances of the integrator are too large for this motion";
  const std::string remedy = !controlsError() ? "Use the integrator \"adaptive\", or a smaller dt."
                                              : "Use smaller tolerances, or smoother forces.";
  if (watch_.diverged()) {
    return "the simulation diverged: " + steps + "; " + lostBalance() + ". " + remedy;
  }
  if (jump.cluster >= 0 && jump.regularity < kAtSingular) {
    const ModelImpl& m = model.impl();
    const ClusterEntry& cluster = m.tables.clusters[static_cast<std::size_t>(jump.cluster)];
    return "the motion passed a singular position of loop " +
           kempe::quoted(m.rowNames[static_cast<std::size_t>(cluster.firstRow)]) +
           " at t = " + shortNumber(jump.time) + " s; " + lostBalance() + ". " + remedy;
  }
  return steps + ": " + lostBalance() + ". " + remedy;
}

std::string Simulation::errorWarning() const {
  if (!(errors_.sum() > kTooLarge)) {
    return {};
  }
  return "steps of " + shortNumber(stepLength_) +
         " s are too long for this motion: their errors, " +
         "estimated from the accelerations, add up to " + shortNumber(errors_.sum()) +
         " rad or m. Use the integrator \"adaptive\", or a smaller dt.";
}

std::string Simulation::smallMotionWarning() const {
  if (!controlsError() || watch_.isAtRest() || !effort_.isTooSmall(tolerances())) {
    return {};
  }
  const double size = effort_.sizeOfMotion();
  return "the motion is small, " + shortNumber(size) +
         " rad or m in all (or per second, if that is more), and the tolerances of the integrator, "
         "which count relative to one, are too large for it: the error of a step is " +
         shortNumber(effort_.errorOfMotion(tolerances())) +
         " of the motion on average. Use a relative tolerance of " +
         shortNumber(size * options.relativeTolerance) + " and an absolute one of " +
         shortNumber(size * options.absoluteTolerance) + ".";
}

std::string Simulation::effortWarning() const {
  if (!effort_.isLarge(tolerances())) {
    return {};
  }
  std::string text = "steps are very short, " + shortNumber(effort_.meanStep()) +
                     " s on average, and " + shortNumber(effort_.excess(tolerances())) +
                     " times as many as a smooth motion takes: ";
  switch (effort_.cause()) {
    case EffortWatch::Cause::Events:
      return text + "they end at events of friction and end stops, the last of joint " +
             kempe::quoted(elements.switches.joint(effort_.lastEvent())) +
             ". Use a lower restitution, or an integrator with steps of fixed length, \"rk4\".";
    case EffortWatch::Cause::Singularity:
      return text + "a singular position of " + loopsOf(effort_.lastSingular()) +
             " is always near and limits them. Keep the robot away from it, or, if the lengths of "
             "links are rounded, give them with all digits.";
    case EffortWatch::Cause::Stiffness:
      return text + "the motion is stiff, and stability limits them. Use the integrator \"radau\"" +
             (options.integrator == Integrator::Auto ? ", or softer springs." : " or \"auto\".");
    case EffortWatch::Cause::Jumps:
      return text +
             "forces jump. Use a controller that is continuous in time and state, addFriction() "
             "for dry friction, or an integrator with steps of fixed length, \"rk4\".";
    case EffortWatch::Cause::Oscillation:
      return text +
             "an oscillation is fast, or forces jump. Use softer springs and stops or rigid ones, "
             "damping with the integrator \"radau\", and controllers that are continuous.";
  }
  return text;
}

std::string Simulation::loopsOf(int cluster) const {
  if (cluster < 0) {
    return "loops that are left cut";
  }
  const ModelImpl& m = model.impl();
  const ClusterEntry& entry = m.tables.clusters[static_cast<std::size_t>(cluster)];
  return "loop " + kempe::quoted(m.loopNames[static_cast<std::size_t>(entry.firstLoop)]) +
         (entry.loops > 1 ? " and those connected with it" : "");
}

void Simulation::watchSingularity(double h, bool limited) {
  const auto least = std::ranges::min_element(motion_.first->regularity);
  const bool cut =
      least == motion_.first->regularity.end() || motion_.first->rowRegularity < *least;
  const double regularity = cut ? motion_.first->rowRegularity : *least;
  const int cluster = cut ? -1 : static_cast<int>(least - motion_.first->regularity.begin());
  const auto refuse = [&](const std::string& text) {
    const ModelImpl& m = model.impl();
    throw SingularityError(
        text,
        cut ? std::string()
            : m.loopNames[static_cast<std::size_t>(
                  m.tables.clusters[static_cast<std::size_t>(cluster)].firstLoop)],
        1.0 / regularity);
  };
  const SingularPoint* point = cut ? nullptr : points_.pointOf(static_cast<std::size_t>(cluster));
  if (point != nullptr && regularity < kAtSingular && point->isOfKeptRows()) {
    refuse("rounded dimensions decide how the motion goes on at t = " +
           shortNumber(motion_.state.time) + " s: some equations of " + loopsOf(cluster) +
           " are redundant, and those that the model keeps lose rank here, which all together do "
           "not; there they miss each other by " +
           shortNumber(point->miss()) +
           " of the size of the loops. Give lengths, origins and axes with more digits");
  }
  if (limited) {
    effort_.addSingular(cluster);
  }
  // Steps that end at samples are shorter still.
  alongSingular_ = regularity < kForcesDetermined ? alongSingular_ + (limited ? 1 : 0) : 0;
  if (alongSingular_ > kMostAlong) {
    refuse(
        "the motion does not pass a singular position of " + loopsOf(cluster) +
        ", but runs along such positions: for the last " + std::to_string(kMostAlong) +
        " steps, now of " + shortNumber(h) +
        " s, they have almost left another degree of freedom, as where links of equal length lie "
        "on each other. The smallest differences of lengths decide the motion there. Give the "
        "lengths of links with all digits, or keep the robot away from this position");
  }
}

void Simulation::throwIfInertiaVanishes() {
  Eigen::Index fastest = 0;
  const double speed = motion_.velocities.cwiseAbs().maxCoeff(&fastest);
  Data data(model);
  double usual = 0.0;
  try {
    usual = energy(model, data, model.neutral(), v()).kinetic;
  } catch (const SingularityError&) {
    return;
  }
  const double part = energyNow().kinetic / usual;
  if (part < kVanished) {
    throw std::runtime_error(
        "the velocity of " +
        kempe::quoted(model.spanningVelocityNames()[static_cast<std::size_t>(fastest)]) +
        " grows without bound (" + shortNumber(speed) +
        " here): almost only bodies without mass move in this position, with an inertia of " +
        shortNumber(part) +
        " of that in the neutral configuration. Give them masses and inertias, or the joint an "
        "armature");
  }
}

std::string Simulation::divergenceRemedy() const {
  if (controller || motorController) {
    return "Use a controller with lower gains, or a smaller dt";
  }
  if (externalFunction || !externalForces.empty() || !forces.isZero(0.0)) {
    return "Use smaller forces, or a smaller dt";
  }
  if (elements.actOnJoints() || elements.actBetweenPoints()) {
    return "Use softer springs and stops, or a smaller dt";
  }
  return "Give the bodies that move larger masses and inertias, or a joint an armature";
}

void Simulation::throwIfDiverging(double h) {
  Eigen::Index fastest = 0;
  const double speed = motion_.velocities.cwiseAbs().maxCoeff(&fastest);
  if (speed > kFastest) {
    throwIfInertiaVanishes();
    watchEnergy(energyNow());
    if (!balanceIsLost()) {  // it moves so fast indeed
      throw std::runtime_error(
          "the velocity of " +
          kempe::quoted(model.spanningVelocityNames()[static_cast<std::size_t>(fastest)]) +
          " has come to " + shortNumber(speed) + ", so that steps of " + shortNumber(h) +
          " s are needed: forces are too large, or springs too stiff, for the masses that they "
          "move. Use lower forces or softer springs, or a rigid connection instead of the spring");
    }
    throw std::runtime_error(
        "the simulation diverged: the velocity of " +
        kempe::quoted(model.spanningVelocityNames()[static_cast<std::size_t>(fastest)]) + " is " +
        shortNumber(speed) + ", which takes steps of " + shortNumber(h) + " s. " +
        divergenceRemedy());
  }
}

void Simulation::throwIfStepIsTooLong(double end) {
  if (controlsError()) {
    return;
  }
  bool unexplained = false, tooLong = true;  // adaptive steps may tell why
  std::string diverged;
  try {
    throw;
  } catch (const SingularityError&) {
  } catch (const AssemblyError&) {
  } catch (const Diverged& error) {
    unexplained = true;
    diverged = error.event() + ", and ";
  } catch (const NoSolution&) {
    unexplained = true;
    tooLong = false;  // explicit ones pass jumps of forces
  } catch (...) {
    return;
  }
  const std::string steps =
      "steps of " + shortNumber(stepLength_) + " s are too long for this motion: ";
  const char* remedy = "Use the integrator \"adaptive\", or a smaller dt";
  watchEnergy(energyNow());
  if (balanceIsLost()) {
    std::throw_with_nested(std::runtime_error(steps + diverged + lostBalance() + ". " + remedy));
  }
  const Integrator own = options.integrator;
  bool passes = false;
  std::exception_ptr reason;
  try {
    options.integrator = Integrator::Adaptive;
    stepControl_ = {};
    advanceTo(end);
    passes = true;
  } catch (const std::runtime_error&) {
    reason = std::current_exception();  // the position is at fault
  } catch (...) {
    options.integrator = own;
    returnToBefore();
    throw;
  }
  options.integrator = own;
  returnToBefore();
  if (unexplained && reason) {
    std::rethrow_exception(reason);
  }
  if (passes && tooLong) {
    std::throw_with_nested(std::runtime_error(
        steps + "one of them fails where the adaptive integrator does not. " + remedy));
  }
}

}  // namespace kempe::detail
