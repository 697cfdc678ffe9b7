#include "named_values.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "conversions.hpp"
#include "kempe/mechanism.hpp"
#include "shown.hpp"

namespace nb = nanobind;

namespace kempe::python {
namespace {

/// The coordinates of all joints, of positions or of velocities.
struct Coordinates {
  const Model& model;
  const std::vector<std::string>& names;
  int (Model::*firstOf)(std::string_view) const;
  int (*sizeOf)(JointType);

  /// The name of a joint's component, such as "base.z" for ("base", 2).
  [[nodiscard]] std::string nameOf(nb::handle key, const char* argument) const {
    const Coordinate coordinate = Conversion<Coordinate>::read(key, argument);
    const auto refuse = [&](const std::string& reason) {
      throw std::invalid_argument(std::string(argument) + "[" + shown(key) + "]: " + reason);
    };
    const auto& joints = model.mechanism().joints;
    const auto joint = std::ranges::find(joints, coordinate.joint, &Joint::name);
    if (joint == joints.end()) {
      return coordinate.joint;  // refused by name, with the joints that exist
    }
    const int size = sizeOf(joint->type);
    if (size == 0) {
      refuse("joint \"" + coordinate.joint + "\" is fixed.");
    }
    if (coordinate.component < 0 || coordinate.component >= size) {
      refuse(
          "joint \"" + coordinate.joint + "\" has " + std::to_string(size) +
          (size == 1 ? " component, 0." : " components, 0 to " + std::to_string(size - 1) + "."));
    }
    const int first = (model.*firstOf)(coordinate.joint);
    const std::string& name = names[static_cast<std::size_t>(first + coordinate.component)];
    if (name != coordinate.joint && std::ranges::find(joints, name, &Joint::name) != joints.end()) {
      refuse("\"" + name + "\" is also the name of a joint. Rename that joint, or give all " +
             std::to_string(size) + " numbers of \"" + coordinate.joint + "\".");
    }
    return name;
  }

  [[nodiscard]] NamedValues read(nb::handle dictionary, const char* argument) const {
    if (!nb::hasattr(dictionary, "items")) {
      return Conversion<NamedValues>::read(dictionary, argument);  // refuses it
    }
    nb::dict byName;
    for (const nb::handle item : dictionary.attr("items")()) {
      const nb::object key = item[0], value = item[1];
      const nb::object name =
          nb::isinstance<nb::tuple>(key) ? nb::object(nb::cast(nameOf(key, argument))) : key;
      if (byName.contains(name)) {
        throw std::invalid_argument(std::string(argument) + ": \"" + nb::str(name).c_str() +
                                    "\" is given twice, by its name and by (joint, component).");
      }
      byName[name] = value;
    }
    return Conversion<NamedValues>::read(byName, argument);
  }
};

}  // namespace

NamedValues namedPositions(const Model& model, nb::handle dictionary, const char* argument) {
  return Coordinates{model, model.spanningPositionNames(), &Model::jointPositionIndex, positionSize}
      .read(dictionary, argument);
}

NamedValues namedVelocities(const Model& model, nb::handle dictionary, const char* argument) {
  return Coordinates{model, model.spanningVelocityNames(), &Model::jointVelocityIndex, velocitySize}
      .read(dictionary, argument);
}

}  // namespace kempe::python
