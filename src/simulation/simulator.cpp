#include "kempe/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>

#include "kempe/configuration.hpp"
#include "model/arguments.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail
using Hold = Occupancy::Hold;
using Use = Occupancy::Use;

Simulator::Simulator(const Model& model, const SimulatorOptions& options)
    : impl_(std::make_unique<Simulation>(model, options)) {}
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;
Simulator::~Simulator() = default;

const Model& Simulator::model() const {
  return impl_->model;
}
const SimulatorOptions& Simulator::options() const {
  return impl_->options;
}

void Simulator::setState(VectorIn q, VectorIn v, double time) {
  const Hold hold(impl_->occupancy, Use::Change);
  const Model& robot = model();
  requireVector("v", v, robot.nv(), "model.nv");
  Data data(robot);
  Eigen::VectorXd closed(robot.nq()), positions(robot.nqSpanning());
  Eigen::VectorXd velocities(robot.nvSpanning());
  // A step of no length closes loops and makes quaternions of unit length.
  integrate(robot, data, q, Eigen::VectorXd::Zero(robot.nv()), 0.0, closed);
  spanning(robot, data, closed, v, positions, velocities);
  impl_->setState(closed, velocities, time);
}

void Simulator::setState(const NamedValues& positions, const NamedValues& velocities, double time) {
  const Hold hold(impl_->occupancy, Use::Change);
  const Model& robot = model();
  Data data(robot);
  Eigen::VectorXd q(robot.nq()), v(robot.nv()), rates(robot.nvSpanning());
  configurationAt(robot, data, positions, q);
  velocitiesAt(robot, data, q, velocities, v, rates);
  impl_->setState(q, rates, time);
}

namespace {

/// Throws if loops are open by more than project() leaves: `residual` is that of loopResidual().
/// Redundant rows of embedded loops do not count: the model allows them to stay open by the
/// rounding of its dimensions (loops/assembly.hpp), and so does project().
void requireClosed(const ModelTables<double>& tables, const Eigen::VectorXd& residual) {
  constexpr double kOpen = 1e-9;  // of the size of embedded loops, or metres; radians
  double worst = 0.0, opening = 0.0;
  for (Eigen::Index r = 0; r < residual.size(); ++r) {
    const auto row = static_cast<std::size_t>(r);
    const bool cut = r >= tables.rows;
    if (!cut && tables.rowSlots[row] < 0) {
      continue;
    }
    const double open = std::abs(residual[r]) * (cut ? 1.0 : tables.rowScales[row]);
    if (!(open <= worst)) {
      worst = open;
      opening = std::abs(residual[r]);
    }
  }
  if (!(worst < kOpen)) {
    throw std::invalid_argument("q: its loops are open by " + shortNumber(opening) +
                                ". Close them with project().");
  }
}

}  // namespace

void Simulator::setSpanningState(VectorIn q, VectorIn velocities, double time) {
  const Hold hold(impl_->occupancy, Use::Change);
  const Model& robot = model();
  requireConfiguration<double>("q", robot.impl(), q);
  requireVector("velocities", velocities, robot.nvSpanning(), "model.nvSpanning");
  Data data(robot);
  Eigen::VectorXd residual(robot.nLoopRows());
  loopResidual(robot, data, q, residual);
  requireClosed(robot.impl().tables, residual);
  impl_->setState(q, velocities, time);
}

double Simulator::time() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->state().time;
}
const Vector& Simulator::q() const {
  return impl_->state().q;
}
const Vector& Simulator::v() const {
  return impl_->v();
}
const Vector& Simulator::spanningVelocities() const {
  return impl_->velocities();
}
Vector Simulator::a() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->accelerationsNow();
}
Vector Simulator::spanningAccelerations() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->spanningAccelerationsNow();
}
Vector Simulator::tau() const {
  const Hold hold(impl_->occupancy, Use::Read);
  impl_->refresh();
  return impl_->first().tau;
}
Energy Simulator::energy() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->energyNow();
}
Work Simulator::work() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->workNow();
}
double Simulator::energyError() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->energyErrorNow();
}
std::vector<std::string> Simulator::warnings() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->watch().warnings();
}
double Simulator::energyExchanged() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->watch().energyExchanged();
}
std::string Simulator::shortStepsWarning() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->watch().effortWarning();
}
void Simulator::jointForces(MatrixOut forces, const ForceOptions& how) const {
  const Hold hold(impl_->occupancy, Use::Read);
  impl_->refresh();
  impl_->forces().inJoints(forces, how);
}
void Simulator::loopForces(VectorOut forces, const ForceOptions& how) const {
  const Hold hold(impl_->occupancy, Use::Read);
  impl_->refresh();
  impl_->forces().inLoops(forces, how);
}
void Simulator::linearize(double dt, MatrixOut A, MatrixOut B) const {
  const Hold hold(impl_->occupancy, Use::Read);
  impl_->linearize(dt, A, B);
}
void Simulator::linearizeRates(MatrixOut A, MatrixOut B) const {
  const Hold hold(impl_->occupancy, Use::Read);
  impl_->linearizeRates(A, B);
}
double Simulator::loopError() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->loopErrorNow();
}
std::vector<std::string> Simulator::coordinates() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->choices().current().model().vNames();
}
int Simulator::coordinateChanges() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->choices().changes();
}
Integrator Simulator::integratorInUse() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->steps().inUse();
}
IntegratorStatistics Simulator::statistics() const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->steps().statistics(Integrator::Auto);
}
IntegratorStatistics Simulator::statistics(Integrator integrator) const {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->steps().statistics(integrator);
}
Snapshot Simulator::snapshot() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->snapshot();
}
void Simulator::restore(const Snapshot& snapshot) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->restore(snapshot);
}

