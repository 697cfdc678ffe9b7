#include "kempe/kinematics_derivatives.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "bindings.hpp"
#include "choices.hpp"
#include "evaluate.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kempe/momentum_derivatives.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Matrices of (rows, nv) numbers of one or of many states: `one(data, x, matrices)` of a state,
/// `many(batch, x, parts)` of some states.
template <typename T, std::size_t count, typename One, typename Many>
void compute(const PyModel& self, Inputs& inputs, Eigen::Index rows,
             const std::array<Result, count>& results, const One& one, const Many& many) {
  const Eigen::Index nv = self.model().nv();
  if (!inputs.isBatch()) {
    self.compute<T>([&](BasicData<T>& data) {
      std::array<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, count> matrices;
      for (auto& matrix : matrices) {
        matrix.resize(rows, nv);
      }
      one(data, StateInputs<T>{inputs, 0}, matrices);
      for (std::size_t i = 0; i < count; ++i) {
        Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            results[i].template row<T>(0), rows, nv) = matrices[i];
      }
    });
    return;
  }
  self.computeMany<T>(inputs.states(),
                      [&](BasicBatch<T>& batch, Eigen::Index first, Eigen::Index states) {
                        std::array<States<T>, count> parts;
                        for (std::size_t i = 0; i < count; ++i) {
                          parts[i] = results[i].template part<T>(first, states);
                        }
                        many(batch, StatesInputs<T>{inputs, first, states}, parts);
                      });
}

template <std::size_t count, typename One, typename Many>
nb::tuple derivatives(const PyModel& self, Inputs inputs, Eigen::Index rows, const One& one,
                      const Many& many) {
  const Eigen::Index nv = self.model().nv();
  const auto results = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Result, count>{(static_cast<void>(i), Result(inputs, {rows, nv}))...};
  }
  (std::make_index_sequence<count>());
  if (inputs.computesInFloat()) {
    compute<float>(self, inputs, rows, results, one, many);
  } else {
    compute<double>(self, inputs, rows, results, one, many);
  }
  if constexpr (count == 2) {
    return nb::make_tuple(results[0].array(), results[1].array());
  } else {
    return nb::make_tuple(results[0].array(), results[1].array(), results[2].array());
  }
}

nb::tuple frameVelocityDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                     nb::handle frame, const std::string& reference) {
  const int index = frameOf(self, frame);
  const Reference written = referenceCalled(reference);
  return derivatives<2>(
      self, {argumentQ(self, q), argumentV(self, v)}, 6,
      [&](auto& data, const auto& x, auto& m) {
        frameVelocityDerivatives(self.model(), data, x[0], x[1], index, m[0], m[1], written);
      },
      [&](auto& batch, const auto& x, const auto& m) {
        frameVelocityDerivatives(self.model(), batch, x[0], x[1], {&index, 1}, m[0], m[1], written);
      });
}

nb::tuple frameAccelerationDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                         nb::handle a, nb::handle frame,
                                         const std::string& reference) {
  const int index = frameOf(self, frame);
  const Reference written = referenceCalled(reference);
  return derivatives<3>(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")}, 6,
      [&](auto& data, const auto& x, auto& m) {
        frameAccelerationDerivatives(self.model(), data, x[0], x[1], x[2], index, m[0], m[1], m[2],
                                     written);
      },
      [&](auto& batch, const auto& x, const auto& m) {
        frameAccelerationDerivatives(self.model(), batch, x[0], x[1], x[2], {&index, 1}, m[0], m[1],
                                     m[2], written);
      });
}

nb::object frameJacobianTimeDerivativeOf(const PyModel& self, nb::handle q, nb::handle v,
                                         nb::handle frame, const std::string& reference,
                                         nb::handle out) {
  const int index = frameOf(self, frame);
  const Reference written = referenceCalled(reference);
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  return evaluate(
      self, inputs, Result(inputs, {6, model.nv()}, out),
      [&](auto& data, const auto& x, auto* rate, Eigen::Index) {
        writeRowByRow(rate, 6, model.nv(), [&](auto& matrix) {
          frameJacobianTimeDerivative(model, data, x[0], x[1], index, matrix, written);
        });
      },
      [&](auto& batch, const auto& x, const auto& rate) {
        frameJacobianTimeDerivative(model, batch, x[0], x[1], {&index, 1}, rate, written);
      });
}

nb::tuple momentumDerivativesOf(const PyModel& self, nb::handle q, nb::handle v) {
  return derivatives<2>(
      self, {argumentQ(self, q), argumentV(self, v)}, 6,
      [&](auto& data, const auto& x, auto& m) {
        momentumDerivatives(self.model(), data, x[0], x[1], m[0], m[1]);
      },
      [&](auto& batch, const auto& x, const auto& m) {
        momentumDerivatives(self.model(), batch, x[0], x[1], m[0], m[1]);
      });
}

nb::tuple momentumRateDerivativesOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle a) {
  return derivatives<3>(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")}, 6,
      [&](auto& data, const auto& x, auto& m) {
        momentumRateDerivatives(self.model(), data, x[0], x[1], x[2], m[0], m[1], m[2]);
      },
      [&](auto& batch, const auto& x, const auto& m) {
        momentumRateDerivatives(self.model(), batch, x[0], x[1], x[2], m[0], m[1], m[2]);
      });
}

