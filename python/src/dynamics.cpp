#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "choices.hpp"
#include "evaluate.hpp"
#include "external_forces.hpp"
#include "kempe/coriolis.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/mass_matrix.hpp"
#include "kempe/operational_inertia.hpp"
#include "kempe/static_deflection.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Forward or inverse dynamics: `one(data, q, v, x, y, options)` and, where the method is the
/// recursion, `many(batch, q, v, x, y, forces)`.
template <typename One, typename Many>
nb::object dynamics(const PyModel& self, Inputs inputs, nb::handle external,
                    const std::string& reference, const std::string& method, nb::handle out,
                    const One& one, const Many& many) {
  const Method chosen = methodCalled(method);
  ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const Result result(inputs, {self.model().nv()}, out);
  forces.separateFrom(result);
  const auto computeOne = [&](auto& data, const auto& x, auto* y, Eigen::Index state) {
    const std::vector<FrameForce> own = forces.of(state);
    one(data, x, vectorAt(y, self.model().nv()), {.external = own, .method = chosen});
  };
  if (chosen != Method::Cluster) return evaluate(self, inputs, result, computeOne);
  return evaluate(self, inputs, result, computeOne, [&](auto& batch, const auto& x, const auto& y) {
    std::vector<decltype(scalarOf(batch))> wrenches;
    many(batch, x, y, forces.part(x.first, x.count, wrenches));
  });
}

nb::object inverseDynamicsOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle a,
                             nb::handle external, const std::string& method,
                             const std::string& reference, nb::handle out) {
  const Model& model = self.model();
  return dynamics(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")}, external, reference,
      method, out,
      [&](auto& data, const auto& x, auto tau, const DynamicsOptions& how) {
        inverseDynamics(model, data, x[0], x[1], x[2], tau, how);
      },
      [&](auto& batch, const auto& x, const auto& tau, const auto& forces) {
        inverseDynamics(model, batch, x[0], x[1], x[2], tau, forces);
      });
}

nb::object staticDeflectionOf(const PyModel& self, nb::handle q, nb::handle tau,
                              nb::handle external, const std::string& reference, nb::handle out) {
  const Model& model = self.model();
  const nb::object zero =
      tau.is_none() ? nb::module_::import_("numpy").attr("zeros")(model.nv()) : nb::borrow(tau);
  Inputs inputs({argumentQ(self, q), argumentV(self, zero, "tau")}, Inputs::Precision::Double);
  ExternalForces forces(self, external, reference);
  forces.joinWith(inputs);
  const Result result(inputs, {model.nq()}, out);
  forces.separateFrom(result);
  evaluateIn<double>(
      self, inputs, result, [&](Data& data, const auto& x, double* bent, Eigen::Index state) {
        const std::vector<FrameForce> own = forces.of(state);
        staticDeflection(model, data, x[0], x[1], vectorAt(bent, model.nq()), {.external = own});
      });
  return result.array();
}

nb::object forwardDynamicsOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle tau,
                             nb::handle external, const std::string& method,
                             const std::string& reference, nb::handle out) {
  const Model& model = self.model();
  return dynamics(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, tau, "tau")}, external,
      reference, method, out,
      [&](auto& data, const auto& x, auto a, const DynamicsOptions& how) {
        forwardDynamics(model, data, x[0], x[1], x[2], a, how);
      },
      [&](auto& batch, const auto& x, const auto& a, const auto& forces) {
        forwardDynamics(model, batch, x[0], x[1], x[2], a, forces);
      });
}

nb::object biasForcesOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle external,
                        const std::string& method, const std::string& reference, nb::handle out) {
  const Model& model = self.model();
  return dynamics(
      self, {argumentQ(self, q), argumentV(self, v)}, external, reference, method, out,
      [&](auto& data, const auto& x, auto h, const DynamicsOptions& how) {
        biasForces(model, data, x[0], x[1], h, how);
      },
      [&](auto& batch, const auto& x, const auto& h, const auto& forces) {
        using T = decltype(scalarOf(batch));
        if (forces.frames.empty()) {
          biasForces(model, batch, x[0], x[1], h);
          return;
        }
        // One row of zeros, which stands for all states.
        const Eigen::Matrix<T, Eigen::Dynamic, 1> still =
            Eigen::Matrix<T, Eigen::Dynamic, 1>::Zero(model.nv());
        const States<const T> zero(still.data(), x.count, model.nv(), 0, 1);
        inverseDynamics(model, batch, x[0], x[1], zero, h, forces);
      });
}

nb::object gravityForcesOf(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {model.nv()}, out),
      [&](auto& data, const auto& x, auto* tau, Eigen::Index) {
        gravityForces(model, data, x[0], vectorAt(tau, model.nv()));
      },
      [&](auto& batch, const auto& x, const auto& tau) { gravityForces(model, batch, x[0], tau); });
}

