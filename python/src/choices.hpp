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

/// Values that words and names from Python stand for.
namespace kempe::python {

// Unknown words throw ValueError, which lists the known ones.
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
/// Several frames; None: all frames of the model.
std::vector<int> framesOf(const PyModel& self, nanobind::handle frames);

}  // namespace kempe::python
