#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>

#include "kempe/joint_forces.hpp"
#include "py_model.hpp"

/// What the functions called joint_forces and loop_forces share.
namespace kempe::python {

/// Reads the arguments `reference` and `frame`.
void readForceAxes(const PyModel& self, nanobind::handle reference, nanobind::handle frame,
                   ForceOptions& how);

/// {joint: its 6 numbers} of all joints: parts of the last axis of an array, from `first` on.
nanobind::dict jointForcesByName(const Model& model, const nanobind::object& numbers,
                                 Eigen::Index first);
/// {loop: its numbers}, likewise.
nanobind::dict loopForcesByName(const Model& model, const nanobind::object& numbers,
                                Eigen::Index first);

}  // namespace kempe::python