nb::tuple centerOfMassVelocityDerivativesOf(const PyModel& self, nb::handle q, nb::handle v) {
  return derivatives<2>(
      self, {argumentQ(self, q), argumentV(self, v)}, 3,
      [&](auto& data, const auto& x, auto& m) {
        centerOfMassVelocityDerivatives(self.model(), data, x[0], x[1], m[0], m[1]);
      },
      [&](auto& batch, const auto& x, const auto& m) {
        centerOfMassVelocityDerivatives(self.model(), batch, x[0], x[1], m[0], m[1]);
      });
}

nb::tuple centerOfMassAccelerationDerivativesOf(const PyModel& self, nb::handle q, nb::handle v,
                                                nb::handle a) {
  return derivatives<3>(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")}, 3,
      [&](auto& data, const auto& x, auto& m) {
        centerOfMassAccelerationDerivatives(self.model(), data, x[0], x[1], x[2], m[0], m[1], m[2]);
      },
      [&](auto& batch, const auto& x, const auto& m) {
        centerOfMassAccelerationDerivatives(self.model(), batch, x[0], x[1], x[2], m[0], m[1],
                                            m[2]);
      });
}

nb::object gravityForcesDerivativesOf(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {model.nv(), model.nv()}, out),
      [&](auto& data, const auto& x, auto* matrix, Eigen::Index) {
        writeRowByRow(matrix, model.nv(), model.nv(),
                      [&](auto& byQ) { gravityForcesDerivatives(model, data, x[0], byQ); });
      },
      [&](auto& batch, const auto& x, const auto& byQ) {
        gravityForcesDerivatives(model, batch, x[0], byQ);
      });
}

}  // namespace

void bindKinematicsDerivatives(ModelClass& model) {
  const auto reference = "reference"_a = "local_world_aligned";
  const auto out = "out"_a.none() = nb::none();
  model
      .def("frame_velocity_derivatives", &frameVelocityDerivativesOf,
           signature("def frame_velocity_derivatives(self, q: ArrayLike, v: ArrayLike, frame: str "
                     "| int, reference: str = 'local_world_aligned') -> tuple[NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "frame"_a.none(), reference,
           R"(Derivatives of frame_velocity with respect to q and v.

Column j of the first is the derivative along integrate(q, e_j, ε), with the loops closed on the way
and v constant: nv columns, also where q has more numbers.

Returns:
    dv_dq and J = dv_dv, (6, nv) or (N, 6, nv) each.

Raises:
    ValueError: wrong sizes, numbers that are not finite, or a loop function that is no expression.
    SingularityError: a loop is at a singular position.)")
      .def("frame_acceleration_derivatives", &frameAccelerationDerivativesOf,
           signature("def frame_acceleration_derivatives(self, q: ArrayLike, v: ArrayLike, a: "
                     "ArrayLike, frame: str | int, reference: str = 'local_world_aligned') -> "
                     "tuple[NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), "frame"_a.none(), reference,
           R"(Derivatives of frame_acceleration with respect to q, v and a.

Conventions as in frame_velocity_derivatives. At a = 0 these are the derivatives of
frame_jacobian_rate.

Returns:
    da_dq, da_dv and J = da_da, (6, nv) or (N, 6, nv) each.)")
      .def("frame_jacobian_time_derivative", &frameJacobianTimeDerivativeOf,
           signature("def frame_jacobian_time_derivative(self, q: ArrayLike, v: ArrayLike, frame: "
                     "str | int, reference: str = 'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "frame"_a.none(), reference, nb::kw_only(), out,
           "J̇, (6, nv) or (N, 6, nv): the time derivative of frame_jacobian at velocities v. Its "
           "product with v is frame_jacobian_rate.")
      .def("momentum_derivatives", &momentumDerivativesOf,
           signature("def momentum_derivatives(self, q: ArrayLike, v: ArrayLike) -> "
                     "tuple[NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(),
           "Derivatives of momentum with respect to q, along the tangent as in "
           "frame_velocity_derivatives, and v, which is centroidal_momentum_matrix: (6, nv) or "
           "(N, 6, nv) each.")
      .def("momentum_rate_derivatives", &momentumRateDerivativesOf,
           signature("def momentum_rate_derivatives(self, q: ArrayLike, v: ArrayLike, a: "
                     "ArrayLike) -> tuple[NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(),
           "Derivatives of momentum_rate with respect to q, along the tangent as in "
           "frame_velocity_derivatives, v and a, which is centroidal_momentum_matrix: (6, nv) or "
           "(N, 6, nv) each.")
      .def("center_of_mass_velocity_derivatives", &centerOfMassVelocityDerivativesOf,
           signature("def center_of_mass_velocity_derivatives(self, q: ArrayLike, v: ArrayLike) -> "
                     "tuple[NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(),
           "Derivatives of center_of_mass_velocity with respect to q, along the tangent as in "
           "frame_velocity_derivatives, and v, which is center_of_mass_jacobian: (3, nv) or "
           "(N, 3, nv) each.")
      .def("center_of_mass_acceleration_derivatives", &centerOfMassAccelerationDerivativesOf,
           signature("def center_of_mass_acceleration_derivatives(self, q: ArrayLike, v: "
                     "ArrayLike, a: ArrayLike) -> tuple[NDArray, NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(),
           "Derivatives of center_of_mass_acceleration with respect to q, along the tangent as in "
           "frame_velocity_derivatives, v and a, which is center_of_mass_jacobian: (3, nv) or "
           "(N, 3, nv) each.")
      .def("gravity_forces_derivatives", &gravityForcesDerivativesOf,
           signature("def gravity_forces_derivatives(self, q: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), nb::kw_only(), out,
           "Derivative of gravity_forces with respect to q, along the tangent as in "
           "frame_velocity_derivatives: (nv, nv) or (N, nv, nv).");
}

}  // namespace kempe::python
