#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kempe/mechanism.hpp"

/// Parts of a mechanism's description, from Python and back. Invalid values throw ValueError with
/// the name of the attribute.
namespace kempe::python {

template <typename T>
struct Conversion;  // type: its name in Python; read(object, name); write(value)

#define KEMPE_CONVERSION(T, pythonType)                       \
  template <>                                                 \
  struct Conversion<T> {                                      \
    static constexpr const char* type = pythonType;           \
    static T read(nanobind::handle object, const char* name); \
    static nanobind::object write(const T& value);            \
  }
KEMPE_CONVERSION(bool, "bool");
KEMPE_CONVERSION(int, "int");
KEMPE_CONVERSION(double, "float");
KEMPE_CONVERSION(std::string, "str");
KEMPE_CONVERSION(Vector3, "NDArray");
KEMPE_CONVERSION(SymMat3<double>, "NDArray");
/// A rotation and a position: (R, p).
KEMPE_CONVERSION(Pose, "tuple[NDArray, NDArray]");
KEMPE_CONVERSION(JointType, "str");
KEMPE_CONVERSION(LoopType, "str");
KEMPE_CONVERSION(Shape::Kind, "str");
KEMPE_CONVERSION(std::optional<bool>, "bool | None");
using Color = std::array<double, 4>;
KEMPE_CONVERSION(std::optional<Color>, "tuple[float, float, float, float] | None");
KEMPE_CONVERSION(std::vector<Shape>, "tuple[Shape, ...]");
/// A joint's name, or (name, component).
KEMPE_CONVERSION(Coordinate, "tuple[str, int]");
KEMPE_CONVERSION(std::vector<Coordinate>, "tuple[tuple[str, int], ...]");
/// Read from a dictionary {coordinate: coefficient} too.
KEMPE_CONVERSION(std::vector<Coupling::Term>, "tuple[tuple[tuple[str, int], float], ...]");
/// {joint: number, or numbers}; a start pose, or NamedValues.
using StartPose = std::map<std::string, std::vector<double>>;
KEMPE_CONVERSION(StartPose, "dict[str, tuple[float, ...]]");
#undef KEMPE_CONVERSION

}  // namespace kempe::python
