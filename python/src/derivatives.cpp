#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "choices.hpp"
#include "evaluate.hpp"
#include "external_forces.hpp"
#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_second_derivatives.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Three (nv, nv) arrays of one or of many states: `one(data, x, matrices, options)` of a state,
/// `many(batch, x, matrices, forces)` of some states.
template <typename T, typename One, typename Many>
void compute(const PyModel& self, Inputs& inputs, const ExternalForces& forces,
             const std::array<Result, 3>& results, const One& one, const Many& many) {
  const Eigen::Index nv = self.model().nv();
  if (!inputs.isBatch()) {
    self.compute<T>([&](BasicData<T>& data) {
      const std::vector<FrameForce> own = forces.of(0);
      using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
      std::array<Matrix, 3> matrices{Matrix(nv, nv), Matrix(nv, nv), Matrix(nv, nv)};
      one(data, StateInputs<T>{inputs, 0}, matrices, DynamicsOptions{.external = own});
      for (std::size_t i = 0; i < 3; ++i) {
        Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            results[i].row<T>(0), nv, nv) = matrices[i];
      }
    });
    return;
  }
  self.computeMany<T>(inputs.states(), [&](BasicBatch<T>& batch, Eigen::Index first,
                                           Eigen::Index count) {
    std::vector<T> wrenches;
    const std::array<States<T>, 3> parts{results[0].part<T>(first, count),
                                         results[1].part<T>(first, count),
                                         results[2].part<T>(first, count)};
    many(batch, StatesInputs<T>{inputs, first, count}, parts, forces.part(first, count, wrenches));
  });
}

template <typename One, typename Many>
nb::tuple derivatives(const PyModel& self, Inputs inputs, nb::handle external,
                      const std::string& reference, const One& one, const Many& many) {
  const Eigen::Index nv = self.model().nv();
  ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const std::array<Result, 3> results{Result(inputs, {nv, nv}), Result(inputs, {nv, nv}),
                                      Result(inputs, {nv, nv})};
  if (inputs.computesInFloat()) {
    compute<float>(self, inputs, forces, results, one, many);
  } else {
    compute<double>(self, inputs, forces, results, one, many);
  }
  return nb::make_tuple(results[0].array(), results[1].array(), results[2].array());
}

nb::tuple inverseDynamicsDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                       nb::handle a, nb::handle external,
                                       const std::string& reference) {
  const Model& model = self.model();
  return derivatives(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")}, external, reference,
      [&](auto& data, const auto& x, auto& m, const DynamicsOptions& how) {
        inverseDynamicsDerivatives(model, data, x[0], x[1], x[2], m[0], m[1], m[2], how);
      },
      [&](auto& batch, const auto& x, const auto& m, const auto& forces) {
        inverseDynamicsDerivatives(model, batch, x[0], x[1], x[2], m[0], m[1], m[2], forces);
      });
}

nb::tuple forwardDynamicsDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                       nb::handle tau, nb::handle external,
                                       const std::string& reference) {
  const Model& model = self.model();
  return derivatives(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, tau, "tau")}, external,
      reference,
      [&](auto& data, const auto& x, auto& m, const DynamicsOptions& how) {
        forwardDynamicsDerivatives(model, data, x[0], x[1], x[2], m[0], m[1], m[2], how);
      },
      [&](auto& batch, const auto& x, const auto& m, const auto& forces) {
        forwardDynamicsDerivatives(model, batch, x[0], x[1], x[2], m[0], m[1], m[2], forces);
      });
}

nb::tuple inverseDynamicsSecondDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                             nb::handle a, nb::handle lam, nb::handle external,
                                             const std::string& reference) {
  const Model& model = self.model();
  const Eigen::Index nv = model.nv();
  Inputs inputs({argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a"),
                 argumentV(self, lam, "lam")},
                Inputs::Precision::Double);
  ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const Result result(inputs, {4, nv, nv});
  evaluateIn<double>(
      self, inputs, result, [&](Data& data, const auto& x, double* numbers, Eigen::Index state) {
        const std::vector<FrameForce> own = forces.of(state);
        std::array<Eigen::MatrixXd, 4> matrices;
        matrices.fill(Eigen::MatrixXd(nv, nv));
        inverseDynamicsSecondDerivatives(model, data, x[0], x[1], x[2], x[3], matrices[0],
                                         matrices[1], matrices[2], matrices[3], {.external = own});
        for (std::size_t i = 0; i < 4; ++i) {
          Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
              numbers + static_cast<Eigen::Index>(i) * nv * nv, nv, nv) = matrices[i];
        }
      });
  const nb::object all = result.array();
  const auto part = [&](int i) {
    const nb::tuple index =
        nb::make_tuple(nb::ellipsis(), i, nb::slice(nb::none(), nb::none(), nb::none()),
                       nb::slice(nb::none(), nb::none(), nb::none()));
    return nb::object(all[index]);
  };
  return nb::make_tuple(part(0), part(1), part(2), part(3));
}

