#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "named_forces.hpp"
#include "py_simulator.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Forces of all joints and of all loops, by name, at the samples of a run; NaN at change points.
nb::tuple forcesOfRun(const PyModel& self, const Numbers& q, const Numbers& velocities,
                      const Numbers& a, const Numbers& forces, const Numbers& wrenches) {
  const Model& model = self.model();
  const auto requireColumns = [](const char* name, const Numbers& numbers, std::size_t columns) {
    if (numbers.shape(1) != columns) {
      throw std::invalid_argument(std::string(name) + ": " + std::to_string(numbers.shape(1)) +
                                  " columns, but the model needs " + std::to_string(columns));
    }
  };
  const auto velocityCount = static_cast<std::size_t>(model.nvSpanning());
  requireColumns("spanning_velocities", velocities, velocityCount);
  requireColumns("spanning_forces", forces, velocityCount);
  if (wrenches.shape(1) != 0) {
    requireColumns("body_forces", wrenches, 6 * model.jointNames().size());
  }
  Recording recording;
  recording.qNames = model.qNames();
  recording.vNames = model.vNames();
  recording.velocityNames = model.spanningVelocityNames();
  recording.choices = {model.vNames()};
  const auto row = [](const Numbers& numbers, std::size_t i) {
    const auto size = static_cast<Eigen::Index>(numbers.shape(1));
    return Eigen::Map<const Eigen::VectorXd>(numbers.data() + i * numbers.shape(1), size);
  };
  for (std::size_t i = 0; i < q.shape(0); ++i) {
    Recording::Sample& sample = recording.samples.emplace_back();
    sample.q = row(q, i);
    sample.velocities = row(velocities, i);
    sample.a = row(a, i);
    sample.forces = row(forces, i);
    sample.wrenches = row(wrenches, i);
  }
  const auto joints = static_cast<Eigen::Index>(model.jointNames().size());
  RowMajor result(static_cast<Eigen::Index>(q.shape(0)), 6 * joints + model.nLoopForces());
  unlocked([&] {
    Replay replay(model, recording);
    Eigen::MatrixXd wrenchesOfJoints(6, joints);
    Eigen::VectorXd loops(model.nLoopForces());
    for (Eigen::Index i = 0; i < result.rows(); ++i) {
      try {
        replay.jointForces(static_cast<std::size_t>(i), wrenchesOfJoints);
        replay.loopForces(static_cast<std::size_t>(i), loops);
        result.row(i) << wrenchesOfJoints.reshaped().transpose(), loops.transpose();
      } catch (const SingularityError&) {
        result.row(i).setConstant(std::numeric_limits<double>::quiet_NaN());
      }
    }
  });
  const nb::object numbers = nb::cast(std::move(result));
  return nb::make_tuple(jointForcesByName(model, numbers, 0),
                        loopForcesByName(model, numbers, 6 * joints));
}

using PickledSnapshot =
    std::tuple<double, Eigen::VectorXd, Eigen::VectorXd, std::vector<std::string>,
               std::vector<double>, std::vector<double>, std::vector<int>, std::uint64_t>;

PickledSnapshot picklable(const Snapshot& of) {
  const Work& w = of.work;
  const StepControl& c = of.stepControl;
  return {
      of.time,
      of.q,
      of.velocities,
      of.coordinates,
      {w.controller, w.external, w.motors, w.damping, w.friction, w.limits},
      {c.nextStep, c.previousStep, c.previousError, c.evaluations, c.seconds, c.evaluationsBefore},
      {static_cast<int>(c.inUse), c.hints, c.patience},
      of.model};
}

void unpickle(Snapshot& into, const PickledSnapshot& state) {
  const auto& [time, q, velocities, coordinates, w, c, counts, model] = state;
  if (w.size() != 6 || c.size() != 6 || counts.size() != 3) {
    throw std::invalid_argument("a snapshot of another version of kempe");
  }
  new (&into) Snapshot{time,
                       q,
                       velocities,
                       coordinates,
                       {w[0], w[1], w[2], w[3], w[4], w[5]},
                       {c[0], c[1], c[2], static_cast<Integrator>(counts[0]), counts[1], counts[2],
                        c[3], c[4], c[5]},
                       model};
}

}  // namespace

void bindRuns(nb::module_& m) {
  m.def("forces_of_run", &forcesOfRun,
        signature("def forces_of_run(model: Model, q: NDArray, velocities: NDArray, a: NDArray, "
                  "forces: NDArray, wrenches: NDArray) "
                  "-> tuple[dict[str, NDArray], dict[str, NDArray]]"),
        "model"_a, "q"_a, "velocities"_a, "a"_a, "forces"_a, "wrenches"_a,
        "For kempe.Run: joint_forces and loop_forces at its samples.");
  nb::class_<Snapshot>(m, "Snapshot",
                       "The complete state of a simulation at one time, to continue from.")
      .def_ro("time", &Snapshot::time)
      .def_ro("q", &Snapshot::q)
      .def_ro("velocities", &Snapshot::velocities, "Of all tree joints.")
      .def_ro("coordinates", &Snapshot::coordinates, "The independent coordinates at that time.")
      .def_ro("fingerprint", &Snapshot::model, "Of the robot; 0 if it is not known.")
      .def("__getstate__", &picklable)
      .def("__setstate__", &unpickle);
}

}  // namespace kempe::python
