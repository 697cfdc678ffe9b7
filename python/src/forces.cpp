#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "choices.hpp"
#include "evaluate.hpp"
#include "external_forces.hpp"
#include "kempe/batch.hpp"
#include "kempe/joint_forces.hpp"
#include "named_forces.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Forces between bodies for all states of one call. The numbers of a state are [joints, 6 each;
/// loops; a or tau], as far as requested.
class ForcesOfCall {
 public:
  struct Wanted {
    bool joints = false, loops = false, motion = false;
  };

  ForcesOfCall(const PyModel& self, Wanted wanted, nb::handle q, nb::handle v, nb::handle tau,
               nb::handle external, nb::handle a, nb::handle spanning, const std::string& actuation,
               nb::handle reference, nb::handle frame, const std::string& externalReference)
      : self_(self),
        model_(self.model()),
        inverse_(motionIsGiven(tau, a)),
        inputs_{argumentQ(self, q), argumentV(self, v),
                inverse_ ? argumentV(self, a, "a") : argumentV(self, tau, "tau")},
        forces_(self, external, externalReference) {
    forces_.joinWith(inputs_);
    if (!spanning.is_none()) {
      spanning_.emplace(spanning, "spanning", model_.nvSpanning(), "model.nv_spanning");
      spanning_->widen();
      spanning_->makeRowsContiguous();
      inputs_.alsoWith(*spanning_);
    }
    how_.actuation = actuationCalled(actuation);
    readForceAxes(self, reference, frame, how_);
    joints_ = wanted.joints ? static_cast<Eigen::Index>(model_.jointNames().size()) : 0;
    loops_ = wanted.loops ? model_.nLoopForces() : 0;
    motion_ = wanted.motion ? model_.nv() : 0;
    compute();
  }

  /// The wrench of each joint, by name.
  [[nodiscard]] nb::dict joints() const { return jointForcesByName(model_, numbers_, 0); }
  [[nodiscard]] nb::dict loops() const { return loopForcesByName(model_, numbers_, 6 * joints_); }
  /// a if tau is given, and vice versa.
  [[nodiscard]] nb::object motion() const {
    const Eigen::Index first = 6 * joints_ + loops_;
    return numbers_[nb::make_tuple(nb::ellipsis(), nb::slice(first, first + motion_))];
  }

 private:
  static bool motionIsGiven(nb::handle tau, nb::handle a) {
    if (tau.is_none() == a.is_none()) {
      throw std::invalid_argument(tau.is_none() ? "tau: give tau, or the accelerations as a="
                                                : "tau and a are both given: give one of the two");
    }
    return tau.is_none();
  }

  void compute() {
    const Result result(inputs_, {6 * joints_ + loops_ + motion_});
    const auto one = [&](auto& data, const auto& x, auto* y, Eigen::Index state) {
      using T = decltype(scalarOf(data));
      const std::vector<FrameForce> external = forces_.of(state);
      ForceOptions how = how_;
      how.external = external;
      if (spanning_) {
        how.spanning = {spanning_->row<double>(state),
                        static_cast<std::size_t>(model_.nvSpanning())};
      }
      Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> joints(y, joints_ == 0 ? 0 : 6,
                                                                          joints_);
      auto loops = vectorAt(y + 6 * joints_, loops_);
      Eigen::Matrix<T, Eigen::Dynamic, 1> other(model_.nv());
      if (inverse_) {
        inverseDynamicsAndForces(model_, data, x[0], x[1], x[2], other, joints, loops, how);
      } else {
        forwardDynamicsAndForces(model_, data, x[0], x[1], x[2], other, joints, loops, how);
      }
      vectorAt(y + 6 * joints_ + loops_, motion_) = other.head(motion_);
    };
    if (spanning_) {
      numbers_ = evaluate(self_, inputs_, result, one);
      return;
    }
    numbers_ =
        evaluate(self_, inputs_, result, one, [&](auto& batch, const auto& x, const auto& rows) {
          using T = decltype(scalarOf(batch));
          std::vector<T> wrenches;
          const BatchForceOptions<T> how{.external = forces_.part(x.first, x.count, wrenches),
                                         .reference = how_.reference,
                                         .frame = how_.frame,
                                         .actuation = how_.actuation};
          // Columns of the result; none where they are not wanted.
          const auto part = [&](Eigen::Index first, Eigen::Index count) {
            return count == 0 ? States<T>{}
                              : States<T>(rows.data + first, rows.states, count, rows.stateStride,
                                          rows.entryStride);
          };
          const States<T> joints = part(0, 6 * joints_), loops = part(6 * joints_, loops_),
                          motion = part(6 * joints_ + loops_, motion_);
          if (inverse_) {
            inverseDynamicsAndForces(model_, batch, x[0], x[1], x[2], motion, joints, loops, how);
          } else {
            forwardDynamicsAndForces(model_, batch, x[0], x[1], x[2], motion, joints, loops, how);
          }
        });
  }

