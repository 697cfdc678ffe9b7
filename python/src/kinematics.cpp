#include "kempe/kinematics.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "choices.hpp"
#include "evaluate.hpp"
#include "kempe/momentum.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

using Placements = std::pair<nb::object, nb::object>;

/// R and p of frames whose placements have 12 numbers each: parts of the same array.
Placements split(const nb::object& placements, const Inputs& inputs, std::size_t frames,
                 bool oneFrame) {
  nb::list rotations;
  if (inputs.isBatch()) rotations.append(inputs.states());
  if (!oneFrame) rotations.append(frames);
  rotations.append(3);
  rotations.append(3);
  const nb::ellipsis all;
  return {placements[nb::make_tuple(all, nb::slice(0, 9))].attr("reshape")(rotations),
          placements[nb::make_tuple(all, nb::slice(9, 12))]};
}

Placements placementsOf(const PyModel& self, nb::handle q, const std::vector<int>& frames,
                        bool oneFrame) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  const auto count = static_cast<Eigen::Index>(frames.size());
  const Result result = oneFrame ? Result(inputs, {12}) : Result(inputs, {count, 12});
  const auto one = [&](auto& data, const auto& x, auto* placements, Eigen::Index) {
    using T = decltype(scalarOf(data));
    for (const int frame : frames) {
      const Transform<T> X = framePlacement<T>(model, data, x[0], frame);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) placements[3 * i + j] = X.R(i, j);
        placements[9 + i] = X.p[i];
      }
      placements += 12;
    }
  };
  const nb::object placements =
      evaluate(self, inputs, result, one, [&](auto& batch, const auto& x, const auto& rows) {
        forwardKinematics(model, batch, x[0], frames, rows);
      });
  return split(placements, inputs, frames.size(), oneFrame);
}

Placements forwardKinematicsOf(const PyModel& self, nb::handle q, nb::handle frames) {
  return placementsOf(self, q, framesOf(self, frames), false);
}

Placements framePlacementOf(const PyModel& self, nb::handle q, nb::handle frame) {
  return placementsOf(self, q, {frameOf(self, frame)}, true);
}

/// A motion of one frame: compute(data or batch, x, frame or frames, result, reference).
template <typename Compute>
nb::object frameMotionOf(const PyModel& self, Inputs inputs, nb::handle frame,
                         const std::string& reference, nb::handle out, const Compute& compute) {
  const int index = frameOf(self, frame);
  const Reference written = referenceCalled(reference);
  return evaluate(
      self, inputs, Result(inputs, {6}, out),
      [&](auto& data, const auto& x, auto* motion, Eigen::Index) {
        compute(data, x, index, vectorAt(motion, 6), written);
      },
      [&](auto& batch, const auto& x, const auto& motions) {
        compute(batch, x, std::span<const int>(&index, 1), motions, written);
      });
}

nb::object frameVelocityOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle frame,
                           const std::string& reference, nb::handle out) {
  return frameMotionOf(self, {argumentQ(self, q), argumentV(self, v)}, frame, reference, out,
                       [&](auto& work, const auto& x, auto of, auto velocity, Reference written) {
                         frameVelocity(self.model(), work, x[0], x[1], of, velocity, written);
                       });
}

nb::object frameAccelerationOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle a,
                               nb::handle frame, const std::string& reference, nb::handle out) {
  return frameMotionOf(
      self, {argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")}, frame, reference,
      out, [&](auto& work, const auto& x, auto of, auto acceleration, Reference written) {
        frameAcceleration(self.model(), work, x[0], x[1], x[2], of, acceleration, written);
      });
}

nb::object frameJacobianOf(const PyModel& self, nb::handle q, nb::handle frame,
                           const std::string& reference, nb::handle out) {
  const int index = frameOf(self, frame);
  const Reference written = referenceCalled(reference);
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {6, model.nv()}, out),
      [&](auto& data, const auto& x, auto* J, Eigen::Index) {
        writeRowByRow(J, 6, model.nv(), [&](auto& matrix) {
          frameJacobian(model, data, x[0], index, matrix, written);
        });
      },
      [&](auto& batch, const auto& x, const auto& J) {
        frameJacobian(model, batch, x[0], {&index, 1}, J, written);
      });
}

nb::object frameJacobianRateOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle frame,
                               const std::string& reference, nb::handle out) {
  return frameMotionOf(self, {argumentQ(self, q), argumentV(self, v)}, frame, reference, out,
                       [&](auto& work, const auto& x, auto of, auto rate, Reference written) {
                         frameJacobianRate(self.model(), work, x[0], x[1], of, rate, written);
                       });
}

template <typename Vector, typename T>
void writeVector(const Vector& x, T* out) {
  for (int i = 0; i < 3; ++i) out[i] = x[i];
}

