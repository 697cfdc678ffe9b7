#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bindings.hpp"
#include "conversions.hpp"
#include "evaluate.hpp"
#include "kempe/configuration.hpp"
#include "kempe/named_states.hpp"
#include "limits.hpp"
#include "named_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

constexpr auto kInDouble = Inputs::Precision::Double;

/// An algorithm that exists in double only: `one(data, x, y)`.
template <typename One>
nb::object evaluateInDouble(const PyModel& self, Inputs& inputs, Eigen::Index size, nb::handle out,
                            const One& one) {
  const Result result(inputs, {size}, out);
  evaluateIn<double>(self, inputs, result,
                     [&](Data& data, const StateInputs<double>& x, double* y, Eigen::Index) {
                       one(data, x, vectorAt(y, size));
                     });
  return result.array();
}

nb::object randomConfigurationOf(const PyModel& self, std::uint64_t seed, std::optional<int> size) {
  if (size.value_or(0) < 0) {
    throw std::invalid_argument("size: expected a number of configurations, got " +
                                std::to_string(*size));
  }
  Inputs inputs{std::optional<Eigen::Index>(size)};
  const Model& model = self.model();
  const Result result(inputs, {model.nq()});
  evaluateIn<double>(self, inputs, result, [&](Data&, const auto&, double* q, Eigen::Index i) {
    const Vector drawn = model.randomConfiguration(seed + static_cast<std::uint64_t>(i));
    std::copy_n(drawn.data(), drawn.size(), q);
  });
  warnOfRandom(self, seed, result.row<double>(0), inputs.states());
  return result.array();
}

nb::object projected(const PyModel& self, nb::handle q, nb::handle out) {
  Inputs inputs({argumentQ(self, q)}, kInDouble);
  return evaluateInDouble(
      self, inputs, self.model().nq(), out,
      [&](Data& data, const auto& x, auto closed) { project(self.model(), data, x[0], closed); });
}

nb::object integrated(const PyModel& self, nb::handle q, nb::handle v, double dt, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  if (inputs.isBatch()) {
    const Result result(inputs, {model.nq()}, out);
    const auto many = [&](auto& batch, const auto& x, const auto& moved) {
      integrate(model, batch, x[0], x[1], static_cast<decltype(scalarOf(batch))>(dt), moved);
    };
    return evaluateMany(self, inputs, result, many);
  }
  Inputs inDouble({argumentQ(self, q), argumentV(self, v)}, kInDouble);
  return evaluateInDouble(self, inDouble, model.nq(), out,
                          [&](Data& data, const auto& x, auto moved) {
                            integrate(model, data, x[0], x[1], dt, moved);
                          });
}

nb::object differenceBetween(const PyModel& self, nb::handle start, nb::handle end,
                             nb::handle out) {
  Inputs inputs({argumentQ(self, start, "start"), argumentQ(self, end, "end")}, kInDouble);
  return evaluateInDouble(
      self, inputs, self.model().nv(), out,
      [&](Data& data, const auto& x, auto v) { difference(self.model(), data, x[0], x[1], v); });
}

std::pair<nb::object, nb::object> spanningState(const PyModel& self, nb::handle q, nb::handle v) {
  const Model& model = self.model();
  Inputs inputs({argumentQ(self, q), argumentV(self, v)}, kInDouble);
  const Result positions(inputs, {model.nqSpanning()});
  const Result velocities(inputs, {model.nvSpanning()});
  evaluateIn<double>(self, inputs, positions,
                     [&](Data& data, const auto& x, double* qSpanning, Eigen::Index state) {
                       spanning(model, data, x[0], x[1], vectorAt(qSpanning, model.nqSpanning()),
                                vectorAt(velocities.row<double>(state), model.nvSpanning()));
                     });
  return {positions.array(), velocities.array()};
}

nb::object spanningPositionsOf(const PyModel& self, nb::handle q, nb::handle out) {
  Inputs inputs({argumentQ(self, q)}, kInDouble);
  return evaluateInDouble(self, inputs, self.model().nqSpanning(), out,
                          [&](Data& data, const auto& x, auto positions) {
                            spanningPositions(self.model(), data, x[0], positions);
                          });
}

