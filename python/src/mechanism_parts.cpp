#include "mechanism_parts.hpp"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "conversions.hpp"
#include "fields.hpp"
#include "keeping.hpp"
#include "keywords.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

nb::object formulaOf(const Function& function) {
  try {
    return nb::cast(function.traced().text());
  } catch (const TracingError&) {
    return nb::none();
  }
}

constexpr const char* kCutText =
    "Whether the loop is left cut (held by multipliers) or embedded; None: whichever is cheaper.";

}  // namespace

void bindMechanismParts(nb::module_& m) {
  nb::class_<Shape> shape(m, "Shape", "Geometry for viewers; not used in computations.");
  shape.def(
      "__init__",
      [](Shape* self, nb::handle kind, nb::kwargs arguments) {
        takePose(arguments, "xyz", "rpy", "origin");
        new (self)
            Shape(described(Shape{.kind = Conversion<Shape::Kind>::read(kind, "kind")}, arguments));
      },
      "kind"_a, "arguments"_a,
      signature("def __init__(self, kind: str, *, size: ArrayLike = (0, 0, 0), "
                "radius: float = 0, length: float = 0, mesh: str = '', "
                "xyz: ArrayLike = (0, 0, 0), rpy: ArrayLike = (0, 0, 0), "
                "name: str = '', material: str = '', texture: str = '', "
                "color: ArrayLike | None = None) -> None"),
      "kind is \"box\", \"cylinder\", \"sphere\", \"capsule\" or \"mesh\"; metres and radians.");
  bindFields(shape, field("kind", &Shape::kind),
             field("size", &Shape::size, "Box: edge lengths; mesh: scale."),
             field("radius", &Shape::radius), field("length", &Shape::length, "Along z."),
             field("mesh", &Shape::mesh, "File name as written."),
             field("origin", &Shape::origin, "(R, p) in the body's frame."),
             field("name", &Shape::name), field("material", &Shape::material),
             field("texture", &Shape::texture),
             field("color", &Shape::color, "Red, green, blue, alpha, from 0 to 1; or None."));

  nb::class_<Body> body(m, "Body", nb::type_slots(partSlots),
                        "A rigid body, described in its own frame.");
  bindFields(body, field("name", &Body::name), field("mass", &Body::mass, "kg."),
             field("center_of_mass", &Body::centerOfMass, "In the body's frame, metres, (3,)."),
             field("inertia", &Body::inertia,
                   "About the centre of mass, axes of the body, kg·m², (3, 3); may be set by its "
                   "diagonal."),
             field("visuals", &Body::visuals), field("collisions", &Body::collisions),
             field("line", &Body::line, "Line in the file that it was read from; 0: none."));

  nb::class_<Joint> joint(m, "Joint", nb::type_slots(partSlots),
                          "A joint of the spanning tree, from `parent` to `child`.");
  bindFields(
      joint, field("name", &Joint::name), field("type", &Joint::type),
      field("parent", &Joint::parent),
      field("parent_node", &Joint::parentNode, "Node of a flexible parent; empty: none."),
      field("child", &Joint::child),
      field("origin", &Joint::origin, "(R, p): the joint's frame in the parent."),
      field("axis", &Joint::axis, "In the joint's frame."),
      field("axis2", &Joint::axis2, "Universal joints only: in the child's frame."),
      field("pitch", &Joint::pitch, "Helical joints only: metres per radian."),
      field(
          "lower", [](Joint& j) -> double& { return j.limits.lower; }, "Rad or m; −inf for none."),
      field(
          "upper", [](Joint& j) -> double& { return j.limits.upper; }, "Rad or m; inf for none."),
      field("max_velocity", [](Joint& j) -> double& { return j.limits.velocity; }),
      field("max_effort", [](Joint& j) -> double& { return j.limits.effort; }),
      field("damping", &Joint::damping, "N·m·s/rad or N·s/m."),
      field("friction", &Joint::friction, "N·m or N; see Mechanism.friction_slip_speed."),
      field("armature", &Joint::armature, "Inertia added to the joint's coordinates, kg·m² or kg."),
      field("stiffness", &Joint::stiffness,
            "Stiffness of a spring along the coordinate of a joint with one degree of freedom, "
            "N·m/rad or N/m."),
      field("spring_reference", &Joint::springReference,
            "Position at which the spring is at rest, rad or m."),
      field("independent", &Joint::independence,
            "Whether its coordinates should be independent; None: yes, if possible."),
      field("actuated", &Joint::actuation, "Whether a motor drives it; None: see Model.actuated."),
      field("line", &Joint::line, "Line in the file that it was read from; 0: none."));

  nb::class_<Coupling> coupling(
      m, "Coupling", nb::type_slots(partSlots),
      "Σ coefficient · position = offset: gears, belts, differentials, mimics.");
  bindFields(coupling, field("name", &Coupling::name),
             field("terms", &Coupling::terms, "((joint, component), coefficient) of each."),
             field("offset", &Coupling::offset), field("cut", &Coupling::cut, kCutText),
             field("line", &Coupling::line, "Line in the file that it was read from; 0: none."));

  nb::class_<LoopJoint> loop(m, "LoopJoint", nb::type_slots(partSlots),
                             "A joint between two frames that closes a loop.");
  bindFields(
      loop, field("name", &LoopJoint::name), field("type", &LoopJoint::type),
      field(
          "predecessor", [](LoopJoint& l) -> std::string& { return l.predecessor.body; },
          "A body."),
      field(
          "predecessor_node", [](LoopJoint& l) -> std::string& { return l.predecessor.node; },
          "Node of a flexible predecessor; empty: none."),
      field(
          "predecessor_frame", [](LoopJoint& l) -> Pose& { return l.predecessor.frame; },
          "(R, p) in the predecessor."),
      field(
          "successor", [](LoopJoint& l) -> std::string& { return l.successor.body; }, "A body."),
      field(
          "successor_node", [](LoopJoint& l) -> std::string& { return l.successor.node; },
          "Node of a flexible successor; empty: none."),
      field(
          "successor_frame", [](LoopJoint& l) -> Pose& { return l.successor.frame; },
          "(R, p) in the successor."),
      field("axis", &LoopJoint::axis, "The same in both frames."),
      field("axis2", &LoopJoint::axis2, "Universal joints only: in the successor."),
      field("cut", &LoopJoint::cut, kCutText),
      field("line", &LoopJoint::line, "Line in the file that it was read from; 0: none."),
      field("source", &LoopJoint::source,
            "File that `line` refers to; empty: that of the mechanism."));

  nb::class_<Rod> rod(m, "Rod", nb::type_slots(partSlots),
                      "A massless rod with ball ends, which keeps two points at a fixed distance.");
  bindFields(
      rod, field("name", &Rod::name),
      field(
          "predecessor", [](Rod& r) -> std::string& { return r.predecessor.body; }, "A body."),
      field(
          "predecessor_node", [](Rod& r) -> std::string& { return r.predecessor.node; },
          "Node of a flexible predecessor; empty: none."),
      field(
          "predecessor_point", [](Rod& r) -> Vector3& { return r.predecessor.point; },
          "In the predecessor, metres, (3,)."),
      field(
          "successor", [](Rod& r) -> std::string& { return r.successor.body; }, "A body."),
      field(
          "successor_node", [](Rod& r) -> std::string& { return r.successor.node; },
          "Node of a flexible successor; empty: none."),
      field(
          "successor_point", [](Rod& r) -> Vector3& { return r.successor.point; },
          "In the successor, metres, (3,)."),
      field("length", &Rod::length, "Metres."), field("cut", &Rod::cut, kCutText),
      field("line", &Rod::line, "Line in the file that it was read from; 0: none."));

  nb::class_<Function>(m, "Function", nb::type_slots(partSlots),
                       "φ(positions of the named coordinates) = 0.")
      .def_ro("name", &Function::name)
      .def_prop_ro(
          "coordinates",
          [](const Function& self) {
            return Conversion<std::vector<Coordinate>>::write(self.coordinates);
          },
          signature("def coordinates(self) -> tuple[tuple[str, int], ...]"),
          "(joint, component) of each.")
      .def_ro("rows", &Function::rows, "Number of equations.")
      .def_prop_ro(
          "formula", &formulaOf, nb::sig("def formula(self) -> str | None"),
          "φ as text, with x0, x1, … for the coordinates; None if it cannot be traced into a "
          "formula, but is called for each state.")
      .def_prop_rw(
          "cut",
          [](const Function& self) { return Conversion<std::optional<bool>>::write(self.cut); },
          [](Function& self, nb::handle cut) {
            self.cut = Conversion<std::optional<bool>>::read(cut, "cut");
          },
          nb::arg().none(), nb::for_getter(signature("def cut(self) -> bool | None")),
          nb::for_setter(signature("def cut(self, value: bool | None) -> None")), kCutText)
      .def("__copy__", &copyOf<Function>, signature("def __copy__(self) -> Function"))
      .def(
          "__deepcopy__", [](const Function& self, nb::handle) { return copyOf(self); }, "memo"_a,
          signature("def __deepcopy__(self, memo: typing.Any) -> Function"))
      .def("__repr__",
           [](const Function& self) {
             return "<kempe.Function '" + self.name + "' of " +
                    std::to_string(self.coordinates.size()) + " coordinates, " +
                    std::to_string(self.rows) + " rows>";
           })
      .def(
          "__getstate__",
          [](const Function& self) {
            return nb::make_tuple(
                self.name, Conversion<std::vector<Coordinate>>::write(self.coordinates), self.rows,
                originOf(self), Conversion<std::optional<bool>>::write(self.cut));
          },
          signature("def __getstate__(self) -> State"))
      .def(
          "__setstate__",
          [](Function& self, const nb::tuple& state) {
            new (&self) Function();
            self.name = nb::cast<std::string>(state[0]);
            self.coordinates = Conversion<std::vector<Coordinate>>::read(state[1], "coordinates");
            self.rows = nb::cast<int>(state[2]);
            restore(nb::find(self), self, state[3]);
            self.cut = Conversion<std::optional<bool>>::read(state[4], "cut");
          },
          signature("def __setstate__(self, state: State) -> None"));
}

}  // namespace kempe::python
