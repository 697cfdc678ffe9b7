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
constexpr std::size_t kMostChoices = 32;  // of coordinates, that are kept

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
  scales_ = std::make_unique<LoopScales>(model);
  const ModelTables<double>& tables = model.impl().tables;
  points_.clear();
  looped_.clear();
  straightOn_.assign(tables.clusters.size(), 0);
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    points_.emplace_back();
    if (tables.clusters[c].kind == ClusterKind::Implicit && tables.clusters[c].nv > 0) {
      points_[c] = std::make_unique<SingularPoint>(model, *scales_, static_cast<int>(c));
      looped_.push_back(c);
    }
  }
  hasFriction_ = std::ranges::any_of(tables.friction, [](double x) { return x != 0.0; });
  choices_.clear();
  choices_.push_back(std::make_unique<Coordinates>(
      hasFriction_ ? derivedModel({.withoutFriction = true}) : model, *scales_));
  choice_ = 0;
  userVelocities_.clear();
  for (const ClusterEntry& cluster : tables.clusters) {
    for (const int i : independentOf(tables, cluster)) {
      userVelocities_.push_back(cluster.firstVelocity + i);
    }
  }
  dissipates_ = std::ranges::any_of(tables.damping, [](double x) { return x != 0.0; });

  for (Rates* rates : {first_.get(), last_.get(), &node_}) {
    rates->resize(work(), elements);
  }
  const auto clear = [](int size, auto&... vectors) { (vectors.setZero(size), ...); };
  clear(model.nv(), tau_, stageV_, stageA_, y_, slope_, state_.v, next_.v, v_, nodeV_, nodeWay_);
  clear(model.nvSpanning(), spanningForces_, velocities_, heading_, spanningAccelerations_, bias_);
  a_ = tau_;
  stageQ_ = nodeQ_ = state_.q = next_.q = model.neutral();
  rows_.setZero(model.nLoopRows());
  integrators_.resize(model);
  errors_.resize(model.nv());
  reactions_.reset();
  before_ = {state_, v_, velocities_, heading_, 0, {}, 0};
  makeRoomForRows();
  fresh_ = false;
}

Model Simulation::derivedModel(const ModelChanges& changes) const {
  return Model(std::make_shared<const ModelImpl>(derived(model.impl(), changes)));
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
  for (Rates* rates : {first_.get(), last_.get(), &node_}) {
    rates->torques.setZero(elements.motors());
    rates->readings.resize(elements.switches.count());
  }
  lowReadings_.resize(elements.switches.count());
  makeRoomForRows();
  fresh_ = false;
}

void Simulation::addArmature(std::size_t joint, double value) {
  ModelChanges changes;
  changes.addedArmature.assign(model.mechanism().joints.size(), 0.0);
  changes.addedArmature[joint] = value;
  const State state = state_;
  const Eigen::VectorXd velocities = velocities_;
  earlier_.push_back(model);
  start(derivedModel(changes));
  setMotion(state.q, velocities, state.time);
  state_.work = state.work;
}

void Simulation::setMotion(VectorIn q, VectorIn velocities, double time) {
  if (!std::isfinite(time)) {
    throw std::invalid_argument("time is not finite");
  }
  std::size_t choice = 0;
  static_cast<void>(choices_[0]->placeAt(q, last_->G.data()));
  scales_->learn(model, choices_[0]->positions());
  const Standing standing = choices_[0]->placeAt(q, last_->G.data());
  // So near a change point that rounding hides which velocities keep loops closed.
  const bool among =
      std::ranges::any_of(choices_[0]->regularity(), [](double r) { return !(r > kUndetermined); });
  if (standing == Standing::DeadPoint && !among) {
    choices_[0]->best(q, lists_);
    choice = choiceOf(lists_);
  }
  Coordinates& chosen = *choices_[choice];
  chosen.pick(velocities, tau_);
  if (!among) {
    if (chosen.placeAt(q, last_->G.data()) != Standing::Regular) {
      chosen.throwSingular();
    }
    chosen.spread(last_->G.data(), tau_, spanningForces_);
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
  choice_ = choice;
  state_.time = time;
  state_.q = q;
  state_.v = tau_;
  state_.work = {};
  stepControl_ = {};
  stepControl_.inUse =
      options.integrator == Integrator::Auto ? Integrator::Adaptive : options.integrator;
  velocities_ = velocities;
  heading_ = velocities;
  elements.switches.resetModes();
  fresh_ = false;
  for (std::size_t i = 0; i < userVelocities_.size(); ++i) {
    v_[static_cast<Eigen::Index>(i)] = velocities_[userVelocities_[i]];
  }
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

std::size_t Simulation::choiceOf(const std::vector<std::vector<int>>& independent) {
  const ModelTables<double>& tables = work().impl().tables;
  const ModelTables<double>& user = model.impl().tables;
  std::vector<int> wanted = tables.independent;
  ModelChanges changes;
  changes.independent.resize(tables.clusters.size());
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (!independent[c].empty()) {
      std::ranges::copy(independent[c], wanted.begin() + cluster.firstIndependent);
    }
    const auto own = wanted.begin() + cluster.firstIndependent;
    if (!std::equal(own, own + cluster.nv, user.independent.begin() + cluster.firstIndependent)) {
      changes.independent[c].assign(own, own + cluster.nv);
    }
  }
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i]->independent() == wanted) {
      return i;
    }
  }
  changes.withoutFriction = hasFriction_;
  auto made = std::make_unique<Coordinates>(derivedModel(changes), *scales_);
  if (choices_.size() < kMostChoices) {
    choices_.push_back(std::move(made));
    return choices_.size() - 1;
  }
  // Robots with many loops can come by more choices than are worth keeping.
  do {
    replaced_ = replaced_ % (kMostChoices - 1) + 1;
  } while (replaced_ == choice_ || replaced_ == before_.choice);
  choices_[replaced_] = std::move(made);
  return replaced_;
}

