#include "kempe/simulator.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "bindings.hpp"
#include "choices.hpp"
#include "conversions.hpp"
#include "functions.hpp"
#include "keeping.hpp"
#include "kempe/configuration.hpp"
#include "kempe/named_states.hpp"
#include "named_values.hpp"
#include "py_constraints.hpp"
#include "py_simulator.hpp"
#include "recordings.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Lets Python handle signals, such as Ctrl-C, during long steps, and calls a function that looks
/// after the run, which the simulator's Python object keeps; null for none.
class InterruptCheck {
 public:
  explicit InterruptCheck(PyObject* look = nullptr) : look_(look) {}

  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) {
      return;
    }
    next_ = now + std::chrono::milliseconds(50);
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
    if (look_ != nullptr) {
      const nb::object called = nb::borrow(look_);
      called();
    }
  }

 private:
  std::chrono::steady_clock::time_point next_{};
  PyObject* look_;
};

}  // namespace

PySimulator::PySimulator(const PyModel& given, const SimulatorOptions& options)
    : simulator(given.model(), options), model(std::make_shared<PyModel>(given.model())) {
  simulator.setInterruptCheck(InterruptCheck());
}

Eigen::VectorXd numbersOf(nb::handle object, const char* name, Eigen::Index size,
                          const char* meaning) {
  ArrayArgument argument(object, name, size, meaning);
  if (argument.isBatch()) {
    throw std::invalid_argument(std::string(name) + ": a simulator has one state, got several");
  }
  argument.widen();
  argument.makeRowsContiguous();
  return Eigen::Map<const Eigen::VectorXd>(argument.row<double>(0), size);
}

namespace {

void setInterruptCheck(const nb::object& object, nb::handle check) {
  auto& self = nb::cast<PySimulator&>(object);
  if (!check.is_none() && PyCallable_Check(check.ptr()) == 0) {
    throw nb::type_error(("check: expected a function, got " + shown(check)).c_str());
  }
  const Setting setting(self);
  const InterruptCheck both(check.is_none() ? nullptr : check.ptr());
  unlocked([&] { self.simulator.setInterruptCheck(both); });
  keepAs(object, kInterruptCheck, check);
}

nb::object modelOf(const PySimulator& self) {
  nb::object model = nb::cast(PyModel(self.model->model()));
  keepFunctions(model, self.model->model().mechanism());
  return model;
}

Simulator::State stateOf(const PySimulator& self) {
  return unlocked([&] { return self.simulator.state(); });
}

nb::dict workOf(const PySimulator& self) {
  const Work work = unlocked([&] { return self.simulator.work(); });
  nb::dict result;
  result["controller"] = work.controller;
  result["external"] = work.external;
  result["motors"] = work.motors;
  result["damping"] = work.damping;
  result["friction"] = work.friction;
  result["limits"] = work.limits;
  return result;
}

nb::dict statisticsOf(const PySimulator& self) {
  nb::dict result;
  for (int i = 0; i < static_cast<int>(Integrator::Auto); ++i) {
    const auto integrator = static_cast<Integrator>(i);
    const IntegratorStatistics effort =
        unlocked([&] { return self.simulator.statistics(integrator); });
    if (effort.steps + effort.refusedSteps > 0) {
      nb::dict one;
      one["steps"] = effort.steps;
      one["refused_steps"] = effort.refusedSteps;
      one["evaluations"] = effort.evaluations;
      one["newton_iterations"] = effort.newtonIterations;
      one["jacobians"] = effort.jacobians;
      result[std::string(toString(integrator)).c_str()] = one;
    }
  }
  return result;
}

/// Whether numbers are given as a dictionary; a pandas.Series has items too, but is an array.
bool isByName(nb::handle given) {
  return nb::isinstance(given, nb::module_::import_("collections.abc").attr("Mapping"));
}

void setState(PySimulator& self, nb::handle q, nb::handle v, double time) {
  const Model model = self.model->model();
  const bool positionsByName = isByName(q), velocitiesByName = v.is_none() || isByName(v);
  const NamedValues named = positionsByName ? namedPositions(model, q, "q") : NamedValues{};
  const NamedValues rates =
      velocitiesByName && !v.is_none() ? namedVelocities(model, v, "v") : NamedValues{};
  if (positionsByName && velocitiesByName) {
    unlocked([&] { self.simulator.setState(named, rates, time); });
    return;
  }
  Eigen::VectorXd positions(model.nq()), velocities(model.nv());
  if (!positionsByName) positions = numbersOf(q, "q", model.nq(), "model.nq");
  if (!velocitiesByName) velocities = numbersOf(v, "v", model.nv(), "model.nv");
  unlocked([&] {
    Data data(model);
    if (positionsByName) {
      configurationAt(model, data, named, positions);
    }
    if (!velocitiesByName) {
      self.simulator.setState(positions, velocities, time);
      return;
    }
    Eigen::VectorXd all(model.nvSpanning());
    project(model, data, positions, positions);
    velocitiesAt(model, data, positions, rates, velocities, all);
    self.simulator.setSpanningState(positions, all, time);
  });
}

/// The options of joint_forces() and loop_forces().
ForceOptions axesOf(const PyModel& model, nb::handle reference, nb::handle frame) {
  ForceOptions how;
  if (!reference.is_none()) {
    how.reference = referenceCalled(Conversion<std::string>::read(reference, "reference"));
  }
  if (!frame.is_none()) how.frame = frameOf(model, frame);
  return how;
}

nb::dict jointForcesOf(const PySimulator& self, nb::handle reference, nb::handle frame) {
  const ForceOptions how = axesOf(*self.model, reference, frame);
  const std::vector<std::string>& names = self.model->model().jointNames();
  Eigen::MatrixXd forces(6, names.size());
  unlocked([&] { self.simulator.jointForces(forces, how); });
  nb::dict result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    result[names[i].c_str()] = Eigen::VectorXd(forces.col(static_cast<Eigen::Index>(i)));
  }
  return result;
}