nb::object generalizedForcesOf(const PyModel& self, nb::handle q, nb::handle spanning,
                               nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q),
                {spanning, "spanning", model.nvSpanning(), "model.nv_spanning"}};
  return evaluate(self, inputs, Result(inputs, {model.nv()}, out),
                  [&](auto& data, const auto& x, auto* tau, Eigen::Index) {
                    generalizedForces(model, data, x[0], x[1], vectorAt(tau, model.nv()));
                  });
}

nb::object massMatrixOf(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {model.nv(), model.nv()}, out),
      [&](auto& data, const auto& x, auto* H, Eigen::Index) {
        writeRowByRow(H, model.nv(), model.nv(),
                      [&](auto& matrix) { massMatrix(model, data, x[0], matrix); });
      },
      [&](auto& batch, const auto& x, const auto& H) { massMatrix(model, batch, x[0], H); });
}

nb::object inverseMassMatrixOf(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(self, inputs, Result(inputs, {model.nv(), model.nv()}, out),
                  [&](auto& data, const auto& x, auto* inverse, Eigen::Index) {
                    writeRowByRow(inverse, model.nv(), model.nv(), [&](auto& matrix) {
                      inverseMassMatrix(model, data, x[0], matrix);
                    });
                  });
}

nb::object applyInverseMassMatrixTo(const PyModel& self, nb::handle q, nb::handle x,
                                    nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q), argumentV(self, x, "x")};
  return evaluate(self, inputs, Result(inputs, {model.nv()}, out),
                  [&](auto& data, const auto& in, auto* result, Eigen::Index) {
                    applyInverseMassMatrix(model, data, in[0], in[1], vectorAt(result, model.nv()));
                  });
}

nb::object coriolisMatrixOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  return evaluate(
      self, inputs, Result(inputs, {model.nv(), model.nv()}, out),
      [&](auto& data, const auto& x, auto* C, Eigen::Index) {
        writeRowByRow(C, model.nv(), model.nv(),
                      [&](auto& matrix) { coriolisMatrix(model, data, x[0], x[1], matrix); });
      },
      [&](auto& batch, const auto& x, const auto& C) {
        coriolisMatrix(model, batch, x[0], x[1], C);
      });
}

nb::object inverseOperationalInertiaOf(const PyModel& self, nb::handle q, nb::handle frames,
                                       const std::string& reference, const std::string& method,
                                       nb::handle out) {
  const Model& model = self.model();
  const std::vector<int> chosen = framesOf(self, frames);
  const Reference written = referenceCalled(reference);
  const Method way = methodCalled(method);
  const auto size = static_cast<Eigen::Index>(6 * chosen.size());
  Inputs inputs{argumentQ(self, q)};
  const Result result(inputs, {size, size}, out);
  const auto one = [&](auto& data, const auto& x, auto* Omega, Eigen::Index) {
    writeRowByRow(Omega, size, size, [&](auto& matrix) {
      inverseOperationalInertia(model, data, x[0], chosen, matrix, written, way);
    });
  };
  if (way != Method::Cluster) return evaluate(self, inputs, result, one);
  return evaluate(self, inputs, result, one, [&](auto& batch, const auto& x, const auto& Omega) {
    inverseOperationalInertia(model, batch, x[0], chosen, Omega, written);
  });
}

}  // namespace

