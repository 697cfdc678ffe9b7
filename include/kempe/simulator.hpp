#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kempe/constraints.hpp"
#include "kempe/export.hpp"
#include "kempe/force_elements.hpp"
#include "kempe/joint_forces.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"
#include "kempe/momentum.hpp"
#include "kempe/named_states.hpp"
#include "kempe/recording.hpp"

namespace kempe {

namespace detail {
class Simulation;
}

/// Methods that keep integration errors from accumulating in cut loops and constraints.
enum class Stabilization {
  Projection,  ///< project onto the nearest state that satisfies them, after every step
  Baumgarte,   ///< stabilising forces let errors decay, see Constraints::stabilize()
  None
};

struct SimulatorOptions {
  /// Auto has error control and copes with stiff motions; dt is then the interval of samples only.
  Integrator integrator = Integrator::Auto;
  /// Integrators with error control: tolerated error per step. Positions count relative to one radian
  /// or metre and velocities relative to their size, but at least one, so that motions of micrometres
  /// need smaller tolerances.
  double relativeTolerance = 1e-8;
  double absoluteTolerance = 1e-10;
  Stabilization stabilization = Stabilization::Projection;
  double baumgarteRate = 100.0;  ///< 1/s
  /// No step is longer, in seconds. Integrators with error control see forces only at the stages of
  /// their steps: a pulse that is shorter than a step can pass between them. Half the length of the
  /// shortest pulse is enough.
  double maxStep = std::numeric_limits<double>::infinity();
  /// Greater than zero, in rad/s or m/s: the friction F of the model's joints (Joint::friction) is
  /// F tanh(q̇ / frictionSlipSpeed), as that of JointFriction with a slipSpeed, so that a robot at rest
  /// can be linearised. Infinity: without this friction. 0: as in the model, smooth if it has a
  /// Mechanism::frictionSlipSpeed, otherwise exact.
  double frictionSlipSpeed = 0.0;
};

/// Effort of an integrator since the simulator was created.
struct IntegratorStatistics {
  long long steps = 0;             ///< completed
  long long refusedSteps = 0;      ///< repeated with a shorter one
  long long evaluations = 0;       ///< of the accelerations
  long long newtonIterations = 0;  ///< of implicit steps
  long long jacobians = 0;         ///< of Integrator::Radau, 2 nv evaluations each
};

/// The simulation could not continue. The cause is a nested exception (std::rethrow_if_nested).
class KEMPE_API SimulationError : public std::runtime_error {
 public:
  SimulationError(const std::string& text, double time, std::shared_ptr<const Recording> recording)
      : std::runtime_error(text), time_(time), recording_(std::move(recording)) {}

  /// Time of the last state.
  [[nodiscard]] double time() const { return time_; }
  /// The recording up to that time.
  [[nodiscard]] const Recording& recording() const {
    return *static_cast<const Recording*>(recording_.get());
  }

 private:
  double time_;
  // A Recording. Members of an exported class must have exported types, and Recording is not one.
  std::shared_ptr<const void> recording_;
};

/// Simulates the motion of a robot.
///
/// Steps are taken in local coordinates around the start of the step, so that loops stay closed to
/// rounding and quaternions stay normalised. Near a dead point of the model's independent
/// coordinates, the simulator switches to other ones internally and continues without a jump; v and
/// tau in the interface remain in the model's coordinates, and v is taken from the velocities of
/// all joints. At change points, where branches of a linkage meet, the motion continues straight
/// on. SimulatorOptions::stabilization selects how cut loops and constraints are kept satisfied.
/// The work done by prescribed motions counts as external work.
///
/// Memory is allocated at construction, when elements are added, at the first switch of
/// coordinates, and for recordings; all other steps allocate none. If a callback throws, the
/// exception propagates and the state remains that before the step.
///
/// Threads: one thread at a time uses a simulator, others wait for the end of its step. During
/// run() other threads may read, but a change throws std::logic_error. A callback may call time(),
/// q(), v(), state() and the like, which return the state before the current step; functions that
/// evaluate, step or change the simulator throw std::logic_error there. References such as q() are
/// valid until the next change; other threads call state() instead, which copies.
class Simulator {
 public:
  /// Computes the generalised forces tau along the model's independent velocities.
  using Controller = std::function<void(double t, VectorIn q, VectorIn v, VectorOut tau)>;
  /// Computes external forces on frames: appends them to `forces`, which is empty at the call.
  using ExternalForces =
      std::function<void(double t, VectorIn q, VectorIn v, std::vector<FrameForce>& forces)>;
  /// Computes the commanded torques of all motors, in the order in which they were added.
  using MotorController = std::function<void(double t, VectorIn q, VectorIn v, VectorOut torques)>;
  /// Called after every step of run(); returns false to end the run.
  using Observer = std::function<bool(const Simulator&)>;