nb::dict loopForcesOf(const PySimulator& self, nb::handle reference, nb::handle frame) {
  const ForceOptions how = axesOf(*self.model, reference, frame);
  const Model& model = self.model->model();
  Eigen::VectorXd forces(model.nLoopForces());
  unlocked([&] { self.simulator.loopForces(forces, how); });
  nb::dict result;
  for (const LoopInfo& loop : model.loops()) {
    result[loop.name.c_str()] = Eigen::VectorXd(forces.segment(loop.firstForce, loop.forces));
  }
  return result;
}

/// A and B of `compute(A, B)`, as arrays.
template <typename Compute>
nb::tuple linearizedBy(const PySimulator& self, const Compute& compute) {
  const Eigen::Index n = self.model->model().nv();
  Eigen::MatrixXd A(2 * n, 2 * n), B(2 * n, n);
  unlocked([&] { compute(A, B); });
  return nb::make_tuple(Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>(A),
                        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>(B));
}

/// With the names that Python users know.
void requireOptions(double relativeTolerance, double absoluteTolerance, double maxStep) {
  const auto require = [](const char* name, double value, bool mayBeInfinite) {
    if (!(value > 0.0) || (!mayBeInfinite && !std::isfinite(value))) {
      throw std::invalid_argument(std::string(name) +
                                  ": a number greater than zero is needed, got " +
                                  shown(nb::float_(value)));
    }
  };
  require("relative_tolerance", relativeTolerance, false);
  require("absolute_tolerance", absoluteTolerance, false);
  require("max_step", maxStep, true);
}

