#include "kempe/constraints.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "conversions.hpp"
#include "evaluate.hpp"
#include "external_forces.hpp"
#include "functions.hpp"
#include "keeping.hpp"
#include "keywords.hpp"
#include "py_constraints.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

// --- adding --------------------------------------------------------------------------------------

void connect(PyConstraints& self, const std::string& name, nb::handle type, nb::kwargs arguments) {
  requireArguments(name, arguments, {"successor"});
  takePose(arguments, "predecessor_xyz", "predecessor_rpy", "predecessor_frame");
  takePose(arguments, "successor_xyz", "successor_rpy", "successor_frame");
  LoopJoint joint;
  joint.name = name;
  joint.type = Conversion<LoopType>::read(type, "type");
  self.change().add(described(std::move(joint), arguments));
}

void addRod(PyConstraints& self, const std::string& name, const nb::kwargs& arguments) {
  requireArguments(name, arguments, {"successor", "successor_point", "length"});
  Rod rod;
  rod.name = name;
  self.change().add(described(std::move(rod), arguments));
}

void couple(PyConstraints& self, const std::string& name, nb::handle terms, nb::handle offset) {
  self.change().add(Coupling{.name = name,
                             .terms = Conversion<std::vector<Coupling::Term>>::read(terms, "terms"),
                             .offset = Conversion<double>::read(offset, "offset")});
}

void addFunction(const nb::object& self, const std::string& name, nb::handle coordinates, int rows,
                 const nb::object& phi) {
  TimedFunction function;
  function.name = name;
  function.coordinates = Conversion<std::vector<Coordinate>>::read(coordinates, "coordinates");
  function.rows = rows;
  const nb::object owner = setCallable(function, phi);
  nb::cast<PyConstraints&>(self).change().add(std::move(function));
  keep(self, owner);
}

void prescribe(const nb::object& self, const std::string& name, nb::handle joint,
               const nb::object& motion) {
  const auto [function, owner] = motionFrom(name, motion);
  nb::cast<PyConstraints&>(self).change().prescribe(
      name, Conversion<Coordinate>::read(joint, "joint"), function);
  keep(self, owner);
}

void lock(PyConstraints& self, const std::string& name, const std::string& joint, nb::handle q) {
  const auto& model = nb::cast<const PyModel&>(self.model());
  Inputs inputs({argumentQ(model, q)}, Inputs::Precision::Double);
  if (inputs.isBatch()) {
    throw std::invalid_argument("q: a joint is locked at one configuration, (nq,)");
  }
  inputs.makeRowsContiguous();
  self.change().lock(name, joint, inputs.row<double>(0, 0));
}

Pose poseFrom(nb::handle xyz, nb::handle rpy, const char* first, const char* second) {
  return at(Conversion<Vector3>::read(xyz, first), Conversion<Vector3>::read(rpy, second));
}

void addKnifeEdge(PyConstraints& self, const std::string& name, const std::string& body,
                  nb::handle xyz, nb::handle rpy) {
  self.change().add(
      KnifeEdge{.name = name, .body = body, .frame = poseFrom(xyz, rpy, "xyz", "rpy")});
}

void roll(PyConstraints& self, const std::string& name, const std::string& body, double radius,
          nb::handle center, nb::handle axle, bool ball, const std::string& ground,
          nb::handle planeXyz, nb::handle planeRpy, bool staysOnPlane) {
  self.change().add(Rolling{.name = name,
                            .body = body,
                            .center = Conversion<Vector3>::read(center, "center"),
                            .axle = Conversion<Vector3>::read(axle, "axle"),
                            .radius = radius,
                            .ball = ball,
                            .ground = ground,
                            .plane = poseFrom(planeXyz, planeRpy, "plane_xyz", "plane_rpy"),
                            .staysOnPlane = staysOnPlane});
}

nb::object rowsOf(const PyConstraints& self, const std::string& name) {
  const int number = self.numberOf(name), first = self.get().firstRow(number);
  return nb::steal(
      PySlice_New(nb::int_(first).ptr(), nb::int_(first + self.get().rows(number)).ptr(), nullptr));
}

