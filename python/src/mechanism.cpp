#include "kempe/mechanism.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "conversions.hpp"
#include "fields.hpp"
#include "flexible.hpp"
#include "functions.hpp"
#include "keeping.hpp"
#include "kempe/io.hpp"
#include "keywords.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// A part of a mechanism as a Python object: a reference that keeps the mechanism alive.
template <typename Part>
nb::object partOf(const nb::object& mechanism, Part& part) {
  nb::object object = nb::cast(&part, nb::rv_policy::reference);
  keep(object, mechanism);
  return object;
}

/// The parts of one kind.
template <auto member>
nb::tuple partsOf(const nb::object& self) {
  nb::list list;
  for (auto& part : nb::cast<Mechanism&>(self).*member) {
    list.append(partOf(self, part));
  }
  return nb::tuple(list);
}

template <typename Part>
nb::object added(const nb::object& self, std::deque<Part>& parts, Part part) {
  return partOf(self, parts.emplace_back(std::move(part)));
}

nb::object addBody(const nb::object& self, const Text& name, const nb::kwargs& arguments) {
  return added(self, nb::cast<Mechanism&>(self).bodies,
               described(Body{.name = name.get()}, arguments));
}

nb::object addJointOf(const nb::object& self, const Text& name, JointType type,
                      nb::kwargs arguments) {
  requireArguments(name, arguments, {"parent", "child"});
  takePose(arguments, "xyz", "rpy", "origin");
  return added(self, nb::cast<Mechanism&>(self).joints,
               described(Joint{.name = name.get(), .type = type}, arguments));
}
template <JointType type>
nb::object addJointOfType(const nb::object& self, const Text& name, const nb::kwargs& arguments) {
  return addJointOf(self, name, type, arguments);
}
nb::object addJoint(const nb::object& self, const Text& name, nb::handle type,
                    const nb::kwargs& arguments) {
  return addJointOf(self, name, Conversion<JointType>::read(type, "type"), arguments);
}

nb::object addCoupling(const nb::object& self, const Text& name, nb::handle terms,
                       nb::handle offset, nb::handle cut) {
  return added(self, nb::cast<Mechanism&>(self).couplings,
               Coupling{.name = name.get(),
                        .terms = Conversion<std::vector<Coupling::Term>>::read(terms, "terms"),
                        .offset = Conversion<double>::read(offset, "offset"),
                        .cut = Conversion<std::optional<bool>>::read(cut, "cut")});
}

nb::object addGear(const nb::object& self, const Text& name, nb::handle driven, double ratio,
                   nb::handle driver, nb::handle cut) {
  const auto left = Conversion<std::optional<bool>>::read(cut, "cut");
  Coupling& gear =
      nb::cast<Mechanism&>(self).addGear(name.get(), Conversion<Coordinate>::read(driven, "driven"),
                                         ratio, Conversion<Coordinate>::read(driver, "driver"));
  gear.cut = left;
  return partOf(self, gear);
}

nb::object addBelt(const nb::object& self, const Text& name, const Text& predecessor, double ratio,
                   const Text& successor, nb::handle cut) {
  const auto left = Conversion<std::optional<bool>>::read(cut, "cut");
  Coupling& belt =
      nb::cast<Mechanism&>(self).addBelt(name.get(), predecessor.get(), ratio, successor.get());
  belt.cut = left;
  return partOf(self, belt);
}

nb::object addLoop(const nb::object& self, const Text& name, nb::handle type,
                   nb::kwargs arguments) {
  requireArguments(name, arguments, {"predecessor", "successor"});
  takePose(arguments, "predecessor_xyz", "predecessor_rpy", "predecessor_frame");
  takePose(arguments, "successor_xyz", "successor_rpy", "successor_frame");
  LoopJoint loop;
  loop.name = name.get();
  loop.type = Conversion<LoopType>::read(type, "type");
  return added(self, nb::cast<Mechanism&>(self).loops, described(std::move(loop), arguments));
}

