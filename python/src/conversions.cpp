#include "conversions.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "arrays.hpp"
#include "choices.hpp"
#include "shown.hpp"

namespace nb = nanobind;

namespace kempe::python {

namespace {

[[noreturn]] void refuse(const char* name, const std::string& expected, nb::handle object) {
  throw std::invalid_argument(std::string(name) + ": expected " + expected + ", got " +
                              shown(object));
}

/// An object converted to a NumPy array, if numpy can convert it.
nb::object arrayFrom(nb::handle object, const char* name, const std::string& expected) {
  try {
    return nb::module_::import_("numpy").attr("asarray")(object);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
  }
  refuse(name, expected, object);
}

/// Exactly n numbers, in an array of any shape.
std::vector<double> numbers(nb::handle object, const char* name, std::size_t n,
                            const std::string& expected) {
  const nb::object array = arrayFrom(object, name, expected);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if ((kind != "f" && kind != "i" && kind != "u") ||
      nb::cast<std::size_t>(array.attr("size")) != n) {
    refuse(name, expected, object);
  }
  const nb::object plain = array.attr("astype")("float64").attr("ravel")().attr("tolist")();
  std::vector<double> result;
  for (const nb::handle x : plain) result.push_back(nb::cast<double>(x));
  return result;
}

/// Read-only, because a change to it would not be seen by the mechanism.
template <std::size_t... shape>
nb::object frozen(const double* values) {
  constexpr std::size_t size = (shape * ...);
  auto* own = new double[size];
  std::copy(values, values + size, own);
  const nb::capsule owner(own, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const double>(own, {shape...}, owner));
}

nb::object frozenMatrix(const double (&rowByRow)[9]) {
  return frozen<3, 3>(rowByRow);
}

std::vector<nb::object> items(nb::handle object, const char* name, const std::string& expected) {
  if (nb::isinstance<nb::str>(object) || !nb::isinstance<nb::iterable>(object)) {
    refuse(name, expected, object);
  }
  std::vector<nb::object> result;
  for (const nb::handle item : object) result.push_back(nb::borrow(item));
  return result;
}

template <typename T>
nb::object tupleOf(const std::vector<T>& values) {
  nb::list list;
  for (const T& value : values) list.append(Conversion<T>::write(value));
  return nb::tuple(list);
}

}  // namespace

bool Conversion<bool>::read(nb::handle object, const char* name) {
  bool value = false;
  if (!nb::try_cast(object, value)) refuse(name, "True or False", object);
  return value;
}
nb::object Conversion<bool>::write(const bool& value) {
  return nb::bool_(value);
}

int Conversion<int>::read(nb::handle object, const char* name) {
  int value = 0;
  if (!nb::try_cast(object, value)) refuse(name, "a whole number", object);
  return value;
}
nb::object Conversion<int>::write(const int& value) {
  return nb::int_(value);
}

double Conversion<double>::read(nb::handle object, const char* name) {
  return numbers(object, name, 1, "a number").front();
}
nb::object Conversion<double>::write(const double& value) {
  return nb::float_(value);
}

std::string Conversion<std::string>::read(nb::handle object, const char* name) {
  std::string value;
  if (!nb::try_cast(object, value)) refuse(name, "text", object);
  return value;
}
nb::object Conversion<std::string>::write(const std::string& value) {
  return nb::cast(value);
}

Vector3 Conversion<Vector3>::read(nb::handle object, const char* name) {
  const std::vector<double> x = numbers(object, name, 3, "three numbers");
  return {x[0], x[1], x[2]};
}
nb::object Conversion<Vector3>::write(const Vector3& value) {
  const double x[3] = {value.x, value.y, value.z};
  return frozen<3>(x);
}

SymMat3<double> Conversion<SymMat3<double>>::read(nb::handle object, const char* name) {
  const char* expected = "a symmetric 3×3 matrix, or the three moments on its diagonal";
  const nb::object array = arrayFrom(object, name, expected);
  if (nb::cast<std::size_t>(array.attr("size")) == 3) {
    const std::vector<double> x = numbers(object, name, 3, expected);
    return SymMat3<double>::diagonal(x[0], x[1], x[2]);
  }
  const std::vector<double> x = numbers(object, name, 9, expected);
  double largest = 0.0;
  for (const double entry : x) largest = std::max(largest, std::abs(entry));
  const auto differs = [&](double a, double b) { return std::abs(a - b) > 1e-9 * largest; };
  if (differs(x[1], x[3]) || differs(x[2], x[6]) || differs(x[5], x[7])) {
    refuse(name, expected, object);
  }
  return {x[0], x[1], x[2], x[4], x[5], x[8]};
}
nb::object Conversion<SymMat3<double>>::write(const SymMat3<double>& value) {
  return frozenMatrix(
      {value.xx, value.xy, value.xz, value.xy, value.yy, value.yz, value.xz, value.yz, value.zz});
}

Pose Conversion<Pose>::read(nb::handle object, const char* name) {
  const std::string expected = "a rotation matrix and a position, (R, p)";
  const std::vector<nb::object> parts = items(object, name, expected);
  if (parts.size() != 2) refuse(name, expected, object);
  const std::vector<double> R = numbers(parts[0], name, 9, expected);
  Pose pose;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) pose.R(i, j) = R[static_cast<std::size_t>(3 * i + j)];
  }
  pose.p = Conversion<Vector3>::read(parts[1], name);
  return pose;
}
nb::object Conversion<Pose>::write(const Pose& value) {
  double R[9];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R[3 * i + j] = value.R(i, j);
  }
  return nb::make_tuple(frozenMatrix(R), Conversion<Vector3>::write(value.p));
}