bool Simulation::exchangeCoordinates(double gain) {
  if (!work().better(first_->G.data(), gain, lists_)) {
    return false;
  }
  fresh_ = false;
  choice_ = choiceOf(lists_);
  makeRoomForRows();
  work().pick(velocities_, state_.v);
  ++coordinateChanges;
  evaluate(state_.time, state_.q, state_.v, *first_);
  show();
  return true;
}

/// Updates the values that users see from first_->
void Simulation::show() {
  v_ = first_->v;
  velocities_ = first_->velocities;
  if (velocities_.cwiseAbs().maxCoeff() > 0.0) {
    heading_ = velocities_;
  }
  fresh_ = true;
}

void Simulation::refresh() {
  if (fresh_) {
    return;
  }
  evaluate(state_.time, state_.q, state_.v, *first_);
  if (isConstrained() && !usualRows_.learned) {
    learnUsualRank();
  }
  show();
  if (work().worstRatio(first_->G.data()) > Coordinates::kExchange) {
    exchangeCoordinates(kGain);
  }
  if (!elements.switches.empty()) {
    elements.switches.requireWithin(first_->readings);
    chooseModes(-1);
  }
}

void Simulation::completeStep(double time) {
  if (!controlsError()) {
    errors_.add(options.integrator, time - state_.time, choice_, state_.v, first_->a, next_.v,
                last_->a, integrators_.classic.lastStage());
  }
  std::swap(state_, next_);
  std::swap(first_, last_);
  state_.time = time;
  straighten();
  if (isConstrained() && !first_->crossingRows) {
    if (options.stabilization == Stabilization::Projection) {
      projectNow();
      evaluate(time, state_.q, state_.v, *first_);
    }
    requireCompatibleNow();
  }
  if (elements.switches.holds()) {
    const bool moved = holdPositions(last_->readings);
    if (moved || elements.switches.slips(first_->readings, speed())) {
      holdVelocities();
      evaluate(time, state_.q, state_.v, *first_);
    }
  }
  show();
  watchLoops();
  watch_.addFlows(workNow().supplied(), workNow().lost());
  if (work().worstRatio(first_->G.data()) > Coordinates::kExchange) {
    exchangeCoordinates(kGain);
  }
}

