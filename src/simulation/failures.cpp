// Errors of steps that name their cause.

#include <cmath>
#include <exception>
#include <stdexcept>

#include "kempe/momentum.hpp"
#include "simulation/regularity.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Radians or metres per second that no robot reaches: a motion that needs a million steps for one
/// interval at such a speed diverges, and would not end.
constexpr double kFastest = 1e6;
/// A kinetic energy below this part of that at Model::neutral() with the same velocities: no robot
/// whose links all have mass comes near it.
constexpr double kVanished = 1e-5;

}  // namespace

void Simulation::throwIfSingular() const {
  const std::vector<ClusterEntry>& clusters = model.impl().tables.clusters;
  for (std::size_t c = 0; c < motion_.first->regularity.size(); ++c) {
    if (points_.pointOf(c) != nullptr && motion_.first->regularity[c] < kAtSingular) {
      const std::string& loop = model.impl().rowNames[clusters[c].firstRow];
      throw SingularityError(
          "loop " + kempe::quoted(loop) +
              " is near a singular position at t = " + shortNumber(motion_.state.time) +
              " s, which the integrator cannot pass within its tolerances. Use "
              "larger tolerances, or keep away from it",
          loop, 1.0 / motion_.first->regularity[c]);
    }
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

void Simulation::throwIfDiverging(double h) {
  Eigen::Index fastest = 0;
  const double speed = motion_.velocities.cwiseAbs().maxCoeff(&fastest);
  if (speed > kFastest) {
    throwIfInertiaVanishes();
    watch_.addSample(energyNow());
    if (!watch_.balanceIsLost()) {  // it moves so fast indeed
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
        acting.divergenceRemedy());
  }
}

void Simulation::throwIfStepIsTooLong(double end) {
  if (steps_.controlsError()) {
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
  const std::string steps = watch_.stepsAreTooLong() + ": ";
  const char* remedy = "Use the integrator \"adaptive\", or a smaller dt";
  watch_.addSample(energyNow());
  if (watch_.balanceIsLost()) {
    std::throw_with_nested(
        std::runtime_error(steps + diverged + watch_.lostBalance() + ". " + remedy));
  }
  bool passes = false;
  std::exception_ptr reason;
  try {
    const StepController::Instead instead(steps_, Integrator::Adaptive);
    advanceTo(end);
    passes = true;
  } catch (const std::runtime_error&) {
    reason = std::current_exception();  // the position is at fault
  } catch (...) {
    returnToBefore();
    throw;
  }
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
