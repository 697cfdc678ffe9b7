#include "kempe/all_terms.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "choices.hpp"
#include "evaluate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Terms of one or of many states, as arrays.
struct PyAllTerms {
  nb::object massMatrix, biasForces, gravityForces;
  nb::object centerOfMass, centerOfMassJacobian, momentum, centroidalMomentumMatrix;
  nb::object kineticEnergy, potentialEnergy;
  std::vector<std::string> frames;
  nb::object rotations, positions, velocities, jacobians, jacobianRates;
};

/// The arrays of a call, while they are computed.
struct TermResults {
  TermResults(Inputs& inputs, Eigen::Index nv, Eigen::Index frames)
      : H(inputs, {nv, nv}),
        bias(inputs, {nv}),
        gravity(inputs, {nv}),
        center(inputs, {3}),
        centerJacobian(inputs, {3, nv}),
        momentum(inputs, {6}),
        momentumMatrix(inputs, {6, nv}),
        energy(inputs, {2}),
        placements(inputs, {frames, 12}),
        velocities(inputs, {frames, 6}),
        jacobians(inputs, {frames, 6, nv}),
        rates(inputs, {frames, 6}) {}

  Result H, bias, gravity, center, centerJacobian, momentum, momentumMatrix, energy, placements,
      velocities, jacobians, rates;

  template <typename T>
  BatchTerms<T> part(Eigen::Index first, Eigen::Index count) const {
    const auto of = [&](const Result& result) { return result.part<T>(first, count); };
    return {of(H),         of(bias),           of(gravity), of(center),     of(centerJacobian),
            of(momentum),  of(momentumMatrix), of(energy),  of(placements), of(velocities),
            of(jacobians), of(rates)};
  }

  /// Of one state.
  template <typename T>
  void write(const AllTerms<T>& terms, Eigen::Index frames) const {
    const auto put = [](const Result& result, const auto& matrix) {
      Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          result.row<T>(0), matrix.rows(), matrix.cols()) = matrix;
    };
    put(H, terms.H);
    put(bias, terms.bias);
    put(gravity, terms.gravity);
    put(centerJacobian, terms.centerOfMassJacobian);
    put(momentum, terms.momentum);
    put(momentumMatrix, terms.centroidalMomentumMatrix);
    for (int i = 0; i < 3; ++i) center.row<T>(0)[i] = terms.centerOfMass[i];
    energy.row<T>(0)[0] = static_cast<T>(terms.energy.kinetic);
    energy.row<T>(0)[1] = static_cast<T>(terms.energy.potential);
    put(velocities, terms.velocities.transpose());
    put(rates, terms.jacobianRates.transpose());
    const Eigen::Index nv = terms.H.cols();
    for (Eigen::Index f = 0; f < frames; ++f) {
      Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          jacobians.row<T>(0) + 6 * nv * f, 6, nv) = terms.jacobian(f);
      const Transform<T>& X = terms.placements[static_cast<std::size_t>(f)];
      T* placement = placements.row<T>(0) + 12 * f;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) placement[3 * i + j] = X.R(i, j);
        placement[9 + i] = X.p[i];
      }
    }
  }
};

template <typename T>
void compute(const PyModel& self, Inputs& inputs, const std::vector<int>& frames,
             Reference reference, const TermResults& results) {
  if (!inputs.isBatch()) {
    self.compute<T>([&](BasicData<T>& data) {
      const StateInputs<T> x{inputs, 0};
      results.write(allTerms(self.model(), data, x[0], x[1], frames, reference),
                    static_cast<Eigen::Index>(frames.size()));
    });
    return;
  }
  self.computeMany<T>(
      inputs.states(), [&](BasicBatch<T>& batch, Eigen::Index first, Eigen::Index count) {
        const StatesInputs<T> x{inputs, first, count};
        allTerms(self.model(), batch, x[0], x[1], frames, results.part<T>(first, count), reference);
      });
}

