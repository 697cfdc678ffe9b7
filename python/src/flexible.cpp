#include "flexible.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "conversions.hpp"
#include "keeping.hpp"
#include "kempe/beam_elements.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Takes an argument out of `arguments`; what remains in the end is not known.
template <typename T>
void take(nb::kwargs& arguments, const char* name, T& value) {
  if (arguments.contains(name)) {
    value = Conversion<T>::read(arguments[name], name);
    nb::del(arguments[name]);
  }
}
void take(nb::kwargs& arguments, const char* name, std::optional<double>& value) {
  if (arguments.contains(name) && !arguments[name].is_none()) {
    value = Conversion<double>::read(arguments[name], name);
  }
  if (arguments.contains(name)) {
    nb::del(arguments[name]);
  }
}

/// A node by its name or number.
std::string nodeOf(nb::handle node) {
  return nb::cast<std::string>(nb::str(node));
}

/// A section from a mapping of its numbers.
BeamSection sectionOf(nb::handle section, std::size_t index) {
  const std::string name = "add_beam: section " + std::to_string(index);
  const auto refuse = [&](const std::string& reason) {
    throw nb::type_error((name + " " + reason).c_str());
  };
  if (!nb::isinstance<nb::dict>(section)) {
    refuse("is not a dict; give {\"area\": ..., \"Iy\": ..., \"Iz\": ...}");
  }
  const nb::dict parts = nb::cast<nb::dict>(section);
  for (const auto& [key, value] : parts) {
    const std::string text = nb::cast<std::string>(nb::str(key));
    if (text != "area" && text != "Iy" && text != "Iz" && text != "J") {
      refuse("has the unknown key \"" + text + "\"; give area, Iy, Iz and J");
    }
  }
  const auto number = [&](const char* key) {
    if (!parts.contains(key)) {
      refuse("has no \"" + std::string(key) + "\"; give area, Iy, Iz");
    }
    return Conversion<double>::read(parts[key], key);
  };
  BeamSection read{number("area"), number("Iy"), number("Iz"), {}};
  if (parts.contains("J") && !parts["J"].is_none()) {
    read.J = number("J");
  }
  return read;
}

BeamOptions beamOf(nb::kwargs arguments) {
  BeamOptions beam;
  take(arguments, "length", beam.length);
  take(arguments, "E", beam.E);
  take(arguments, "density", beam.density);
  take(arguments, "area", beam.area);
  take(arguments, "Iy", beam.Iy);
  take(arguments, "Iz", beam.Iz);
  take(arguments, "G", beam.G);
  take(arguments, "J", beam.J);
  take(arguments, "ky", beam.ky);
  take(arguments, "kz", beam.kz);
  take(arguments, "axis", beam.axis);
  take(arguments, "elements", beam.elements);
  take(arguments, "modes", beam.modes);
  take(arguments, "fixed", beam.fixed);
  take(arguments, "damping", beam.damping);
  take(arguments, "stiffening", beam.stiffening);
  if (arguments.contains("interface")) {
    if (nb::isinstance<nb::str>(arguments["interface"])) {
      throw nb::type_error(
          "add_beam: interface is a text; give a list of nodes, such as [\"end\"]");
    }
    for (const nb::handle node : arguments["interface"]) {
      beam.interface.push_back(nodeOf(node));
    }
    nb::del(arguments["interface"]);
  }
  if (arguments.contains("sections")) {
    for (const nb::handle section : arguments["sections"]) {
      beam.sections.push_back(sectionOf(section, beam.sections.size()));
    }
    nb::del(arguments["sections"]);
  }
  for (const auto& [key, value] : arguments) {
    const std::string text =
        "add_beam: there is no argument " + nb::cast<std::string>(nb::repr(key));
    throw nb::type_error(text.c_str());
  }
  return beam;
}

nb::object addBeam(const nb::object& self, const Text& name, nb::kwargs arguments) {
  FlexibleBody& body = nb::cast<Mechanism&>(self).addBeam(name.get(), beamOf(std::move(arguments)));
  nb::object object = nb::cast(&body, nb::rv_policy::reference);
  keep(object, self);
  return object;
}

