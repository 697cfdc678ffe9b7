#include "choices.hpp"

#include <nanobind/stl/string.h>

#include <span>
#include <stdexcept>

#include "conversions.hpp"
#include "shown.hpp"

namespace nb = nanobind;

namespace kempe::python {

namespace {

template <typename Value>
using Choices = std::span<const std::pair<std::string, Value>>;

template <typename Value>
Value chosen(const char* what, const std::string& word, Choices<Value> choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    known += (known.empty() ? "\"" : ", \"") + name + "\"";
  }
  throw std::invalid_argument(std::string(what) + ": there is no \"" + word + "\"; there are " +
                              known);
}

template <typename Type>
std::vector<std::pair<std::string, Type>> namesOf(std::initializer_list<Type> types) {
  std::vector<std::pair<std::string, Type>> names;
  for (const Type type : types) names.emplace_back(toString(type), type);
  return names;
}

const std::vector<std::pair<std::string, Shape::Kind>>& shapeKinds() {
  static const std::vector<std::pair<std::string, Shape::Kind>> kinds{
      {"box", Shape::Kind::Box},
      {"cylinder", Shape::Kind::Cylinder},
      {"sphere", Shape::Kind::Sphere},
      {"capsule", Shape::Kind::Capsule},
      {"mesh", Shape::Kind::Mesh}};
  return kinds;
}

}  // namespace

Method methodCalled(const std::string& word) {
  static const std::vector<std::pair<std::string, Method>> methods{
      {"cluster", Method::Cluster},
      {"projection", Method::Projection},
      {"lagrange", Method::Lagrange},
      {"cut_joint", Method::CutJoint},
      {"absolute", Method::Absolute},
      {"approximate", Method::Approximate},
      {"unconstrained", Method::Unconstrained}};
  return chosen<Method>("method", word, methods);
}

Stabilization stabilizationCalled(const std::string& word) {
  static const std::vector<std::pair<std::string, Stabilization>> ways{
      {"projection", Stabilization::Projection},
      {"baumgarte", Stabilization::Baumgarte},
      {"none", Stabilization::None}};
  return chosen<Stabilization>("stabilization", word, ways);
}

Reference referenceCalled(const std::string& word) {
  static const std::vector<std::pair<std::string, Reference>> references{
      {"local_world_aligned", Reference::LocalWorldAligned},
      {"local", Reference::Local},
      {"world", Reference::World}};
  return chosen<Reference>("reference", word, references);
}

Actuation actuationCalled(const std::string& word) {
  static const std::vector<std::pair<std::string, Actuation>> places{
      {"independent", Actuation::Independent}, {"rotors", Actuation::Rotors}};
  return chosen<Actuation>("actuation", word, places);
}

std::string wordFor(LoopKind kind) {
  switch (kind) {
    case LoopKind::Coupling:
      return "coupling";
    case LoopKind::Joint:
      return "joint";
    case LoopKind::Rod:
      return "rod";
    case LoopKind::Function:
      break;
  }
  return "function";
}

JointType jointTypeCalled(const std::string& word) {
  using enum JointType;
  static const auto types = namesOf({Fixed, Revolute, Continuous, Prismatic, Helical, Cylindrical,
                                     Universal, Spherical, Planar, Free});
  for (const JointType part : {Mode, Node}) {  // of flexible bodies, in pickles
    if (word == toString(part)) return part;
  }
  return chosen<JointType>("type of a joint", word, types);
}

LoopType loopTypeCalled(const std::string& word) {
  using enum LoopType;
  static const auto types =
      namesOf({Revolute, Prismatic, Cylindrical, Universal, Spherical, Planar, Fixed});
  return chosen<LoopType>("type of a loop", word, types);
}

Shape::Kind shapeKindCalled(const std::string& word) {
  return chosen<Shape::Kind>("kind of a shape", word, shapeKinds());
}

std::string wordFor(Shape::Kind kind) {
  return shapeKinds()[static_cast<std::size_t>(kind)].first;
}

int frameOf(const PyModel& self, nb::handle frame) {
  if (nb::isinstance<nb::str>(frame)) {
    return self.model().frameIndex(Conversion<std::string>::read(frame, "frame"));
  }
  // Any integer type of Python or numpy.
  const Py_ssize_t index = PyNumber_AsSsize_t(frame.ptr(), PyExc_OverflowError);
  if (index == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw std::invalid_argument("frame: expected a name (model.frame_names) or a number, got " +
                                shown(frame));
  }
  const auto count = static_cast<Py_ssize_t>(self.model().frameNames().size());
  if (index < 0 || index >= count) {
    throw std::invalid_argument("frame " + std::to_string(index) + ": the model has frames 0 to " +
                                std::to_string(count - 1));
  }
  return static_cast<int>(index);
}

std::vector<int> framesOf(const PyModel& self, nb::handle frames) {
  std::vector<int> indices;
  if (frames.is_none()) {
    for (std::size_t i = 0; i < self.model().frameNames().size(); ++i) {
      indices.push_back(static_cast<int>(i));
    }
    return indices;
  }
  if (nb::isinstance<nb::str>(frames) || !nb::isinstance<nb::iterable>(frames)) {
    throw std::invalid_argument("frames: expected a list of names or numbers, got " +
                                shown(frames));
  }
  for (const nb::handle frame : frames) indices.push_back(frameOf(self, frame));
  return indices;
}

}  // namespace kempe::python