JointType Conversion<JointType>::read(nb::handle object, const char* name) {
  return jointTypeCalled(Conversion<std::string>::read(object, name));
}
nb::object Conversion<JointType>::write(const JointType& value) {
  return nb::cast(std::string(toString(value)));
}
LoopType Conversion<LoopType>::read(nb::handle object, const char* name) {
  return loopTypeCalled(Conversion<std::string>::read(object, name));
}
nb::object Conversion<LoopType>::write(const LoopType& value) {
  return nb::cast(std::string(toString(value)));
}
Shape::Kind Conversion<Shape::Kind>::read(nb::handle object, const char* name) {
  return shapeKindCalled(Conversion<std::string>::read(object, name));
}
nb::object Conversion<Shape::Kind>::write(const Shape::Kind& value) {
  return nb::cast(wordFor(value));
}

std::optional<bool> Conversion<std::optional<bool>>::read(nb::handle object, const char* name) {
  if (object.is_none()) return std::nullopt;
  return Conversion<bool>::read(object, name);
}
nb::object Conversion<std::optional<bool>>::write(const std::optional<bool>& value) {
  return value ? nb::object(nb::bool_(*value)) : nb::none();
}

std::optional<Color> Conversion<std::optional<Color>>::read(nb::handle object, const char* name) {
  if (object.is_none()) return std::nullopt;
  const std::vector<double> x = numbers(object, name, 4, "red, green, blue and alpha");
  return Color{x[0], x[1], x[2], x[3]};
}
nb::object Conversion<std::optional<Color>>::write(const std::optional<Color>& value) {
  if (!value) return nb::none();
  return nb::make_tuple((*value)[0], (*value)[1], (*value)[2], (*value)[3]);
}

std::vector<Shape> Conversion<std::vector<Shape>>::read(nb::handle object, const char* name) {
  std::vector<Shape> shapes;
  for (const nb::object& item : items(object, name, "a list of shapes")) {
    Shape* shape = nullptr;
    if (!nb::try_cast(item, shape) || shape == nullptr) refuse(name, "a kempe.Shape", item);
    shapes.push_back(*shape);
  }
  return shapes;
}
nb::object Conversion<std::vector<Shape>>::write(const std::vector<Shape>& value) {
  nb::list list;
  for (const Shape& shape : value) list.append(nb::cast(shape));
  return nb::tuple(list);
}

Coordinate Conversion<Coordinate>::read(nb::handle object, const char* name) {
  if (nb::isinstance<nb::str>(object)) return {Conversion<std::string>::read(object, name)};
  const std::string expected = "the name of a joint, or (name, component)";
  const std::vector<nb::object> parts = items(object, name, expected);
  if (parts.size() != 2) refuse(name, expected, object);
  return {Conversion<std::string>::read(parts[0], name), Conversion<int>::read(parts[1], name)};
}
nb::object Conversion<Coordinate>::write(const Coordinate& value) {
  return nb::make_tuple(value.joint, value.component);
}

std::vector<Coordinate> Conversion<std::vector<Coordinate>>::read(nb::handle object,
                                                                  const char* name) {
  std::vector<Coordinate> coordinates;
  for (const nb::object& item : items(object, name, "a list of joints or (joint, component)")) {
    coordinates.push_back(Conversion<Coordinate>::read(item, name));
  }
  return coordinates;
}
nb::object Conversion<std::vector<Coordinate>>::write(const std::vector<Coordinate>& value) {
  return tupleOf(value);
}

StartPose Conversion<StartPose>::read(nb::handle object, const char* name) {
  const std::string expected = "{joint: position, or a list of positions}";
  if (!nb::hasattr(object, "items")) refuse(name, expected, object);
  StartPose pose;
  for (const nb::object& item : items(object.attr("items")(), name, expected)) {
    const std::vector<nb::object> pair = items(item, name, expected);
    if (pair.size() != 2) refuse(name, expected, object);
    const std::string joint = Conversion<std::string>::read(pair[0], name);
    const std::string which = std::string(name) + "[\"" + joint + "\"]";
    const auto size =
        nb::cast<std::size_t>(nb::module_::import_("numpy").attr("asarray")(pair[1]).attr("size"));
    pose[joint] = numbers(pair[1], which.c_str(), size, "a number or a list of numbers");
  }
  return pose;
}
nb::object Conversion<StartPose>::write(const StartPose& value) {
  nb::dict pose;
  for (const auto& [joint, positions] : value) {
    pose[nb::cast(joint)] = tupleOf(positions);
  }
  return pose;
}

std::vector<Coupling::Term> Conversion<std::vector<Coupling::Term>>::read(nb::handle object,
                                                                          const char* name) {
  const std::string expected = "{joint: coefficient}, where a joint is a name or (name, component)";
  const bool dictionary = nb::hasattr(object, "items");
  const nb::object pairs = dictionary ? object.attr("items")() : nb::borrow(object);
  std::vector<Coupling::Term> terms;
  for (const nb::object& item : items(pairs, name, expected)) {
    const std::vector<nb::object> pair = items(item, name, expected);
    if (pair.size() != 2) refuse(name, expected, object);
    terms.push_back(
        {Conversion<Coordinate>::read(pair[0], name), Conversion<double>::read(pair[1], name)});
  }
  return terms;
}
nb::object Conversion<std::vector<Coupling::Term>>::write(
    const std::vector<Coupling::Term>& value) {
  nb::list list;
  for (const Coupling::Term& term : value) {
    list.append(nb::make_tuple(Conversion<Coordinate>::write(term.coordinate), term.coefficient));
  }
  return nb::tuple(list);
}

}  // namespace kempe::python
