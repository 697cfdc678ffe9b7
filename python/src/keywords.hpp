#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

#include "conversions.hpp"

/// Calls that describe a part of a mechanism, or a constraint, by keywords.
namespace kempe::python {

/// Turns the arguments `xyz` and `rpy` of a call, where given, into the attribute `pose`.
inline void takePose(nanobind::kwargs& arguments, const char* xyz, const char* rpy,
                     const char* pose) {
  const bool positioned = arguments.contains(xyz), turned = arguments.contains(rpy);
  if (!positioned && !turned) return;
  if (arguments.contains(pose)) {
    throw std::invalid_argument(std::string(pose) + " is given twice: as itself and by " + xyz +
                                " and " + rpy);
  }
  const auto take = [&](const char* name) {
    if (!arguments.contains(name)) return Vector3{};
    const Vector3 vector = Conversion<Vector3>::read(arguments[name], name);
    nanobind::del(arguments[name]);
    return vector;
  };
  const Vector3 position = take(xyz), angles = take(rpy);
  arguments[pose] = Conversion<Pose>::write(at(position, angles));
}

/// A part with the attributes that a call names. Nothing is added to a mechanism before all of
/// them have been understood.
template <typename Part>
Part described(Part part, const nanobind::kwargs& arguments) {
  const std::string name = part.name;
  const nanobind::object object = nanobind::cast(std::move(part));
  for (const auto& [key, value] : arguments) {
    if (!nanobind::hasattr(object, key)) {
      const std::string text = "\"" + name + "\": there is no argument " +
                               nanobind::cast<std::string>(nanobind::repr(key));
      throw nanobind::type_error(text.c_str());
    }
    nanobind::setattr(object, key, value);
  }
  return nanobind::cast<Part>(object);
}

inline void requireArguments(const std::string& name, const nanobind::kwargs& arguments,
                             std::initializer_list<const char*> required) {
  for (const char* argument : required) {
    if (!arguments.contains(argument)) {
      const std::string text = "\"" + name + "\": the argument " + argument + " is missing";
      throw nanobind::type_error(text.c_str());
    }
  }
}

}  // namespace kempe::python
