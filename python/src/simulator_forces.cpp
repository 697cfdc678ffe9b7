#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <stdexcept>

#include "bindings.hpp"
#include "conversions.hpp"
#include "external_forces.hpp"
#include "keeping.hpp"
#include "py_simulator.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// A Python function that the simulator's Python object keeps (see keeping.hpp).
PyObject* function(nb::handle given, const char* name) {
  if (PyCallable_Check(given.ptr()) == 0) {
    throw nb::type_error(
        (std::string(name) + ": expected a function f(t, q, v), got " + shown(given)).c_str());
  }
  return given.ptr();
}

/// An array that belongs to the simulation.
nb::object readOnly(VectorIn numbers) {
  nb::object array = nb::cast(Eigen::VectorXd(numbers));
  array.attr("flags").attr("writeable") = false;
  return array;
}

/// Keeps the function alive during the call, even if it replaces itself in the simulator.
nb::object called(PyObject* function, double t, VectorIn q, VectorIn v) {
  const nb::object callback = nb::borrow(function);
  return callback(t, readOnly(q), readOnly(v));
}

using VectorFunction = std::function<void(double, VectorIn, VectorIn, VectorOut)>;

VectorFunction vectorFunction(nb::handle given, const char* name, const char* meaning) {
  if (given.is_none()) return nullptr;
  return [callback = function(given, name), name, meaning](double t, VectorIn q, VectorIn v,
                                                           VectorOut result) {
    const nb::gil_scoped_acquire locked;
    const char *const what = name, *const size = meaning;  // a call may replace this function
    result = numbersOf(called(callback, t, q, v), what, result.size(), size);
  };
}

/// `set(self.simulator, function)` with a Python function, kept under the name of its role.
template <typename Set>
void setFunction(const nb::object& self, nb::handle given, const char* role, const char* meaning,
                 const Set& set) {
  VectorFunction callback = vectorFunction(given, "controller", meaning);
  auto& own = nb::cast<PySimulator&>(self);
  const Setting setting(own);
  unlocked([&] { set(own.simulator, std::move(callback)); });
  keepAs(self, role, given);
}

void setExternalForces(const nb::object& object, nb::handle external,
                       const std::string& reference) {
  auto& self = nb::cast<PySimulator&>(object);
  const Setting setting(self);
  if (external.is_none() || PyCallable_Check(external.ptr()) == 0) {
    const std::vector<FrameForce> forces =
        external.is_none() ? std::vector<FrameForce>{}
                           : ExternalForces(*self.model, external, reference).of(0);
    unlocked([&] { self.simulator.setExternalForces(forces); });
  } else {
    Simulator::ExternalForces forcesOf =
        [callback = function(external, "external"), model = self.model, reference](
            double t, VectorIn q, VectorIn v, std::vector<FrameForce>& forces) {
          const nb::gil_scoped_acquire locked;
          // The call may replace this function, and with it the objects that it holds.
          // NOLINTBEGIN(performance-unnecessary-copy-initialization)
          const std::shared_ptr<PyModel> own = model;
          const std::string written = reference;
          // NOLINTEND(performance-unnecessary-copy-initialization)
          forces = ExternalForces(*own, called(callback, t, q, v), written).of(0);
        };
    unlocked([&] { self.simulator.setExternalForces(std::move(forcesOf)); });
  }
  keepAs(object, kExternal, external);
}

Motor::Side sideCalled(const std::string& word) {
  if (word == "rotor") return Motor::Side::Rotor;
  if (word == "joint") return Motor::Side::Joint;
  throw std::invalid_argument("command_at: expected \"rotor\" or \"joint\", got \"" + word + "\"");
}

}  // namespace