void bindState(SimulatorClass& simulator) {
  simulator
      .def(
          "set_state", &setState,
          signature("def set_state(self, q: ArrayLike | Named, v: ArrayLike | Named | None = None, "
                    "time: float = 0.0) -> None"),
          "q"_a, "v"_a.none() = nb::none(), "time"_a = 0.0,
          R"(Sets the state; by default at rest. Resets the work to zero.

Positions and velocities are arrays, (nq,) and (nv,), or dictionaries by names of joints, such as
{"hip": 0.3}; see Model.configuration and Model.velocity. Loops of arrays are closed first if they
are open.)")
      .def(
          "set_spanning_state",
          [](PySimulator& self, nb::handle q, nb::handle velocities, double time) {
            const Model model = self.model->model();
            const Eigen::VectorXd positions = numbersOf(q, "q", model.nq(), "model.nq");
            const Eigen::VectorXd rates =
                numbersOf(velocities, "velocities", model.nvSpanning(), "model.nv_spanning");
            unlocked([&] { self.simulator.setSpanningState(positions, rates, time); });
          },
          signature("def set_spanning_state(self, q: ArrayLike, velocities: ArrayLike, time: float "
                    "= 0.0) -> None"),
          "q"_a, "velocities"_a, "time"_a = 0.0,
          "Sets the state from the velocities of all tree joints, which are defined at dead points "
          "and change points too. They must keep the loops closed.")
      .def_prop_ro("model", &modelOf, nb::for_getter(signature("def model(self) -> Model")),
                   "The model, including the armatures of motors.")
      .def_prop_ro(
          "integrator",
          [](const PySimulator& self) {
            return std::string(toString(self.simulator.options().integrator));
          },
          "Its name.")
      .def_prop_ro(
          "integrator_in_use",
          [](const PySimulator& self) {
            return std::string(
                toString(unlocked([&] { return self.simulator.integratorInUse(); })));
          },
          "The name of the integrator at work: `integrator`, or the one that \"auto\" has chosen.")
      .def_prop_ro(
          "statistics", &statisticsOf,
          nb::for_getter(signature("def statistics(self, /) -> dict[str, dict[str, int]]")),
          "The effort of each integrator that has been at work, by its name: `steps`, "
          "`refused_steps`, `evaluations` of the accelerations, `newton_iterations` and "
          "`jacobians`.")
      .def_prop_ro(
          "time",
          [](const PySimulator& self) { return unlocked([&] { return self.simulator.time(); }); },
          "Seconds.")
      .def_prop_ro(
          "q", [](const PySimulator& self) { return Eigen::VectorXd(stateOf(self).q); },
          "Positions, (nq,).")
      .def_prop_ro(
          "v", [](const PySimulator& self) { return Eigen::VectorXd(stateOf(self).v); },
          "Velocities of the model's own coordinates, (nv,).")
      .def_prop_ro(
          "spanning_velocities",
          [](const PySimulator& self) { return Eigen::VectorXd(stateOf(self).velocities); },
          "Velocities of all tree joints, (nv_spanning,).")
      .def_prop_ro(
          "a",
          [](const PySimulator& self) {
            return unlocked([&] { return Eigen::VectorXd(self.simulator.a()); });
          },
          "Accelerations of the model's own coordinates in this state, (nv,).")
      .def_prop_ro(
          "spanning_accelerations",
          [](const PySimulator& self) {
            return unlocked(
                [&] { return Eigen::VectorXd(self.simulator.spanningAccelerations()); });
          },
          "Accelerations of all tree joints, (nv_spanning,).")
      .def_prop_ro(
          "tau",
          [](const PySimulator& self) {
            return unlocked([&] { return Eigen::VectorXd(self.simulator.tau()); });
          },
          "Forces of the controller in this state, (nv,).")
      .def_prop_ro(
          "energy",
          [](const PySimulator& self) {
            const Energy energy = unlocked([&] { return self.simulator.energy(); });
            return nb::make_tuple(energy.kinetic, energy.potential);
          },
          nb::for_getter(signature("def energy(self, /) -> tuple[float, float]")),
          "Kinetic and potential energy, J; the latter includes springs and end stops.")
      .def_prop_ro(
          "work", &workOf, nb::for_getter(signature("def work(self, /) -> dict[str, float]")),
          "Work since the start, J: done by `controller`, `external` and `motors`, dissipated by "
          "`damping`, `friction` and `limits`.")
      .def_prop_ro(
          "energy_error",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.energyError(); });
          },
          "Energy − energy at the start − work + losses, J: zero for an exact integrator. The "
          "start "
          "is that of the last run, or when the state was set or an element was added, if later.")
      .def_prop_ro(
          "warnings",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.warnings(); });
          },
          "Warnings about the motion since then: whether its samples lose the energy balance, and "
          "why.")
      .def_prop_ro(
          "loop_error",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.loopError(); });
          },
          "The largest |loop_residual|; 0 without loops.")
      .def_prop_ro(
          "coordinates",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.coordinates(); });
          },
          "The independent coordinates in use at the moment.")
      .def_prop_ro(
          "coordinate_changes",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.coordinateChanges(); });
          },
          "How often the independent coordinates have changed.")
      .def_prop_ro(
          "short_steps_warning",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.shortStepsWarning(); });
          },
          "The warning that steps are very short, empty if they are not. Callbacks may read it.")
      .def_prop_ro(
          "energy_exchanged",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.energyExchanged(); });
          },
          "Energy that the motion has exchanged since then, J: the largest of the peak kinetic "
          "energy "
          "and the range of the potential energy at samples, work and losses after every step, and "
          "a "
          "millionth of the energy.")
      .def("set_interrupt_check", &setInterruptCheck,
           signature("def set_interrupt_check(self, check: Callable | None) -> None"),
           "check"_a.none(),
           "Sets a function that is called about 20 times a second while steps are computed, also "
           "within one long step. If it raises an exception, the step ends and the state remains "
           "that before the step. run() sets one of its own. It may read `time`, `q`, `v` and "
           "`short_steps_warning`.")
      .def(
          "begin_run", [](PySimulator& self) { unlocked([&] { self.simulator.beginRun(); }); },
          "Starts the energy balance anew: every sample() is then compared with the first one. "
          "Until "
          "end_run(), other threads can read but not change the simulator. run() calls both.")
      .def(
          "end_run", [](PySimulator& self) { unlocked([&] { self.simulator.endRun(); }); },
          "See begin_run().")
      .def(
          "sample",
          [](PySimulator& self) {
            return unlocked([&] { return sampleArray(self.simulator.sample()); });
          },
          "The sample of this state that a run records, in one array: q, v, a, tau, kinetic and "
          "potential energy, work of controller, external forces and motors, losses, loop error, "
          "velocities and forces at all tree joints, and [force; moment] on the body of each joint "
          "where there are any.")
      .def_prop_ro(
          "sample_fields",
          [](const PySimulator& self) { return sampleFields(self.model->model()); },
          nb::for_getter(signature("def sample_fields(self, /) -> list[tuple[str, int]]")),
          "The fields of kempe.Run in a sample() and their sizes, in their order, but for forces "
          "on "
          "bodies.")
      .def("joint_forces", &jointForcesOf,
           signature(
               "def joint_forces(self, *, reference: str | None = None, frame: str | int | None "
               "= None) -> dict[str, NDArray]"),
           nb::kw_only(), "reference"_a.none() = nb::none(), "frame"_a.none() = nb::none(),
           "Force and moment that the parent applies to the child in this state, for every tree "
           "joint, with everything that acts: springs, motors, friction, stops, constraints, "
           "external forces and the controller. See Model.joint_forces. Raises SingularityError at "
           "a "
           "change point.")
      .def("loop_forces", &loopForcesOf,
           signature(
               "def loop_forces(self, *, reference: str | None = None, frame: str | int | None "
               "= None) -> dict[str, NDArray]"),
           nb::kw_only(), "reference"_a.none() = nb::none(), "frame"_a.none() = nb::none(),
           "Forces that the loops transmit in this state. See joint_forces and Model.loop_forces.")
      .def(
          "snapshot",
          [](const PySimulator& self) {
            return unlocked([&] { return self.simulator.snapshot(); });
          },
          "The complete state, from which restore() continues exactly.")
      .def(
          "restore",
          [](PySimulator& self, const Snapshot& snapshot) {
            unlocked([&] { self.simulator.restore(snapshot); });
          },
          "snapshot"_a,
          "Continues from a snapshot: the motion is the same, to the last bit on the same "
          "machine.");
}