void bindDynamics(ModelClass& model) {
  const auto external = "external"_a.none() = nb::none();
  const auto method = "method"_a = "cluster";
  const auto externalReference = "external_reference"_a = "local_world_aligned";
  const auto out = "out"_a.none() = nb::none();

  model
      .def("inverse_dynamics", &inverseDynamicsOf,
           signature("def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
                     "external: Forces = None, method: str = 'cluster', external_reference: str = "
                     "'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), external, method, externalReference,
           nb::kw_only(), out,
           R"(Inverse dynamics, the forces required for given accelerations: τ = H a + h.

Includes damping, friction, armature and springs of the joints. Cost: linear in bodies.

Args:
    q: configuration, (nq,) or (N, nq); must close the loops (see project).
    v: velocities, (nv,) or (N, nv), in rad/s or m/s.
    a: accelerations, (nv,) or (N, nv), in rad/s² or m/s².
    external: forces on frames, {frame: [force; moment]}, 6 numbers or (N, 6) each, in N and N·m.
    method: "cluster" (exact, the fastest), "projection", "lagrange" and "cut_joint" (exact),
        "approximate" and "unconstrained" (not exact), for comparison.
    external_reference: how the forces are expressed: "local_world_aligned" (at the frame's origin,
        axes of the world), "local" (axes of the frame) or "world" (at the world's origin).
    out: array for the result; it may be one of the inputs, or overlap them.

Returns:
    τ, (nv,) or (N, nv), in N·m or N.

Raises:
    ValueError: wrong sizes, or numbers that are not finite.
    SingularityError: a loop is at a singular position.)")
      .def("forward_dynamics", &forwardDynamicsOf,
           signature("def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, "
                     "external: Forces = None, method: str = 'cluster', external_reference: str = "
                     "'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "tau"_a.none(), external, method, externalReference,
           nb::kw_only(), out,
           R"(Forward dynamics, the accelerations caused by given forces: a = H⁻¹ (τ − h).

Includes damping, friction, armature and springs of the joints. Cost: linear in bodies.

Args:
    q: configuration, (nq,) or (N, nq); must close the loops (see project).
    v: velocities, (nv,) or (N, nv), in rad/s or m/s.
    tau: forces, (nv,) or (N, nv), in N·m or N.
    external: forces on frames, {frame: [force; moment]}, 6 numbers or (N, 6) each, in N and N·m.
    method: "cluster" (exact, the fastest), "projection", "lagrange" and "cut_joint" (exact),
        "approximate" and "unconstrained" (not exact), for comparison.
    external_reference: how the forces are expressed: "local_world_aligned" (at the frame's origin,
        axes of the world), "local" (axes of the frame) or "world" (at the world's origin).
    out: array for the result; it may be one of the inputs, or overlap them.

Returns:
    a, (nv,) or (N, nv), in rad/s² or m/s².

Raises:
    ValueError: wrong sizes, or numbers that are not finite.
    SingularityError: a loop is at a singular position, or a degree of freedom moves no
        inertia.)")
      .def("static_deflection", &staticDeflectionOf,
           signature("def static_deflection(self, q: ArrayLike, tau: ArrayLike | None = None, "
                     "external: Forces = None, external_reference: str = 'local_world_aligned', "
                     "Out) -> NDArray"),
           "q"_a.none(), "tau"_a.none() = nb::none(), external, externalReference, nb::kw_only(),
           out,
           "How flexible bodies bend at rest under gravity, the forces tau along modal coordinates "
           "and "
           "external forces: the configuration with the modal coordinates changed and all others "
           "held, "
           "(nq,) or (N, nq). Raises RuntimeError where there is no equilibrium nearby.")
      .def("bias_forces", &biasForcesOf,
           signature(
               "def bias_forces(self, q: ArrayLike, v: ArrayLike, external: Forces = None, method: "
               "str = 'cluster', external_reference: str = 'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), external, method, externalReference, nb::kw_only(), out,
           "h of τ = H a + h, (nv,) or (N, nv), in N·m or N: velocity-dependent forces, gravity, "
           "damping, friction, springs and external forces. Arguments as in inverse_dynamics.")
      .def("gravity_forces", &gravityForcesOf,
           signature("def gravity_forces(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "Generalised gravity forces: τ at v = 0, a = 0, which holds the robot at rest, (nv,) or "
           "(N, nv), in N·m or N. Includes springs of the joints.")
      .def("generalized_forces", &generalizedForcesOf,
           signature(
               "def generalized_forces(self, q: ArrayLike, spanning: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "spanning"_a.none(), nb::kw_only(), out,
           "τ = Gᵀ spanning, (nv,) or (N, nv): the generalised forces equivalent to forces at the "
           "tree joints, including motors. `spanning` has nv_spanning numbers, N·m or N; those of "
           "a joint begin at joint_velocity_index.")
      .def("mass_matrix", &massMatrixOf,
           signature("def mass_matrix(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "H of τ = H a + h, (nv, nv) or (N, nv, nv), in kg·m² or kg: symmetric, positive "
           "definite.")
      .def("inverse_mass_matrix", &inverseMassMatrixOf,
           signature("def inverse_mass_matrix(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "H⁻¹, (nv, nv) or (N, nv, nv), by the recursion of forward_dynamics, without forming H.")
      .def("apply_inverse_mass_matrix", &applyInverseMassMatrixTo,
           signature(
               "def apply_inverse_mass_matrix(self, q: ArrayLike, x: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "x"_a.none(), nb::kw_only(), out,
           "H⁻¹ x, (nv,) or (N, nv), in time linear in bodies.")
      .def("coriolis_matrix", &coriolisMatrixOf,
           signature("def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), nb::kw_only(), out,
           "C of τ = H a + C v + gravity, damping and friction, (nv, nv) or (N, nv, nv), "
           "factorised so that Ḣ − 2C is skew-symmetric.")
      .def("inverse_operational_inertia", &inverseOperationalInertiaOf,
           signature(
               "def inverse_operational_inertia(self, q: ArrayLike, frames: Frames, reference: str "
               "= 'local_world_aligned', method: str = 'cluster', Out) -> NDArray"),
           "q"_a.none(), "frames"_a.none(), "reference"_a = "local_world_aligned", method,
           nb::kw_only(), out,
           "Ω = J H⁻¹ Jᵀ of k frames (names or numbers; None: all), (6k, 6k) or (N, 6k, 6k): the "
           "frame accelerations per unit force on frames. Rows and columns: [linear; angular] of "
           "each frame.");
}

}  // namespace kempe::python