void bindSimulatorForces(SimulatorClass& simulator) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();
  // As for states, a joint with several coordinates is not one of them.
  const auto coordinate = [](const PySimulator& self, nb::handle joint) {
    const Coordinate read = Conversion<Coordinate>::read(joint, "joint");
    const Joint* known = self.model->model().mechanism().findJoint(read.joint);
    if (nb::isinstance<nb::str>(joint) && known != nullptr && hasScalarCoordinates(known->type) &&
        velocitySize(known->type) > 1) {
      throw std::invalid_argument("joint \"" + read.joint + "\" has " +
                                  std::to_string(velocitySize(known->type)) +
                                  " coordinates. Give one of them, (\"" + read.joint +
                                  "\", component) or its name in model.spanning_position_names.");
    }
    return read;
  };
  simulator
      .def(
          "add_spring",
          [coordinate](PySimulator& self, nb::handle joint, double stiffness, double rest,
                       double damping) {
            const JointSpring spring{coordinate(self, joint), stiffness, rest, damping};
            return unlocked([&] { return self.simulator.addSpring(spring); });
          },
          signature("def add_spring(self, joint: str | tuple[str, int], stiffness: float, *, rest: "
                    "float = 0.0, damping: float = 0.0) -> int"),
          "joint"_a, "stiffness"_a, nb::kw_only(), "rest"_a = 0.0, "damping"_a = 0.0,
          "Adds a force −stiffness (q − rest) − damping q̇ along a joint. Returns its number.")
      .def(
          "add_point_spring",
          [](PySimulator& self, const std::string& from, nb::handle fromPoint,
             const std::string& to, nb::handle toPoint, double stiffness, double restLength,
             double damping) {
            const PointSpring spring{{from, Conversion<Vector3>::read(fromPoint, "from_point")},
                                     {to, Conversion<Vector3>::read(toPoint, "to_point")},
                                     stiffness,
                                     restLength,
                                     damping};
            return unlocked([&] { return self.simulator.addSpring(spring); });
          },
          signature("def add_point_spring(self, from_frame: str, from_point: ArrayLike, to_frame: "
                    "str, to_point: ArrayLike, stiffness: float, *, rest_length: float = 0.0, "
                    "damping: float = 0.0) -> int"),
          "from_frame"_a, "from_point"_a, "to_frame"_a, "to_point"_a, "stiffness"_a, nb::kw_only(),
          "rest_length"_a = 0.0, "damping"_a = 0.0,
          "Adds a spring and damper between two points, each in a frame (a body or a joint).")
      .def(
          "add_limit",
          [coordinate](PySimulator& self, nb::handle joint, double stiffness, double damping,
                       double lower, double upper, double restitution) {
            const JointLimit limit{
                coordinate(self, joint), stiffness, damping, lower, upper, restitution};
            return unlocked([&] { return self.simulator.addLimit(limit); });
          },
          signature("def add_limit(self, joint: str | tuple[str, int], stiffness: float = 0.0, *, "
                    "damping: float = 0.0, lower: float = ..., upper: float = ..., restitution: "
                    "float = 0.0) -> int"),
          "joint"_a, "stiffness"_a = 0.0, nb::kw_only(), "damping"_a = 0.0, "lower"_a = kNotGiven,
          "upper"_a = kNotGiven, "restitution"_a = 0.0,
          R"(Adds end stops to a joint, by default at the limits of the model. Returns their number.

Without stiffness they are rigid: the joint never passes them, and leaves them after an impact with
`restitution` (0 to 1) times its speed. With stiffness, a spring and damper act beyond the limits and
never pull.)")
      .def(
          "add_limits",
          [](PySimulator& self, double stiffness, double damping, double restitution) {
            return unlocked(
                [&] { return self.simulator.addLimits(stiffness, damping, restitution); });
          },
          "stiffness"_a = 0.0, "damping"_a = 0.0, "restitution"_a = 0.0,
          "Adds end stops to every joint that has limits in the model, rigid unless a stiffness is "
          "given (see add_limit); returns how many.")
      .def(
          "add_friction",
          [coordinate](PySimulator& self, nb::handle joint, double coulomb, double slipSpeed,
                       double viscous, double breakaway, double stribeckSpeed) {
            const JointFriction friction{
                coordinate(self, joint), coulomb, slipSpeed, viscous, breakaway, stribeckSpeed};
            return unlocked([&] { return self.simulator.addFriction(friction); });
          },
          signature("def add_friction(self, joint: str | tuple[str, int], coulomb: float, *, "
                    "slip_speed: float = 0.0, viscous: float = 0.0, breakaway: float = 0.0, "
                    "stribeck_speed: float = 0.01) -> int"),
          "joint"_a, "coulomb"_a, nb::kw_only(), "slip_speed"_a = 0.0, "viscous"_a = 0.0,
          "breakaway"_a = 0.0, "stribeck_speed"_a = 1e-2,
          R"(Adds dry friction: coulomb · sign(q̇) + viscous · q̇. At rest the joint sticks exactly.

Args:
    breakaway: friction at rest, if it is higher than during sliding; it falls to `coulomb` at
        speeds of `stribeck_speed`.
    slip_speed: greater than zero for friction that is smooth and does not stick, but creeps:
        coulomb · tanh(q̇ / slip_speed).)")
      .def(
          "add_motor",
          [](PySimulator& self, const std::string& joint, double gear, double rotorInertia,
             double torqueLimit, double stallTorque, double noLoadSpeed, double viscousFriction,
             const std::string& commandAt) {
            const Motor motor{joint,       gear,        rotorInertia,    torqueLimit,
                              stallTorque, noLoadSpeed, viscousFriction, sideCalled(commandAt)};
            const int number = unlocked([&] { return self.simulator.addMotor(motor); });
            self.model = std::make_shared<PyModel>(self.simulator.model());
            return number;
          },
          signature("def add_motor(self, joint: str, *, gear: float = 1.0, rotor_inertia: float = "
                    "0.0, torque_limit: float = ..., stall_torque: float = ..., no_load_speed: "
                    "float = ..., viscous_friction: float = 0.0, command_at: str = 'rotor') -> "
                    "int"),
          "joint"_a, nb::kw_only(), "gear"_a = 1.0, "rotor_inertia"_a = 0.0,
          "torque_limit"_a = kInfinity, "stall_torque"_a = kInfinity, "no_load_speed"_a = kInfinity,
          "viscous_friction"_a = 0.0, "command_at"_a = "rotor",
          R"(Adds a motor that drives a joint through a gear. Returns its number.

Args:
    gear: gear ratio, turns of the rotor per turn of the joint.
    rotor_inertia: gear² · rotor_inertia is added to the joint's armature, an approximation. To be
        exact, model the rotor as a body of the mechanism, give its joint, and no inertia here.
    torque_limit: of the rotor, N·m.
    stall_torque, no_load_speed: at speed ω the rotor gives at most stall_torque (1 − ω /
        no_load_speed), in both directions.
    viscous_friction: of the rotor, N·m·s/rad.
    command_at: "rotor" or "joint": the side of the gear that the commanded torque refers to.)")
      .def(
          "set_forces",
          [](const nb::object& object, nb::handle tau) {
            auto& self = nb::cast<PySimulator&>(object);
            const Eigen::VectorXd forces =
                numbersOf(tau, "tau", self.model->model().nv(), "model.nv");
            const Setting setting(self);
            unlocked([&] { self.simulator.setForces(forces); });
            keepAs(object, kController, nb::none());
          },
          signature("def set_forces(self, tau: ArrayLike) -> None"), "tau"_a,
          "Applies constant forces, (nv,), from now on, instead of a controller.")
      .def(
          "set_controller",
          [](const nb::object& self, nb::handle controller) {
            setFunction(self, controller, kController, "model.nv",
                        [](Simulator& of, VectorFunction callback) {
                          of.setController(std::move(callback));
                        });
          },
          signature("def set_controller(self, controller: Callable | None) -> None"),
          "controller"_a.none(),
          "Sets the controller f(t, q, v) -> tau, nv numbers; None: no controller.")
      .def("set_external_forces", &setExternalForces,
           signature("def set_external_forces(self, external: Forces | Callable, reference: str = "
                     "'local_world_aligned') -> None"),
           "external"_a.none(), "reference"_a = "local_world_aligned",
           "Sets external forces: {frame: [force; moment]}, or a function f(t, q, v) that returns "
           "such a dictionary.")
      .def(
          "set_motor_torque",
          [](PySimulator& self, int motor, double torque) {
            unlocked([&] { self.simulator.setMotorTorque(motor, torque); });
          },
          "motor"_a, "torque"_a, "Sets the commanded torque of a motor from now on.")
      .def(
          "set_motor_controller",
          [](const nb::object& self, nb::handle controller) {
            setFunction(self, controller, kMotorController, "the number of motors",
                        [](Simulator& of, VectorFunction callback) {
                          of.setMotorController(std::move(callback));
                        });
          },
          signature("def set_motor_controller(self, controller: Callable | None) -> None"),
          "controller"_a.none(), "Sets the controller f(t, q, v) -> torques of all motors.")
      .def(
          "motor_torque",
          [](const PySimulator& self, int motor) {
            return unlocked([&] { return self.simulator.motorTorque(motor); });
          },
          "motor"_a, "Torque of a motor at the rotor in this state, within its limits.");
}

}  // namespace kempe::python