std::vector<std::string> namesOf(const PyConstraints& self) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(self.get().count()));
  for (int i = 0; i < self.get().count(); ++i) names.push_back(self.get().name(i));
  return names;
}

std::string summary(const PyConstraints& self) {
  std::string text = "<kempe.Constraints:";
  for (int i = 0; i < self.get().count(); ++i) {
    text += (i == 0 ? " " : ", ") + self.get().name(i) + (self.get().enabled(i) ? "" : " (off)");
  }
  return text + (self.get().count() == 0 ? " none>" : ">");
}

}  // namespace

double timeFrom(nb::handle time) {
  const Py_ssize_t count = nb::isinstance<nb::str>(time) ? -1 : PyObject_Length(time.ptr());
  PyErr_Clear();  // numbers have no length
  if (count >= 0 && count != 1) {
    throw std::invalid_argument("time: one number for all states is needed, got " +
                                std::to_string(count) +
                                " numbers. Call the function once for each time.");
  }
  return Conversion<double>::read(time, "time");
}

namespace {

// --- algorithms ----------------------------------------------------------------------------------

constexpr auto kInDouble = Inputs::Precision::Double;

/// Accelerations under constraints, with multipliers, rank and residual of the rows.
struct ConstrainedMotion {
  nb::object a, multipliers, rank, inconsistency;
};

nb::object oneOrAll(const Inputs& inputs, const auto& values, const char* type) {
  const nb::object array = nb::module_::import_("numpy").attr("array")(nb::cast(values), type);
  return inputs.isBatch() ? array : array[0];
}

ConstrainedMotion constrainedForwardDynamicsOf(const PyModel& self, nb::handle q, nb::handle v,
                                               nb::handle tau, const PyConstraints& constraints,
                                               nb::handle timeGiven, nb::handle external,
                                               const std::string& reference) {
  const double time = timeFrom(timeGiven);
  const Model& model = self.model();
  const std::shared_ptr<const Constraints> now = constraints.now();
  Inputs inputs{argumentQ(self, q), argumentV(self, v), argumentV(self, tau, "tau")};
  const ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const Result a(inputs, {model.nv()}), multipliers(inputs, {now->rows()});
  std::vector<ConstraintReport> reports(static_cast<std::size_t>(inputs.states()));
  evaluate(
      self, inputs, a,
      [&](auto& data, const auto& x, auto* y, Eigen::Index state) {
        using T = decltype(scalarOf(data));
        const std::vector<FrameForce> own = forces.of(state);
        constrainedForwardDynamics(model, data, *now, time, x[0], x[1], x[2],
                                   vectorAt(y, model.nv()),
                                   vectorAt(multipliers.row<T>(state), now->rows()),
                                   {.external = own}, &reports[static_cast<std::size_t>(state)]);
      },
      [&](auto& batch, const auto& x, const auto& y) {
        using T = decltype(scalarOf(batch));
        std::vector<T> wrenches;
        constrainedForwardDynamics(model, batch, *now, time, x[0], x[1], x[2], y,
                                   multipliers.part<T>(x.first, x.count),
                                   forces.part(x.first, x.count, wrenches),
                                   std::span(reports).subspan(static_cast<std::size_t>(x.first),
                                                              static_cast<std::size_t>(x.count)));
      });
  std::vector<int> ranks;
  std::vector<double> inconsistencies;
  for (const ConstraintReport& report : reports) {
    ranks.push_back(report.rank);
    inconsistencies.push_back(report.inconsistency);
  }
  return {a.array(), multipliers.array(), oneOrAll(inputs, ranks, "int64"),
          oneOrAll(inputs, inconsistencies, "float64")};
}

/// An array with one number per constraint row, or of `size` numbers: `one(data, x, y)`.
template <typename One>
nb::object inDouble(const PyModel& self, Inputs inputs, Eigen::Index size, const One& one) {
  const Result result(inputs, {size});
  evaluateIn<double>(self, inputs, result, [&](Data& data, const auto& x, double* y, Eigen::Index) {
    one(data, x, vectorAt(y, size));
  });
  return result.array();
}

nb::object constraintErrorsOf(const PyModel& self, nb::handle q, const PyConstraints& constraints,
                              nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const auto now = constraints.now();
  return inDouble(self, Inputs({argumentQ(self, q)}, kInDouble), now->rows(),
                  [&](Data& data, const auto& x, auto errors) {
                    constraintErrors(self.model(), data, *now, time, x[0], errors);
                  });
}

nb::object constraintVelocityErrorsOf(const PyModel& self, nb::handle q, nb::handle v,
                                      const PyConstraints& constraints, nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const auto now = constraints.now();
  return inDouble(self, Inputs({argumentQ(self, q), argumentV(self, v)}, kInDouble), now->rows(),
                  [&](Data& data, const auto& x, auto errors) {
                    constraintVelocityErrors(self.model(), data, *now, time, x[0], x[1], errors);
                  });
}

nb::object constraintRowsOf(const PyModel& self, nb::handle q, const PyConstraints& constraints,
                            nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const Model& model = self.model();
  const auto now = constraints.now();
  Inputs inputs({argumentQ(self, q)}, kInDouble);
  const Result result(inputs, {now->rows(), model.nv()});
  evaluateIn<double>(self, inputs, result, [&](Data& data, const auto& x, double* K, Eigen::Index) {
    writeRowByRow(K, now->rows(), model.nv(),
                  [&](auto& matrix) { constraintRows(model, data, *now, time, x[0], matrix); });
  });
  return result.array();
}

nb::object projectedPositions(const PyModel& self, nb::handle q, const PyConstraints& constraints,
                              nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const auto now = constraints.now();
  return inDouble(self, Inputs({argumentQ(self, q)}, kInDouble), self.model().nq(),
                  [&](Data& data, const auto& x, auto closed) {
                    projectPositions(self.model(), data, *now, time, x[0], closed);
                  });
}

nb::tuple projectedVelocities(const PyModel& self, nb::handle q, nb::handle v,
                              const PyConstraints& constraints, nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const Model& model = self.model();
  const auto now = constraints.now();
  Inputs inputs({argumentQ(self, q), argumentV(self, v)}, kInDouble);
  const Result after(inputs, {model.nv()}), impulses(inputs, {now->rows()});
  evaluateIn<double>(
      self, inputs, after, [&](Data& data, const auto& x, double* y, Eigen::Index state) {
        projectVelocities(model, data, *now, time, x[0], x[1], vectorAt(y, model.nv()),
                          vectorAt(impulses.row<double>(state), now->rows()));
      });
  return nb::make_tuple(after.array(), impulses.array());
}

nb::object constraintWrenchOf(const PyModel& self, nb::handle q, nb::handle multipliers,
                              const PyConstraints& constraints, const std::string& name,
                              nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const auto now = constraints.now();
  const int number = constraints.numberOf(name);
  return inDouble(
      self,
      Inputs({argumentQ(self, q), {multipliers, "multipliers", now->rows(), "constraints.rows"}},
             kInDouble),
      6, [&](Data& data, const auto& x, auto wrench) {
        const std::array<double, 6> found =
            constraintWrench(self.model(), data, *now, number, time, x[0], x[1]);
        std::copy(found.begin(), found.end(), wrench.data());
      });
}

/// A copy that keeps the functions of the original.
nb::object copyOf(const nb::object& self) {
  nb::object copy = nb::cast(PyConstraints(nb::cast<const PyConstraints&>(self)));
  keepAllOf(copy, self);
  return copy;
}

int visitConstraints(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<PyConstraints>(self)->model().ptr());
  return visitKept(self, visit, arg);
}

