#include "simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

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
constexpr double kVanishing = 1e-6;
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
    : model(userModel), options(chosen) {
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
  addModelFriction();
  start(model);
  resizeForElements();
  forces.setZero(model.nv());
  setMotion(model.neutral(), Eigen::VectorXd::Zero(model.nvSpanning()), 0.0);
}

/// Makes the user's coordinates the only choice, and scratch for any.
void Simulation::start(const Model& user) {
  model = user;
  fingerprint_ = fingerprintOf(model);
  choices_.start(model);
  points_.start(model);
  dissipates_ = std::ranges::any_of(model.impl().tables.damping, [](double x) { return x != 0.0; });

  motion_.resize(work(), elements);
  node_.resize(work(), elements);
  const auto clear = [](int size, auto&... vectors) { (vectors.setZero(size), ...); };
  clear(model.nv(), tau_, stageV_, stageA_, y_, slope_, nodeV_, nodeWay_, a_);
  clear(model.nvSpanning(), spanningForces_, spanningAccelerations_, bias_);
  stageQ_ = nodeQ_ = model.neutral();
  rows_.setZero(model.nLoopRows());
  integrators_.resize(model);
  errors_.resize(model.nv());
  reactions_.reset();
  before_ = {motion_.state, motion_.v, motion_.velocities, motion_.heading, {}, 0};
  makeRoomForRows();
}

/// The friction of the model's joints, as elements.
void Simulation::addModelFriction() {
  const ModelTables<double>& tables = model.impl().tables;
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    for (int i = 0; i < velocitySize(body.type); ++i) {
      const double friction = tables.friction[body.firstVelocity + i];
      if (friction > 0.0) {
        const int position = hasScalarCoordinates(body.type) ? body.firstPosition + i : -1;
        elements.switches.addFriction(model.impl(), model.impl().jointNames[b],
                                      {position, body.firstVelocity + i}, {.coulomb = friction});
      }
    }
  }
}

void Simulation::resizeForElements() {
  commands.conservativeResizeLike(Eigen::VectorXd::Zero(elements.motors()));
  motion_.resizeForElements(elements);
  node_.resizeForElements(elements);
  lowReadings_.resize(elements.switches.count());
  makeRoomForRows();
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
  chosen.pick(velocities, tau_);
  if (!among) {
    if (chosen.placeAt(q, motion_.last->G.data()) != Standing::Regular) {
      chosen.throwSingular();
    }
    chosen.spread(motion_.last->G.data(), tau_, spanningForces_);
    Eigen::Index worst = 0;
    const double gap = (spanningForces_ - velocities).cwiseAbs().maxCoeff(&worst);
    if (!(gap <= 1e-6 * std::max(1.0, velocities.cwiseAbs().maxCoeff()))) {
      throw std::invalid_argument(
          "velocities: they open loops; that of " +
          kempe::quoted(model.spanningVelocityNames()[static_cast<std::size_t>(worst)]) +
          " must be " + shortNumber(spanningForces_[worst]) + " to keep them closed, got " +
          shortNumber(velocities[worst]));
    }
  }
  restartBalance();
  choices_.select(choice);
  motion_.state.time = time;
  motion_.state.q = q;
  motion_.state.v = tau_;
  motion_.state.work = {};
  stepControl_ = {};
  stepControl_.inUse =
      options.integrator == Integrator::Auto ? Integrator::Adaptive : options.integrator;
  motion_.velocities = velocities;
  motion_.heading = velocities;
  elements.switches.resetModes();
  motion_.fresh = false;
  choices_.pickUsers(motion_.velocities, motion_.v);
}

template <typename Change>
void Simulation::allOrNothing(const Change& change) {
  keepBefore();
  const auto watches =
      std::tuple(watch_, errors_, events_, effort_, prescribed_, stepLength_, leastRegularity_,
                 leastRegular_, usualRows_, rowsMiss_, alongSingular_);
  try {
    change();
  } catch (...) {
    returnToBefore();
    std::tie(watch_, errors_, events_, effort_, prescribed_, stepLength_, leastRegularity_,
             leastRegular_, usualRows_, rowsMiss_, alongSingular_) = watches;
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
    std::swap(constraints, replaced);
    multipliers.swap(replacedMultipliers);
  };
  exchange();
  try {
    allOrNothing([&] { catchConstraints(); });
  } catch (...) {
    exchange();
    throw;
  }
}

bool Simulation::exchangeCoordinates(double gain) {
  if (!choices_.exchange(motion_.first->G.data(), gain)) {
    return false;
  }
  motion_.fresh = false;
  makeRoomForRows();
  work().pick(motion_.velocities, motion_.state.v);
  ++coordinateChanges;
  evaluateState();
  return true;
}