nb::tuple inverseDynamicsHessianProductOf(const PyModel& self, nb::handle q, nb::handle v,
                                          nb::handle a, nb::handle lam, nb::handle dq,
                                          nb::handle dv, nb::handle da, nb::handle external,
                                          const std::string& reference) {
  const Model& model = self.model();
  const Eigen::Index nv = model.nv();
  Inputs inputs(
      {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a"), argumentV(self, lam, "lam"),
       argumentV(self, dq, "dq"), argumentV(self, dv, "dv"), argumentV(self, da, "da")},
      Inputs::Precision::Double);
  ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const Result result(inputs, {3, nv});
  evaluateIn<double>(
      self, inputs, result, [&](Data& data, const auto& x, double* numbers, Eigen::Index state) {
        const std::vector<FrameForce> own = forces.of(state);
        inverseDynamicsHessianProduct(model, data, x[0], x[1], x[2], x[3], x[4], x[5], x[6],
                                      vectorAt(numbers, nv), vectorAt(numbers + nv, nv),
                                      vectorAt(numbers + 2 * nv, nv), {.external = own});
      });
  const nb::object all = result.array();
  const auto part = [&](int i) {
    const nb::tuple index =
        nb::make_tuple(nb::ellipsis(), i, nb::slice(nb::none(), nb::none(), nb::none()));
    return nb::object(all[index]);
  };
  return nb::make_tuple(part(0), part(1), part(2));
}

}  // namespace

void bindDerivatives(ModelClass& model) {
  const auto external = "external"_a.none() = nb::none();
  const auto externalReference = "external_reference"_a = "local_world_aligned";
  model
      .def("inverse_dynamics_derivatives", &inverseDynamicsDerivativesOf,
           signature("def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: "
                     "ArrayLike, external: Forces = None, external_reference: str = "
                     "'local_world_aligned') -> tuple[NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), external, externalReference,
           R"(Derivatives of inverse_dynamics with respect to q, v and a.

Column j of the first is the derivative along integrate(q, e_j, ε), with the loops closed on the way
and v, a constant: nv columns, also where q has more numbers. Rotors, armature, damping, springs,
gravity and smooth friction (Mechanism.friction_slip_speed) are included; without a slip speed dry
friction is constant between changes of direction. External forces given as "local" turn with their frame, "local_world_aligned" ones keep their direction and move with the
frame's origin, "world" ones stay where they are.

Args:
    q: configuration, (nq,) or (N, nq); must close the loops (see project).
    v: velocities, (nv,) or (N, nv), in rad/s or m/s.
    a: accelerations, (nv,) or (N, nv), in rad/s² or m/s².
    external: forces on frames, {frame: [force; moment]}, 6 numbers or (N, 6) each, in N and N·m.
    external_reference: "local_world_aligned", "local" or "world".

Returns:
    dtau_dq, dtau_dv and H = dtau_da, (nv, nv) or (N, nv, nv) each.

Raises:
    ValueError: wrong sizes, numbers that are not finite, or a loop function that is no expression.
    SingularityError: a loop is at a singular position.)")
      .def("forward_dynamics_derivatives", &forwardDynamicsDerivativesOf,
           signature("def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: "
                     "ArrayLike, external: Forces = None, external_reference: str = "
                     "'local_world_aligned') -> tuple[NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "tau"_a.none(), external, externalReference,
           R"(Derivatives of forward_dynamics with respect to q, v and tau.

Conventions and arguments as in inverse_dynamics_derivatives, with forces tau in place of a. Loops that
are left cut act; columns are along integrate, which does not keep them closed.

Returns:
    da_dq, da_dv and da_dtau = H⁻¹ (if no loop is left cut), (nv, nv) or (N, nv, nv) each.

Raises:
    ValueError, SingularityError: as inverse_dynamics_derivatives, and where a degree of freedom
        moves no inertia.)")
      .def("inverse_dynamics_second_derivatives", &inverseDynamicsSecondDerivativesOf,
           signature("def inverse_dynamics_second_derivatives(self, q: ArrayLike, v: ArrayLike, a: "
                     "ArrayLike, lam: ArrayLike, external: Forces = None, external_reference: str "
                     "= 'local_world_aligned') -> tuple[NDArray, NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), "lam"_a.none(), external, externalReference,
           R"(Second derivatives of lam · inverse_dynamics(q, v, a), with lam constant.

Entry (j, k) of the first is the derivative along integrate(q, e_k, ε) of entry j of
lam · ∂tau/∂q of inverse_dynamics_derivatives. Where joints turn in space (spherical and free joints),
directions do not commute, and this matrix is not symmetric. Arguments and conventions are those of
inverse_dynamics_derivatives.

Args:
    lam: weights of the forces, (nv,) or (N, nv).

Returns:
    qq, qv, vv, qa: second derivatives with respect to q and q, q and v (entry (j, k): q_j and v_k),
    v and v, q and a; (nv, nv) or (N, nv, nv) each. All others are zero.

Raises:
    ValueError, SingularityError: as inverse_dynamics_derivatives.)")
      .def("inverse_dynamics_hessian_product", &inverseDynamicsHessianProductOf,
           signature("def inverse_dynamics_hessian_product(self, q: ArrayLike, v: ArrayLike, a: "
                     "ArrayLike, lam: ArrayLike, dq: ArrayLike, dv: ArrayLike, da: ArrayLike, "
                     "external: Forces = None, external_reference: str = 'local_world_aligned') -> "
                     "tuple[NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), "lam"_a.none(), "dq"_a.none(), "dv"_a.none(),
           "da"_a.none(), external, externalReference,
           R"(How the gradient of lam · inverse_dynamics(q, v, a) changes along a direction.

The product of the second derivatives (see inverse_dynamics_second_derivatives) and a direction
(dq, dv, da), at the cost of one evaluation.

Args:
    dq, dv, da: the direction, (nv,) or (N, nv) each; dq along the tangent.

Returns:
    The changes of lam · ∂tau/∂q, lam · ∂tau/∂v and lam · ∂tau/∂a, (nv,) or (N, nv) each.

Raises:
    ValueError, SingularityError: as inverse_dynamics_derivatives.)");
}

}  // namespace kempe::python
