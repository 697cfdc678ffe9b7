#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "evaluate.hpp"
#include "external_forces.hpp"
#include "kempe/constrained_forward_dynamics_derivatives.hpp"
#include "kempe/project_velocities_derivatives.hpp"
#include "py_constraints.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Writes a matrix row by row, as results are.
template <typename Matrix>
void put(const Matrix& matrix, const Result& result, Eigen::Index state) {
  using T = typename Matrix::Scalar;
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      result.row<T>(state), matrix.rows(), matrix.cols()) = matrix;
}

nb::tuple constrainedForwardDynamicsDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                                  nb::handle tau, const PyConstraints& constraints,
                                                  nb::handle timeGiven, nb::handle external,
                                                  const std::string& reference) {
  const double time = timeFrom(timeGiven);
  const Model& model = self.model();
  const std::shared_ptr<const Constraints> now = constraints.now();
  Inputs inputs{argumentQ(self, q), argumentV(self, v), argumentV(self, tau, "tau")};
  const ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const Eigen::Index nv = model.nv(), rows = now->rows();
  const std::array<Result, 6> results{Result(inputs, {nv, nv}),   Result(inputs, {nv, nv}),
                                      Result(inputs, {nv, nv}),   Result(inputs, {rows, nv}),
                                      Result(inputs, {rows, nv}), Result(inputs, {rows, nv})};
  evaluate(self, inputs, results[0], [&](auto& data, const auto& x, auto*, Eigen::Index state) {
    using Matrix = Eigen::Matrix<decltype(scalarOf(data)), Eigen::Dynamic, Eigen::Dynamic>;
    const std::vector<FrameForce> own = forces.of(state);
    Matrix byQ(nv, nv), byV(nv, nv), byTau(nv, nv), ofQ(rows, nv), ofV(rows, nv), ofTau(rows, nv);
    constrainedForwardDynamicsDerivatives(model, data, *now, time, x[0], x[1], x[2], byQ, byV,
                                          byTau, ofQ, ofV, ofTau, {.external = own});
    const std::array<const Matrix*, 6> all{&byQ, &byV, &byTau, &ofQ, &ofV, &ofTau};
    for (std::size_t i = 0; i < all.size(); ++i) {
      put(*all[i], results[i], state);
    }
  });
  return nb::make_tuple(results[0].array(), results[1].array(), results[2].array(),
                        results[3].array(), results[4].array(), results[5].array());
}

nb::tuple projectVelocitiesDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                         const PyConstraints& constraints, nb::handle timeGiven) {
  const double time = timeFrom(timeGiven);
  const Model& model = self.model();
  const std::shared_ptr<const Constraints> now = constraints.now();
  Inputs inputs({argumentQ(self, q), argumentV(self, v)}, Inputs::Precision::Double);
  const Eigen::Index nv = model.nv(), rows = now->rows();
  const std::array<Result, 4> results{Result(inputs, {nv, nv}), Result(inputs, {nv, nv}),
                                      Result(inputs, {rows, nv}), Result(inputs, {rows, nv})};
  evaluateIn<double>(
      self, inputs, results[0], [&](Data& data, const auto& x, double*, Eigen::Index state) {
        Eigen::MatrixXd byQ(nv, nv), byV(nv, nv), ofQ(rows, nv), ofV(rows, nv);
        projectVelocitiesDerivatives(model, data, *now, time, x[0], x[1], byQ, byV, ofQ, ofV);
        const std::array<const Eigen::MatrixXd*, 4> all{&byQ, &byV, &ofQ, &ofV};
        for (std::size_t i = 0; i < all.size(); ++i) {
          put(*all[i], results[i], state);
        }
      });
  return nb::make_tuple(results[0].array(), results[1].array(), results[2].array(),
                        results[3].array());
}

}  // namespace

void bindConstrainedDerivatives(ModelClass& model) {
  const auto time = "time"_a = 0.0;
  model
      .def("constrained_forward_dynamics_derivatives", &constrainedForwardDynamicsDerivativesOf,
           signature("def constrained_forward_dynamics_derivatives(self, q: ArrayLike, v: "
                     "ArrayLike, tau: ArrayLike, constraints: Constraints, time: float = 0.0, "
                     "external: Forces = None, external_reference: str = 'local_world_aligned') -> "
                     "tuple[NDArray, NDArray, NDArray, NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "tau"_a.none(), "constraints"_a, time,
           "external"_a.none() = nb::none(), "external_reference"_a = "local_world_aligned",
           R"(Derivatives of constrained_forward_dynamics with respect to q, v and tau.

Conventions as in inverse_dynamics_derivatives: column j of a derivative with respect to q is along
integrate(q, e_j, ε), which keeps embedded loops closed but knows nothing of constraints and of loops
that are left cut. Derivatives along motions that satisfy the constraints are combinations of columns,
da_dq @ d with K d = 0. Stabilisation is included. If rows are redundant, the multipliers are those of
least norm.

Args:
    q: configuration, (nq,) or (N, nq).
    v: velocities, (nv,) or (N, nv).
    tau: forces, (nv,) or (N, nv), in N·m or N.
    time: t of functions and motions, in seconds; constant.
    external, external_reference: as in forward_dynamics.

Returns:
    da_dq, da_dv, da_dtau, (nv, nv) or (N, nv, nv) each, and those of the multipliers, dlambda_dq,
    dlambda_dv, dlambda_dtau, (rows, nv) or (N, rows, nv) each.

Raises:
    ValueError: wrong sizes, numbers that are not finite, constraints of another model, or a function
        that is no expression.
    SingularityError: a loop or the constraints are at a singular position, or a constraint is not
        defined.)")
      .def("project_velocities_derivatives", &projectVelocitiesDerivativesOf,
           signature("def project_velocities_derivatives(self, q: ArrayLike, v: ArrayLike, "
                     "constraints: Constraints, time: float = 0.0) -> tuple[NDArray, NDArray, "
                     "NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "constraints"_a, time,
           R"(Derivatives of project_velocities with respect to q and v.

Conventions as in constrained_forward_dynamics_derivatives.

Returns:
    Those of the velocities after the impulse, with respect to q and to v, (nv, nv) or (N, nv, nv)
    each, and those of the impulses, (rows, nv) or (N, rows, nv) each.

Raises:
    ValueError, SingularityError: as constrained_forward_dynamics_derivatives.)");
}

}  // namespace kempe::python