  /// Starts at rest in the neutral configuration at time 0.
  KEMPE_API explicit Simulator(const Model& model, const SimulatorOptions& options = {});
  KEMPE_API Simulator(Simulator&&) noexcept;
  KEMPE_API Simulator& operator=(Simulator&&) noexcept;
  KEMPE_API ~Simulator();

  /// The simulated model: the one that was given, plus the armatures of motors.
  [[nodiscard]] KEMPE_API const Model& model() const;
  [[nodiscard]] KEMPE_API const SimulatorOptions& options() const;

  // --- the state ---

  /// Sets the state and resets the work to zero. If the loops are open at q, they are closed first.
  /// Throws SingularityError if v does not determine the velocities of all joints, AssemblyError if
  /// the loops cannot be closed.
  KEMPE_API void setState(VectorIn q, VectorIn v, double time = 0.0);
  /// The same by names of joints: those that are not named start at Model::neutral() and at rest, as
  /// far as the loops allow. Throws as configurationAt() and velocitiesAt() do.
  KEMPE_API void setState(const NamedValues& positions, const NamedValues& velocities = {},
                          double time = 0.0);
  /// Sets the state from the velocities of all tree joints, model.nvSpanning(), which is possible
  /// at dead points and change points too. The velocities must keep the loops closed.
  KEMPE_API void setSpanningState(VectorIn q, VectorIn velocities, double time = 0.0);
  /// A copy of the state.
  struct State {
    double time = 0.0;
    Vector q{}, v{}, velocities{};
  };
  [[nodiscard]] KEMPE_API State state() const;
  [[nodiscard]] KEMPE_API double time() const;
  [[nodiscard]] KEMPE_API const Vector& q() const;
  [[nodiscard]] KEMPE_API const Vector& v() const;
  /// Velocities of all tree joints.
  [[nodiscard]] KEMPE_API const Vector& spanningVelocities() const;
  /// Accelerations of the model's coordinates at this state, model.nv(); at a dead point they are
  /// taken from those of all joints.
  [[nodiscard]] KEMPE_API Vector a() const;
  /// Accelerations of all tree joints, model.nvSpanning().
  [[nodiscard]] KEMPE_API Vector spanningAccelerations() const;
  /// Output of the controller at this state.
  [[nodiscard]] KEMPE_API Vector tau() const;

  /// Returns the energy; the potential energy includes springs and end stops.
  [[nodiscard]] KEMPE_API Energy energy() const;
  [[nodiscard]] KEMPE_API Work work() const;
  /// Returns energy − energy at the start − work + losses in joules, which is zero for an exact
  /// integrator. The start is that of the last run(), or the time at which the state was set or an
  /// element was added, if that was later.
  [[nodiscard]] KEMPE_API double energyError() const;
  /// Returns the energy exchanged since then in joules, to which the error is compared: the largest
  /// of the peak kinetic energy and the range of the potential energy at samples, work and losses
  /// after every step, and a millionth of the energy (for robots at rest).
  [[nodiscard]] KEMPE_API double energyExchanged() const;
  /// Returns warnings about the motion since then: where the samples lose the energy balance by
  /// more than 1 % of the energy exchanged (Recording::energyDrift), and by more than lifts the
  /// robot by 1e-9 m, a text that states the cause; or where the estimated errors of steps of fixed
  /// length add up to more than 0.01 rad or m. Also events of friction and end stops that could not
  /// be followed exactly, and why steps of an integrator with error control are very short, so that
  /// the run takes long.
  [[nodiscard]] KEMPE_API std::vector<std::string> warnings() const;
  /// Returns the last of these, empty if steps are not very short. Callbacks may call it, also the
  /// interrupt check within one long step.
  [[nodiscard]] KEMPE_API std::string shortStepsWarning() const;
  /// Returns the largest |loopResidual|; 0 if there are no loops.
  [[nodiscard]] KEMPE_API double loopError() const;
  /// The independent coordinates that the simulator currently uses.
  [[nodiscard]] KEMPE_API std::vector<std::string> coordinates() const;
  /// Number of switches between coordinates so far.
  [[nodiscard]] KEMPE_API int coordinateChanges() const;

