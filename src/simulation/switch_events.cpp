// Switches of dry friction and end stops: where their modes end within a step, impacts, and the
// modes that follow.

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulation/switch_events.hpp"
#include "simulation/switch_rows.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Accelerations of this fraction of their terms are zero: rounding of multipliers.
constexpr double kNoAcceleration = 1e-11;
/// A row that holds a joint is implied by others if they leave less than this of it.
constexpr double kImpliedRow = 1e-9;
/// Both across a change point, where rows are interpolated with errors of up to 6e-10.
constexpr double kNoneAcross = 1e-8;
/// Dependent joints that hold are brought back if they have moved by more than this in a step, rad
/// or m: rounding of loops. Independent ones do not move at all.
constexpr double kRoundingOfPosition = 1e-15;
/// Attempts to locate an event. Regula falsi needs 5 to 10, bisection 50 at most.
constexpr int kAttempts = 100;
/// Times nearer than this, relative to the time (at least 1 s), are the same.
constexpr double kSameTime = 1e-16;
/// Where only yes or no is known of what holds, it gives way too late by at most this part of a
/// step; its velocity is wrong by the square.
constexpr double kInTime = 1e-6;
/// Explicit steps on an elastic stop, relative to its shortest time: RK4 changes the energy of an
/// oscillation by 4e-7 per period then, and the semi-implicit Euler method is stable.
constexpr double kElastic = 0.1;
/// Impacts at one time: one stop can press others, and each impact but the first few is slower.
constexpr int kMostImpacts = 50;
/// Forces whose conditions are violated by a larger part of the terms are reported: a thousand times
/// the part above which rows of BoxProblem contradict each other, and far below what is visible.
constexpr double kUnbalanced = 1e-6;

}  // namespace

bool SwitchEvents::releaseLeaving(const SwitchRows& rows, const Rates& rates) {
  bool any = false;
  rows.visitHeld([&](int r, int which) {
    if (!switches_.holds(which)) {
      return;
    }
    // Alone it would accelerate towards the stop with A λ, and rise by u² / (2 A λ) before.
    const double back = box_.matrix(r, r) * std::abs(box_.x[r]);
    if (switches_.escapes(which, rates.readings, motion_.speed(), back)) {
      switches_.release(which, 0.0);
      box_.lower[r] = box_.upper[r] = 0.0;
      any = true;
    }
  });
  return any;
}

bool SwitchEvents::release(double t, VectorIn q, VectorIn v, const Rates& rates, bool onlyAsk) {
  for (int i = 0; i < switches_.count(); ++i) {
    rowsWanted_[i] = static_cast<char>(switches_.holds(i));  // those that are implied too
  }
  const Switches::EnabledRows enabled(switches_, rowsWanted_);
  // Forces in the rates are those of the modes before.
  const bool across =
      balanceRows(t, q, v, onlyAsk ? &rates : nullptr, equations_.stabilizationRate());
  SwitchRows rows(equations_);
  while (!onlyAsk && releaseLeaving(rows, rates)) {
    box_.solve();
  }
  bool any = false;
  const double gravity = norm(equations_.choices().user().gravity());
  const auto size = [&](int r) {
    // Beside the terms of the sum, what friction could do, and gravity: at rest all terms are
    // rounding.
    const double bound = std::isfinite(box_.upper[r]) ? box_.upper[r] : 0.0;
    return box_.magnitude[r] + box_.matrix(r, r) * bound + gravity;
  };
  reportImbalance(t, rows, size);
  rows.visitHeld([&](int r, int which) {
    const bool holding = switches_.holds(which);  // others leave
    if (holding && std::abs(box_.g[r]) > (across ? kNoneAcross : kNoAcceleration) * size(r)) {
      any = true;
      if (!onlyAsk) {
        switches_.release(which, box_.g[r]);
      }
    }
  });
  if (!onlyAsk) {
    rows.markImplied(box_, across ? kNoneAcross : kImpliedRow);
  }
  return any;
}

void SwitchEvents::chooseModes(int event) {
  if (switches_.chooseModes(motion_.first->readings, motion_.speed(), event)) {
    release(motion_.state.time, motion_.state.q, motion_.state.v, *motion_.first, false);
    if (event >= 0 || switches_.slips(motion_.first->readings, motion_.speed())) {
      holdVelocities();
    }
  }
  limitElasticSteps();
  motion_.evaluate(equations_);
}

void SwitchEvents::startStep() {
  located_ = -1;
  switches_.watchPeaks(motion_.first->readings);
}

void SwitchEvents::keepHeld() {
  if (!switches_.holds()) {
    return;
  }
  const bool moved = holdPositions(motion_.last->readings);
  if (moved || switches_.slips(motion_.first->readings, motion_.speed())) {
    holdVelocities();
    const State& state = motion_.state;
    equations_.evaluate(state.time, state.q, state.v, *motion_.first);
  }
}