nb::object constraintJacobianAt(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs({argumentQ(self, q)}, kInDouble);
  const Result result(inputs, {model.nvSpanning(), model.nv()}, out);
  evaluateIn<double>(self, inputs, result, [&](Data& data, const auto& x, double* G, Eigen::Index) {
    writeRowByRow(G, model.nvSpanning(), model.nv(),
                  [&](auto& matrix) { constraintJacobian(model, data, x[0], matrix); });
  });
  return result.array();
}

nb::object constraintBiasAt(const PyModel& self, nb::handle q, nb::handle v, nb::handle out) {
  Inputs inputs({argumentQ(self, q), argumentV(self, v)}, kInDouble);
  return evaluateInDouble(self, inputs, self.model().nvSpanning(), out,
                          [&](Data& data, const auto& x, auto g) {
                            constraintBias(self.model(), data, x[0], x[1], g);
                          });
}

nb::object constraintJacobianRateAt(const PyModel& self, nb::handle q, nb::handle v,
                                    nb::handle out) {
  const Model& model = self.model();
  Inputs inputs({argumentQ(self, q), argumentV(self, v)}, kInDouble);
  const Result result(inputs, {model.nvSpanning(), model.nv()}, out);
  evaluateIn<double>(self, inputs, result,
                     [&](Data& data, const auto& x, double* rate, Eigen::Index) {
                       writeRowByRow(rate, model.nvSpanning(), model.nv(), [&](auto& matrix) {
                         constraintJacobianRate(model, data, x[0], x[1], matrix);
                       });
                     });
  return result.array();
}

nb::object loopResidualAt(const PyModel& self, nb::handle q, nb::handle out) {
  Inputs inputs({argumentQ(self, q)}, kInDouble);
  return evaluateInDouble(
      self, inputs, self.model().nLoopRows(), out,
      [&](Data& data, const auto& x, auto rows) { loopResidual(self.model(), data, x[0], rows); });
}

Eigen::VectorXd configurationByName(const PyModel& self, nb::handle positions) {
  const NamedValues named = namedPositions(self.model(), positions, "positions");
  const nb::gil_scoped_release released;
  Data data(self.model());
  Eigen::VectorXd q(self.model().nq());
  configurationAt(self.model(), data, named, q);
  return q;
}

nb::object velocityByName(const PyModel& self, nb::handle q, nb::handle velocities) {
  const Model& model = self.model();
  const NamedValues named = namedVelocities(model, velocities, "velocities");
  Inputs inputs({argumentQ(self, q)}, kInDouble);
  return evaluateInDouble(self, inputs, model.nv(), nb::none(),
                          [&](Data& data, const auto& x, auto v) {
                            Eigen::VectorXd all(model.nvSpanning());
                            velocitiesAt(model, data, x[0], named, v, all);
                          });
}

}  // namespace

