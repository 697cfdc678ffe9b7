#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <sstream>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "data_pool.hpp"
#include "kempe/configuration.hpp"
#include "kempe/io.hpp"
#include "kempe/robots.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// A model as Python holds it. Other threads run Python while it computes.
class PyModel {
 public:
  explicit PyModel(Model model) : model_(std::move(model)) {}

  [[nodiscard]] const Model& model() const { return model_; }

  /// Calls `function(model, data)` on scratch memory of its own.
  template <typename Function>
  void compute(const Function& function) {
    const nb::gil_scoped_release unlocked;
    const DataPool::Borrowed data = pool_->borrow(model_);
    function(model_, *data);
  }

 private:
  Model model_;
  std::unique_ptr<DataPool> pool_ = std::make_unique<DataPool>();
};

Eigen::VectorXd projected(PyModel& self, nb::handle q) {
  const VectorArgument qIn(q, "q");
  Eigen::VectorXd closed(self.model().nq());
  self.compute([&](const Model& model, Data& data) { project(model, data, qIn.view(), closed); });
  return closed;
}

Eigen::VectorXd integrated(PyModel& self, nb::handle q, nb::handle v, double dt) {
  const VectorArgument qIn(q, "q");
  const VectorArgument vIn(v, "v");
  Eigen::VectorXd result(self.model().nq());
  self.compute([&](const Model& model, Data& data) {
    integrate(model, data, qIn.view(), vIn.view(), dt, result);
  });
  return result;
}

Eigen::VectorXd differenceBetween(PyModel& self, nb::handle start, nb::handle end) {
  const VectorArgument from(start, "from");
  const VectorArgument to(end, "to");
  Eigen::VectorXd v(self.model().nv());
  self.compute(
      [&](const Model& model, Data& data) { difference(model, data, from.view(), to.view(), v); });
  return v;
}

std::pair<Eigen::VectorXd, Eigen::VectorXd> spanningState(PyModel& self, nb::handle q,
                                                          nb::handle v) {
  const VectorArgument qIn(q, "q");
  const VectorArgument vIn(v, "v");
  Eigen::VectorXd positions(self.model().nqSpanning());
  Eigen::VectorXd velocities(self.model().nvSpanning());
  self.compute([&](const Model& model, Data& data) {
    spanning(model, data, qIn.view(), vIn.view(), positions, velocities);
  });
  return {std::move(positions), std::move(velocities)};
}

Eigen::VectorXd spanningPositionsOf(PyModel& self, nb::handle q) {
  const VectorArgument qIn(q, "q");
  Eigen::VectorXd positions(self.model().nqSpanning());
  self.compute([&](const Model& model, Data& data) {
    spanningPositions(model, data, qIn.view(), positions);
  });
  return positions;
}

Eigen::MatrixXd constraintJacobianAt(PyModel& self, nb::handle q) {
  const VectorArgument qIn(q, "q");
  Eigen::MatrixXd G(self.model().nvSpanning(), self.model().nv());
  self.compute(
      [&](const Model& model, Data& data) { constraintJacobian(model, data, qIn.view(), G); });
  return G;
}

Eigen::VectorXd constraintBiasAt(PyModel& self, nb::handle q, nb::handle v) {
  const VectorArgument qIn(q, "q");
  const VectorArgument vIn(v, "v");
  Eigen::VectorXd g(self.model().nvSpanning());
  self.compute([&](const Model& model, Data& data) {
    constraintBias(model, data, qIn.view(), vIn.view(), g);
  });
  return g;
}

Eigen::VectorXd loopResidualAt(PyModel& self, nb::handle q) {
  const VectorArgument qIn(q, "q");
  Eigen::VectorXd residual(self.model().nLoopRows());
  self.compute(
      [&](const Model& model, Data& data) { loopResidual(model, data, qIn.view(), residual); });
  return residual;
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

PyModel loadFile(const std::filesystem::path& path, bool floatingBase, bool foldRotors) {
  const nb::gil_scoped_release unlocked;
  return PyModel(load(path, {.floatingBase = floatingBase, .model = {.foldRotors = foldRotors}}));
}

PyModel loadBundled(const std::string& name, int n, bool foldRotors) {
  const nb::gil_scoped_release unlocked;
  return PyModel(robots::load(name, n, {.foldRotors = foldRotors}));
}

/// A property that is a member function of Model.
template <auto member>
auto get() {
  return [](const PyModel& self) { return (self.model().*member)(); };
}

void bindCluster(nb::module_& m) {
  nb::class_<ClusterInfo>(
      m, "Cluster",
      "A set of bodies that loops tie together, or a single body: what the recursions step over.")
      .def_ro("bodies", &ClusterInfo::bodies)
      .def_ro("joints", &ClusterInfo::joints)
      .def_ro("loops", &ClusterInfo::loops, "Loop joints, rods, couplings and functions.")
      .def_ro("independent", &ClusterInfo::independent,
              "Names of its independent velocity coordinates.")
      .def_ro("output_body", &ClusterInfo::outputBody, "The body it hangs on.")
      .def_ro("mobility", &ClusterInfo::mobility, "Number of independent velocities.")
      .def_ro("redundant_rows", &ClusterInfo::redundantRows,
              "Constraint rows that the others imply.")
      .def_ro("implicit", &ClusterInfo::implicit,
              "Its part of q holds all joint positions, not the independent ones only.")
      .def("__repr__", [](const ClusterInfo& self) {
        std::string text = "<kempe.Cluster of";
        for (const std::string& body : self.bodies) text += " " + body;
        return text + ": mobility " + std::to_string(self.mobility) + ">";
      });
}

}  // namespace

