#include <algorithm>
#include <cmath>
#include <sstream>

#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

constexpr double largestModulus = 1e15;  // Pa

int readCount(const Element& element, const char* attribute, int otherwise) {
  return element.index(attribute).value_or(otherwise);
}

std::vector<std::string> readNames(const Element& element, const char* attribute) {
  std::istringstream text(element.text(attribute).value_or(""));
  std::vector<std::string> names;
  for (std::string name; text >> name;) {
    names.push_back(name);
  }
  return names;
}

BeamOptions readBeam(const Element& element) {
  element.expect(
      {.attributes = {"length", "E", "G", "density", "area", "Iy", "Iz", "J", "ky", "kz", "axis",
                      "elements", "modes", "fixed", "interface", "damping", "stiffening"},
       .many = {"section"}});
  BeamOptions beam;
  beam.length = element.requiredNumber("length");
  beam.E = element.number("E", largestModulus).value_or(0.0);
  beam.G = element.number("G", largestModulus);
  beam.density = element.requiredNumber("density");
  beam.area = element.number("area").value_or(beam.area);
  beam.Iy = element.number("Iy").value_or(beam.Iy);
  beam.Iz = element.number("Iz").value_or(beam.Iz);
  beam.J = element.number("J");
  beam.ky = element.number("ky");
  beam.kz = element.number("kz");
  beam.axis = element.vector("axis").value_or(beam.axis);
  beam.elements = readCount(element, "elements", beam.elements);
  beam.modes = readCount(element, "modes", beam.modes);
  beam.fixed = element.text("fixed").value_or(beam.fixed);
  beam.interface = readNames(element, "interface");
  beam.damping = element.number("damping").value_or(beam.damping);
  beam.stiffening = element.boolean("stiffening").value_or(beam.stiffening);
  for (const Element& section : element.children("section")) {
    section.expect({.attributes = {"area", "Iy", "Iz", "J"}});
    beam.sections.push_back({section.requiredNumber("area"), section.requiredNumber("Iy"),
                             section.requiredNumber("Iz"), section.number("J")});
  }
  return beam;
}

}  // namespace

void addFlexibleFrom(const Element& link, const Body& body, Robot& robot) {
  const auto element = link.child("flexible");
  if (!element) {
    return;
  }
  if (link.child("inertial")) {
    element->fail(
        "the link has both <inertial> and <flexible>, whose mass follows from its density. Remove "
        "<inertial>; fix a link with further mass to a node.");
  }
  const BeamOptions beam = readBeam(*element);
  try {
    FlexibleBody flexible = reduceBeam(body.name, beam);
    flexible.line = element->line();
    robot.mechanism.flexibleBodies.push_back(std::move(flexible));
  } catch (const ModelError& error) {
    throw ModelError(element->place() + error.what());
  }
}

std::string readNode(const Element& end) {
  return end.text("node").value_or("");
}

}  // namespace kempe::io
