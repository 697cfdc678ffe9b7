#include "simulation/energy_watch.hpp"

#include <algorithm>
#include <cmath>

namespace kempe::detail {
namespace {

/// Rounding of the energy of a robot at rest is far below this fraction of it.
constexpr double kAtRest = 1e-6;
/// The balance counts as kept up to this fraction of the energy exchanged.
constexpr double kKept = 0.1;
/// An error this many times the energy exchanged while the balance was kept has no bound.
constexpr double kUnbounded = 100.0;

}  // namespace

void EnergyWatch::add(const Sample& sample) {
  const double energy = sample.kinetic + sample.potential;
  if (!started_) {
    started_ = true;
    start_ = energy - sample.work + sample.losses;
    startWork_ = sample.work;
    startLosses_ = sample.losses;
    lowest_ = highest_ = sample.potential;
  }
  peakKinetic_ = std::max(peakKinetic_, sample.kinetic);
  lowest_ = std::min(lowest_, sample.potential);
  highest_ = std::max(highest_, sample.potential);
  addFlows(sample.work, sample.losses);
  peakEnergy_ = std::max(peakEnergy_, std::abs(energy));
  const double error = energy - sample.work + sample.losses - start_;
  if (!(std::abs(error - error_) <= std::abs(jump_.change))) {
    jump_ = {sample.time, error - error_, sample.regularity, sample.cluster};
  }
  error_ = error;
  largest_ = std::max(largest_, std::abs(error));
  if (drift() < kKept) {
    exchangedInBalance_ = exchanged();
  }
}

void EnergyWatch::addFlows(double work, double losses) {
  peakWork_ = std::max(peakWork_, std::abs(work - startWork_));
  peakLosses_ = std::max(peakLosses_, std::abs(losses - startLosses_));
}

double EnergyWatch::exchangedInMotion() const {
  return std::max({peakKinetic_, highest_ - lowest_, peakWork_, peakLosses_});
}

double EnergyWatch::exchanged() const {
  return std::max(exchangedInMotion(), kAtRest * peakEnergy_);
}

bool EnergyWatch::isAtRest() const {
  return exchangedInMotion() <= kAtRest * peakEnergy_;
}

double EnergyWatch::drift() const {
  const double moved = exchanged();
  return moved > 0.0 ? largest_ / moved : largest_;
}

bool EnergyWatch::diverged() const {
  return !(largest_ <= kUnbounded * exchangedInBalance_);
}

}  // namespace kempe::detail