  /// The integrator at work: SimulatorOptions::integrator, or the one that Integrator::Auto chose.
  [[nodiscard]] KEMPE_API Integrator integratorInUse() const;
  /// Effort of all integrators together, or of one.
  [[nodiscard]] KEMPE_API IntegratorStatistics statistics() const;
  [[nodiscard]] KEMPE_API IntegratorStatistics statistics(Integrator integrator) const;

  [[nodiscard]] KEMPE_API Snapshot snapshot() const;
  /// Restores a snapshot. On the same machine, the motion from there is identical to the last bit.
  KEMPE_API void restore(const Snapshot& snapshot);

  // --- forces ---

  /// Each function returns the index of the element among its kind and throws
  /// std::invalid_argument if the element is invalid.
  KEMPE_API int addSpring(const JointSpring& spring);
  KEMPE_API int addSpring(const PointSpring& spring);
  KEMPE_API int addLimit(const JointLimit& limit);
  /// Adds an end stop to every joint that has limits in the model, rigid if the stiffness is 0;
  /// returns their number.
  KEMPE_API int addLimits(double stiffness = 0.0, double damping = 0.0, double restitution = 0.0);
  KEMPE_API int addFriction(const JointFriction& friction);
  KEMPE_API int addMotor(const Motor& motor);

  /// Sets constant generalised forces, model.nv(), which replace the controller.
  KEMPE_API void setForces(VectorIn tau);
  KEMPE_API void setController(Controller controller);
  KEMPE_API void setExternalForces(const std::vector<FrameForce>& forces);
  KEMPE_API void setExternalForces(ExternalForces forces);
  /// Sets the commanded torque of a motor.
  KEMPE_API void setMotorTorque(int motor, double torque);
  KEMPE_API void setMotorController(MotorController controller);
  /// Returns the torque of a motor at the rotor in this state, within its limits.
  [[nodiscard]] KEMPE_API double motorTorque(int motor) const;

  /// Computes the forces of all tree joints in this state with everything that acts: springs,
  /// motors, friction, stops, constraints, external forces and the controller, whose tau acts at
  /// the independent joints. See kempe::jointForces(); of `how`, reference and frame apply, and
  /// std::invalid_argument is thrown if anything else is set. The corrections of Baumgarte's method
  /// are not included. Throws SingularityError at a change point.
  /// @param forces  output, 6 × joints, in the order of model().jointNames()
  KEMPE_API void jointForces(MatrixOut forces, const ForceOptions& how = {}) const;
  /// Computes the forces of all loops in the same way; see kempe::loopForces().
  /// @param forces  output, model().nLoopForces()
  KEMPE_API void loopForces(VectorOut forces, const ForceOptions& how = {}) const;

  // --- derivatives ---

  /// Computes the derivatives of one step of `dt` seconds from this state, which does not change:
  /// δx⁺ = A δx + B δtau, with δx = [δq; δv] and δq along the tangent. Column j of the first nv is the
  /// change of [difference(q⁺, ·); v⁺] along integrate(q, e_j, ε), that of the next nv along v + ε e_j;
  /// column j of B is that along tau + ε e_j, constant over the step.
  ///
  /// This is the derivative of the step of the integrator itself, by the chain rule through its
  /// stages. Integrators with error control make one step of this length, whatever its error;
  /// Integrator::Auto is the one in use. Everything that acts is differentiated, with these
  /// exceptions: functions of the user (controllers, external forces) are constant, so that a
  /// feedback is not part of A; dry friction and end stops keep their modes.
  ///
  /// With constraints or loops that are left cut the derivative is defined in directions that leave
  /// them, too: of the step of accelerations under constraints, stabilised by Baumgarte's method if
  /// that was chosen, and of the projection after it, at an end that lies on them.
  ///
  /// Allocates at the first call only, unless the simulator uses other coordinates than the model's.
  /// @param A  output, 2 nv × 2 nv
  /// @param B  output, 2 nv × nv
  ///
  /// Throws std::invalid_argument if there is no such derivative: a joint is held by dry friction
  /// (see SimulatorOptions::frictionSlipSpeed) or a rigid stop, or friction or a stop changes its mode
  /// within the step; if step(dt) would be divided; if the projection after the step moves a
  /// coordinate by more than 1e-10 rad or m; or if a loop function or constraint is no expression.
  /// Throws SingularityError at dead points and change points.
  KEMPE_API void linearize(double dt, MatrixOut A, MatrixOut B) const;
  /// Computes the derivatives of the rates of change at this state in the same way:
  /// d/dt δx = A δx + B δtau. The tangent moves with q: where a joint turns with velocity v, the upper
  /// left block of A is −ad_v, otherwise zero. Throws SingularityError at dead points of the model's
  /// coordinates.
  KEMPE_API void linearizeRates(MatrixOut A, MatrixOut B) const;