nb::object addRod(const nb::object& self, const Text& name, const nb::kwargs& arguments) {
  requireArguments(name, arguments,
                   {"predecessor", "predecessor_point", "successor", "successor_point", "length"});
  Rod rod;
  rod.name = name.get();
  return added(self, nb::cast<Mechanism&>(self).rods, described(std::move(rod), arguments));
}

nb::object addFunction(const nb::object& self, const Text& name, nb::handle coordinates, int rows,
                       const nb::object& phi, const nb::object& jacobian,
                       const nb::object& curvature, nb::handle cut) {
  Function function;
  function.name = name.get();
  function.coordinates = Conversion<std::vector<Coordinate>>::read(coordinates, "coordinates");
  function.rows = rows;
  function.cut = Conversion<std::optional<bool>>::read(cut, "cut");
  keep(self, setCallables(function, phi, jacobian, curvature));
  return added(self, nb::cast<Mechanism&>(self).functions, std::move(function));
}

nb::object formulaOf(const Function& function) {
  try {
    return nb::cast(function.traced().text());
  } catch (const TracingError&) {
    return nb::none();
  }
}

/// A copy that keeps the functions of the original.
template <typename Original>
nb::object copyOf(const Original& original) {
  nb::object copy = nb::cast(Original(original));
  keepFunctions(copy, original);
  return copy;
}

nb::object found(const nb::object& self, auto* part) {
  return part == nullptr ? nb::none() : partOf(self, *part);
}

// --- classes -------------------------------------------------------------------------------------

constexpr const char* kCutText =
    "Whether the loop is left cut (held by multipliers) or embedded; None: whichever is cheaper.";

