#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>
#include <memory>
#include <mutex>

#include "kempe/simulator.hpp"
#include "py_model.hpp"

namespace kempe::python {

/// A simulator, and its model as Python sees it. A thread waits for it only without the GIL, which
/// its callbacks need.
struct PySimulator {
  PySimulator(const PyModel& given, const SimulatorOptions& options);

  Simulator simulator;
  std::shared_ptr<PyModel> model;
  std::mutex settings;  ///< held while a function is set and kept; see Setting
};

using SimulatorClass = nanobind::class_<PySimulator>;

/// The state of a simulation, and what follows from it: energies, warnings, samples, forces of joints and
/// loops.
void bindSimulatorState(SimulatorClass& simulator);
/// Forces on a simulated robot: springs, stops, friction, motors, controllers, external forces.
void bindSimulatorForces(SimulatorClass& simulator);
/// Snapshots, and forces at the samples of runs.
void bindRuns(nanobind::module_& m);

/// A computation without the GIL, so that other threads can run Python.
template <typename Action>
auto unlocked(const Action& action) {
  const nanobind::gil_scoped_release released;
  return action();
}

/// From the setting of a Python function until the simulator's Python object keeps it, so that two
/// threads cannot keep another function than is set.
class Setting {
 public:
  explicit Setting(PySimulator& of) : simulator_(of) {
    of.simulator.requireOutsideCallbacks();
    unlocked([&] { of.settings.lock(); });
  }
  ~Setting() { simulator_.settings.unlock(); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  PySimulator& simulator_;
};

/// Names under which the simulator's Python object keeps functions (see keeping.hpp).
inline constexpr const char *kController = "controller", *kExternal = "external",
                            *kMotorController = "motor controller", *kConstraints = "constraints",
                            *kInterruptCheck = "interrupt check";

/// Numbers of one state.
Eigen::VectorXd numbersOf(nanobind::handle object, const char* name, Eigen::Index size,
                          const char* meaning);

}  // namespace kempe::python