PyType_Slot constraintsSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitConstraints)},
                                  {Py_tp_clear, reinterpret_cast<void*>(&dropKept)},
                                  {0, nullptr}};

// --- classes -------------------------------------------------------------------------------------

void bindAdding(nb::class_<PyConstraints>& constraints) {
  const auto origin = nb::make_tuple(0, 0, 0);
  constraints
      .def("connect", &connect, "name"_a, "type"_a, "arguments"_a,
           signature("def connect(self, name: str, type: str, *, successor: str, "
                     "predecessor: str = '', predecessor_xyz: ArrayLike = (0, 0, 0), "
                     "predecessor_rpy: ArrayLike = (0, 0, 0), "
                     "successor_xyz: ArrayLike = (0, 0, 0), "
                     "successor_rpy: ArrayLike = (0, 0, 0), axis: ArrayLike = (0, 0, 1), "
                     "axis2: ArrayLike = (0, 1, 0), "
                     "predecessor_frame: tuple[ArrayLike, ArrayLike] = ..., "
                     "successor_frame: tuple[ArrayLike, ArrayLike] = ...) -> None"),
           "Connects two frames by a joint: for instance a hand that grips (\"fixed\") or a foot "
           "that does not slip (\"spherical\"). Arguments as in Mechanism.add_loop; the default "
           "predecessor is the root.")
      .def("rod", &addRod, "name"_a, "arguments"_a,
           signature("def rod(self, name: str, *, successor: str, successor_point: ArrayLike, "
                     "length: float, predecessor: str = '', "
                     "predecessor_point: ArrayLike = (0, 0, 0)) -> None"),
           "Keeps two points at a fixed distance; the default predecessor is the root.")
      .def("couple", &couple, "name"_a, "terms"_a.none(), nb::kw_only(), "offset"_a = 0.0,
           signature("def couple(self, name: str, terms: Mapping[str | tuple[str, int], float], *, "
                     "offset: float = 0) -> None"),
           "Σ coefficient · position = offset, with terms {joint: coefficient}.")
      .def("function", &addFunction, "name"_a, "coordinates"_a.none(), "rows"_a, "phi"_a.none(),
           signature("def function(self, name: str, coordinates: Sequence[str | tuple[str, int]], "
                     "rows: int, phi: Callable) -> None"),
           "φ(positions of the named coordinates, t) = 0. phi(q, t) returns `rows` numbers; it is "
           "called with an array of kempe.Jet and a Jet: use arithmetic and numpy's functions "
           "only.")
      .def("prescribe", &prescribe, "name"_a, "joint"_a.none(), "motion"_a.none(),
           signature("def prescribe(self, name: str, joint: str | tuple[str, int], "
                     "motion: Callable) -> None"),
           "Prescribes the motion of a joint, or of (joint, component): motion(t) returns "
           "(position, velocity, acceleration). The multiplier is the force that this requires.")
      .def("lock", &lock, "name"_a, "joint"_a, "q"_a.none(),
           signature("def lock(self, name: str, joint: str, q: ArrayLike) -> None"),
           "Locks all degrees of freedom of a joint at their positions in q.")
      .def("knife_edge", &addKnifeEdge, "name"_a, "body"_a, nb::kw_only(), "xyz"_a = origin,
           "rpy"_a = origin,
           signature("def knife_edge(self, name: str, body: str, *, xyz: ArrayLike = (0, 0, 0), "
                     "rpy: ArrayLike = (0, 0, 0)) -> None"),
           "A skate or a blade: the origin of a frame of the body does not move along the frame's "
           "x axis.")
      .def("roll", &roll, "name"_a, "body"_a, "radius"_a, nb::kw_only(), "center"_a = origin,
           "axle"_a = nb::make_tuple(0, 1, 0), "ball"_a = false, "ground"_a = "",
           "plane_xyz"_a = origin, "plane_rpy"_a = origin, "stays_on_plane"_a = true,
           signature("def roll(self, name: str, body: str, radius: float, *, center: ArrayLike = "
                     "(0, 0, 0), axle: ArrayLike = (0, 1, 0), ball: bool = False, ground: str = "
                     "'', plane_xyz: ArrayLike = (0, 0, 0), plane_rpy: ArrayLike = (0, 0, 0), "
                     "stays_on_plane: bool = True) -> None"),
           R"(A wheel or a ball that rolls on a plane without slipping.

Args:
    center, axle: in the wheel's frame; `axle` is not used for a ball.
    ground: the body that carries the plane; empty: the root.
    plane_xyz, plane_rpy: a frame of the ground, whose z axis is the plane's normal.
    stays_on_plane: also keeps the rim in contact with the plane.)");
}