void bindConfigurations(ModelClass& model) {
  const auto out = "out"_a.none() = nb::none();
  model
      .def(
          "neutral",
          [](const PyModel& self) {
            const Eigen::VectorXd q = self.model().neutral();
            warnOfNeutral(self, q);
            return q;
          },
          "A configuration that closes the loops, away from singular positions, (nq,): all zeros "
          "where possible. Warns once (kempe.LimitsWarning) if it is outside joint limits.")
      .def_prop_ro(
          "position_limits", [](const PyModel& self) { return positionLimits(self.model()); },
          nb::for_getter(signature("def position_limits(self) -> tuple[NDArray, NDArray]")),
          "Lower and upper limits of the spanning positions (spanning_position_names), "
          "(nq_spanning,) each; infinite for joints without limits.")
      .def("random_configuration", &randomConfigurationOf,
           signature(
               "def random_configuration(self, seed: int = 0, size: int | None = None) -> NDArray"),
           "seed"_a = 0, "size"_a.none() = nb::none(),
           "A configuration that closes the loops within the joint limits, (nq,); the same for the "
           "same seed. With `size`, an array (size, nq) for the seeds seed, seed + 1, …. Warns "
           "once (kempe.LimitsWarning) if none within the limits was found.")
      .def("configuration", &configurationByName,
           signature("def configuration(self, positions: Named) -> NDArray"), "positions"_a,
           R"(The configuration with named joints at given positions and closed loops, (nq,).

Keys are joints, independent or dependent, with one number or a list of all their positions, or
single coordinates: "base.z" (spanning_position_names) or ("base", 2), (joint, component). The other joints stay where neutral() has
them as far as the loops allow, on the same branch if that leads to the positions. Raises
AssemblyError with the nearest position found if the loops cannot be closed there.)")
      .def("velocity", &velocityByName,
           signature("def velocity(self, q: ArrayLike, velocities: Named) -> NDArray"),
           "q"_a.none(), "velocities"_a,
           R"(The v with which named joints have given velocities, (nv,) or (N, nv).

Keys are as in configuration(), or from spanning_velocity_names. The other joints are at rest as far
as the loops allow. Raises ValueError with the nearest velocity if the loops do not allow them.)")
      .def("project", &projected, signature("def project(self, q: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), nb::kw_only(), out,
           "Closes the loops: holds the independent positions and solves for the others, on the "
           "branch of q. (nq,) or (N, nq). Raises AssemblyError if they cannot be closed.")
      .def("integrate", &integrated,
           signature("def integrate(self, q: ArrayLike, v: ArrayLike, dt: float, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "dt"_a, nb::kw_only(), out,
           "The configuration reached from q with the constant velocity v after dt seconds, (nq,) "
           "or (N, nq); the loops stay closed. Raises AssemblyError if the loops cannot be closed "
           "along this motion.")
      .def("difference", &differenceBetween,
           signature("def difference(self, start: ArrayLike, end: ArrayLike, Out) -> NDArray"),
           "start"_a.none(), "end"_a.none(), nb::kw_only(), out,
           "The velocity that leads from one configuration to another in unit time, (nv,) or "
           "(N, nv).")
      .def("spanning", &spanningState,
           signature("def spanning(self, q: ArrayLike, v: ArrayLike) -> tuple[NDArray, NDArray]"),
           "q"_a.none(), "v"_a.none(),
           "Positions and velocities of all tree joints, loops cut: (nq_spanning,) and "
           "(nv_spanning,), or (N, …).")
      .def("spanning_positions", &spanningPositionsOf,
           signature("def spanning_positions(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "Positions of all tree joints, (nq_spanning,) or (N, nq_spanning); defined at singular "
           "positions too.")
      .def("constraint_jacobian", &constraintJacobianAt,
           signature("def constraint_jacobian(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "Returns G of (spanning velocity) = G v, not the K of K (spanning velocity) = 0, which "
           "others call the constraint Jacobian; K G = 0. (nv_spanning, nv) or (N, nv_spanning, "
           "nv). Raises SingularityError at singular positions.")
      .def("constraint_jacobian_rate", &constraintJacobianRateAt,
           signature(
               "def constraint_jacobian_rate(self, q: ArrayLike, v: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), nb::kw_only(), out,
           "Ġ, (nv_spanning, nv) or (N, nv_spanning, nv): the time derivative of "
           "constraint_jacobian at velocities v. Its product with v is constraint_bias.")
      .def("constraint_bias", &constraintBiasAt,
           signature("def constraint_bias(self, q: ArrayLike, v: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), nb::kw_only(), out,
           "g of (spanning acceleration) = G a + g, (nv_spanning,) or (N, nv_spanning). Raises "
           "SingularityError at singular positions.")
      .def("loop_residual", &loopResidualAt,
           signature("def loop_residual(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "Loop closure error φ, (n_loop_rows,) or (N, n_loop_rows): one number per constraint "
           "row of every loop, in metres, radians or a function's unit; zero for closed loops.");
}

}  // namespace kempe::python