void bindParts(nb::module_& m) {
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

/// Pickled state of a mechanism.
nb::tuple stateOf(const nb::object& self) {
  const auto& mechanism = nb::cast<Mechanism&>(self);
  nb::list flexibles;
  for (const FlexibleBody& body : mechanism.flexibleBodies) {
    flexibles.append(stateOfFlexible(body));
  }
  return nb::make_tuple(mechanism.name, Conversion<Vector3>::write(mechanism.gravity),
                        mechanism.source, mechanism.warnings, partsOf<&Mechanism::bodies>(self),
                        partsOf<&Mechanism::joints>(self), partsOf<&Mechanism::couplings>(self),
                        partsOf<&Mechanism::loops>(self), partsOf<&Mechanism::rods>(self),
                        partsOf<&Mechanism::functions>(self),
                        Conversion<StartPose>::write(mechanism.startPose), nb::tuple(flexibles),
                        mechanism.frictionSlipSpeed);
}

template <typename Part>
void addAll(std::deque<Part>& parts, nb::handle list) {
  for (const nb::handle part : list) parts.push_back(nb::cast<const Part&>(part));
}

void setState(Mechanism& self, const nb::tuple& state) {
  new (&self) Mechanism(nb::cast<std::string>(state[0]));
  self.gravity = Conversion<Vector3>::read(state[1], "gravity");
  self.source = nb::cast<std::string>(state[2]);
  self.warnings = nb::cast<std::vector<std::string>>(state[3]);
  addAll(self.bodies, state[4]);
  addAll(self.joints, state[5]);
  addAll(self.couplings, state[6]);
  addAll(self.loops, state[7]);
  addAll(self.rods, state[8]);
  addAll(self.functions, state[9]);
  self.startPose = Conversion<StartPose>::read(state[10], "start_pose");
  for (const nb::handle flexible : state[11]) {
    self.flexibleBodies.push_back(flexibleFromState(flexible));
  }
  if (state.size() > 12) self.frictionSlipSpeed = nb::cast<double>(state[12]);
  keepFunctions(nb::find(self), self);
}

#define KEMPE_JOINT_ARGUMENTS                                                       \
  "*, parent: str, child: str, parent_node: str = '', xyz: ArrayLike = (0, 0, 0), " \
  "rpy: ArrayLike = (0, 0, 0), axis: ArrayLike = (0, 0, 1), "                       \
  "axis2: ArrayLike = (0, 1, 0), pitch: float = 0, lower: float = ..., "            \
  "upper: float = ..., max_velocity: float = ..., max_effort: float = ..., "        \
  "damping: float = 0, friction: float = 0, armature: float = 0, "                  \
  "stiffness: float = 0, spring_reference: float = 0, "                             \
  "independent: bool | None = None, actuated: bool | None = None, "                 \
  "origin: tuple[ArrayLike, ArrayLike] = ...) -> Joint"

void bindBuilder(nb::class_<Mechanism>& mechanism) {
  const auto cut = "cut"_a.none() = nb::none();
  mechanism
      .def("add_body", &addBody, "name"_a, "arguments"_a,
           signature("def add_body(self, name: str, *, mass: float = 0, "
                     "center_of_mass: ArrayLike = (0, 0, 0), "
                     "inertia: ArrayLike = (0, 0, 0), "
                     "visuals: Sequence[Shape] = (), "
                     "collisions: Sequence[Shape] = ()) -> Body"),
           "Adds a body. Mass in kg; centre of mass in its frame, metres; inertia about it, kg·m²: "
           "a symmetric 3×3 matrix or its diagonal.")
      .def("add_joint", &addJoint, "name"_a, "type"_a, "arguments"_a,
           signature("def add_joint(self, name: str, type: str, " KEMPE_JOINT_ARGUMENTS),
           R"(Adds a joint of the spanning tree, from `parent` to `child`.

Args:
    parent_node: a node of a flexible parent; the joint's frame is then given in that of the node.
    type: "fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal",
        "spherical", "planar" or "free".
    xyz, rpy: the joint's frame in the parent, in metres, and radians about fixed axes as in URDF;
        or `origin` = (R, p). At position zero it coincides with the child's frame.
    axis: in the joint's frame; need not be of unit length.
    axis2: universal joints only: the second axis, in the child's frame.
    pitch: helical joints only: metres per radian.
    lower, upper, max_velocity, max_effort: limits; none if not given.
    damping, friction: N·m·s/rad and N·m, or N·s/m and N.
    armature: inertia added to the joint's coordinates, kg·m² or kg.
    stiffness, spring_reference: a spring, N·m/rad or N/m, and the position at which it is at rest;
        for joints with one degree of freedom.
    independent: whether its coordinates should be independent; None: yes, if possible.
    actuated: whether a motor drives it; None: see Model.actuated.)")
      .def("add_fixed", &addJointOfType<JointType::Fixed>, "name"_a, "arguments"_a,
           signature("def add_fixed(self, name: str, " KEMPE_JOINT_ARGUMENTS),
           "Adds a fixed joint; arguments as in add_joint.")
      .def("add_revolute", &addJointOfType<JointType::Revolute>, "name"_a, "arguments"_a,
           signature("def add_revolute(self, name: str, " KEMPE_JOINT_ARGUMENTS),
           "Adds a revolute joint; arguments as in add_joint.")
      .def("add_prismatic", &addJointOfType<JointType::Prismatic>, "name"_a, "arguments"_a,
           signature("def add_prismatic(self, name: str, " KEMPE_JOINT_ARGUMENTS),
           "Adds a prismatic joint; arguments as in add_joint.")
      .def("add_coupling", &addCoupling, "name"_a, "terms"_a, nb::kw_only(), "offset"_a = 0.0, cut,
           signature("def add_coupling(self, name: str, terms: Mapping[str | tuple[str, int], "
                     "float], *, offset: float = 0, cut: bool | None = None) -> Coupling"),
           "Adds Σ coefficient · position = offset. `terms` is {joint: coefficient}, where a joint "
           "is given by its name, or by (name, component) if it has several positions.")
      .def("add_gear", &addGear, "name"_a, "driven"_a, "ratio"_a, "driver"_a, nb::kw_only(), cut,
           signature("def add_gear(self, name: str, driven: str | tuple[str, int], ratio: float, "
                     "driver: str | tuple[str, int], *, cut: bool | None = None) -> Coupling"),
           "Adds (position of `driven`) = ratio · (position of `driver`).")
      .def("add_belt", &addBelt, "name"_a, "predecessor"_a, "ratio"_a, "successor"_a, nb::kw_only(),
           cut,
           signature("def add_belt(self, name: str, predecessor: str, ratio: float, "
                     "successor: str, *, cut: bool | None = None) -> Coupling"),
           "Adds ratio · (sum of joint positions down to body `predecessor`) = (the same down to "
           "`successor`), both from their nearest common ancestor. The bodies and the joints above "
           "them must have been added before.")
      .def(
          "add_loop", &addLoop, "name"_a, "type"_a, "arguments"_a,
          signature("def add_loop(self, name: str, type: str, *, predecessor: str, successor: str, "
                    "predecessor_node: str = '', successor_node: str = '', "
                    "predecessor_xyz: ArrayLike = (0, 0, 0), "
                    "predecessor_rpy: ArrayLike = (0, 0, 0), "
                    "successor_xyz: ArrayLike = (0, 0, 0), "
                    "successor_rpy: ArrayLike = (0, 0, 0), "
                    "axis: ArrayLike = (0, 0, 1), "
                    "axis2: ArrayLike = (0, 1, 0), cut: bool | None = None, "
                    "predecessor_frame: tuple[ArrayLike, ArrayLike] = ..., "
                    "successor_frame: tuple[ArrayLike, ArrayLike] = ...) "
                    "-> LoopJoint"),
          "Adds a joint that closes a loop between two bodies: \"revolute\", \"prismatic\", "
          "\"cylindrical\", \"universal\", \"spherical\", \"planar\" or \"fixed\". The frames are "
          "given in their bodies, by xyz and rpy or as (R, p); the axis is the same in both.")
      .def("add_rod", &addRod, "name"_a, "arguments"_a,
           signature(
               "def add_rod(self, name: str, *, predecessor: str, predecessor_point: "
               "ArrayLike, successor: str, successor_point: "
               "ArrayLike, length: float, predecessor_node: str = '', successor_node: str = '', "
               "cut: bool | None = None) -> Rod"),
           "Adds a massless rod with ball ends between points of two bodies, metres.")
      .def("add_function", &addFunction, "name"_a, "coordinates"_a, "rows"_a, "phi"_a,
           nb::kw_only(), "jacobian"_a.none() = nb::none(), "curvature"_a.none() = nb::none(), cut,
           signature("def add_function(self, name: str, coordinates: Sequence[str | "
                     "tuple[str, int]], rows: int, phi: Callable, "
                     "*, jacobian: Callable | None = None, "
                     "curvature: Callable | None = None, cut: bool | None = None) -> "
                     "Function"),
           R"(Adds φ(positions of the named coordinates) = 0.

Args:
    coordinates: joints, by name, or (name, component).
    rows: number of equations.
    phi: phi(q) returns `rows` numbers for an array q of the positions. For derivatives it is called
        with an array of kempe.Jet: use arithmetic and numpy's functions only.
    jacobian: jacobian(q) returns rows × n derivatives; phi is then called with plain numbers only,
        and jacobian is called with jets, unless curvature is given.
    curvature: curvature(q, v) returns the second derivative of phi along v, `rows` numbers.)")
      .def(
          "add_floating_base",
          [](const nb::object& self, const Text& world, const Text& joint) {
            return partOf(self,
                          nb::cast<Mechanism&>(self).addFloatingBase(world.get(), joint.get()));
          },
          signature("def add_floating_base(self, world_name: str = 'world', joint_name: str = "
                    "'floating_base') -> Joint"),
          "world_name"_a = "world", "joint_name"_a = "floating_base",
          "Makes the base floating: adds a body `world` and a free joint from it to the root.");
}

void bindFiles(nb::module_& m) {
  m.def(
      "read_mechanism", [](const PathText& path) { return readMechanism(path.get()); }, "path"_a,
      signature("def read_mechanism(path: Path) -> Mechanism"),
      "Reads a robot without compiling it, to inspect or change it: a .urdf file, or a .yaml file "
      "of loop closures next to one. Raises ModelError.");
  m.def(
      "read_urdf_text",
      [](const Text& text, const Text& source) { return readUrdfText(text.get(), source.get()); },
      "text"_a, "source"_a = "urdf",
      signature("def read_urdf_text(text: str, source: str = 'urdf') -> Mechanism"),
      "Reads the text of a URDF; `source` is its name in error messages. Raises ModelError.");
  m.def(
      "add_closures_from_yaml_text",
      [](Mechanism& mechanism, const Text& text, const Text& source) {
        addClosuresFromYamlText(mechanism, text.get(), source.get());
      },
      "mechanism"_a, "text"_a, "source"_a = "yaml",
      signature("def add_closures_from_yaml_text(mechanism: Mechanism, text: str, source: str = "
                "'yaml') -> None"),
      "Adds the loop closures of YAML text to a mechanism; `source` is its name in error messages. "
      "Raises ModelError.");
  m.def(
      "write_urdf_text",
      [](const Mechanism& mechanism, const std::optional<PathText>& path) {
        return writeUrdfText(mechanism, path ? path->get() : std::filesystem::path());
      },
      "mechanism"_a, "path"_a = nb::none(),
      signature("def write_urdf_text(mechanism: Mechanism, path: Path | None = None) -> str"),
      "The mechanism as URDF with Kempe's tags, numbers in full precision. `path` is the file that "
      "the text is for: relative names of meshes and textures, which count from the folder of "
      "`source`, then count from that of this file. Raises ModelError if the mechanism has a "
      "constraint function, which no file format can store.");
  m.def(
      "write_urdf",
      [](const Mechanism& mechanism, const PathText& path) { writeUrdf(mechanism, path.get()); },
      "mechanism"_a, "path"_a,
      signature("def write_urdf(mechanism: Mechanism, path: Path) -> None"),
      "Writes write_urdf_text() to a file.");
}

}  // namespace

