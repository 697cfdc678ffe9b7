#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kempe/constraints.hpp"
#include "kempe/export.hpp"
#include "kempe/force_elements.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"
#include "kempe/momentum.hpp"
#include "kempe/recording.hpp"

namespace kempe {

namespace detail {
class Simulation;
}

/// What keeps loops that are left cut, and constraints, from opening as errors of steps add up.
enum class Stabilization {
  Projection,  ///< after every step: the nearest state that closes them
  Baumgarte,   ///< errors decay by forces, as Constraints::stabilize() says
  None
};

struct SimulatorOptions {
  Integrator integrator = Integrator::RungeKutta4;
  /// Of the adaptive integrator: the error of one of its steps in each position (relative to one
  /// radian or metre) and velocity.
  double relativeTolerance = 1e-8;
  double absoluteTolerance = 1e-10;
  Stabilization stabilization = Stabilization::Projection;
  double baumgarteRate = 100.0;  ///< 1/s
};

/// A motion that could not go on. What stopped it is nested (std::rethrow_if_nested).
class KEMPE_API SimulationError : public std::runtime_error {
 public:
  SimulationError(const std::string& text, double time, std::shared_ptr<const Recording> recording)
      : std::runtime_error(text), time_(time), recording_(std::move(recording)) {}

  /// Of the last state.
  [[nodiscard]] double time() const { return time_; }
  /// The run until then.
  [[nodiscard]] const Recording& recording() const {
    return *static_cast<const Recording*>(recording_.get());
  }

 private:
  double time_;
  // A Recording. Members of an exported class must be of exported types, and Recording is not one.
  std::shared_ptr<const void> recording_;
};

/// Moves a robot through time.
///
/// Loops stay closed to rounding and quaternions of unit length: steps are taken in coordinates
/// around the step's start. Where the model's independent coordinates come near a dead point, the
/// simulator computes with others and goes on without a jump; what users give and see (v, tau)
/// stays in the model's own, with v read off the velocities of all joints. Change points, where
/// branches of a linkage meet, are passed straight on. Loops that are left cut, and constraints,
/// are held as SimulatorOptions::stabilization says; what prescribed motions put in counts as
/// external work.
///
/// Memory is allocated at construction, when something is added, when a coordinate change happens
/// for the first time, and for recordings; other steps allocate nothing. Callbacks may throw; the
/// exception then passes through and the state stays what it was before the step.
class Simulator {
 public:
  /// Forces along the model's independent velocities.
  using Controller = std::function<void(double t, VectorIn q, VectorIn v, VectorOut tau)>;
  /// Forces on frames: adds to a list that is empty.
  using ExternalForces =
      std::function<void(double t, VectorIn q, VectorIn v, std::vector<FrameForce>& forces)>;
  /// Torques of all motors, in the order in which they were added.
  using MotorController = std::function<void(double t, VectorIn q, VectorIn v, VectorOut torques)>;
  /// Called after every step of run(); false ends the run.
  using Observer = std::function<bool(const Simulator&)>;

  /// Starts at rest in the neutral position at time 0.
  KEMPE_API explicit Simulator(const Model& model, const SimulatorOptions& options = {});
  KEMPE_API Simulator(Simulator&&) noexcept;
  KEMPE_API Simulator& operator=(Simulator&&) noexcept;
  KEMPE_API ~Simulator();

  /// The robot: the model that was given, with the armatures of motors.
  [[nodiscard]] KEMPE_API const Model& model() const;
  [[nodiscard]] KEMPE_API const SimulatorOptions& options() const;

  // --- the state ---

  /// Loops of q are closed first where they are open. Work is counted anew. Throws
  /// SingularityError where v does not determine all velocities, AssemblyError where the loops
  /// cannot be closed.
  KEMPE_API void setState(VectorIn q, VectorIn v, double time = 0.0);
  /// From velocities of all tree joints, model.nvSpanning(): possible at dead points and change
  /// points too. They must keep the loops closed.
  KEMPE_API void setSpanningState(VectorIn q, VectorIn velocities, double time = 0.0);
  [[nodiscard]] KEMPE_API double time() const;
  [[nodiscard]] KEMPE_API const Vector& q() const;
  [[nodiscard]] KEMPE_API const Vector& v() const;
  /// Of all tree joints.
  [[nodiscard]] KEMPE_API const Vector& spanningVelocities() const;
  /// What the controller said for this state.
  [[nodiscard]] KEMPE_API const Vector& tau() const;