void bindConstraints(SimulatorClass& simulator) {
  simulator
      .def(
          "set_constraints",
          [](nb::pointer_and_handle<PySimulator> self,
             nb::pointer_and_handle<PyConstraints> constraints) {
            const std::shared_ptr<const Constraints> now = constraints.p->now();
            const Setting setting(*self.p);
            unlocked([&] { self.p->simulator.setConstraints(*now); });
            keepAs(self.h, kConstraints, constraints.h);
          },
          "constraints"_a, signature("def set_constraints(self, constraints: Constraints) -> None"),
          R"(Sets constraints in addition to the model's loops, as a copy.

The state is projected onto those that are on: positions by the least motion, velocities by an
impulse.)")
      .def(
          "enable_constraint",
          [](PySimulator& self, const std::string& name, bool on, double tolerance) {
            unlocked([&] { self.simulator.enableConstraint(name, on, tolerance); });
          },
          "name"_a, "on"_a = true, nb::kw_only(), "tolerance"_a = 1e-6,
          R"(Switches a constraint on or off: for instance a hand that grasps or a foot that sticks.

A constraint that is switched on stops the motion against it by an impulse; positions must satisfy
it to the tolerance.)")
      .def_prop_ro(
          "multipliers",
          [](const PySimulator& self) {
            return unlocked([&] { return Eigen::VectorXd(self.simulator.multipliers()); });
          },
          "Forces of the constraints' rows at this state.");
}

}  // namespace