void bindMechanism(nb::module_& m) {
  nb::class_<Mechanism> mechanism(
      m, "Mechanism", nb::type_slots(keeperSlots), nb::is_weak_referenceable(),
      R"(Description of a robot: a graph of named bodies, tree joints and loops.

Elements can be added in any order; the objects that add_… returns are part of the mechanism and can
be changed. Nothing is checked before validate(), which Model calls. `cut` selects whether a loop is
left cut (held by multipliers) or embedded in a cluster; the default is whichever is cheaper.)");
  bindParts(m);
  mechanism
      .def(
          "__init__", [](Mechanism* self, const Text& name) { new (self) Mechanism(name.get()); },
          "name"_a = "mechanism", signature("def __init__(self, name: str = 'mechanism') -> None"))
      .def_prop_rw(
          "name", [](const Mechanism& self) { return self.name; },
          [](Mechanism& self, const Text& name) { self.name = name.get(); })
      .def_prop_rw(
          "gravity", [](const Mechanism& self) { return Conversion<Vector3>::write(self.gravity); },
          [](Mechanism& self, nb::handle gravity) {
            self.gravity = Conversion<Vector3>::read(gravity, "gravity");
          },
          nb::for_getter(signature("def gravity(self) -> NDArray")),
          nb::for_setter(signature("def gravity(self, value: ArrayLike) -> None")), "m/s², (3,).")
      .def_prop_rw(
          "friction_slip_speed", [](const Mechanism& self) { return self.frictionSlipSpeed; },
          [](Mechanism& self, nb::handle speed) {
            self.frictionSlipSpeed = Conversion<double>::read(speed, "friction_slip_speed");
          },
          nb::for_setter(signature("def friction_slip_speed(self, value: float) -> None")),
          "Greater than zero, in rad/s or m/s: the dry friction F of joints is the smooth "
          "F tanh(v / friction_slip_speed), whose slope is part of derivatives. 0: F sign(v).")
      .def_prop_rw(
          "start_pose",
          [](const Mechanism& self) {
            // Read-only, because a change to it would not be seen by the mechanism.
            return nb::module_::import_("types").attr("MappingProxyType")(
                Conversion<StartPose>::write(self.startPose));
          },
          [](Mechanism& self, nb::handle pose) {
            self.startPose = Conversion<StartPose>::read(pose, "start_pose");
          },
          nb::for_getter(signature("def start_pose(self) -> Mapping[str, tuple[float, ...]]")),
          nb::for_setter(
              signature("def start_pose(self, value: Mapping[str, float | ArrayLike]) -> None")),
          "Start of the assembly: {joint: position, or a list if it has several}; joints that are "
          "not named start at zero. Assign a dictionary; the one that is returned is read-only.")
      .def_rw("source", &Mechanism::source, "File that it was read from; empty: none.")
      .def_rw("warnings", &Mechanism::warnings, "Warnings from reading it.")
      .def_prop_ro("bodies", &partsOf<&Mechanism::bodies>,
                   signature("def bodies(self) -> tuple[Body, ...]"))
      .def_prop_ro("joints", &partsOf<&Mechanism::joints>,
                   signature("def joints(self) -> tuple[Joint, ...]"))
      .def_prop_ro("couplings", &partsOf<&Mechanism::couplings>,
                   signature("def couplings(self) -> tuple[Coupling, ...]"))
      .def_prop_ro("loops", &partsOf<&Mechanism::loops>,
                   signature("def loops(self) -> tuple[LoopJoint, ...]"))
      .def_prop_ro("rods", &partsOf<&Mechanism::rods>,
                   signature("def rods(self) -> tuple[Rod, ...]"))
      .def_prop_ro("functions", &partsOf<&Mechanism::functions>,
                   signature("def functions(self) -> tuple[Function, ...]"))
      .def(
          "find_body",
          [](const nb::object& self, const Text& name) {
            return found(self, nb::cast<Mechanism&>(self).findBody(name.get()));
          },
          "name"_a, signature("def find_body(self, name: str) -> Body | None"))
      .def(
          "find_joint",
          [](const nb::object& self, const Text& name) {
            return found(self, nb::cast<Mechanism&>(self).findJoint(name.get()));
          },
          "name"_a, signature("def find_joint(self, name: str) -> Joint | None"))
      .def(
          "joint_above",
          [](const nb::object& self, const Text& body) {
            return found(self, nb::cast<Mechanism&>(self).jointAbove(body.get()));
          },
          "body"_a, signature("def joint_above(self, body: str) -> Joint | None"),
          "The joint above a body; None for the root.")
      .def("validate", &Mechanism::validate,
           "Checks everything that does not need assembly: names, the tree, numbers. Raises "
           "ModelError at the first error; returns warnings about suspicious values.")
      .def("__repr__",
           [](const Mechanism& self) {
             return "<kempe.Mechanism \"" + self.name +
                    "\": " + std::to_string(self.bodies.size()) + " bodies, " +
                    std::to_string(self.joints.size()) + " joints, " +
                    std::to_string(self.couplings.size() + self.loops.size() + self.rods.size() +
                                   self.functions.size()) +
                    " loops>";
           })
      .def("__copy__", &copyOf<Mechanism>, signature("def __copy__(self) -> Mechanism"))
      .def(
          "__deepcopy__", [](const Mechanism& self, nb::handle) { return copyOf(self); }, "memo"_a,
          signature("def __deepcopy__(self, memo: typing.Any) -> Mechanism"))
      .def("__getstate__", &stateOf, signature("def __getstate__(self) -> State"))
      .def("__setstate__", &setState, signature("def __setstate__(self, state: State) -> None"));
  bindBuilder(mechanism);
  bindFlexible(m, mechanism);
  bindFiles(m);
}

}  // namespace kempe::python
