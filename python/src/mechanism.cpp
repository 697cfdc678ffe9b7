#include "kempe/mechanism.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "conversions.hpp"
#include "flexible.hpp"
#include "functions.hpp"
#include "keeping.hpp"
#include "keywords.hpp"
#include "mechanism_parts.hpp"
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

nb::object found(const nb::object& self, auto* part) {
  return part == nullptr ? nb::none() : partOf(self, *part);
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

}  // namespace

void bindMechanism(nb::module_& m) {
  nb::class_<Mechanism> mechanism(
      m, "Mechanism", nb::type_slots(keeperSlots), nb::is_weak_referenceable(),
      R"(Description of a robot: a graph of named bodies, tree joints and loops.

Elements can be added in any order; the objects that add_… returns are part of the mechanism and can
be changed. Nothing is checked before validate(), which Model calls. `cut` selects whether a loop is
left cut (held by multipliers) or embedded in a cluster; the default is whichever is cheaper.)");
  bindMechanismParts(m);
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
  bindRobotFiles(m);
}

}  // namespace kempe::python