/// The options of a beam, to pickle them.
nb::object stateOfBeam(const BeamOptions& beam) {
  nb::list sections;
  for (const BeamSection& section : beam.sections) {
    sections.append(nb::make_tuple(section.area, section.Iy, section.Iz, section.J));
  }
  return nb::make_tuple(beam.length, beam.E, beam.density, beam.area, beam.Iy, beam.Iz, beam.G,
                        beam.J, beam.ky, beam.kz, nb::tuple(sections),
                        Conversion<Vector3>::write(beam.axis), beam.elements, beam.modes,
                        beam.fixed, beam.interface, beam.damping, beam.stiffening);
}
BeamOptions beamFromState(nb::handle state) {
  using Optional = std::optional<double>;
  BeamOptions beam;
  beam.length = nb::cast<double>(state[0]);
  beam.E = nb::cast<double>(state[1]);
  beam.density = nb::cast<double>(state[2]);
  beam.area = nb::cast<double>(state[3]);
  beam.Iy = nb::cast<double>(state[4]);
  beam.Iz = nb::cast<double>(state[5]);
  beam.G = nb::cast<Optional>(state[6]);
  beam.J = nb::cast<Optional>(state[7]);
  beam.ky = nb::cast<Optional>(state[8]);
  beam.kz = nb::cast<Optional>(state[9]);
  for (const nb::handle section : nb::borrow(state[10])) {
    beam.sections.push_back({nb::cast<double>(section[0]), nb::cast<double>(section[1]),
                             nb::cast<double>(section[2]), nb::cast<Optional>(section[3])});
  }
  beam.axis = Conversion<Vector3>::read(state[11], "axis");
  beam.elements = nb::cast<int>(state[12]);
  beam.modes = nb::cast<int>(state[13]);
  beam.fixed = nb::cast<std::string>(state[14]);
  beam.interface = nb::cast<std::vector<std::string>>(state[15]);
  beam.damping = nb::cast<double>(state[16]);
  beam.stiffening = nb::cast<bool>(state[17]);
  return beam;
}

/// Numbers as a NumPy array of that shape.
nb::object shaped(const std::vector<double>& numbers, const nb::tuple& shape) {
  return nb::module_::import_("numpy").attr("array")(numbers, "float").attr("reshape")(shape);
}

nb::object elementStiffness(const FlexibleBody& body) {
  const std::vector<BeamElement> elements = beamElements(body);
  std::vector<double> numbers;
  for (const BeamElement& element : elements) {
    numbers.insert(numbers.end(), element.stiffness.begin(), element.stiffness.end());
  }
  return shaped(numbers, nb::make_tuple(elements.size(), body.modes.size(), body.modes.size()));
}

nb::object elementMasses(const FlexibleBody& body) {
  std::vector<double> masses;
  for (const BeamElement& element : beamElements(body)) {
    masses.push_back(element.mass);
  }
  return shaped(masses, nb::make_tuple(masses.size()));
}

nb::object modalStiffness(const FlexibleBody& body) {
  std::vector<double> numbers;
  for (const Mode& mode : body.modes) {
    numbers.push_back(mode.stiffness);
  }
  return shaped(numbers, nb::make_tuple(numbers.size()));
}

/// Sections at equal distances, two at least.
nb::object sectionsOfBeam(const FlexibleBody& body) {
  std::vector<BeamSection> sections;
  if (body.beam) {
    sections = body.beam->sections;
    if (sections.empty()) {
      const BeamSection section{body.beam->area, body.beam->Iy, body.beam->Iz, body.beam->J};
      sections = {section, section};
    }
  }
  std::vector<double> numbers;
  for (const BeamSection& section : sections) {
    numbers.insert(numbers.end(), {section.area, section.Iy, section.Iz});
  }
  return shaped(numbers, nb::make_tuple(sections.size(), 3));
}

nb::object axesOfBeam(const FlexibleBody& body) {
  if (!body.beam) {
    return nb::none();
  }
  const Mat3<double> axes = beamAxes(*body.beam);
  std::vector<double> numbers;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      numbers.push_back(axes(row, column));
    }
  }
  return shaped(numbers, nb::make_tuple(3, 3));
}