void bindSimulator(nb::module_& m) {
  bindRuns(m);
  SimulatorClass simulator(m, "Simulator", nb::type_slots(keeperSlots), nb::is_weak_referenceable(),
                           R"(Simulates a robot step by step.

Loops stay closed to rounding: each step uses local coordinates around its start. Near a dead point
of the model's independent coordinates, the simulator switches to others without a jump; `v` and
forces are always expressed in the model's own. For a simple run use kempe.simulate.)");
  simulator.def(
      "__init__",
      [](PySimulator* self, const PyModel& model, const std::string& integrator,
         double relativeTolerance, double absoluteTolerance, const std::string& stabilization,
         double baumgarteRate, double maxStep, double frictionSlipSpeed) {
        requireOptions(relativeTolerance, absoluteTolerance, maxStep);
        if (!(frictionSlipSpeed >= 0.0)) {
          throw std::invalid_argument("friction_slip_speed: zero or more is needed, got " +
                                      shown(nb::float_(frictionSlipSpeed)));
        }
        const SimulatorOptions options{integratorCalled(integrator),
                                       relativeTolerance,
                                       absoluteTolerance,
                                       stabilizationCalled(stabilization),
                                       baumgarteRate,
                                       maxStep,
                                       frictionSlipSpeed};
        unlocked([&] { new (self) PySimulator(model, options); });
        keepFunctions(nb::find(self), model.model().mechanism());
      },
      "model"_a, "integrator"_a = std::string(toString(SimulatorOptions{}.integrator)),
      nb::kw_only(), "relative_tolerance"_a = 1e-8, "absolute_tolerance"_a = 1e-10,
      "stabilization"_a = "projection", "baumgarte_rate"_a = 100.0,
      "max_step"_a = std::numeric_limits<double>::infinity(), "friction_slip_speed"_a = 0.0,
      R"(Starts at rest in the neutral position at time 0.

The integrator is "adaptive", "radau", "auto", "rk4", "semi_implicit_euler" or "implicit_midpoint";
the tolerances are those of the first three. Positions count relative to one radian or metre,
velocities relative to their size, but at least one: motions of micrometres need smaller ones. No
step is longer than `max_step` seconds: half the length of the shortest pulse of force.

`friction_slip_speed` greater than zero (rad/s or m/s) makes the friction F of the model's joints
smooth, F tanh(v / friction_slip_speed), so that a robot at rest can be linearised; math.inf leaves
this friction out; 0 takes it as it is in the model (Mechanism.friction_slip_speed).

Drift of cut loops and constraints is removed by "projection" after every step, reduced by
"baumgarte" stabilisation, which makes errors decay at a rate (1/s), or ignored ("none").)");
  bindState(simulator);
  bindSimulatorForces(simulator);
  bindConstraints(simulator);
  simulator
      .def(
          "step", [](PySimulator& self, double dt) { unlocked([&] { self.simulator.step(dt); }); },
          "dt"_a, "Takes a step of dt seconds. If it fails, the state is unchanged.")
      .def(
          "step_to",
          [](PySimulator& self, double time) { unlocked([&] { self.simulator.stepTo(time); }); },
          "time"_a, "Takes a step that ends exactly at `time`.")
      .def(
          "linearize",
          [](const PySimulator& self, double dt) {
            return linearizedBy(
                self, [&](MatrixOut A, MatrixOut B) { self.simulator.linearize(dt, A, B); });
          },
          signature("def linearize(self, dt: float = 0.001) -> tuple[NDArray, NDArray]"),
          "dt"_a = 1e-3,
          R"(Derivatives of one step of dt seconds from this state, which does not change.

δx⁺ = A δx + B δtau, with δx = [δq; δv] and δq along the tangent: column j of the first nv is the
change of [difference(q⁺, ·); v⁺] along integrate(q, e_j, ε), that of the next nv along v + ε e_j.
Column j of B is that along tau + ε e_j, constant over the step: forces along the model's velocities,
as set_forces takes them.

This is the derivative of the integrator's step itself, by the chain rule through its stages.
"adaptive", "radau" and "auto" make one step of this length, whatever its error. Everything that acts
is differentiated, with these exceptions: functions (controllers, external forces) are constant, so
that a feedback is not part of A; dry friction and end stops keep their modes. With constraints or
loops that are left cut the derivative is defined in directions that leave them, too: of the step
with its stabilisation, and of the projection after it, at an end that lies on them.

Returns:
    A, (2 nv, 2 nv), and B, (2 nv, nv).

Raises:
    ValueError: there is no such derivative, because a joint is held by dry friction or by a rigid
        stop, or friction or a stop changes its mode within the step; step(dt) would be divided; the
        projection after the step moves a coordinate by more than 1e-10 rad or m; or a loop function
        or constraint is no expression.
    SingularityError: at dead points and change points.)")
      .def(
          "linearize_rates",
          [](const PySimulator& self) {
            return linearizedBy(
                self, [&](MatrixOut A, MatrixOut B) { self.simulator.linearizeRates(A, B); });
          },
          signature("def linearize_rates(self) -> tuple[NDArray, NDArray]"),
          R"(Derivatives of the rates of change at this state: d/dt δx = A δx + B δtau.

As linearize, in continuous time. The tangent moves with q: where a joint turns with velocity v, the
upper left block of A is −ad_v, otherwise it is zero.)");
}

}  // namespace kempe::python
