#include "kempe/model.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "bindings.hpp"
#include "choices.hpp"
#include "conversions.hpp"
#include "functions.hpp"
#include "keeping.hpp"
#include "kempe/instruction_set.hpp"
#include "kempe/io.hpp"
#include "kempe/robots.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

std::atomic<int> threads = 0;
constexpr int kMostThreads = 1024;  // each has memory of its own

int machineThreads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string compilerName() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "an unknown compiler";
#endif
}

Eigen::Vector3d gravityOf(const PyModel& self) {
  const Vector3& g = self.model().gravity();
  return {g.x, g.y, g.z};
}

std::string printed(const PyModel& self) {
  std::ostringstream out;
  out << self.model();
  return out.str();
}

std::string summary(const PyModel& self) {
  const Model& model = self.model();
  return "<kempe.Model \"" + model.name() + "\": nq " + std::to_string(model.nq()) + ", nv " +
         std::to_string(model.nv()) + ", " + std::to_string(model.bodyNames().size()) + " bodies>";
}

Model compiled(const Mechanism& mechanism, const ModelOptions& options) {
  checkDerivatives(mechanism);
  const nb::gil_scoped_release unlocked;
  return Model(mechanism, options);
}

PyModel loadFile(const PathText& path, bool floatingBase, bool foldRotors, bool mergeGimbals,
                 nb::handle start, nb::handle frictionSlipSpeed) {
  LoadOptions options{.floatingBase = floatingBase,
                      .startPose = {},
                      .model = {.foldRotors = foldRotors, .mergeGimbals = mergeGimbals},
                      .frictionSlipSpeed = {}};
  if (!start.is_none()) options.startPose = Conversion<StartPose>::read(start, "start");
  if (!frictionSlipSpeed.is_none()) {
    options.frictionSlipSpeed = Conversion<double>::read(frictionSlipSpeed, "friction_slip_speed");
  }
  const std::filesystem::path& file = path.get();
  const nb::gil_scoped_release unlocked;
  return PyModel(load(file, options));
}

/// A model that keeps its functions.
nb::object wrapped(PyModel model) {
  nb::object object = nb::cast(std::move(model));
  keepFunctions(object, nb::cast<const PyModel&>(object).model().mechanism());
  return object;
}

/// A copy of a model's mechanism that keeps its functions.
nb::object mechanismOf(const PyModel& self) {
  nb::object mechanism = nb::cast(Mechanism(self.model().mechanism()));
  keepFunctions(mechanism, self.model().mechanism());
  return mechanism;
}

/// A property that is a member function of Model.
template <auto member>
auto get() {
  return [](const PyModel& self) { return (self.model().*member)(); };
}

/// Pickled state of a cluster.
using Names = std::vector<std::string>;
using ClusterState = std::tuple<Names, Names, Names, Names, std::string, Names, int, int, bool>;

void bindCluster(nb::module_& m) {
  nb::class_<ClusterInfo>(
      m, "Cluster",
      "A set of bodies connected by loops, or a single body: the unit of the recursions.")
      .def_ro("bodies", &ClusterInfo::bodies)
      .def_ro("joints", &ClusterInfo::joints)
      .def_ro("loops", &ClusterInfo::loops, "Loop joints, rods, couplings and functions.")
      .def_ro("independent", &ClusterInfo::independent,
              "Names of its independent velocity coordinates.")
      .def_ro("output_body", &ClusterInfo::outputBody,
              "The body outside the cluster that carries it.")
      .def_ro("rotor_joints", &ClusterInfo::rotorJoints,
              "Joints at which joint_forces(actuation=\"rotors\") applies forces; empty if none.")
      .def_ro("mobility", &ClusterInfo::mobility, "Number of independent velocities.")
      .def_ro("redundant_rows", &ClusterInfo::redundantRows,
              "Number of constraint rows that the others imply.")
      .def_ro("implicit", &ClusterInfo::implicit,
              "Whether its part of q holds all joint positions, not only the independent ones.")
      .def("__copy__", [](const ClusterInfo& self) { return ClusterInfo(self); })
      .def(
          "__deepcopy__", [](const ClusterInfo& self, nb::handle) { return ClusterInfo(self); },
          "memo"_a)
      .def("__getstate__",
           [](const ClusterInfo& self) {
             return ClusterState(self.bodies, self.joints, self.loops, self.independent,
                                 self.outputBody, self.rotorJoints, self.mobility,
                                 self.redundantRows, self.implicit);
           })
      .def("__setstate__",
           [](ClusterInfo& self, const ClusterState& state) {
             std::apply([&](const auto&... parts) { new (&self) ClusterInfo{parts...}; }, state);
           })
      .def("__repr__", [](const ClusterInfo& self) {
        std::string text = "<kempe.Cluster of";
        for (const std::string& body : self.bodies) text += " " + body;
        return text + ": mobility " + std::to_string(self.mobility) + ">";
      });
}