PyAllTerms allTermsOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle frames,
                      const std::string& reference) {
  const std::vector<int> chosen = framesOf(self, frames);
  const Reference written = referenceCalled(reference);
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  const auto count = static_cast<Eigen::Index>(chosen.size());
  const TermResults results(inputs, self.model().nv(), count);
  if (inputs.computesInFloat()) {
    compute<float>(self, inputs, chosen, written, results);
  } else {
    compute<double>(self, inputs, chosen, written, results);
  }
  const nb::ellipsis all;
  nb::list rotations;
  if (inputs.isBatch()) rotations.append(inputs.states());
  for (const Eigen::Index n : {count, Eigen::Index{3}, Eigen::Index{3}}) rotations.append(n);
  const nb::object placements = results.placements.array();
  const nb::object energies =
      inputs.isBatch() ? results.energy.array().attr("T") : results.energy.array().attr("tolist")();
  PyAllTerms terms{results.H.array(),
                   results.bias.array(),
                   results.gravity.array(),
                   results.center.array(),
                   results.centerJacobian.array(),
                   results.momentum.array(),
                   results.momentumMatrix.array(),
                   energies[0],
                   energies[1],
                   {},
                   placements[nb::make_tuple(all, nb::slice(0, 9))].attr("reshape")(rotations),
                   placements[nb::make_tuple(all, nb::slice(9, 12))],
                   results.velocities.array(),
                   results.jacobians.array(),
                   results.rates.array()};
  for (const int frame : chosen) {
    terms.frames.push_back(self.model().frameNames()[static_cast<std::size_t>(frame)]);
  }
  return terms;
}

}  // namespace

void bindAllTerms(nb::module_& m, ModelClass& model) {
  const auto array = [](const char* name) {
    return nb::for_getter(signature("def " + std::string(name) + "(self) -> NDArray"));
  };
  const auto number = [](const char* name) {
    return nb::for_getter(signature("def " + std::string(name) + "(self) -> typing.Any"));
  };
  nb::class_<PyAllTerms>(m, "AllTerms",
                         "Terms of the equations of motion, and kinematics of frames, that "
                         "Model.all_terms computed. With N states every array has a first "
                         "dimension more.")
      .def_ro("mass_matrix", &PyAllTerms::massMatrix, array("mass_matrix"), "H, (nv, nv).")
      .def_ro("bias_forces", &PyAllTerms::biasForces, array("bias_forces"),
              "h of tau = H a + h, (nv,).")
      .def_ro("gravity_forces", &PyAllTerms::gravityForces, array("gravity_forces"),
              "tau at rest, springs included, (nv,).")
      .def_ro("center_of_mass", &PyAllTerms::centerOfMass, array("center_of_mass"),
              "In the world, (3,), in metres.")
      .def_ro("center_of_mass_jacobian", &PyAllTerms::centerOfMassJacobian,
              array("center_of_mass_jacobian"), "(3, nv).")
      .def_ro("momentum", &PyAllTerms::momentum, array("momentum"),
              "[linear; angular] about the centre of mass, (6,).")
      .def_ro("centroidal_momentum_matrix", &PyAllTerms::centroidalMomentumMatrix,
              array("centroidal_momentum_matrix"), "A of momentum = A v, (6, nv).")
      .def_ro("kinetic_energy", &PyAllTerms::kineticEnergy, number("kinetic_energy"),
              "In joules; an array (N,) for N states.")
      .def_ro("potential_energy", &PyAllTerms::potentialEnergy, number("potential_energy"),
              "In joules; an array (N,) for N states.")
      .def_ro("frames", &PyAllTerms::frames, "Names of the k frames.")
      .def_ro("rotations", &PyAllTerms::rotations, array("rotations"),
              "Of the frames in the world, (k, 3, 3).")
      .def_ro("positions", &PyAllTerms::positions, array("positions"),
              "Of the frames in the world, (k, 3), in metres.")
      .def_ro("velocities", &PyAllTerms::velocities, array("velocities"),
              "Of the frames, [linear; angular], (k, 6).")
      .def_ro("jacobians", &PyAllTerms::jacobians, array("jacobians"),
              "J of the frames' velocities J v, (k, 6, nv).")
      .def_ro("jacobian_rates", &PyAllTerms::jacobianRates, array("jacobian_rates"),
              "J̇ v of the frames, (k, 6).")
      .def("__repr__", [](const PyAllTerms& self) {
        return "<kempe.AllTerms: " + std::to_string(self.frames.size()) + " frames>";
      });
  model.def(
      "all_terms", &allTermsOf,
      signature("def all_terms(self, q: ArrayLike, v: ArrayLike, frames: Frames = None, reference: "
                "str = 'local_world_aligned') -> AllTerms"),
      "q"_a.none(), "v"_a.none(), "frames"_a.none() = nb::none(),
      "reference"_a = "local_world_aligned",
      R"(The terms of the equations of motion and the kinematics of frames, in one evaluation.

Args:
    q: configuration, (nq,) or (N, nq).
    v: velocities, (nv,) or (N, nv).
    frames: names or numbers of the frames whose kinematics are wanted; None: all. Jacobians of
        all frames of many states take much memory: name those that you need.
    reference: of velocities and Jacobians, as in frame_velocity.

Raises:
    ValueError: wrong sizes, numbers that are not finite, an unknown frame.
    SingularityError: a loop is at a singular position.)");
}

}  // namespace kempe::python