/// All numbers of a flexible body, one after the other: calls visit(number) of each.
template <typename Body, typename Visit>
void forNumbers(Body& body, const Visit& visit) {
  const auto vector = [&](auto& x) {
    visit(x.x);
    visit(x.y);
    visit(x.z);
  };
  const auto symmetric = [&](auto& a) {
    visit(a.xx);
    visit(a.xy);
    visit(a.xz);
    visit(a.yy);
    visit(a.yz);
    visit(a.zz);
  };
  visit(body.rigid.mass);
  vector(body.rigid.moment);
  symmetric(body.rigid.rotation);
  for (auto& mode : body.modes) {
    visit(mode.mass);
    visit(mode.stiffness);
    visit(mode.damping);
    vector(mode.linear);
    vector(mode.angular);
    symmetric(mode.inertia);
  }
  for (auto& pair : body.pairs) {
    vector(pair.linear);
    vector(pair.angular);
    symmetric(pair.inertia);
  }
  for (auto& node : body.nodes) {
    vector(node.position);
    for (auto& shape : node.shapes) {
      vector(shape.translation);
      vector(shape.rotation);
    }
    for (auto& shortening : node.shortening) {
      vector(shortening);
    }
  }
}

}  // namespace

nb::object stateOfFlexible(const FlexibleBody& body) {
  nb::list nodes;
  for (const FlexibleNode& node : body.nodes) {
    nodes.append(nb::make_tuple(node.name, !node.shortening.empty()));
  }
  std::vector<double> numbers;
  forNumbers(body, [&](double number) { numbers.push_back(number); });
  return nb::make_tuple(body.body, body.line, body.modes.size(), nb::tuple(nodes), numbers,
                        body.beam ? stateOfBeam(*body.beam) : nb::none());
}

FlexibleBody flexibleFromState(nb::handle state) {
  FlexibleBody body;
  body.body = nb::cast<std::string>(state[0]);
  body.line = nb::cast<int>(state[1]);
  const auto modes = nb::cast<std::size_t>(state[2]);
  body.modes.resize(modes);
  body.pairs.resize(modes * modes);
  for (const nb::handle entry : state[3]) {
    FlexibleNode& node = body.nodes.emplace_back();
    node.name = nb::cast<std::string>(entry[0]);
    node.shapes.resize(modes);
    node.shortening.resize(nb::cast<bool>(entry[1]) ? modes * modes : 0);
  }
  const auto numbers = nb::cast<std::vector<double>>(state[4]);
  std::size_t next = 0;
  forNumbers(body, [&](double& number) { number = numbers.at(next++); });
  if (!nb::borrow(state[5]).is_none()) {
    body.beam = beamFromState(state[5]);
  }
  return body;
}