void bindClass(nb::module_& m) {
  nb::class_<PyConstraints> constraints(m, "Constraints", nb::type_slots(constraintsSlots),
                                        nb::is_weak_referenceable(),
                                        R"(Constraints on top of a model, held by multipliers.

For constraints that are switched on and off during a run, depend on time, or restrict velocities
only. Bodies, joints and coordinates are named as in the mechanism. Multipliers, errors and impulses
have one number for each row of all constraints, in the order of adding; rows that are off are zero.
Invalid arguments raise ValueError, which names them.)");
  constraints.def(
      "__init__",
      [](PyConstraints* self, const nb::object& model) {
        PyModel* given = nullptr;
        if (!nb::try_cast(model, given) || given == nullptr) {
          const std::string text = "model: expected a kempe.Model, got " + shown(model);
          throw nb::type_error(text.c_str());
        }
        new (self) PyConstraints(model);
      },
      "model"_a, signature("def __init__(self, model: Model) -> None"));
  bindAdding(constraints);
  constraints
      .def(
          "enable",
          [](PyConstraints& self, const std::string& name, bool on) {
            self.change().enable(self.numberOf(name), on);
          },
          "name"_a, "on"_a = true, "Switches a constraint on (the initial state) or off.")
      .def(
          "disable",
          [](PyConstraints& self, const std::string& name) {
            self.change().enable(self.numberOf(name), false);
          },
          "name"_a, "Switches a constraint off.")
      .def(
          "enabled",
          [](const PyConstraints& self, const std::string& name) {
            return self.get().enabled(self.numberOf(name));
          },
          "name"_a)
      .def(
          "stabilize", [](PyConstraints& self, double rate) { self.change().stabilize(rate); },
          "rate"_a,
          "Makes errors φ decay as φ̈ + 2 rate φ̇ + rate² φ = 0, and errors of velocity "
          "constraints at the same rate (Baumgarte). In 1/s; 0, the initial value: no "
          "stabilisation.")
      .def_prop_ro("stabilization",
                   [](const PyConstraints& self) { return self.get().stabilization(); })
      .def_prop_ro("model", &PyConstraints::model, signature("def model(self) -> Model"))
      .def_prop_ro("names", &namesOf, "Names of the constraints, in the order of adding.")
      .def_prop_ro(
          "rows", [](const PyConstraints& self) { return self.get().rows(); },
          "Number of rows of all constraints, on or off.")
      .def("rows_of", &rowsOf, "name"_a, signature("def rows_of(self, name: str) -> slice"),
           "Position of a constraint's rows among all rows.")
      .def("__len__", [](const PyConstraints& self) { return self.get().count(); })
      .def("__contains__", [](const PyConstraints& self,
                              const std::string& name) { return self.get().find(name) >= 0; })
      .def("__copy__", &copyOf, signature("def __copy__(self) -> Constraints"))
      .def(
          "__deepcopy__", [](const nb::object& self, nb::handle) { return copyOf(self); }, "memo"_a,
          signature("def __deepcopy__(self, memo: typing.Any) -> Constraints"))
      .def("__repr__", &summary);

  nb::class_<ConstrainedMotion>(
      m, "ConstrainedMotion",
      "Accelerations under constraints, with the multipliers. Can be unpacked: a, multipliers = …")
      .def_ro("a", &ConstrainedMotion::a, nb::for_getter(signature("def a(self) -> NDArray")),
              "(nv,) or (N, nv).")
      .def_ro("multipliers", &ConstrainedMotion::multipliers,
              nb::for_getter(signature("def multipliers(self) -> NDArray")),
              "(constraints.rows,) or (N, …): Kᵀ λ are the forces that hold the constraints.")
      .def_ro("rank", &ConstrainedMotion::rank,
              nb::for_getter(signature("def rank(self) -> typing.Any")),
              "Number of independent rows in this state; (N,) for N states.")
      .def_ro(
          "inconsistency", &ConstrainedMotion::inconsistency,
          nb::for_getter(signature("def inconsistency(self) -> typing.Any")),
          "Largest acceleration error that remains where rows contradict each other; (N,) for N "
          "states.")
      .def(
          "__iter__",
          [](const ConstrainedMotion& self) {
            return nb::iter(nb::make_tuple(self.a, self.multipliers));
          },
          signature("def __iter__(self) -> collections.abc.Iterator[NDArray]"))
      .def("__repr__", [](const ConstrainedMotion& self) {
        return nb::str(nb::str("<kempe.ConstrainedMotion: a {}, multipliers {}, rank {}>")
                           .attr("format")(self.a, self.multipliers, self.rank));
      });
}

}  // namespace