bool SwitchEvents::holdPositions(const Readings& start) {
  double worst = 0.0;
  for (int i = 0; i < switches_.count(); ++i) {
    if (switches_.holds(i)) {
      const double moved = motion_.first->readings.position[i] - start.position[i];
      worst = std::max(worst, std::abs(moved));
    }
  }
  if (!(worst > kRoundingOfPosition)) {
    return false;
  }
  movePositions(start);
  return true;
}

void SwitchEvents::movePositions(const Readings& to) {
  placeRows(motion_.state.q, motion_.state.v);
  const SwitchRows rows(equations_);
  std::copy_n(rowValues_.begin(), rows.firstHeld, box_.b.begin());
  rows.visitHeld([&](int r, int which) {
    box_.b[r] = motion_.first->readings.position[which] - to.position[which];
  });
  box_.solve();
  y_.setZero();
  addImpulses(y_);
  equations_.work().follow(motion_.state.q, motion_.first->G.data(), y_, q_);
  motion_.state.q = q_;
}

template <typename Size>
void SwitchEvents::reportImbalance(double t, const SwitchRows& rows, const Size& size) {
  int worst = -1;
  double most = kUnbalanced;
  for (int r = 0; r < rows.solver.rows(); ++r) {
    const double part = box_.violation(r) / size(r);
    if (part > most) {
      most = part;
      worst = r;
    }
  }
  if (worst >= 0) {
    watch_.addUnbalanced(t, rows.entryOf(worst).name, most);
  }
}

double SwitchEvents::returnToStops() {
  lowReadings_ = motion_.first->readings;
  double longest = 0.0;
  for (int i = 0; i < switches_.count(); ++i) {
    const bool passed = switches_.isPassed(i, motion_.first->readings);
    rowsWanted_[i] = static_cast<char>(passed || switches_.holds(i));
    if (passed) {
      lowReadings_.position[i] = switches_.bound(i);
      longest =
          std::max(longest, std::abs(motion_.first->readings.position[i] - switches_.bound(i)));
    }
  }
  if (longest > 0.0) {
    {
      const Switches::EnabledRows enabled(switches_, rowsWanted_);
      movePositions(lowReadings_);
    }
    motion_.evaluate(equations_);
  }
  return longest;
}

void SwitchEvents::catchUp(double h) {
  motion_.last->velocities = motion_.velocities;
  motion_.last->a = motion_.first->a;
  const double distance = returnToStops();
  chooseModes(collide() ? -1 : located_);
  watch_.addBlindStep(h, distance,
                      (motion_.velocities - motion_.last->velocities).cwiseAbs().maxCoeff(),
                      (motion_.first->a - motion_.last->a).cwiseAbs().maxCoeff(), motion_.speed());
}

void SwitchEvents::holdVelocities() {
  placeRows(motion_.state.q, motion_.state.v);
  std::ranges::copy(rowRates_, box_.b.begin());
  box_.solve();
  addImpulses(motion_.state.v);
  holdExactly(switches_, equations_.work(), motion_.state.v);
}

bool SwitchEvents::collide() {
  for (int round = 0; round < kMostImpacts; ++round) {
    bool any = false;
    for (int i = 0; i < switches_.count(); ++i) {
      rowsWanted_[i] = static_cast<char>(switches_.isRigidContact(i, motion_.first->readings));
      any |= switches_.isHit(i, motion_.first->readings, motion_.speed());
    }
    if (!any) {
      return round > 0;
    }
    const double before = equations_.energyOf(motion_.state).kinetic;
    {
      const Switches::EnabledRows enabled(switches_, rowsWanted_);
      placeRows(motion_.state.q, motion_.state.v);
      const SwitchRows rows(equations_);
      std::ranges::copy(rowRates_, box_.b.begin());
      rows.visitHeld([&](int r, int which) {
        switches_.bounds(which, box_.lower[r], box_.upper[r]);
        const double rate = motion_.first->readings.rate[which];
        if (switches_.side(which) * rate > 0.0) {
          box_.b[r] += switches_.restitution(which, rate) * rate;  // Moreau: g = u⁺ + e u⁻
        }
      });
      box_.solve();
      throwIfDriven(rows);
      addImpulses(motion_.state.v);
    }
    motion_.state.work[kLimits] += before - equations_.energyOf(motion_.state).kinetic;
    switches_.resetModes();  // friction, which is bounded, holds nothing against an impulse
    motion_.evaluate(equations_);
  }
  for (int i = 0; i < switches_.count(); ++i) {
    if (switches_.isHit(i, motion_.first->readings, motion_.speed())) {
      watch_.addEndlessImpacts(motion_.state.time, switches_.joint(i));
      break;
    }
  }
  return true;
}