void Simulation::refresh() {
  if (motion_.fresh) {
    return;
  }
  evaluate(motion_.state.time, motion_.state.q, motion_.state.v, *motion_.first);
  if (isConstrained() && !usualRows_.learned) {
    learnUsualRank();
  }
  motion_.show();
  if (work().worstRatio(motion_.first->G.data()) > Coordinates::kExchange) {
    exchangeCoordinates(kGain);
  }
  if (!elements.switches.empty()) {
    elements.switches.requireWithin(motion_.first->readings);
    chooseModes(-1);
  }
}

void Simulation::completeStep(double time) {
  if (!controlsError()) {
    errors_.add(options.integrator, time - motion_.state.time, choices_.index(), motion_.state.v,
                motion_.first->a, motion_.next.v, motion_.last->a,
                integrators_.classic.lastStage());
  }
  motion_.advance(time);
  straighten();
  if (isConstrained() && !motion_.first->crossingRows) {
    if (options.stabilization == Stabilization::Projection) {
      projectNow();
      evaluate(time, motion_.state.q, motion_.state.v, *motion_.first);
    }
    requireCompatibleNow();
  }
  if (elements.switches.holds()) {
    const bool moved = holdPositions(motion_.last->readings);
    if (moved || elements.switches.slips(motion_.first->readings, speed())) {
      holdVelocities();
      evaluate(time, motion_.state.q, motion_.state.v, *motion_.first);
    }
  }
  motion_.show();
  watchLoops();
  watch_.addFlows(workNow().supplied(), workNow().lost());
  if (work().worstRatio(motion_.first->G.data()) > Coordinates::kExchange) {
    exchangeCoordinates(kGain);
  }
}

void Simulation::stepTo(double end) {
  if (!(end > motion_.state.time) || !std::isfinite(end)) {
    throw std::invalid_argument("dt: a positive, finite number of seconds is needed, got " +
                                shortNumber(end - motion_.state.time));
  }
  refresh();
  if (constraints) {
    prescribed_.check(constraints->table(), motion_.state.time, end - motion_.state.time);
  }
  stepLength_ = std::max(stepLength_, std::min(end - motion_.state.time, options.maxStep));
  if (!watch_.started()) {
    watchEnergy(energyNow());
  }
  if (motion_.first->rowRegularity == 0.0 && !(speed() > 0.0)) {
    events_.addUndetermined(motion_.state.time);
  }
  keepBefore();
  effort_.startInterval();
  // A motion continued from a snapshot starts without these, too.
  integrators_.radau.forget();
  unsolved_ = 0;
  evaluationsSoFar_ = effort().evaluations;
  try {
    advanceTo(end);
  } catch (...) {
    returnToBefore();
    throwIfStepIsTooLong(end);
    throw;
  }
}

void Simulation::keepBefore() {
  elements.switches.saveModes();
  before_.state = motion_.state;
  before_.v = motion_.v;
  before_.velocities = motion_.velocities;
  before_.heading = motion_.heading;
  choices_.save();
  before_.stepControl = stepControl_;
  before_.coordinateChanges = coordinateChanges;
}

void Simulation::returnToBefore() {
  motion_.state = before_.state;
  motion_.v = before_.v;
  motion_.velocities = before_.velocities;
  motion_.heading = before_.heading;
  choices_.restore();
  stepControl_ = before_.stepControl;
  coordinateChanges = before_.coordinateChanges;
  elements.switches.restoreModes();
  motion_.fresh = false;
}

