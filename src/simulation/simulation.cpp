#include "simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>

#include "kempe/configuration.hpp"
#include "model/arguments.hpp"
#include "model/derive.hpp"
#include "model/follow_loops.hpp"
#include "simulation/fingerprint.hpp"
#include "simulation/regularity.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Coordinates are exchanged for some whose ratios are below this: ratios must then grow by
/// Coordinates::kExchange / kGain = 2.7 before the next exchange, so that coordinates are not
/// exchanged to and fro.
constexpr double kGain = 1.5;
/// A step that fails is repeated with this part of its length: less than a half, lest two parts end
/// where the whole failed, and no simple fraction, lest several do.
constexpr double kDivision = 0.43;
/// Steps of this part of an interval between samples are reported if the velocities cause them.
constexpr double kVanishingStep = 1e-6;
/// Parts of a step of fixed length are not shorter than this, after log(1e-5) / log(kDivision) = 14
/// failures: a position this near that still fails is the cause, not the length.
constexpr double kShortest = 1e-5;

/// Keeps events from following one another without end, as where several stops are hit in turn ever
/// faster: after more of them than could be meant, short steps are taken without looking for events,
/// at the end of which joints that have passed stops are returned to them and impacts and modes
/// follow as usual (Moreau's time stepping, of order one). Each is twice as long as the last, up to
/// a thousandth of the interval, for as long as events remain rapid.
///
/// A joint that bounces with restitution e at intervals of T = kRapid × interval has a speed of
/// g T / 2, and rests (kBounces) after log(2 kBounces / (g T)) / log(e) impacts: for an interval of
/// 10 s, 400 with e = 0.99, which kMost allows.
class EventPace {
 public:
  [[nodiscard]] bool ignoresEvents() const { return blind_ > 0.0; }
  [[nodiscard]] double limited(double h) const { return ignoresEvents() ? std::min(h, blind_) : h; }
  /// After a step of length h of an interval. Returns whether events are ignored from here on.
  bool count(double h, double interval, bool event, int switches) {
    if (ignoresEvents()) {
      next_ = std::min(2.0 * blind_, kLongest * interval);
      blind_ = 0.0;
      rapid_ = 0;
      return false;
    }
    rapid_ = event && h < kRapid * interval ? rapid_ + 1 : 0;
    next_ = rapid_ > 0 ? next_ : 0.0;
    if (rapid_ > kMost + switches) {
      blind_ = std::max(next_, kRapid * interval);
    }
    return ignoresEvents();
  }

 private:
  static constexpr double kRapid = 1e-6, kLongest = 1e-3;  // of the interval
  static constexpr int kMost = 400;                        // events, and one for each switch
  double blind_ = 0.0, next_ = 0.0;
  int rapid_ = 0;
};

}  // namespace

Simulation::Simulation(const Model& userModel, const SimulatorOptions& chosen)
    : model(userModel),
      options(chosen),
      equations_(acting, choices_, points_, motion_.heading,
                 chosen.stabilization == Stabilization::Baumgarte ? chosen.baumgarteRate : 0.0) {
  const auto require = [](const char* name, double value) {
    if (!(value > 0.0) || !std::isfinite(value)) {
      throw std::invalid_argument(
          std::string(name) + ": a number greater than zero is needed, got " + shortNumber(value));
    }
  };
  require("relativeTolerance", options.relativeTolerance);
  require("absoluteTolerance", options.absoluteTolerance);
  if (!(options.maxStep > 0.0)) {
    throw std::invalid_argument("maxStep: a positive number of seconds is needed, got " +
                                shortNumber(options.maxStep));
  }
  if (!(options.frictionSlipSpeed >= 0.0)) {
    throw std::invalid_argument("frictionSlipSpeed: zero or more is needed, got " +
                                shortNumber(options.frictionSlipSpeed));
  }
  acting.addFriction(model, options.frictionSlipSpeed);
  start(model);
  resizeForElements();
  setMotion(model.neutral(), Eigen::VectorXd::Zero(model.nvSpanning()), 0.0);
}

void Simulation::start(const Model& user) {
  model = user;
  fingerprint_ = fingerprintOf(model);
  choices_.start(model);
  points_.start(model);
  acting.resize(model);
  motion_.resize(work(), acting.elements);
  equations_.start();
  steps_.resize(model);
  watch_.resize(model);
  events_.makeRoom();
  a_.setZero(model.nv());
  spanningAccelerations_.setZero(model.nvSpanning());
  forces_.restart();
  before_.resize();
}