void SwitchEvents::throwIfDriven(const SwitchRows& rows) {
  rows.visitHeld([&](int r, int which) {
    const double rate = motion_.first->readings.rate[which];
    if (!(switches_.side(which) * rate > 0.0)) {
      return;
    }
    // The impulse of a stop and that of a constraint on the same motion grow without end: their
    // conditions remain violated, by shares of the velocity.
    double off = box_.violation(r), share = 0.0;
    int driver = -1;
    for (int s = 0; s < rows.firstHeld; ++s) {
      const double own = box_.matrix(r, r) * box_.matrix(s, s);
      const double common = own > 0.0 ? box_.matrix(r, s) * box_.matrix(r, s) / own : 0.0;
      off = common > 0.0 ? std::max(off, box_.violation(s)) : off;
      if (common > share) {
        share = common;
        driver = s;
      }
    }
    if (off > kUnbalanced * std::abs(rate) && driver >= 0) {
      throw std::runtime_error(
          "joint " + kempe::quoted(switches_.joint(which)) +
          " cannot be stopped by its rigid end stop at " + shortNumber(switches_.bound(which)) +
          ": " + kempe::quoted(rows.entryOf(driver).name) + " drives it on with " +
          shortNumber(rate) +
          " rad/s or m/s. End that motion at the stop, or give the stop a stiffness");
    }
  });
}

void SwitchEvents::limitElasticSteps() {
  longestStep_ = std::numeric_limits<double>::infinity();
  bool any = false;
  for (int i = 0; i < switches_.count(); ++i) {
    rowsWanted_[i] = static_cast<char>(switches_.pushes(i));
    any |= switches_.pushes(i);
  }
  if (!any || steps_.controlsError()) {
    return;
  }
  const Switches::EnabledRows enabled(switches_, rowsWanted_);
  placeRows(motion_.state.q, motion_.state.v);
  const SwitchRows rows(equations_);
  rows.visitHeld([&](int r, int which) {
    const double mobility = box_.matrix(r, r);
    const double fastest = std::max(std::sqrt(switches_.stiffness(which) * mobility),
                                    switches_.damping(which) * mobility);
    longestStep_ = std::min(longestStep_, kElastic / fastest);
  });
}

SwitchEvent SwitchEvents::ofStep(double h) {
  SwitchEvent event =
      switches_.firstEvent(motion_.first->readings, motion_.last->readings, h, false);
  if (event.which >= 0 && switches_.holds(event.which)) {
    // Multipliers of redundant rows are not unique: others may hold it.
    if (!release(motion_.next.time, motion_.next.q, motion_.next.v, *motion_.last, true)) {
      return switches_.firstEvent(motion_.first->readings, motion_.last->readings, h, true);
    }
    event.yesOrNo = !(event.before > 0.0) || switches_.isRedundant();
  }
  return event;
}

double SwitchEvents::locate(SwitchEvent event, double h, double& error) {
  double low = 0.0, high = h, tried = h;
  lowReadings_ = motion_.first->readings;
  const auto endAtHigh = [&] {
    if (tried != high) {
      error = steps_.attempt(high);
      tried = high;
    }
    return !switches_.isBeyond(motion_.last->readings);
  };
  for (int i = 0; i < kAttempts; ++i) {
    const double width = high - low;
    if (width <= kSameTime * std::max(1.0, std::abs(motion_.state.time)) ||
        (event.yesOrNo && width <= kInTime * h && endAtHigh())) {
      break;
    }
    double x = low + 0.5 * width;
    if (event.inside) {
      x = std::clamp(event.part * high, low, high);
    } else if (!event.yesOrNo && i % 3 != 2) {  // halves in between, lest one end stay
      const double target = 0.5 * (event.least + event.most);
      const double before = switches_.margin(event.which, lowReadings_) - target;
      const double after = event.after - target;
      if (before > 0.0) {
        x = low + width * std::clamp(before / (before - after), 1e-3, 1.0 - 1e-3);
      }
    }
    error = steps_.attempt(x);
    tried = x;
    const SwitchEvent found = ofStep(x);
    if (found.which >= 0) {
      high = x;
      event = found;
      continue;
    }
    if (event.inside) {
      located_ = -1;  // the estimate was wrong
      return x;
    }
    const double margin = switches_.margin(event.which, motion_.last->readings);
    // Near zero, but not if it has been so from the start: a joint that is just leaving a stop.
    const bool came = switches_.margin(event.which, lowReadings_) > event.most;
    if (!event.yesOrNo && came && margin >= event.least && margin <= event.most) {
      located_ = event.which;
      return x;
    }
    low = x;
    lowReadings_ = motion_.last->readings;
  }
  endAtHigh();
  switches_.requireStopsMet(motion_.last->readings,
                            "a constraint drives it, or the step is too long. Give the stop a "
                            "stiffness, or use a smaller dt");
  located_ = event.which;
  return high;
}

}  // namespace kempe::detail
