#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "arrays.hpp"
#include "py_model.hpp"

namespace kempe::python {

/// Jet, and functions written in Python as constraints.
void bindJet(nanobind::module_& m);
/// Mechanism and what it is made of, readers and writers.
void bindMechanism(nanobind::module_& m);
/// Model, Cluster, load and the bundled robots.
void bindModel(nanobind::module_& m);
/// Simulator.
void bindSimulator(nanobind::module_& m);

/// What the stubs say of a function, in short words for the types that occur often. Kept for as
/// long as the process lives, which nanobind relies on.
nanobind::sig signature(std::string text);

using ModelClass = nanobind::class_<PyModel>;
// Members of Model, by what they are about.
void bindConfigurations(ModelClass& model);
void bindDynamics(ModelClass& model);
void bindForces(ModelClass& model);
void bindKinematics(ModelClass& model);
void bindTiming(ModelClass& model);
/// Constraints, and what a model computes under them.
void bindConstraints(nanobind::module_& m, ModelClass& model);

// The arguments that most algorithms have.
inline ArrayArgument argumentQ(const PyModel& self, nanobind::handle q, const char* name = "q") {
  return {q, name, self.model().nq(), "model.nq"};
}
inline ArrayArgument argumentV(const PyModel& self, nanobind::handle v, const char* name = "v") {
  return {v, name, self.model().nv(), "model.nv"};
}

}  // namespace kempe::python