void Simulation::stepTo(double end) {
  if (!(end > state_.time) || !std::isfinite(end)) {
    throw std::invalid_argument("dt: a positive, finite number of seconds is needed, got " +
                                shortNumber(end - state_.time));
  }
  refresh();
  if (constraints) {
    prescribed_.check(constraints->table(), state_.time, end - state_.time);
  }
  stepLength_ = std::max(stepLength_, std::min(end - state_.time, options.maxStep));
  if (!watch_.started()) {
    watchEnergy(energyNow());
  }
  if (first_->rowRegularity == 0.0 && !(speed() > 0.0)) {
    events_.addUndetermined(state_.time);
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
  before_.state = state_;
  before_.v = v_;
  before_.velocities = velocities_;
  before_.heading = heading_;
  before_.choice = choice_;
  before_.stepControl = stepControl_;
  before_.coordinateChanges = coordinateChanges;
}

void Simulation::returnToBefore() {
  state_ = before_.state;
  v_ = before_.v;
  velocities_ = before_.velocities;
  heading_ = before_.heading;
  choice_ = before_.choice;
  stepControl_ = before_.stepControl;
  coordinateChanges = before_.coordinateChanges;
  elements.switches.restoreModes();
  fresh_ = false;
}

void Simulation::advanceTo(double end) {
  const bool controlled = controlsError();
  const double whole = end - state_.time;
  const double shortest = controlled ? 1e-14 * std::max(1.0, std::abs(end)) : kShortest * whole;
  double part = controlled ? proposedStep(whole) : whole;
  bool exchanged = false;
  EventPace pace;
  if (collide()) {
    chooseModes(-1);
  }
  while (state_.time < end) {
    if (interruptCheck) {
      interruptCheck();
    }
    const double rest = end - state_.time;
    const double ahead =
        std::min(first_->secondsAhead, work().secondsAhead(first_->regularity, velocities_));
    const double most = std::min({part, ahead, longestStep_, options.maxStep});
    const bool last = most >= rest * (1.0 - 1e-9);
    double h = last ? rest : most;
    int turning = -1;
    if (!last && state_.time + h == state_.time) {
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
    elements.switches.watchPeaks(first_->readings);
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
    completeStep(shortened ? state_.time + h : end);
    ++effort().steps;
    const bool blind = pace.ignoresEvents();
    if (pace.count(h, whole, located_ >= 0, elements.switches.count())) {
      events_.startRapid(state_.time, elements.switches.joint(located_));
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
  return {state_.work[kController], state_.work[kExternal], state_.work[kMotors],
          state_.work[kDamping],    state_.work[kFriction], state_.work[kLimits]};
}

Snapshot Simulation::snapshot() const {
  return {state_.time, state_.q,     velocities_, coordinates().model().vNames(),
          workNow(),   stepControl_, fingerprint_};
}

void Simulation::restore(const Snapshot& snapshot) {
  if (snapshot.model != 0 && snapshot.model != fingerprint_) {
    throw std::invalid_argument(
        "the snapshot is of another robot than " + kempe::quoted(model.name()) +
        ": names, lengths, inertias or loops differ. Restore a snapshot of the same robot.");
  }
  requireConfiguration<double>("q", model.impl(), snapshot.q);
  requireVector("velocities", snapshot.velocities, model.nvSpanning(), "model.nvSpanning");
  const ModelTables<double>& tables = model.impl().tables;
  lists_.assign(tables.clusters.size(), {});
  if (static_cast<int>(snapshot.coordinates.size()) != model.nv()) {
    throw std::invalid_argument("coordinates: the model has " + std::to_string(model.nv()) +
                                " of them, the snapshot " +
                                std::to_string(snapshot.coordinates.size()));
  }
  std::size_t next = 0;
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int j = 0; j < cluster.nv; ++j) {
      const std::string& name = snapshot.coordinates[next++];
      const auto first = model.spanningVelocityNames().begin() + cluster.firstVelocity;
      const auto found = std::find(first, first + cluster.velocities, name);
      if (found == first + cluster.velocities) {
        throw std::invalid_argument("coordinates: " + kempe::quoted(name) +
                                    " is not a coordinate of this model, or is at the wrong index. "
                                    "Restore a snapshot of the same robot.");
      }
      lists_[c].push_back(static_cast<int>(found - first));
    }
  }
  restartBalance();
  choice_ = choiceOf(lists_);
  state_.time = snapshot.time;
  state_.q = snapshot.q;
  work().pick(snapshot.velocities, state_.v);
  const Work& w = snapshot.work;
  state_.work = {w.controller, w.external, w.motors, w.damping, w.friction, w.limits};
  stepControl_ = snapshot.stepControl;
  if (options.integrator != Integrator::Auto) {
    stepControl_.inUse = options.integrator;
  } else if (!controlsError()) {  // a snapshot of another integrator
    stepControl_.inUse = Integrator::Adaptive;
  }
  velocities_ = snapshot.velocities;
  heading_ = snapshot.velocities;
  elements.switches.resetModes();
  for (std::size_t i = 0; i < userVelocities_.size(); ++i) {
    v_[static_cast<Eigen::Index>(i)] = velocities_[userVelocities_[i]];
  }
  fresh_ = false;
}

}  // namespace kempe::detail
