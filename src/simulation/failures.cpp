#include "simulation/failures.hpp"

#include <cmath>
#include <stdexcept>

#include "kempe/momentum.hpp"
#include "simulation/regularity.hpp"
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

void Failures::throwIfSingular() {
  const Model& model = user();
  const std::vector<ClusterEntry>& clusters = model.impl().tables.clusters;
  for (std::size_t c = 0; c < motion_.first->regularity.size(); ++c) {
    if (equations_.points().pointOf(c) != nullptr && motion_.first->regularity[c] < kAtSingular) {
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

void Failures::throwIfInertiaVanishes() {
  const Model& model = user();
  Eigen::Index fastest = 0;
  const double speed = motion_.velocities.cwiseAbs().maxCoeff(&fastest);
  Data data(model);
  double usual = 0.0;
  try {
    usual = energy(model, data, model.neutral(), motion_.v).kinetic;
  } catch (const SingularityError&) {
    return;
  }
  const double part = equations_.energyOf(motion_.state).kinetic / usual;
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

void Failures::throwIfDiverging(double h) {
  const Model& model = user();
  Eigen::Index fastest = 0;
  const double speed = motion_.velocities.cwiseAbs().maxCoeff(&fastest);
  if (speed > kFastest) {
    throwIfInertiaVanishes();
    watch_.addSample(equations_.energyOf(motion_.state));
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
        equations_.acting().divergenceRemedy());
  }
}

}  // namespace kempe::detail
