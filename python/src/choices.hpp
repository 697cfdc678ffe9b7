#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "kempe/joint_forces.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/method.hpp"
#include "kempe/simulator.hpp"
#include "py_model.hpp"

/// Words and names from Python, and what they stand for.
namespace kempe::python {

// Throw ValueError, which lists what there is.
Method methodCalled(const std::string& word);
Reference referenceCalled(const std::string& word);
Stabilization stabilizationCalled(const std::string& word);
Actuation actuationCalled(const std::string& word);
std::string wordFor(LoopKind kind);
JointType jointTypeCalled(const std::string& word);
LoopType loopTypeCalled(const std::string& word);
Shape::Kind shapeKindCalled(const std::string& word);
std::string wordFor(Shape::Kind kind);

/// A frame by its name or its number.
int frameOf(const PyModel& self, nanobind::handle frame);
/// Several; all of the model for None.
std::vector<int> framesOf(const PyModel& self, nanobind::handle frames);

}  // namespace kempe::python
