#include "kempe/simulator.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bindings.hpp"
#include "choices.hpp"
#include "conversions.hpp"
#include "functions.hpp"
#include "keeping.hpp"
#include "py_constraints.hpp"
#include "py_simulator.hpp"
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
  bindSimulatorState(simulator);
  bindSimulatorForces(simulator);
  bindConstraints(simulator);
  simulator
      .def("set_interrupt_check", &setInterruptCheck,
           signature("def set_interrupt_check(self, check: Callable | None) -> None"),
           "check"_a.none(),
           "Sets a function that is called about 20 times a second while steps are computed, also "
           "within one long step. If it raises an exception, the step ends and the state remains "
           "that before the step. run() sets one of its own. It may read `time`, `q`, `v` and "
           "`short_steps_warning`.")
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