int Simulator::addSpring(const JointSpring& spring) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->changed();
  impl_->watch().restart();
  return impl_->acting.elements.add(model(), spring);
}
int Simulator::addSpring(const PointSpring& spring) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->changed();
  impl_->watch().restart();
  return impl_->acting.elements.add(model(), spring);
}

namespace {

int addLimitTo(Simulation& simulation, const JointLimit& limit) {
  const int number = simulation.acting.elements.add(simulation.model, limit);
  simulation.resizeForElements();
  simulation.watch().restart();
  return number;
}

}  // namespace

int Simulator::addLimit(const JointLimit& limit) {
  const Hold hold(impl_->occupancy, Use::Change);
  return addLimitTo(*impl_, limit);
}
int Simulator::addLimits(double stiffness, double damping, double restitution) {
  const Hold hold(impl_->occupancy, Use::Change);
  int added = 0;
  for (const std::string& name : model().jointNames()) {
    const int position = model().jointPositionIndex(name);
    const ModelImpl& m = model().impl();
    if (std::isfinite(m.lower[position]) || std::isfinite(m.upper[position])) {
      addLimitTo(
          *impl_,
          {.joint = name, .stiffness = stiffness, .damping = damping, .restitution = restitution});
      ++added;
    }
  }
  return added;
}
int Simulator::addFriction(const JointFriction& friction) {
  const Hold hold(impl_->occupancy, Use::Change);
  const int number = impl_->acting.elements.add(model(), friction);
  impl_->resizeForElements();
  return number;
}
int Simulator::addMotor(const Motor& motor) {
  const Hold hold(impl_->occupancy, Use::Change);
  const int number = impl_->acting.elements.add(model(), motor);
  impl_->resizeForElements();
  if (motor.rotorInertia > 0.0) {
    const auto& joints = model().mechanism().joints;
    std::size_t joint = 0;
    while (joints[joint].name != motor.joint) {
      ++joint;
    }
    impl_->addArmature(joint, motor.gear * motor.gear * motor.rotorInertia);
  }
  return number;
}

void Simulator::setForces(VectorIn tau) {
  const Hold hold(impl_->occupancy, Use::Change);
  requireVector("tau", tau, model().nv(), "model.nv");
  impl_->acting.controller = nullptr;
  impl_->acting.forces = tau;
  impl_->changed();
}
void Simulator::setController(Controller controller) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->acting.controller = std::move(controller);
  impl_->changed();
}
void Simulator::setExternalForces(const std::vector<FrameForce>& forces) {
  const Hold hold(impl_->occupancy, Use::Change);
  for (const FrameForce& force : forces) {
    frameAt(model().impl(), force.frame);
    for (const double x : force.wrench) {
      if (!std::isfinite(x)) {
        throw std::invalid_argument(
            "external force on frame " +
            kempe::quoted(model().frameNames()[static_cast<std::size_t>(force.frame)]) +
            " is not finite");
      }
    }
  }
  impl_->acting.external = forces;
  impl_->acting.externalFunction = nullptr;
  impl_->changed();
}
void Simulator::setExternalForces(ExternalForces forces) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->acting.external.clear();
  impl_->acting.externalFunction = std::move(forces);
  impl_->changed();
}
void Simulator::setConstraints(const Constraints& constraints) {
  const Hold hold(impl_->occupancy, Use::Change);
  if (constraints.model().jointNames() != model().jointNames() ||
      constraints.model().vNames() != model().vNames()) {
    throw std::invalid_argument("constraints were made for another model");
  }
  impl_->changeConstraints(constraints);
}
const Constraints* Simulator::constraints() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return impl_->equations().constraints ? &*impl_->equations().constraints : nullptr;
}
void Simulator::enableConstraint(int constraint, bool on, double tolerance) {
  const Hold hold(impl_->occupancy, Use::Change);
  if (!impl_->equations().constraints) {
    throw std::invalid_argument("constraint " + std::to_string(constraint) +
                                ": the simulator has no constraints; see setConstraints()");
  }
  Constraints constraints = *impl_->equations().constraints;
  if (constraints.enabled(constraint) == on) {
    return;
  }
  constraints.enable(constraint, on);
  if (on) {
    const double gap = impl_->constraintGap(constraints, constraint);
    if (!(gap <= tolerance)) {
      throw AssemblyError("constraint " + kempe::quoted(constraints.name(constraint)) +
                              " is violated by " + shortNumber(gap) +
                              " here and cannot be switched on. Move to a configuration that "
                              "satisfies it, or give a "
                              "larger tolerance.",
                          constraints.name(constraint), gap);
    }
  }
  impl_->changeConstraints(constraints);
}
void Simulator::enableConstraint(const std::string& name, bool on, double tolerance) {
  int index = -1;
  {
    const Hold hold(impl_->occupancy, Use::Read);
    index = impl_->equations().constraints ? impl_->equations().constraints->find(name) : -1;
  }
  if (index < 0) {
    throw std::invalid_argument("the simulator has no constraint " + kempe::quoted(name) +
                                "; see setConstraints()");
  }
  enableConstraint(index, on, tolerance);
}
Vector Simulator::multipliers() const {
  const Hold hold(impl_->occupancy, Use::Read);
  impl_->refresh();
  return impl_->equations().multipliers;
}
void Simulator::setMotorTorque(int motor, double torque) {
  const Hold hold(impl_->occupancy, Use::Change);
  if (motor < 0 || motor >= impl_->acting.elements.motors()) {
    throw std::invalid_argument("motor " + std::to_string(motor) + ": there are " +
                                std::to_string(impl_->acting.elements.motors()) + " motors");
  }
  if (!std::isfinite(torque)) {
    throw std::invalid_argument("torque is not finite");
  }
  impl_->acting.motorController = nullptr;
  impl_->acting.commands[motor] = torque;
  impl_->changed();
}
void Simulator::setMotorController(MotorController controller) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->acting.motorController = std::move(controller);
  impl_->changed();
}
double Simulator::motorTorque(int motor) const {
  const Hold hold(impl_->occupancy, Use::Read);
  if (motor < 0 || motor >= impl_->acting.elements.motors()) {
    throw std::invalid_argument("motor " + std::to_string(motor) + ": there are " +
                                std::to_string(impl_->acting.elements.motors()) + " motors");
  }
  impl_->refresh();
  return impl_->first().torques[motor];
}