/// Pickled state of a loop.
using LoopState = std::tuple<std::string, int, bool, int, int, int, int, bool, Names, Names>;

void bindLoop(nb::module_& m) {
  nb::class_<LoopInfo>(m, "Loop",
                       "A loop joint, rod, coupling or function, and the indices of its rows.")
      .def_ro("name", &LoopInfo::name)
      .def_prop_ro(
          "kind", [](const LoopInfo& self) { return wordFor(self.kind); },
          "\"coupling\", \"joint\", \"rod\" or \"function\".")
      .def_ro("cut", &LoopInfo::cut,
              "Whether it is left cut: not in a cluster, but held by multipliers.")
      .def_ro("first_row", &LoopInfo::firstRow, "Index of its first row in loop_residual().")
      .def_ro("rows", &LoopInfo::rows)
      .def_ro("force_is_unique", &LoopInfo::forceIsUnique,
              "Whether the motion determines the forces that it transmits. If not, the loop or one "
              "that it shares bodies with is redundant, and loop_forces() returns the forces of "
              "least norm.")
      .def_ro("bodies", &LoopInfo::bodies, "Loop joints and rods: predecessor and successor.")
      .def_ro("coordinates", &LoopInfo::coordinates,
              "Couplings and functions: the coordinates that its force acts along.")
      .def("__copy__", [](const LoopInfo& self) { return LoopInfo(self); })
      .def(
          "__deepcopy__", [](const LoopInfo& self, nb::handle) { return LoopInfo(self); }, "memo"_a)
      .def("__getstate__",
           [](const LoopInfo& self) {
             return LoopState(self.name, static_cast<int>(self.kind), self.cut, self.firstRow,
                              self.rows, self.firstForce, self.forces, self.forceIsUnique,
                              self.bodies, self.coordinates);
           })
      .def("__setstate__",
           [](LoopInfo& self, const LoopState& state) {
             std::apply(
                 [&](const std::string& name, int kind, const auto&... parts) {
                   new (&self) LoopInfo{name, static_cast<LoopKind>(kind), parts...};
                 },
                 state);
           })
      .def("__repr__", [](const LoopInfo& self) {
        return "<kempe.Loop \"" + self.name + "\": " + wordFor(self.kind) + ">";
      });
}

void bindThreads(nb::module_& m) {
  m.def(
      "set_num_threads",
      [](int count) {
        if (count < 0 || count > kMostThreads) {
          throw std::invalid_argument("count: expected 1 to " + std::to_string(kMostThreads) +
                                      " threads, or 0 for as many as the machine has; got " +
                                      std::to_string(count));
        }
        useThreads(count);
      },
      "count"_a, "Sets the number of threads for batches; 0: as many as the machine has.");
  m.def("get_num_threads", &threadsInUse, "Number of threads for batches.");
  m.def("compiler", &compilerName, "The compiler that built the package.");
  m.def("instruction_set", &instructionSet,
        "The instruction set that the algorithms use on this machine: \"baseline\", \"v3\" (AVX2, "
        "FMA) or \"v4\" (AVX-512). The environment variable KEMPE_ISA selects another.");
}

}  // namespace

int threadsInUse() {
  const int chosen = threads;
  return chosen == 0 ? machineThreads() : chosen;
}
void useThreads(int count) {
  threads = count;
}