void Simulation::advanceTo(double end) {
  const bool controlled = controlsError();
  const double whole = end - motion_.state.time;
  const double shortest = controlled ? 1e-14 * std::max(1.0, std::abs(end)) : kShortest * whole;
  double part = controlled ? proposedStep(whole) : whole;
  bool exchanged = false;
  EventPace pace;
  if (collide()) {
    chooseModes(-1);
  }
  while (motion_.state.time < end) {
    if (interruptCheck) {
      interruptCheck();
    }
    const double rest = end - motion_.state.time;
    const double ahead =
        std::min(motion_.first->secondsAhead,
                 work().secondsAhead(motion_.first->regularity, motion_.velocities));
    const double most = std::min({part, ahead, longestStep_, options.maxStep});
    const bool last = most >= rest * (1.0 - 1e-9);
    double h = last ? rest : most;
    int turning = -1;
    if (!last && motion_.state.time + h == motion_.state.time) {
      throw std::runtime_error("the simulation diverged: velocities are so large that a step of " +
                               shortNumber(h) + " s does not advance the time. " +
                               divergenceRemedy());
    }
    if (controlled && h < kVanishing * whole && !last) {
      throwIfDiverging(h);
    }
    h = pace.limited(h);
    double error = 0.0;
    bool shortened = h < rest;
    located_ = -1;
    const auto refused = [&] {
      if (!exchanged && exchangeCoordinates(1.0 + 1e-6)) {
        exchanged = true;
        return true;
      }
      part = kDivision * h;
      ++effort().refusedSteps;
      return part > shortest;
    };
    elements.switches.watchPeaks(motion_.first->readings);
    try {
      error = attempt(h);
      if (error <= 1.0 && !elements.switches.empty()) {
        const SwitchEvent event = pace.ignoresEvents() ? SwitchEvent{} : eventOfStep(h);
        if (event.which >= 0) {
          h = locate(event, h, error);
          shortened = true;
        }
      }
      turning = error <= 1.0 ? turningCluster() : -1;
      if (turning >= 0) {
        h = stepToTurn(turning, h);
        shortened = true;
        located_ = -1;  // the turn comes first
      }
    } catch (const SingularityError&) {
      if (refused()) continue;
      throw;
    } catch (const AssemblyError&) {
      if (refused()) continue;
      throwIfSingular();
      throw;
    } catch (const NoSolution&) {
      if (leaveImplicitSteps() || refused()) continue;
      throwIfSingular();
      throwIfInertiaVanishes();
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
      part = shorterStep(h, error);
      ++effort().refusedSteps;
      effort_.addRefusal();
      if (!(part > shortest)) {
        throwIfSingular();
        throwIfInertiaVanishes();
        throw std::runtime_error("the integrator cannot keep its tolerances with steps of " +
                                 shortNumber(h) + " s. Use larger tolerances, or smoother forces");
      }
      continue;
    }
    exchanged = false;
    if (ahead < std::numeric_limits<double>::infinity() || alongSingular_ > 0) {
      watchSingularity(h, h == ahead);
    }
    completeStep(shortened ? motion_.state.time + h : end);
    ++effort().steps;
    const bool blind = pace.ignoresEvents();
    if (pace.count(h, whole, located_ >= 0, elements.switches.count())) {
      events_.startRapid(motion_.state.time, elements.switches.joint(located_));
    }
    if (turning >= 0) {
      try {
        turn(turning);
      } catch (const AssemblyError&) {  // of positions beside the point, where no loop is to blame
        throwCannotTurn(turning);
      }
      elements.switches.resetModes();
      errors_.interrupt();
    }
    if (blind) {
      catchUpWithEvents(h);
    } else if (!elements.switches.empty() && (located_ >= 0 || turning >= 0)) {
      chooseModes(collide() ? -1 : located_);
    }
    if (blind || located_ >= 0) {
      errors_.interrupt();
      effort_.addEvent(located_);
    }
    if (controlled) {
      effort_.addStep(
          h, speed(), error,
          integratorInUse() == Integrator::Adaptive ? integrators_.pair.stiffness() : 0.0);
      acceptStep(h, part, error);
      part = stepControl_.nextStep;
    } else {
      part = std::max(part, 2.0 * h);
    }
  }
}

Work Simulation::workNow() const {
  return {motion_.state.work[kController], motion_.state.work[kExternal],
          motion_.state.work[kMotors],     motion_.state.work[kDamping],
          motion_.state.work[kFriction],   motion_.state.work[kLimits]};
}

Snapshot Simulation::snapshot() const {
  return {motion_.state.time, motion_.state.q, motion_.velocities, coordinates().model().vNames(),
          workNow(),          stepControl_,    fingerprint_};
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
  restartBalance();
  choices_.select(choice);
  motion_.state.time = snapshot.time;
  motion_.state.q = snapshot.q;
  work().pick(snapshot.velocities, motion_.state.v);
  const Work& w = snapshot.work;
  motion_.state.work = {w.controller, w.external, w.motors, w.damping, w.friction, w.limits};
  stepControl_ = snapshot.stepControl;
  if (options.integrator != Integrator::Auto) {
    stepControl_.inUse = options.integrator;
  } else if (!controlsError()) {  // a snapshot of another integrator
    stepControl_.inUse = Integrator::Adaptive;
  }
  motion_.velocities = snapshot.velocities;
  motion_.heading = snapshot.velocities;
  elements.switches.resetModes();
  choices_.pickUsers(motion_.velocities, motion_.v);
  motion_.fresh = false;
}

}  // namespace kempe::detail