  /// Springs and end stops count in the potential energy.
  [[nodiscard]] KEMPE_API Energy energy() const;
  [[nodiscard]] KEMPE_API Work work() const;
  /// The largest |loopResidual|; 0 where there are no loops.
  [[nodiscard]] KEMPE_API double loopError() const;
  /// The coordinates that the simulator computes with at the moment.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& coordinates() const;
  /// How often they have changed.
  [[nodiscard]] KEMPE_API int coordinateChanges() const;

  [[nodiscard]] KEMPE_API Snapshot snapshot() const;
  /// Going on from a snapshot gives the same motion, to the last bit on the same machine.
  KEMPE_API void restore(const Snapshot& snapshot);

  // --- forces ---

  /// Each returns the number of the element among its kind. Wrong elements are refused with
  /// std::invalid_argument.
  KEMPE_API int addSpring(const JointSpring& spring);
  KEMPE_API int addSpring(const PointSpring& spring);
  KEMPE_API int addLimit(const JointLimit& limit);
  /// A limit on every joint that has bounds in the model; returns how many.
  KEMPE_API int addLimits(double stiffness, double damping);
  KEMPE_API int addFriction(const JointFriction& friction);
  KEMPE_API int addMotor(const Motor& motor);

  /// Constant forces, model.nv(), from now on instead of a controller.
  KEMPE_API void setForces(VectorIn tau);
  KEMPE_API void setController(Controller controller);
  KEMPE_API void setExternalForces(const std::vector<FrameForce>& forces);
  KEMPE_API void setExternalForces(ExternalForces forces);
  /// The commanded torque of a motor from now on.
  KEMPE_API void setMotorTorque(int motor, double torque);
  KEMPE_API void setMotorController(MotorController controller);
  /// What a motor gives at the rotor in this state, within its limits.
  [[nodiscard]] KEMPE_API double motorTorque(int motor) const;

  // --- constraints ---

  /// Constraints that hold from now on, beside the loops of the model: made for the model that the
  /// simulator was given. The state is put onto those that are on: positions by the least motion,
  /// velocities by an impulse. Throws AssemblyError.
  KEMPE_API void setConstraints(const Constraints& constraints);
  [[nodiscard]] KEMPE_API const Constraints* constraints() const;
  /// Switches a constraint. One that is switched on catches what moves by an impulse (a hand that
  /// grasps, a foot that sticks); positions must meet it already, to the tolerance given.
  KEMPE_API void enableConstraint(int constraint, bool on = true, double tolerance = 1e-6);
  /// λ of all rows of the constraints at this state.
  [[nodiscard]] KEMPE_API const Vector& multipliers() const;

  // --- motion ---

  void step(double dt) { stepTo(time() + dt); }
  /// A step that ends at `time` exactly. The adaptive integrator takes as many steps as it needs;
  /// others divide it where a dead point asks for it. Where it fails, the state stays what it was.
  ///
  /// Throws SingularityError, AssemblyError, and std::runtime_error where velocities grow beyond
  /// all numbers or an implicit step finds no solution.
  KEMPE_API void stepTo(double time);
  KEMPE_API void setObserver(Observer observer);
  /// Steps of dt, the last one shorter where they do not fit. Throws SimulationError.
  KEMPE_API Recording run(double duration, double dt);

 private:
  std::unique_ptr<detail::Simulation> impl_;
};

/// States between the samples of a recording.
class Replay {
 public:
  /// Throws std::invalid_argument where the recording is of a model with other coordinates.
  KEMPE_API Replay(const Model& model, const Recording& recording);
  KEMPE_API Replay(Replay&&) noexcept;
  KEMPE_API Replay& operator=(Replay&&) noexcept;
  KEMPE_API ~Replay();

  /// The state at a time within the recording: positions by a cubic in coordinates that close the
  /// loops, velocities (of all tree joints) linear between samples.
  KEMPE_API void state(double time, VectorOut q, VectorOut velocities);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kempe
