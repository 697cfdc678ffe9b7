#include "simulation/state_forces.hpp"

#include <limits>

#include "algorithms/constraint_solver.hpp"
#include "kernels/external_forces.hpp"
#include "simulation/regularity.hpp"

namespace kempe::detail {
namespace {

/// Adds a wrench in the common frame to those on bodies, which are about the world's origin.
void addWrench(const WorkView<double>& work, int body, const Force<double>& wrench, Vector& sum) {
  if (body == kWorld) {
    return;
  }
  const Vector3 moment = wrench.moment + cross(*work.origin, wrench.force);
  for (int i = 0; i < 3; ++i) {
    sum[6 * body + i] += wrench.force[i];
    sum[6 * body + 3 + i] += moment[i];
  }
}

}  // namespace

const Loads& StateForces::loads() {
  const Model& model = choices().user();
  loads_.joints = motion_.first->forces;
  choices().addUsers(motion_.first->tau, loads_.joints);
  loads_.bodies.resize(0);
  if (equations_.constraints || !motion_.first->external.empty()) {
    loads_.bodies.setZero(6 * static_cast<Eigen::Index>(model.impl().tables.bodies.size()));
  }
  if (motion_.first->rowRegularity < kForcesDetermined ||
      (equations_.constraints && motion_.first->crossing)) {
    loads_.joints.setConstant(std::numeric_limits<double>::quiet_NaN());
  } else {
    if (equations_.switches().holds()) {
      events_.addHoldingForces(loads_.joints);
    }
    if (equations_.constraints) {
      addConstraintForces();
    }
  }
  if (!motion_.first->external.empty()) {
    const PlacedEvaluation<double> placed(choices().current().model(), choices().current().data(),
                                          motion_.state.q);
    for (const FrameForce& force : motion_.first->external) {
      const FrameEntry& frame =
          choices().current().impl().frames[static_cast<std::size_t>(force.frame)];
      const std::array<double, 6>& w = force.wrench;
      const BodyFrame<double> at{frame.body, frame.inBody, force.reference};
      addWrench(
          *placed.work, frame.body,
          referenceFrame(at, *placed.work) * Force<double>{{w[3], w[4], w[5]}, {w[0], w[1], w[2]}},
          loads_.bodies);
    }
  }
  return loads_;
}

/// Solves for the multipliers once more, since their rows are not kept with the rates, and without
/// the corrections of Baumgarte's method, which are not forces of the mechanism.
void StateForces::addConstraintForces() {
  const Eigen::Index nv = choices().user().nv();
  const Constraints& constraints = *equations_.constraints;
  Eigen::VectorXd tau(nv), a(nv);
  choices().current().gather(motion_.first->G.data(), loads_.joints, tau);
  Evaluation<double> e(choices().current().model(), choices().current().data());
  const detail::ExternalForces<double, double> onBodies =
      e.prepareExternal(motion_.first->external);
  ConstraintSolver<double> solver(e);
  solver.add(e.impl.cuts);
  const int first = e.impl.cuts.rows;
  solver.add(constraints.table());
  const int end = first + constraints.rows();
  constrainedAccelerations(solver, motion_.state.time, 0.0, motion_.state.q.data(),
                           motion_.state.v.data(), tau.data(), onBodies, a.data());
  for (const ActiveConstraint& active : solver.active()) {
    if (active.firstOutput < first || active.firstOutput >= end) {
      continue;
    }
    const ConstraintEntry& entry = *active.entry;
    const std::size_t terms = entry.terms.size();
    for (int r = 0; r < entry.rows; ++r) {
      const double lambda = solver.scratch.lambda[active.firstRow + r];
      if (entry.form.betweenBodies()) {
        const Force<double> wrench = lambda * solver.scratch.rows[active.firstRow + r].wrench;
        addWrench(*e.work, entry.successor.body, wrench, loads_.bodies);
        addWrench(*e.work, entry.predecessor.body, -wrench, loads_.bodies);
      }
      for (std::size_t t = 0; t < terms; ++t) {
        loads_.joints[entry.terms[t].velocity] +=
            lambda * solver.scratch.slopes[active.firstSlope + r * terms + t];
      }
    }
  }
}

Reactions& StateForces::reactions() {
  if (!reactions_) {
    reactions_ = std::make_unique<Reactions>(choices().users().model());
  }
  return *reactions_;
}

void StateForces::inJoints(MatrixOut result, const ForceOptions& how) {
  reactions().joints(motion_.state.q, motion_.velocities, loads(), result, how);
}

void StateForces::inLoops(VectorOut result, const ForceOptions& how) {
  reactions().loops(motion_.state.q, motion_.velocities, loads(), result, how);
}

}  // namespace kempe::detail