  const PyModel& self_;
  const Model& model_;
  bool inverse_;
  Inputs inputs_;
  ExternalForces forces_;
  std::optional<ArrayArgument> spanning_;
  ForceOptions how_;
  Eigen::Index joints_ = 0, loops_ = 0, motion_ = 0;
  nb::object numbers_;
};

template <ForcesOfCall::Wanted wanted>
nb::object forcesOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle tau,
                    nb::handle external, nb::handle a, nb::handle spanning,
                    const std::string& actuation, nb::handle reference, nb::handle frame,
                    const std::string& externalReference) {
  const ForcesOfCall forces(self, wanted, q, v, tau, external, a, spanning, actuation, reference,
                            frame, externalReference);
  if constexpr (wanted.motion) {
    return nb::make_tuple(forces.motion(), forces.joints(), forces.loops());
  } else {
    return wanted.joints ? forces.joints() : forces.loops();
  }
}

}  // namespace

void bindForces(ModelClass& model) {
  const auto none = [](const char* name) { return nb::arg(name).none() = nb::none(); };
  const auto define = [&](const char* name, auto function, const std::string& result,
                          const char* text) {
    model.def(name, function,
              signature(std::string("def ") + name +
                        "(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, "
                        "external: Forces = None, *, a: ArrayLike | None = None, spanning: "
                        "ArrayLike | None = None, actuation: str = 'independent', reference: str "
                        "| None = None, frame: str | int | None = None, external_reference: str "
                        "= 'local_world_aligned') -> " +
                        result),
              "q"_a.none(), "v"_a.none(), none("tau"), none("external"), nb::kw_only(), none("a"),
              none("spanning"), "actuation"_a = "independent", none("reference"), none("frame"),
              "external_reference"_a = "local_world_aligned", text);
  };
  define("joint_forces", &forcesOf<ForcesOfCall::Wanted{.joints = true}>, "dict[str, NDArray]",
         R"(Force and moment that the parent applies to the child, for every tree joint.

Computed from one evaluation of the dynamics, at a fraction of its cost. The force of a joint
includes motors, gears and all other forces that act along it. Joints of folded rotors are included.

Where loops are redundant (Loop.force_is_unique), the motion of rigid bodies does not determine the
forces in their cluster: the result is the solution with the smallest loop forces.

Args:
    q: configuration, (nq,) or (N, nq); must close the loops (see project).
    v: velocities, (nv,) or (N, nv), in rad/s or m/s.
    tau: forces, (nv,) or (N, nv), in N·m or N: forward dynamics. Give either tau or a.
    external: forces on frames, {frame: [force; moment]}, 6 numbers or (N, 6) each, in N and N·m.
    a: accelerations, (nv,) or (N, nv), in rad/s² or m/s²: inverse dynamics.
    spanning: forces at all tree joints in addition to tau, (nv_spanning,) or (N, nv_spanning).
    actuation: where tau acts in clusters with loops: at the "independent" joints, or at the
        "rotors" (Cluster.rotor_joints) as for geared motors. Affects only the forces that
        loops carry.
    reference: how wrenches are expressed: "local_world_aligned" (at the joint's origin on the
        child, axes of the world; the default), "local" (axes of the child) or "world" (at the
        world's origin).
    frame: express all wrenches at the origin and in the axes of this frame instead.
    external_reference: how the external forces are expressed.

Returns:
    {joint: [force; moment]}, (6,) or (N, 6) each, in N and N·m.

Raises:
    ValueError: wrong sizes, numbers that are not finite, or arguments that exclude each other.
    SingularityError: a loop is at a singular position, or rotors cannot move their cluster
        there.)");
  define("loop_forces", &forcesOf<ForcesOfCall::Wanted{.loops = true}>, "dict[str, NDArray]",
         R"(Forces that the loops transmit.

For a loop joint or rod, [force; moment] that the predecessor applies to the successor, at the
successor's frame or point; for a coupling or function, the forces along its coordinates
(Loop.coordinates), such as the torques of a gear on its two shafts. Where Loop.force_is_unique is
false, the solution with the least sum of squares.

Arguments as in joint_forces.

Returns:
    {loop: its numbers}, (6,) or (coordinates,), with a leading N for N states, in N and N·m.)");
  define("forces", &forcesOf<ForcesOfCall::Wanted{true, true, true}>,
         "tuple[NDArray, dict[str, NDArray], dict[str, NDArray]]",
         R"(From one evaluation: a (or tau, if a is given), joint_forces and loop_forces.

Arguments as in joint_forces.)");
}

}  // namespace kempe::python