void Simulation::resizeForElements() {
  acting.resizeForElements();
  motion_.resizeForElements(acting.elements);
  equations_.resizeForElements();
  events_.makeRoom();
}

void Simulation::addArmature(std::size_t joint, double value) {
  ModelChanges changes;
  changes.addedArmature.assign(model.mechanism().joints.size(), 0.0);
  changes.addedArmature[joint] = value;
  const State state = motion_.state;
  const Eigen::VectorXd velocities = motion_.velocities;
  earlier_.push_back(model);
  start(derivedModel(model, changes));
  setMotion(state.q, velocities, state.time);
  motion_.state.work = state.work;
}

void Simulation::setMotion(VectorIn q, VectorIn velocities, double time) {
  if (!std::isfinite(time)) {
    throw std::invalid_argument("time is not finite");
  }
  Coordinates& users = choices_.users();
  static_cast<void>(users.placeAt(q, motion_.last->G.data()));
  choices_.scales().learn(model, users.positions());
  const Standing standing = users.placeAt(q, motion_.last->G.data());
  // So near a change point that rounding hides which velocities keep loops closed.
  const bool among =
      std::ranges::any_of(users.regularity(), [](double r) { return !(r > kUndetermined); });
  const std::size_t choice =
      standing == Standing::DeadPoint && !among ? choices_.bestOfUsersAt(q) : 0;
  Coordinates& chosen = choices_.at(choice);
  Eigen::VectorXd v(model.nv());
  chosen.pick(velocities, v);
  if (!among) {
    if (chosen.placeAt(q, motion_.last->G.data()) != Standing::Regular) {
      chosen.throwSingular();
    }
    Eigen::VectorXd closed(model.nvSpanning());
    chosen.spread(motion_.last->G.data(), v, closed);
    Eigen::Index worst = 0;
    const double gap = (closed - velocities).cwiseAbs().maxCoeff(&worst);
    if (!(gap <= 1e-6 * std::max(1.0, velocities.cwiseAbs().maxCoeff()))) {
      throw std::invalid_argument(
          "velocities: they open loops; that of " +
          kempe::quoted(model.spanningVelocityNames()[static_cast<std::size_t>(worst)]) +
          " must be " + shortNumber(closed[worst]) + " to keep them closed, got " +
          shortNumber(velocities[worst]));
    }
  }
  watch_.restart();
  choices_.select(choice);
  motion_.state.time = time;
  motion_.state.q = q;
  motion_.state.v = v;
  motion_.state.work = {};
  steps_.restart();
  motion_.velocities = velocities;
  motion_.heading = velocities;
  switches().resetModes();
  motion_.fresh = false;
  choices_.pickUsers(motion_.velocities, motion_.v);
}

template <typename Change>
void Simulation::allOrNothing(const Change& change) {
  before_.keep();
  const MotionWatch::Account account = watch_.account();
  const RobotEquations::KnownRows rows = equations_.knownRows();
  try {
    change();
  } catch (...) {
    before_.restore();
    watch_.setAccount(account);
    equations_.setKnownRows(rows);
    throw;
  }
}

void Simulation::setState(VectorIn q, VectorIn velocities, double time) {
  allOrNothing([&] {
    setMotion(q, velocities, time);
    catchConstraints();
  });
}

void Simulation::changeConstraints(const Constraints& next) {
  std::optional<Constraints> replaced = next;
  Vector replacedMultipliers = Eigen::VectorXd::Zero(next.rows());
  const auto exchange = [&] {
    std::swap(equations_.constraints, replaced);
    equations_.multipliers.swap(replacedMultipliers);
  };
  exchange();
  try {
    allOrNothing([&] { catchConstraints(); });
  } catch (...) {
    exchange();
    throw;
  }
}

void Simulation::catchConstraints() {
  changed();
  switches().resetModes();  // friction holds nothing against an impulse
  if (equations_.isConstrained()) {
    watch_.restart();
    equations_.project(motion_.state);
    refresh();
    equations_.requireCompatibleAt(motion_.state);
  }
}

bool Simulation::exchangeCoordinates(double gain) {
  if (!choices_.exchange(motion_.first->G.data(), gain)) {
    return false;
  }
  motion_.fresh = false;
  events_.makeRoom();
  work().pick(motion_.velocities, motion_.state.v);
  motion_.evaluate(equations_);
  return true;
}