// Arguments that are vectors admit None to nanobind, so that VectorArgument refuses it by name.
void bindModel(nb::module_& m) {
  bindCluster(m);

  nb::class_<PyModel>(m, "Model",
                      "A mechanism compiled for computation. Immutable; any number of threads may "
                      "use one model.")
      .def_prop_ro("name", get<&Model::name>())
      .def_prop_ro("nq", get<&Model::nq>(), "Size of the configuration q.")
      .def_prop_ro("nv", get<&Model::nv>(), "Size of v, a and tau.")
      .def_prop_ro("nq_spanning", get<&Model::nqSpanning>(),
                   "Size of the spanning position: all tree joints, loops cut.")
      .def_prop_ro("nv_spanning", get<&Model::nvSpanning>(), "Size of the spanning velocity.")
      .def_prop_ro("q_names", get<&Model::qNames>())
      .def_prop_ro("v_names", get<&Model::vNames>())
      .def_prop_ro("spanning_position_names", get<&Model::spanningPositionNames>())
      .def_prop_ro("spanning_velocity_names", get<&Model::spanningVelocityNames>())
      .def_prop_ro("loop_row_names", get<&Model::loopRowNames>(),
                   "For each number of loop_residual(), the loop it belongs to.")
      .def_prop_ro("body_names", get<&Model::bodyNames>(), "Moving bodies, in model order.")
      .def_prop_ro("joint_names", get<&Model::jointNames>(),
                   "The joints that carry the moving bodies, in model order.")
      .def_prop_ro("frame_names", get<&Model::frameNames>(),
                   "Every body and joint of the mechanism.")
      .def_prop_ro("clusters", get<&Model::clusters>())
      .def_prop_ro("folded_rotors", get<&Model::foldedRotors>(),
                   "Bodies whose inertia was merged into their parents.")
      .def_prop_ro("warnings", get<&Model::warnings>(), "What reading and compiling had to say.")
      .def_prop_ro("gravity", &gravityOf)
      .def_prop_ro("total_mass", get<&Model::totalMass>(), "Mass of all bodies, the root included.")
      .def(
          "joint_position_index",
          [](const PyModel& self, const std::string& joint) {
            return self.model().jointPositionIndex(joint);
          },
          "name"_a, "Where a joint's numbers begin in the spanning position.")
      .def(
          "joint_velocity_index",
          [](const PyModel& self, const std::string& joint) {
            return self.model().jointVelocityIndex(joint);
          },
          "name"_a, "Where a joint's numbers begin in the spanning velocity.")
      .def(
          "neutral", [](const PyModel& self) { return Eigen::VectorXd(self.model().neutral()); },
          "A closed configuration away from singular positions: zero where that is one.")
      .def(
          "random_configuration",
          [](const PyModel& self, std::uint64_t seed) {
            const nb::gil_scoped_release unlocked;
            return self.model().randomConfiguration(seed);
          },
          "seed"_a = 0, "A closed configuration within the limits; the same for the same seed.")
      .def("project", &projected, "q"_a.none(),
           "Closes the loops: holds the independent positions and solves for the others, on the "
           "branch of q. Raises AssemblyError where they cannot be closed.")
      .def("integrate", &integrated, "q"_a.none(), "v"_a.none(), "dt"_a,
           "The configuration reached from q with the constant velocity v after a time dt; stays "
           "on the loops.")
      .def("difference", &differenceBetween, "from_"_a.none(), "to"_a.none(),
           "The velocity that leads from one configuration to another in unit time.")
      .def("spanning", &spanningState, "q"_a.none(), "v"_a.none(),
           "Positions and velocities of all tree joints, loops cut.")
      .def("spanning_positions", &spanningPositionsOf, "q"_a.none(),
           "Positions of all tree joints; defined at singular positions too.")
      .def("constraint_jacobian", &constraintJacobianAt, "q"_a.none(),
           "G of (spanning velocity) = G v. Raises SingularityError at singular positions.")
      .def("constraint_bias", &constraintBiasAt, "q"_a.none(), "v"_a.none(),
           "g of (spanning acceleration) = G a + g. Raises SingularityError at singular positions.")
      .def("loop_residual", &loopResidualAt, "q"_a.none(),
           "What is left open: one number per row of every loop, zero where they are closed.")
      .def("__str__", &printed)
      .def("__repr__", &summary);

  m.def("load", &loadFile, "path"_a, "floating_base"_a = false, "fold_rotors"_a = true,
        "Reads and compiles a robot: a .urdf, or a .yaml of loop closures beside one. Raises "
        "ModelError.");
  m.def("load_robot", &loadBundled, "name"_a, "n"_a, "fold_rotors"_a);
  m.def("robot_names", &robots::names);
}

}  // namespace kempe::python