void bindModel(nb::module_& m) {
  bindCluster(m);
  bindLoop(m);
  bindThreads(m);

  using State = std::tuple<Mechanism, bool, bool>;
  ModelClass model(m, "Model", nb::type_slots(keeperSlots), nb::is_weak_referenceable(),
                   R"(A mechanism compiled for computation.

Immutable; any number of threads may use one model. Algorithms take arrays of one state, (n,), or of
N states, (N, n), and then return results with a leading dimension N; single states are broadcast.
If all arrays are float32, computations are in single precision and results are float32. Arguments
of a wrong shape or type raise ValueError, which names them.)");
  model
      .def(
          "__init__",
          [](PyModel* self, const Mechanism& mechanism, bool foldRotors, bool mergeGimbals) {
            new (self) PyModel(
                compiled(mechanism, {.foldRotors = foldRotors, .mergeGimbals = mergeGimbals}));
            keepFunctions(nb::find(self), mechanism);
          },
          "mechanism"_a, nb::kw_only(), "fold_rotors"_a = true, "merge_gimbals"_a = false,
          "Compiles a mechanism. With fold_rotors the inertia of leaf bodies that turn about their "
          "axis of symmetry is merged into their parents: exact either way, folded is faster. With "
          "merge_gimbals three massless revolute joints in a row that form a ball become one "
          "spherical joint, which has no gimbal lock, as in kempe.load(); warnings name them. "
          "Raises ModelError if the mechanism is invalid or its loops cannot be closed.")
      .def_prop_ro("name", get<&Model::name>())
      .def_prop_ro(
          "mechanism", &mechanismOf, nb::for_getter(signature("def mechanism(self) -> Mechanism")),
          "A copy of the mechanism that the model was compiled from, to inspect, or to change and "
          "compile again.")
      .def_prop_ro(
          "fold_rotors", [](const PyModel& self) { return self.model().options().foldRotors; },
          "Whether rotors were folded.")
      .def_prop_ro(
          "merge_gimbals", [](const PyModel& self) { return self.model().options().mergeGimbals; },
          "Whether massless revolute joints that form a ball were merged.")
      .def_prop_ro("nq", get<&Model::nq>(), "Size of the configuration q.")
      .def_prop_ro("nv", get<&Model::nv>(), "Size of v, a and tau.")
      .def_prop_ro("nq_spanning", get<&Model::nqSpanning>(),
                   "Size of the spanning position: all tree joints, loops cut.")
      .def_prop_ro("nv_spanning", get<&Model::nvSpanning>(), "Size of the spanning velocity.")
      .def_prop_ro("n_loop_rows", get<&Model::nLoopRows>(),
                   "Number of constraint rows of all loops, redundant ones included.")
      .def_prop_ro("q_names", get<&Model::qNames>())
      .def_prop_ro("v_names", get<&Model::vNames>())
      .def_prop_ro("spanning_position_names", get<&Model::spanningPositionNames>())
      .def_prop_ro("spanning_velocity_names", get<&Model::spanningVelocityNames>())
      .def_prop_ro("loop_row_names", get<&Model::loopRowNames>(),
                   "Name of the loop of each number of loop_residual().")
      .def_prop_ro("body_names", get<&Model::bodyNames>(), "Moving bodies, in model order.")
      .def_prop_ro("joint_names", get<&Model::jointNames>(),
                   "The joints that carry the moving bodies, in model order.")
      .def_prop_ro("frame_names", get<&Model::frameNames>(),
                   "Every body and joint of the mechanism.")
      .def_prop_ro("clusters", get<&Model::clusters>())
      .def_prop_ro("loops", get<&Model::loops>(),
                   "Loop joints, rods, couplings and functions, in the order of their rows.")
      .def_prop_ro("cut_loops", get<&Model::cutLoops>(),
                   "Loops that are left cut: not in a cluster, but held by multipliers.")
      .def_prop_ro("folded_rotors", get<&Model::foldedRotors>(),
                   "Bodies whose inertia was merged into their parents.")
      .def_prop_ro("actuated", get<&Model::actuated>(),
                   "Names of the actuated velocity coordinates, among spanning_velocity_names: "
                   "those of the joints marked as actuated; where none is marked, the independent "
                   "ones, except those of free joints.")
      .def_prop_ro("warnings", get<&Model::warnings>(), "Warnings from reading and compiling.")
      .def_prop_ro("gravity", &gravityOf, "m/s², (3,).")
      .def_prop_ro("total_mass", get<&Model::totalMass>(),
                   "Mass of all bodies in kg, the root included.")
      .def(
          "frame_index",
          [](const PyModel& self, const Text& frame) {
            return self.model().frameIndex(frame.get());
          },
          "name"_a, "The index of a frame in frame_names.")
      .def(
          "joint_position_index",
          [](const PyModel& self, const Text& joint) {
            return self.model().jointPositionIndex(joint.get());
          },
          "name"_a, "Index of a joint's first number in the spanning position.")
      .def(
          "joint_velocity_index",
          [](const PyModel& self, const Text& joint) {
            return self.model().jointVelocityIndex(joint.get());
          },
          "name"_a, "Index of a joint's first number in the spanning velocity.")
      .def(
          "with_independent",
          [](const PyModel& self, const std::vector<std::string>& coordinates) {
            return wrapped([&] {
              const nb::gil_scoped_release unlocked;
              return PyModel(self.model().withIndependent(coordinates));
            }());
          },
          signature("def with_independent(self, coordinates: Sequence[str]) -> Model"),
          "coordinates"_a,
          "The same mechanism with other independent coordinates (of spanning_velocity_names): v, "
          "a and tau are then expressed in these. Only clusters whose coordinates are named "
          "change; q is unchanged, except for clusters that consist of couplings only.")
      .def("__str__", &printed)
      .def("__repr__", &summary)
      // A model is immutable, so it is its own copy.
      .def("__copy__", [](const nb::object& self) { return self; })
      .def(
          "__deepcopy__", [](const nb::object& self, nb::handle) { return self; }, "memo"_a)
      .def(
          "__getstate__",
          [](const PyModel& self) {
            const ModelOptions& options = self.model().options();
            return nb::make_tuple(mechanismOf(self), options.foldRotors, options.mergeGimbals);
          },
          signature("def __getstate__(self) -> tuple[Mechanism, bool, bool]"))
      .def("__setstate__", [](PyModel& self, const State& state) {
        const auto& [mechanism, foldRotors, mergeGimbals] = state;
        new (&self)
            PyModel(compiled(mechanism, {.foldRotors = foldRotors, .mergeGimbals = mergeGimbals}));
        keepFunctions(nb::find(self), mechanism);
      });
  bindConfigurations(model);
  bindDynamics(model);
  bindDerivatives(model);
  bindForces(model);
  bindKinematics(model);
  bindKinematicsDerivatives(model);
  bindAllTerms(m, model);
  bindTiming(model);
  bindConstraints(m, model);
  bindConstrainedDerivatives(model);

  m.def("load", &loadFile, "path"_a, nb::kw_only(), "floating_base"_a = false,
        "fold_rotors"_a = true, "merge_gimbals"_a = true, "start"_a.none() = nb::none(),
        "friction_slip_speed"_a.none() = nb::none(),
        signature("def load(path: Path, *, floating_base: bool = False, fold_rotors: bool = True, "
                  "merge_gimbals: bool = True, start: Mapping[str, float | ArrayLike] | None = "
                  "None, friction_slip_speed: float | None = None) -> Model"),
        "Reads and compiles a robot: a .urdf file, or a .yaml file of loop closures next to one. "
        "`start` is the start of the assembly, {joint: position, or a list if it has several}, in "
        "addition to the file's start pose; `friction_slip_speed` replaces that of the file "
        "(Mechanism.friction_slip_speed). Raises ModelError.");
  m.def(
      "robot_mechanism",
      [](const Text& name, int n, bool upright) {
        return robots::mechanism(
            name.get(), n, upright ? robots::Placement::Upright : robots::Placement::Published);
      },
      "name"_a, "n"_a, "upright"_a = true,
      signature("def robot_mechanism(name: str, n: int, upright: bool = True) -> Mechanism"));
  m.def("robot_names", &robots::names);
}

}  // namespace kempe::python