  // --- constraints ---

  /// Sets the constraints that hold in addition to the loops of the model. They must have been
  /// created for the model that was given to the simulator. The state is projected onto those that
  /// are switched on: positions by the smallest motion, velocities by an impulse. Throws
  /// AssemblyError if that is impossible.
  KEMPE_API void setConstraints(const Constraints& constraints);
  [[nodiscard]] KEMPE_API const Constraints* constraints() const;
  /// Switches a constraint on or off. Switching on changes the velocities by an impulse (a grasping
  /// hand, a sticking foot); the positions must already satisfy the constraint to `tolerance`.
  KEMPE_API void enableConstraint(int constraint, bool on = true, double tolerance = 1e-6);
  /// The same by its name; throws std::invalid_argument if there is none.
  KEMPE_API void enableConstraint(const std::string& name, bool on = true, double tolerance = 1e-6);
  /// Multipliers λ of all constraint rows at this state.
  [[nodiscard]] KEMPE_API Vector multipliers() const;

  // --- motion ---

  KEMPE_API void step(double dt);
  /// Takes a step that ends exactly at `time`. Integrators with error control divide it into as
  /// many steps as they need; the others divide it only if a dead point requires it. If the
  /// step fails, the state does not change.
  ///
  /// Throws SingularityError, AssemblyError, and std::runtime_error if the simulation diverges (a
  /// velocity exceeds 1e100), an implicit step finds no solution, or a fixed step is too long: the
  /// energy balance was lost before, or the adaptive integrator does not fail there.
  KEMPE_API void stepTo(double time);
  KEMPE_API void setObserver(Observer observer);
  /// Sets a function that is called before every internal step, of which one step may take millions.
  /// If it throws, the step ends and the state remains that before the step.
  KEMPE_API void setInterruptCheck(std::function<void()> check);
  /// Throws std::logic_error if the calling thread is in a callback of this simulator, where it may
  /// not be changed.
  KEMPE_API void requireOutsideCallbacks() const;
  /// Simulates `duration` in steps of dt, the last one shorter if necessary, and returns the
  /// recording. Throws SimulationError.
  KEMPE_API Recording run(double duration, double dt);

  /// For programs that call stepTo() themselves and record more or less than run(): starts the
  /// energy balance anew; every sample() is then compared with the first one. Until endRun(), only
  /// this thread may change the simulator.
  KEMPE_API void beginRun();
  KEMPE_API void endRun();
  /// Returns the sample of this state that run() records.
  KEMPE_API Recording::Sample sample();

 private:
  std::unique_ptr<detail::Simulation> impl_;
};

/// Interpolates states between the samples of a recording, and computes forces at samples.
class Replay {
 public:
  /// Throws std::invalid_argument if the recording is of a model with other coordinates.
  KEMPE_API Replay(const Model& model, const Recording& recording);
  KEMPE_API Replay(Replay&&) noexcept;
  KEMPE_API Replay& operator=(Replay&&) noexcept;
  KEMPE_API ~Replay();

  /// Computes the state at a time within the recording: positions by cubic interpolation in
  /// coordinates that keep the loops closed, velocities (of all tree joints) by linear
  /// interpolation.
  KEMPE_API void state(double time, VectorOut q, VectorOut velocities);

  /// Compute the forces of all joints and loops at a sample, as Simulator::jointForces() and
  /// loopForces() did there. The model must be Simulator::model(), which includes the armatures of
  /// motors. Throw SingularityError at a change point, std::invalid_argument if the model is another
  /// one, or if the recording is from a file of an earlier version, without forces.
  KEMPE_API void jointForces(std::size_t sample, MatrixOut forces, const ForceOptions& how = {});
  KEMPE_API void loopForces(std::size_t sample, VectorOut forces, const ForceOptions& how = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kempe