void Simulator::step(double dt) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->stepTo(impl_->state().time + dt);
}
void Simulator::stepTo(double time) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->stepTo(time);
}
void Simulator::setObserver(Observer observer) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->observer = std::move(observer);
}

void Simulator::beginRun() {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->watch().restart();
  impl_->occupancy.beginRun();
}
void Simulator::endRun() {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->occupancy.endRun();
}
void Simulator::requireOutsideCallbacks() const {
  impl_->occupancy.requireNotHeldHere();
}
Simulator::State Simulator::state() const {
  const Hold hold(impl_->occupancy, Use::Peek);
  return {impl_->state().time, impl_->state().q, impl_->v(), impl_->velocities()};
}
void Simulator::setInterruptCheck(std::function<void()> check) {
  const Hold hold(impl_->occupancy, Use::Change);
  impl_->interruptCheck = std::move(check);
}
Recording::Sample Simulator::sample() {
  const Hold hold(impl_->occupancy, Use::Read);
  return impl_->sampleNow();
}

namespace {

/// Ends a run when it is left.
struct RunEnd {
  explicit RunEnd(Simulator& of) : simulator(of) {}
  ~RunEnd() { simulator.endRun(); }
  RunEnd(const RunEnd&) = delete;
  RunEnd& operator=(const RunEnd&) = delete;

  Simulator& simulator;
};

}  // namespace

Recording Simulator::run(double duration, double dt) {
  constexpr double kMostSteps = 1e10;
  const auto positive = [](const char* name, double value) {
    if (!(value > 0.0) || !std::isfinite(value)) {
      throw std::invalid_argument(std::string(name) +
                                  ": a positive, finite number of seconds is needed, got " +
                                  shortNumber(value));
    }
  };
  positive("duration", duration);
  positive("dt", dt);
  dt = std::min(dt, duration);
  if (!(duration / dt < kMostSteps)) {
    throw std::invalid_argument("dt: " + shortNumber(duration / dt) +
                                " steps are too many. Use a longer dt or a shorter duration.");
  }
  const auto steps =
      std::max(1LL, static_cast<long long>(std::ceil(duration / dt * (1 - 1e-12) - 1e-9)));
  beginRun();
  const RunEnd end{*this};
  // From here on, no other thread can change the model or the time.
  const double start = time();
  Recording recording = impl_->emptyRecording(dt);
  const auto record = [&] {
    const Hold hold(impl_->occupancy, Use::Change);
    impl_->record(recording);
  };
  record();
  try {
    for (long long i = 1; i <= steps; ++i) {
      stepTo(start + (i == steps ? duration : static_cast<double>(i) * dt));
      record();
      if (impl_->observer && !impl_->observer(*this)) {
        break;
      }
    }
  } catch (const std::exception& error) {
    recording.warnings = warnings();
    recording.energyExchanged = energyExchanged();
    const std::string text = model().name() + ": the motion stopped at t = " + shortNumber(time()) +
                             " s: " + error.what();
    std::throw_with_nested(
        SimulationError(text, time(), std::make_shared<const Recording>(std::move(recording))));
  }
  recording.warnings = warnings();
  recording.energyExchanged = energyExchanged();
  return recording;
}

}  // namespace kempe