void bindFlexible(nb::module_& m, nb::class_<Mechanism>& mechanism) {
  nb::class_<FlexibleBody>(m, "FlexibleBody", nb::type_slots(partSlots),
                           "A body that bends, reduced to modes.")
      .def_prop_ro("name", [](const FlexibleBody& self) { return self.body; })
      .def_prop_ro(
          "frequencies",
          [](const FlexibleBody& self) {
            nb::list list;
            for (const Mode& mode : self.modes) {
              list.append(mode.frequency());
            }
            return nb::module_::import_("numpy").attr("array")(list);
          },
          signature("def frequencies(self) -> NDArray"),
          "Natural frequencies with the frame held, Hz, ascending.")
      .def_prop_ro(
          "nodes",
          [](const FlexibleBody& self) {
            nb::list list;
            for (const FlexibleNode& node : self.nodes) {
              list.append(node.name);
            }
            return nb::tuple(list);
          },
          signature("def nodes(self) -> tuple[str, ...]"), "Names of the nodes.")
      .def_prop_ro("mass", [](const FlexibleBody& self) { return self.rigid.mass; })
      .def_prop_ro(
          "positions",
          [](const FlexibleBody& self) {
            nb::list list;
            for (const FlexibleNode& node : self.nodes) {
              list.append(Conversion<Vector3>::write(node.position));
            }
            return nb::module_::import_("numpy").attr("array")(list);
          },
          signature("def positions(self) -> NDArray"),
          "Of the undeformed nodes in the body's frame, m, (nodes, 3).")
      .def_prop_ro(
          "shapes",
          [](const FlexibleBody& self) {
            nb::list modes;
            for (std::size_t i = 0; i < self.modes.size(); ++i) {
              nb::list nodes;
              for (const FlexibleNode& node : self.nodes) {
                const auto& [u, r] = node.shapes[i];
                nodes.append(nb::make_tuple(u.x, u.y, u.z, r.x, r.y, r.z));
              }
              modes.append(nodes);
            }
            return nb::module_::import_("numpy").attr("array")(modes);
          },
          signature("def shapes(self) -> NDArray"),
          "Translation and rotation of the nodes along each mode, (modes, nodes, 6).")
      .def_prop_ro("stiffness", &modalStiffness, signature("def stiffness(self) -> NDArray"),
                   "Of each mode, (modes,). The elastic energy is ½ Σ stiffness η².")
      .def_prop_ro("element_stiffness", &elementStiffness,
                   signature("def element_stiffness(self) -> NDArray"),
                   "Part k of each element of a beam in the stiffness of the modes, (elements, "
                   "modes, modes):\nits strain energy is ½ ηᵀ k η. No elements of other bodies.")
      .def_prop_ro("element_masses", &elementMasses,
                   signature("def element_masses(self) -> NDArray"),
                   "Of the elements of a beam, kg, (elements,).")
      .def_prop_ro("sections", &sectionsOfBeam, signature("def sections(self) -> NDArray"),
                   "Area, Iy and Iz of a beam at equal distances from start to end, two at least, "
                   "(sections, 3).")
      .def_prop_ro(
          "beam_axes", &axesOfBeam, signature("def beam_axes(self) -> NDArray | None"),
          "Columns: the local axes of a beam in the body's frame, (3, 3); None for others.")
      .def("__repr__", [](const FlexibleBody& self) {
        return "<kempe.FlexibleBody '" + self.body + "' of " + std::to_string(self.modes.size()) +
               " modes>";
      });
  mechanism.def(
      "add_beam", &addBeam, "name"_a, "arguments"_a,
      signature("def add_beam(self, name: str, *, length: float, E: float, density: float, "
                "area: float = 0, Iy: float = 0, Iz: float = 0, G: float | None = None, "
                "J: float | None = None, ky: float | None = None, kz: float | None = None, "
                "sections: Sequence[Mapping[str, float]] = (), axis: ArrayLike = (1, 0, 0), "
                "elements: int = 10, modes: int = 6, fixed: str = 'start', "
                "interface: Sequence[str | int] = (), damping: float = 0, "
                "stiffening: bool = True) -> FlexibleBody"),
      R"(Adds a body that bends as a straight beam does, from its frame's origin along `axis`.

Joints attach to its nodes: add_joint(…, parent=name, parent_node="end"). Nodes are "start", "1",
"2", … and "end"; frames are called "name/end". Modal coordinates are called "name/mode1" and so on.

Args:
    length, area: m, m².
    E, G: Young's and shear modulus, Pa; G is E / 2.6 if not given.
    density: kg/m³.
    Iy, Iz: second moments of area, m⁴: of bending in the local x–z and x–y plane.
    J: torsion constant, m⁴; Iy + Iz if not given.
    ky, kz: shear coefficients: Timoshenko's beam; Euler's and Bernoulli's if not given.
    sections: of a tapered beam, {"area": …, "Iy": …, "Iz": …, "J": …} at equal distances.
    elements, modes: finite elements, and modal coordinates that are kept of them.
    fixed: "start": the body's frame moves with the start node; "none": modes of the free beam.
    interface: nodes whose deflections under forces there are exact, by name or number.
    damping: ratio to critical damping, of every mode.
    stiffening: geometric stiffening: bending shortens the beam.)");
  bindElements(mechanism);
  mechanism.def_prop_ro(
      "flexible_bodies",
      [](const nb::object& self) {
        nb::list list;
        for (FlexibleBody& body : nb::cast<Mechanism&>(self).flexibleBodies) {
          nb::object object = nb::cast(&body, nb::rv_policy::reference);
          keep(object, self);
          list.append(object);
        }
        return nb::tuple(list);
      },
      signature("def flexible_bodies(self) -> tuple[FlexibleBody, ...]"));
}

}  // namespace kempe::python