void bindConstraints(nb::module_& m, ModelClass& model) {
  bindClass(m);
  const auto time = "time"_a = 0.0;
  model
      .def("constrained_forward_dynamics", &constrainedForwardDynamicsOf,
           signature("def constrained_forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: "
                     "ArrayLike, constraints: Constraints, time: float = 0.0, external: Forces = "
                     "None, external_reference: str = 'local_world_aligned') -> ConstrainedMotion"),
           "q"_a.none(), "v"_a.none(), "tau"_a.none(), "constraints"_a, time,
           "external"_a.none() = nb::none(), "external_reference"_a = "local_world_aligned",
           R"(Forward dynamics under constraints: accelerations and constraint multipliers.

If rows are redundant, the multipliers are those of least norm.

Args:
    q: configuration, (nq,) or (N, nq).
    v: velocities, (nv,) or (N, nv); should satisfy the constraints (see project_velocities).
    tau: forces, (nv,) or (N, nv), in N·m or N.
    time: t of functions and motions, in seconds.
    external, external_reference: as in forward_dynamics.

Returns:
    a and multipliers, with the rank of the rows.

Raises:
    ValueError: wrong sizes, numbers that are not finite, constraints of another model.
    SingularityError: a loop is at a singular position, or a constraint is not defined.)")
      .def("constraint_errors", &constraintErrorsOf,
           signature("def constraint_errors(self, q: ArrayLike, constraints: Constraints, time: "
                     "float = 0.0) -> NDArray"),
           "q"_a.none(), "constraints"_a, time,
           "φ of each row, (rows,) or (N, rows), in metres or radians; 0 for rows that constrain "
           "velocities only.")
      .def("constraint_velocity_errors", &constraintVelocityErrorsOf,
           signature("def constraint_velocity_errors(self, q: ArrayLike, v: ArrayLike, "
                     "constraints: Constraints, time: float = 0.0) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "constraints"_a, time,
           "φ̇ of each row, (rows,) or (N, rows).")
      .def("constraint_rows", &constraintRowsOf,
           signature("def constraint_rows(self, q: ArrayLike, constraints: Constraints, time: "
                     "float = 0.0) -> NDArray"),
           "q"_a.none(), "constraints"_a, time,
           "K of φ̇ = K v + ∂φ/∂t, (rows, nv) or (N, rows, nv).")
      .def("project_positions", &projectedPositions,
           signature("def project_positions(self, q: ArrayLike, constraints: Constraints, time: "
                     "float = 0.0) -> NDArray"),
           "q"_a.none(), "constraints"_a, time,
           "A configuration near q that satisfies the constraints, (nq,) or (N, nq), found by "
           "Gauss-Newton steps of least mass-weighted norm. Raises AssemblyError if none is found.")
      .def("project_velocities", &projectedVelocities,
           signature("def project_velocities(self, q: ArrayLike, v: ArrayLike, constraints: "
                     "Constraints, time: float = 0.0) -> tuple[NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "constraints"_a, time,
           "The velocity after the constraints engage, and their impulses Λ: v + H⁻¹ Kᵀ Λ with "
           "φ̇ = 0, (nv,) and (rows,), or (N, …).")
      .def("constraint_wrench", &constraintWrenchOf,
           signature("def constraint_wrench(self, q: ArrayLike, multipliers: ArrayLike, "
                     "constraints: Constraints, name: str, time: float = 0.0) -> NDArray"),
           "q"_a.none(), "multipliers"_a.none(), "constraints"_a, "name"_a, time,
           "The wrench that a constraint between two bodies applies to the second one (the "
           "successor, the blade, the wheel), (6,) or (N, 6): [force; moment] at the origin of "
           "its frame (rolling: at the contact point), axes of the world. If `multipliers` are "
           "impulses, so is the result.");
}

}  // namespace kempe::python
