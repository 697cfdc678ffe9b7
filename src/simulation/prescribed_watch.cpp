#include "simulation/prescribed_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Every so many intervals are looked at, and the first ones, so that users' functions are not called
/// much more often than the steps call them.
constexpr long long kFirst = 8, kEvery = 16;
/// Differences are taken over this many seconds, and at most this part of the interval: long against
/// rounding, short against the motions of machines.
constexpr double kSeconds = 1e-5, kPartOfInterval = 1e-3;
/// Disagreement that is reported, relative to the rates.
constexpr double kDiffers = 0.01;

/// A number at both ends of a short time, and the rates that are said to be its derivatives there.
struct Change {
  double from, to;
  double rateFrom, rateTo;
};

double slopeOf(const Change& change, double seconds) {
  return (change.to - change.from) / seconds;
}

/// Whether the slope is neither of the rates nor their mean: at the times at which a rate jumps it is
/// one of them.
bool differs(const Change& change, double time, double seconds) {
  const double slope = slopeOf(change, seconds);
  const double rates[] = {change.rateFrom, change.rateTo, 0.5 * (change.rateFrom + change.rateTo)};
  const double largest = std::max(std::abs(change.rateFrom), std::abs(change.rateTo));
  // Rounding of the numbers, and of the time at which they are taken.
  const double rounding = 8.0 * std::numeric_limits<double>::epsilon() *
                          (std::max(std::abs(change.from), std::abs(change.to)) +
                           (std::abs(time) + seconds) * std::max(largest, std::abs(slope))) /
                          seconds;
  const double tolerated = kDiffers * std::max(largest, std::abs(slope)) + rounding;
  return std::ranges::none_of(rates,
                              [&](double rate) { return std::abs(slope - rate) <= tolerated; });
}

/// Whether `one` and `other` are the same but for the error of differences.
bool agree(double one, double other) {
  return std::abs(one - other) <= kDiffers * std::max(std::abs(one), std::abs(other));
}

}  // namespace

void PrescribedWatch::check(const ConstraintTable& table, double time, double interval) {
  const long long number = intervals_++;
  if (!warning_.empty() || (number >= kFirst && number % kEvery != 0)) {
    return;
  }
  const double seconds = std::min(kSeconds, kPartOfInterval * interval);
  for (const ConstraintEntry& entry : table.entries) {
    if (entry.form.kind != RowKind::Prescribed || !entry.enabled) {
      continue;
    }
    const PrescribedMotion here = entry.motion(time);
    const auto changesIn = [&](double h, bool ofVelocity) {
      const PrescribedMotion next = entry.motion(time + h);
      return ofVelocity ? Change{here.velocity, next.velocity, here.acceleration, next.acceleration}
                        : Change{here.position, next.position, here.velocity, next.velocity};
    };
    for (const bool ofVelocity : {false, true}) {
      const Change change = changesIn(seconds, ofVelocity);
      if (!differs(change, time, seconds)) {
        continue;
      }
      // Over a tenth of the time the same, unless the motion is too fast for such differences.
      const double shorter = 0.1 * seconds;
      const Change again = changesIn(shorter, ofVelocity);
      const double slope = slopeOf(change, seconds);
      if (!differs(again, time, shorter) || !agree(slope, slopeOf(again, shorter))) {
        continue;
      }
      const char* const rate = ofVelocity ? "acceleration" : "velocity";
      const char* const quantity = ofVelocity ? "velocity" : "position";
      warning_ = "the prescribed motion " + kempe::quoted(entry.name) +
                 " contradicts itself: at t = " + shortNumber(time) + " s its " + rate + " is " +
                 shortNumber(change.rateFrom) + ", but its " + quantity + " changes at a rate of " +
                 shortNumber(slope) +
                 ". Return the derivatives of the position as velocity and acceleration.";
      return;
    }
  }
}

}  // namespace kempe::detail