nb::object centerOfMassOf(const PyModel& self, nb::handle q, nb::handle out) {
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {3}, out),
      [&](auto& data, const auto& x, auto* center, Eigen::Index) {
        writeVector(centerOfMass(self.model(), data, x[0]), center);
      },
      [&](auto& batch, const auto& x, const auto& centers) {
        centerOfMass(self.model(), batch, x[0], centers);
      });
}

nb::object centerOfMassJacobianOf(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {3, model.nv()}, out),
      [&](auto& data, const auto& x, auto* J, Eigen::Index) {
        writeRowByRow(J, 3, model.nv(),
                      [&](auto& matrix) { centerOfMassJacobian(model, data, x[0], matrix); });
      },
      [&](auto& batch, const auto& x, const auto& J) {
        centerOfMassJacobian(model, batch, x[0], J);
      });
}

nb::object centerOfMassVelocityOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle out) {
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  return evaluate(
      self, inputs, Result(inputs, {3}, out),
      [&](auto& data, const auto& x, auto* velocity, Eigen::Index) {
        writeVector(centerOfMassVelocity(self.model(), data, x[0], x[1]), velocity);
      },
      [&](auto& batch, const auto& x, const auto& velocities) {
        centerOfMassVelocity(self.model(), batch, x[0], x[1], velocities);
      });
}

nb::object centerOfMassAccelerationOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle a,
                                      nb::handle out) {
  Inputs inputs{argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")};
  return evaluate(
      self, inputs, Result(inputs, {3}, out),
      [&](auto& data, const auto& x, auto* acceleration, Eigen::Index) {
        writeVector(centerOfMassAcceleration(self.model(), data, x[0], x[1], x[2]), acceleration);
      },
      [&](auto& batch, const auto& x, const auto& accelerations) {
        centerOfMassAcceleration(self.model(), batch, x[0], x[1], x[2], accelerations);
      });
}

nb::object momentumRateOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle a,
                          nb::handle out) {
  Inputs inputs{argumentQ(self, q), argumentV(self, v), argumentV(self, a, "a")};
  return evaluate(
      self, inputs, Result(inputs, {6}, out),
      [&](auto& data, const auto& x, auto* rate, Eigen::Index) {
        momentumRate(self.model(), data, x[0], x[1], x[2], vectorAt(rate, 6));
      },
      [&](auto& batch, const auto& x, const auto& rate) {
        momentumRate(self.model(), batch, x[0], x[1], x[2], rate);
      });
}

nb::object momentumOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle out) {
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  return evaluate(
      self, inputs, Result(inputs, {6}, out),
      [&](auto& data, const auto& x, auto* h, Eigen::Index) {
        momentum(self.model(), data, x[0], x[1], vectorAt(h, 6));
      },
      [&](auto& batch, const auto& x, const auto& h) {
        momentum(self.model(), batch, x[0], x[1], h);
      });
}

nb::object centroidalMomentumMatrixOf(const PyModel& self, nb::handle q, nb::handle out) {
  const Model& model = self.model();
  Inputs inputs{argumentQ(self, q)};
  return evaluate(
      self, inputs, Result(inputs, {6, model.nv()}, out),
      [&](auto& data, const auto& x, auto* A, Eigen::Index) {
        writeRowByRow(A, 6, model.nv(),
                      [&](auto& matrix) { centroidalMomentumMatrix(model, data, x[0], matrix); });
      },
      [&](auto& batch, const auto& x, const auto& A) {
        centroidalMomentumMatrix(model, batch, x[0], A);
      });
}

nb::object energyOf(const PyModel& self, nb::handle q, nb::handle v) {
  Inputs inputs{argumentQ(self, q), argumentV(self, v)};
  const Result result(inputs, {2});
  const nb::object both = evaluate(
      self, inputs, result,
      [&](auto& data, const auto& x, auto* energies, Eigen::Index) {
        using T = decltype(scalarOf(data));
        const Energy e = energy(self.model(), data, x[0], x[1]);
        energies[0] = static_cast<T>(e.kinetic);
        energies[1] = static_cast<T>(e.potential);
      },
      [&](auto& batch, const auto& x, const auto& energies) {
        energy(self.model(), batch, x[0], x[1], energies);
      });
  const nb::object pair = inputs.isBatch() ? both.attr("T") : both.attr("tolist")();
  return nb::make_tuple(pair[0], pair[1]);
}

}  // namespace