void Simulation::exchangePoorCoordinates() {
  if (work().worstRatio(motion_.first->G.data()) > Coordinates::kExchange) {
    exchangeCoordinates(kGain);
  }
}

void Simulation::refresh() {
  if (motion_.fresh) {
    return;
  }
  const State& state = motion_.state;
  equations_.evaluate(state.time, state.q, state.v, *motion_.first);
  if (equations_.isConstrained()) {
    equations_.learnUsualRank(state, *motion_.first);
  }
  motion_.show();
  exchangePoorCoordinates();
  if (!switches().empty()) {
    switches().requireWithin(motion_.first->readings);
    events_.chooseModes(-1);
  }
}

const Vector& Simulation::spanningAccelerationsNow() {
  refresh();
  equations_.spanningAccelerations(motion_.state, *motion_.first, spanningAccelerations_);
  return spanningAccelerations_;
}

const Vector& Simulation::accelerationsNow() {
  refresh();
  if (choices_.index() == 0) {
    a_ = motion_.first->a;
  } else {
    choices_.pickUsers(spanningAccelerationsNow(), a_);
  }
  return a_;
}

double Simulation::energyErrorNow() {
  refresh();
  return watch_.energyError(energyNow());
}

void Simulation::completeStep(double time) {
  watch_.addStep(time, choices_.index());
  motion_.advance(time);
  State& state = motion_.state;
  equations_.straighten(state, *motion_.first);
  if (equations_.isConstrained() && !motion_.first->crossingRows) {
    if (options.stabilization == Stabilization::Projection) {
      equations_.project(state);
      equations_.evaluate(time, state.q, state.v, *motion_.first);
    }
    equations_.requireCompatibleAt(state);
  }
  events_.keepHeld();
  motion_.show();
  watch_.addState(work().crossing());
  exchangePoorCoordinates();
}

void Simulation::stepTo(double end) {
  if (!(end > motion_.state.time) || !std::isfinite(end)) {
    throw std::invalid_argument("dt: a positive, finite number of seconds is needed, got " +
                                shortNumber(end - motion_.state.time));
  }
  refresh();
  if (!watch_.hasSamples()) {
    watch_.addSample(energyNow());
  }
  const auto& constraints = equations_.constraints;
  watch_.startInterval(end, constraints ? &constraints->table() : nullptr);
  before_.keep();
  steps_.startInterval();
  try {
    advanceTo(end);
  } catch (...) {
    before_.restore();
    throwIfStepIsTooLong(end);
    throw;
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
    before_.restore();
    throw;
  }
  before_.restore();
  if (unexplained && reason) {
    std::rethrow_exception(reason);
  }
  if (passes && tooLong) {
    std::throw_with_nested(std::runtime_error(
        steps + "one of them fails where the adaptive integrator does not. " + remedy));
  }
}

