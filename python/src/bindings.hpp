#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "arrays.hpp"
#include "py_model.hpp"

namespace kempe::python {

/// Numbers that functions written in Python compute with.
void bindJet(nanobind::module_& m);
void bindSymbol(nanobind::module_& m);
/// Mechanism and its parts, readers and writers.
void bindMechanism(nanobind::module_& m);
/// Model, Cluster, load and the bundled robots.
void bindModel(nanobind::module_& m);
/// Simulator.
void bindSimulator(nanobind::module_& m);
/// Files of recordings.
void bindRecordings(nanobind::module_& m);

/// Signature of a function for the stubs, with abbreviations for frequent types. Kept for as long
/// as the process lives, which nanobind relies on.
nanobind::sig signature(std::string text);

using ModelClass = nanobind::class_<PyModel>;
// Members of Model, by topic.
void bindConfigurations(ModelClass& model);
void bindDynamics(ModelClass& model);
void bindForces(ModelClass& model);
void bindKinematics(ModelClass& model);
void bindKinematicsDerivatives(ModelClass& model);
void bindTiming(ModelClass& model);
/// AllTerms, and the algorithm of Model that computes it.
void bindAllTerms(nanobind::module_& m, ModelClass& model);
void bindDerivatives(ModelClass& model);
void bindConstrainedDerivatives(ModelClass& model);
/// Constraints, and the algorithms of Model that use them.
void bindConstraints(nanobind::module_& m, ModelClass& model);

// The arguments that most algorithms have.
inline ArrayArgument argumentQ(const PyModel& self, nanobind::handle q, const char* name = "q") {
  return {q, name, self.model().nq(), "model.nq"};
}
inline ArrayArgument argumentV(const PyModel& self, nanobind::handle v, const char* name = "v") {
  return {v, name, self.model().nv(), "model.nv"};
}

}  // namespace kempe::python