void bindKinematics(ModelClass& model) {
  const auto reference = "reference"_a = "local_world_aligned";
  const auto out = "out"_a.none() = nb::none();
  model
      .def("forward_kinematics", &forwardKinematicsOf,
           signature("def forward_kinematics(self, q: ArrayLike, frames: Frames = None) -> "
                     "tuple[NDArray, NDArray]"),
           "q"_a.none(), "frames"_a.none() = nb::none(),
           "Placements of frames in the world (None: of all, in the order of frame_names): "
           "rotations R, (k, 3, 3) or (N, k, 3, 3), and positions p, (k, 3) or (N, k, 3), in "
           "metres.")
      .def("frame_placement", &framePlacementOf,
           signature("def frame_placement(self, q: ArrayLike, frame: str | int) -> tuple[NDArray, "
                     "NDArray]"),
           "q"_a.none(), "frame"_a.none(),
           "Placement of a frame (its name or number) in the world: rotation R, (3, 3) or "
           "(N, 3, 3), and position p, (3,) or (N, 3), in metres.")
      .def(
          "frame_velocity", &frameVelocityOf,
          signature("def frame_velocity(self, q: ArrayLike, v: ArrayLike, frame: str | int, "
                    "reference: str = 'local_world_aligned', Out) -> NDArray"),
          "q"_a.none(), "v"_a.none(), "frame"_a.none(), reference, nb::kw_only(), out,
          "Velocity of a frame, [linear; angular], (6,) or (N, 6), expressed as `reference` says: "
          "\"local_world_aligned\" (at its origin, axes of the world), \"local\" (its own axes) or "
          "\"world\" (at the world's origin).")
      .def("frame_acceleration", &frameAccelerationOf,
           signature("def frame_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, "
                     "frame: str | int, reference: str = 'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), "frame"_a.none(), reference, nb::kw_only(),
           out, "The time derivative of frame_velocity, J a + J̇ v, (6,) or (N, 6).")
      .def("frame_jacobian", &frameJacobianOf,
           signature("def frame_jacobian(self, q: ArrayLike, frame: str | int, reference: str = "
                     "'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "frame"_a.none(), reference, nb::kw_only(), out,
           "J of frame_velocity = J v, (6, nv) or (N, 6, nv), in independent coordinates, through "
           "all loops.")
      .def("frame_jacobian_rate", &frameJacobianRateOf,
           signature("def frame_jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str | int, "
                     "reference: str = 'local_world_aligned', Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "frame"_a.none(), reference, nb::kw_only(), out,
           "J̇ v, (6,) or (N, 6): frame_acceleration where a = 0.")
      .def("center_of_mass", &centerOfMassOf,
           signature("def center_of_mass(self, q: ArrayLike, Out) -> NDArray"), "q"_a.none(),
           nb::kw_only(), out,
           "Centre of mass of all moving bodies in the world, (3,) or (N, 3), in metres.")
      .def("center_of_mass_jacobian", &centerOfMassJacobianOf,
           signature("def center_of_mass_jacobian(self, q: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), nb::kw_only(), out,
           "J of the velocity J v of the centre of mass, (3, nv) or (N, 3, nv).")
      .def("center_of_mass_velocity", &centerOfMassVelocityOf,
           signature(
               "def center_of_mass_velocity(self, q: ArrayLike, v: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), nb::kw_only(), out,
           "Velocity of the centre of mass, (3,) or (N, 3), in m/s.")
      .def("center_of_mass_acceleration", &centerOfMassAccelerationOf,
           signature("def center_of_mass_acceleration(self, q: ArrayLike, v: ArrayLike, a: "
                     "ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), nb::kw_only(), out,
           "Acceleration of the centre of mass where velocities change by a, (3,) or (N, 3), in "
           "m/s².")
      .def("momentum_rate", &momentumRateOf,
           signature("def momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, Out) -> "
                     "NDArray"),
           "q"_a.none(), "v"_a.none(), "a"_a.none(), nb::kw_only(), out,
           "The rate of momentum, A a + Ȧ v, (6,) or (N, 6), in N and N·m: the forces and moments "
           "about the centre of mass that act from outside, gravity among them.")
      .def("momentum", &momentumOf,
           signature("def momentum(self, q: ArrayLike, v: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), "v"_a.none(), nb::kw_only(), out,
           "Momentum about the centre of mass, axes of the world, [linear; angular], (6,) or "
           "(N, 6), in kg·m/s and kg·m²/s.")
      .def("centroidal_momentum_matrix", &centroidalMomentumMatrixOf,
           signature("def centroidal_momentum_matrix(self, q: ArrayLike, Out) -> NDArray"),
           "q"_a.none(), nb::kw_only(), out, "A of momentum = A v, (6, nv) or (N, 6, nv).")
      .def("energy", &energyOf, "q"_a.none(), "v"_a.none(),
           signature(
               "def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[typing.Any, typing.Any]"),
           "Kinetic and potential energy in joules: two numbers, or two arrays (N,). Potential "
           "energy is that of gravity, zero at the world's origin, and of the joints' springs; "
           "kinetic energy includes armatures.");
}

}  // namespace kempe::python