void Simulation::advanceTo(double end) {
  const bool controlled = steps_.controlsError();
  const double whole = end - motion_.state.time;
  const double shortest = controlled ? 1e-14 * std::max(1.0, std::abs(end)) : kShortest * whole;
  double part = controlled ? steps_.proposedStep(whole) : whole;
  bool exchanged = false;
  EventPace pace;
  if (events_.collide()) {
    events_.chooseModes(-1);
  }
  while (motion_.state.time < end) {
    if (interruptCheck) {
      interruptCheck();
    }
    const double rest = end - motion_.state.time;
    const double ahead =
        std::min(motion_.first->secondsAhead,
                 work().secondsAhead(motion_.first->regularity, motion_.velocities));
    const double most = std::min({part, ahead, events_.longestStep(), options.maxStep});
    const bool last = most >= rest * (1.0 - 1e-9);
    double h = last ? rest : most;
    int turning = -1;
    if (!last && motion_.state.time + h == motion_.state.time) {
      throw std::runtime_error("the simulation diverged: velocities are so large that a step of " +
                               shortNumber(h) + " s does not advance the time. " +
                               acting.divergenceRemedy());
    }
    if (controlled && h < kVanishingStep * whole && !last) {
      failures_.throwIfDiverging(h);
    }
    h = pace.limited(h);
    double error = 0.0;
    bool shortened = h < rest;
    events_.startStep();
    const auto refused = [&] {
      if (!exchanged && exchangeCoordinates(1.0 + 1e-6)) {
        exchanged = true;
        return true;
      }
      part = kDivision * h;
      steps_.countRefusal();
      return part > shortest;
    };
    try {
      error = steps_.attempt(h);
      if (error <= 1.0 && !switches().empty()) {
        const SwitchEvent event = pace.ignoresEvents() ? SwitchEvent{} : events_.ofStep(h);
        if (event.which >= 0) {
          h = events_.locate(event, h, error);
          shortened = true;
        }
      }
      turning = error <= 1.0 ? turns_.turningCluster() : -1;
      if (turning >= 0) {
        h = turns_.stepTo(turning, h);
        shortened = true;
        events_.clearLocated();  // the turn comes first
      }
    } catch (const SingularityError&) {
      if (refused()) continue;
      throw;
    } catch (const AssemblyError&) {
      if (refused()) continue;
      failures_.throwIfSingular();
      throw;
    } catch (const NoSolution&) {
      if (steps_.leaveImplicitSteps() || refused()) continue;
      failures_.throwIfSingular();
      failures_.throwIfInertiaVanishes();
      throw;
    } catch (const StopPassed&) {
      if (refused()) continue;
      throw;
    } catch (const Diverged&) {
      if (controlled && refused()) continue;
      throw;
    } catch (const ForceNotFinite&) {
      if (controlled && refused()) continue;
      throw;
    }
    if (!(error <= 1.0)) {
      part = steps_.shorterStep(h, error);
      steps_.countRefusal();
      watch_.addRefusal();
      if (!(part > shortest)) {
        failures_.throwIfSingular();
        failures_.throwIfInertiaVanishes();
        throw std::runtime_error("the integrator cannot keep its tolerances with steps of " +
                                 shortNumber(h) + " s. Use larger tolerances, or smoother forces");
      }
      continue;
    }
    exchanged = false;
    if (ahead < std::numeric_limits<double>::infinity() || watch_.isAlongSingular()) {
      watch_.addSingularStep(h, h == ahead, points_);
    }
    completeStep(shortened ? motion_.state.time + h : end);
    steps_.countStep();
    const bool blind = pace.ignoresEvents();
    if (pace.count(h, whole, events_.located() >= 0, switches().count())) {
      watch_.events().startRapid(motion_.state.time, switches().joint(events_.located()));
    }
    if (turning >= 0) {
      turns_.turn(turning);
      switches().resetModes();
      watch_.interrupt();
    }
    if (blind) {
      events_.catchUp(h);
    } else if (!switches().empty() && (events_.located() >= 0 || turning >= 0)) {
      events_.chooseModes(events_.collide() ? -1 : events_.located());
    }
    if (blind || events_.located() >= 0) {
      watch_.addEvent(events_.located());
    }
    if (controlled) {
      watch_.addControlledStep(h, error);
      part = steps_.acceptStep(h, part, error);
    } else {
      part = std::max(part, 2.0 * h);
    }
  }
}

Snapshot Simulation::snapshot() const {
  return {
      motion_.state.time, motion_.state.q, motion_.velocities, choices_.current().model().vNames(),
      workNow(),          steps_.memory(), fingerprint_};
}

void Simulation::restore(const Snapshot& snapshot) {
  if (snapshot.model != 0 && snapshot.model != fingerprint_) {
    throw std::invalid_argument(
        "the snapshot is of another robot than " + kempe::quoted(model.name()) +
        ": names, lengths, inertias or loops differ. Restore a snapshot of the same robot.");
  }
  requireConfiguration<double>("q", model.impl(), snapshot.q);
  requireVector("velocities", snapshot.velocities, model.nvSpanning(), "model.nvSpanning");
  const std::size_t choice = choices_.named(snapshot.coordinates);
  watch_.restart();
  choices_.select(choice);
  motion_.state.time = snapshot.time;
  motion_.state.q = snapshot.q;
  work().pick(snapshot.velocities, motion_.state.v);
  const Work& w = snapshot.work;
  motion_.state.work = {w.controller, w.external, w.motors, w.damping, w.friction, w.limits};
  steps_.restore(snapshot.stepControl);
  motion_.velocities = snapshot.velocities;
  motion_.heading = snapshot.velocities;
  switches().resetModes();
  choices_.pickUsers(motion_.velocities, motion_.v);
  motion_.fresh = false;
}

}  // namespace kempe::detail
