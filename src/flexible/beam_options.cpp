#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>

#include "flexible/beam.hpp"
#include "kempe/errors.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

// Matrices are dense; more elements would take minutes and add no accuracy.
constexpr int kMostElements = 1000;

[[noreturn]] void refuseBeam(std::string_view body, const std::string& text) {
  throw ModelError("beam " + quoted(asUtf8(body)) + ": " + text);
}

void checkPositive(std::string_view body, const std::string& name, double value,
                   const std::string& remedy) {
  if (!(value > 0.0) || !std::isfinite(value)) {
    refuseBeam(body, name + " is " + shortNumber(value) + "; give " + remedy);
  }
}

void checkSection(std::string_view body, const std::string& prefix, const BeamSection& section) {
  checkPositive(body, prefix + "area", section.area, "the area of the section in m², above zero");
  checkPositive(body, prefix + "Iy", section.Iy,
                "the second moment of area about y in m⁴, above zero");
  checkPositive(body, prefix + "Iz", section.Iz,
                "the second moment of area about z in m⁴, above zero");
  if (section.J) {
    checkPositive(body, prefix + "J", *section.J,
                  "the torsion constant in m⁴, above zero, or leave it out for Iy + Iz");
  }
}

}  // namespace

void checkBeam(std::string_view body, const BeamOptions& options) {
  checkPositive(body, "length", options.length, "a length in m, above zero");
  checkPositive(body, "E", options.E, "Young's modulus in Pa, above zero");
  checkPositive(body, "density", options.density, "the density in kg/m³, above zero");
  if (options.G) {
    checkPositive(body, "G", *options.G,
                  "the shear modulus in Pa, above zero, or leave it out for E / 2.6");
  }
  for (const auto& [name, coefficient] : {std::pair{"ky", options.ky}, {"kz", options.kz}}) {
    if (coefficient) {
      checkPositive(body, name, *coefficient,
                    "a shear coefficient above zero (5/6 for a rectangle), or leave it out for a "
                    "beam without shear deformation");
    }
  }
  if (options.sections.empty()) {
    checkSection(body, "", {options.area, options.Iy, options.Iz, options.J});
  } else if (options.sections.size() == 1) {
    refuseBeam(body,
               "it has one section; give at least two, at the start and the end, or area, Iy and "
               "Iz of a beam that is not tapered");
  }
  for (std::size_t i = 0; i < options.sections.size(); ++i) {
    checkSection(body, "section " + std::to_string(i) + ": ", options.sections[i]);
  }
  const double length = norm(options.axis);
  if (!(length > 0.0) || !std::isfinite(length)) {
    refuseBeam(body, "axis has no direction; give a vector along the beam, such as (1, 0, 0)");
  }
  if (options.elements < 1 || options.elements > kMostElements) {
    refuseBeam(body, "elements is " + std::to_string(options.elements) +
                         "; give a number from 1 to " + std::to_string(kMostElements));
  }
  if (options.modes < 1) {
    refuseBeam(body, "modes is " + std::to_string(options.modes) +
                         "; give at least 1, or make the body rigid");
  }
  if (!(options.damping >= 0.0) || !std::isfinite(options.damping)) {
    refuseBeam(body, "damping is " + shortNumber(options.damping) +
                         "; give a ratio to critical damping of zero or more, such as 0.01");
  }
  if (options.fixed != "start" && options.fixed != "none") {
    refuseBeam(body, "fixed is " + quoted(asUtf8(options.fixed)) +
                         "; give \"start\" (clamped at its start) or \"none\" (free)");
  }
}

std::vector<int> interfaceNodes(std::string_view body, const BeamOptions& options) {
  std::vector<int> result;
  std::vector<bool> taken(static_cast<std::size_t>(options.elements) + 1, false);
  for (const std::string& name : options.interface) {
    int node = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), node);
    if (name == "start") {
      node = 0;
    } else if (name == "end") {
      node = options.elements;
    } else if (error != std::errc() || end != name.data() + name.size() || node < 0 ||
               node > options.elements) {
      refuseBeam(body,
                 "interface names the node " + quoted(asUtf8(name)) +
                     ", which does not exist; its nodes are \"start\", \"end\" and numbers from "
                     "0 to " +
                     std::to_string(options.elements));
    }
    if (node == 0 && options.fixed == "start") {
      refuseBeam(body,
                 "interface names the node \"start\", which is clamped already; leave it out, or "
                 "use fixed \"none\"");
    }
    if (taken[static_cast<std::size_t>(node)]) {
      refuseBeam(body, "interface names the node " + quoted(asUtf8(name)) + " twice; name it once");
    }
    taken[static_cast<std::size_t>(node)] = true;
    result.push_back(node);
  }
  return result;
}

}  // namespace kempe::detail
