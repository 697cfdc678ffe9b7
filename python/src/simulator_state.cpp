#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "choices.hpp"
#include "functions.hpp"
#include "kempe/configuration.hpp"
#include "kempe/named_states.hpp"
#include "named_forces.hpp"
#include "named_values.hpp"
#include "py_simulator.hpp"
#include "recordings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

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

nb::dict jointForcesOf(const PySimulator& self, nb::handle reference, nb::handle frame) {
  const Model& model = self.model->model();
  ForceOptions how;
  readForceAxes(*self.model, reference, frame, how);
  Eigen::MatrixXd forces(6, model.jointNames().size());
  unlocked([&] { self.simulator.jointForces(forces, how); });
  return jointForcesByName(model, nb::cast(Eigen::VectorXd(forces.reshaped())), 0);
}

nb::dict loopForcesOf(const PySimulator& self, nb::handle reference, nb::handle frame) {
  const Model& model = self.model->model();
  ForceOptions how;
  readForceAxes(*self.model, reference, frame, how);
  Eigen::VectorXd forces(model.nLoopForces());
  unlocked([&] { self.simulator.loopForces(forces, how); });
  return loopForcesByName(model, nb::cast(std::move(forces)), 0);
}

}  // namespace

void bindSimulatorState(SimulatorClass& simulator) {
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

}  // namespace kempe::python
