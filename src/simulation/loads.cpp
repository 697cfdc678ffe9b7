#include "simulation/loads.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "algorithms/constraint_solver.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kernels/external_forces.hpp"
#include "simulation/regularity.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Accelerations under the loads of a sample may differ from those of the sample by this share:
/// above what projections and Baumgarte's method leave (1e-8), below what the armature of a motor or
/// a changed mass does.
constexpr double kExplained = 1e-4;
/// Accelerations below this are rounding errors of forces that balance.
constexpr double kRest = 1e-9;

/// `loop` is empty if it is constraints that are there.
[[noreturn]] void throwAtChangePoint(const std::string& loop) {
  const std::string what =
      loop.empty() ? "the constraints are" : "loop " + kempe::quoted(loop) + " is";
  throw SingularityError(
      what +
          " at a change point, where the motion of rigid bodies does not determine the forces. "
          "Ask for the forces a little earlier or later.",
      loop, std::numeric_limits<double>::infinity());
}

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

Reactions::Reactions(const Model& model) : scales_(model) {
  choices_.push_back(
      std::make_unique<Coordinates>(derivedModel(model, {.withoutFriction = true}), scales_));
  G_.resize(static_cast<std::size_t>(choices_.front()->ratios()));
  choices_.front()->writeConstantRatios(G_.data());
  const ModelImpl& impl = model.impl();
  for (int body = 0; body < static_cast<int>(impl.tables.bodies.size()); ++body) {
    const auto own = std::ranges::find(impl.frames, body, &FrameEntry::body);
    frames_.push_back(static_cast<int>(own - impl.frames.begin()));
  }
  external_.reserve(frames_.size());
  for (Eigen::VectorXd* each : {&v_, &none_, &tau_, &a_}) {
    each->setZero(model.nv());
  }
}

Coordinates& Reactions::bestAt(VectorIn q) {
  Coordinates& own = *choices_.front();
  own.best(q, lists_);
  ModelChanges changes{.independent = lists_};
  auto found = std::make_unique<Coordinates>(derivedModel(own.model(), changes), scales_);
  for (const std::unique_ptr<Coordinates>& known : choices_) {
    if (known->independent() == found->independent()) {
      return *known;
    }
  }
  choices_.push_back(std::move(found));
  return *choices_.back();
}

Coordinates& Reactions::choose(VectorIn q, VectorIn velocities) {
  Coordinates* chosen = choices_.front().get();
  const auto isRegular = [&] {
    return chosen->placeAt(q, G_.data()) == Standing::Regular &&
           std::ranges::all_of(chosen->regularity(),
                               [](double r) { return r > kForcesDetermined; });
  };
  if (!isRegular() || chosen->worstRatio(G_.data()) > Coordinates::kExchange) {
    scales_.learn(chosen->model(), chosen->positions());
    chosen = &bestAt(q);
    if (!isRegular()) {
      const auto worst = std::ranges::min_element(chosen->regularity());
      const auto cluster = static_cast<std::size_t>(worst - chosen->regularity().begin());
      throwAtChangePoint(chosen->model().clusters()[cluster].loops.front());
    }
  }
  chosen->pick(velocities, v_);
  return *chosen;
}

ForceOptions Reactions::under(const Loads& loads, const ForceOptions& how) {
  if (!how.external.empty() || !how.spanning.empty() || how.actuation != Actuation::Independent) {
    throw std::invalid_argument(
        "external, spanning and actuation: the forces of a simulation are those of its own "
        "elements. Give reference or frame only.");
  }
  if (loads.joints.hasNaN()) {  // see loadsNow()
    const std::vector<std::string>& cut = choices_.front()->model().cutLoops();
    throwAtChangePoint(cut.empty() ? std::string() : cut.front());
  }
  external_.clear();
  for (std::size_t body = 0; 6 * static_cast<Eigen::Index>(body) < loads.bodies.size(); ++body) {
    const double* six = loads.bodies.data() + 6 * body;
    if (std::any_of(six, six + 6, [](double x) { return x != 0.0; })) {
      FrameForce& force = external_.emplace_back();
      force.frame = frames_[body];
      force.reference = Reference::World;
      std::copy_n(six, 6, force.wrench.begin());
    }
  }
  ForceOptions all = how;
  all.external = external_;
  all.spanning = {loads.joints.data(), static_cast<std::size_t>(loads.joints.size())};
  return all;
}

void Reactions::joints(VectorIn q, VectorIn velocities, const Loads& loads, MatrixOut forces,
                       const ForceOptions& how) {
  const ForceOptions all = under(loads, how);
  Coordinates& chosen = choose(q, velocities);
  jointForces(chosen.model(), chosen.data(), q, v_, none_, forces, all);
}

bool Reactions::explain(VectorIn q, VectorIn velocities, const Loads& loads, VectorIn a) {
  const ForceOptions all = under(loads, {});
  Coordinates& chosen = choose(q, velocities);
  if (&chosen != choices_.front().get() || a.hasNaN()) {
    return true;  // there are no accelerations to compare with
  }
  // A robot that is held still has no accelerations: those of its fall are the measure then.
  forwardDynamics(chosen.model(), chosen.data(), q, v_, none_, a_);
  const double fall = a_.norm();
  chosen.gather(G_.data(), loads.joints, tau_);
  forwardDynamics(chosen.model(), chosen.data(), q, v_, tau_, a_, {.external = all.external});
  return (a_ - a).norm() <= kExplained * std::max({a_.norm(), a.norm(), fall, kRest});
}

void Reactions::loops(VectorIn q, VectorIn velocities, const Loads& loads, VectorOut forces,
                      const ForceOptions& how) {
  const ForceOptions all = under(loads, how);
  Coordinates& chosen = choose(q, velocities);
  loopForces(chosen.model(), chosen.data(), q, v_, none_, forces, all);
}

const Loads& Simulation::loadsNow() {
  refresh();
  loads_.joints = motion_.first->forces;
  choices_.addUsers(motion_.first->tau, loads_.joints);
  loads_.bodies.resize(0);
  if (equations_.constraints || !motion_.first->external.empty()) {
    loads_.bodies.setZero(6 * static_cast<Eigen::Index>(model.impl().tables.bodies.size()));
  }
  if (motion_.first->rowRegularity < kForcesDetermined ||
      (equations_.constraints && motion_.first->crossing)) {
    loads_.joints.setConstant(std::numeric_limits<double>::quiet_NaN());
  } else {
    if (switches().holds()) {
      events_.addHoldingForces(loads_.joints);
    }
    if (equations_.constraints) {
      addConstraintForces();
    }
  }
  if (!motion_.first->external.empty()) {
    const PlacedEvaluation<double> placed(work().model(), work().data(), motion_.state.q);
    for (const FrameForce& force : motion_.first->external) {
      const FrameEntry& frame = work().impl().frames[static_cast<std::size_t>(force.frame)];
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
void Simulation::addConstraintForces() {
  const Constraints& constraints = *equations_.constraints;
  Eigen::VectorXd tau(model.nv()), a(model.nv());
  work().gather(motion_.first->G.data(), loads_.joints, tau);
  Evaluation<double> e(work().model(), work().data());
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

Reactions& Simulation::reactions() {
  if (!reactions_) {
    reactions_ = std::make_unique<Reactions>(choices_.users().model());
  }
  return *reactions_;
}

void Simulation::jointForcesNow(MatrixOut result, const ForceOptions& how) {
  const Loads& loads = loadsNow();
  reactions().joints(motion_.state.q, motion_.velocities, loads, result, how);
}

void Simulation::loopForcesNow(VectorOut result, const ForceOptions& how) {
  const Loads& loads = loadsNow();
  reactions().loops(motion_.state.q, motion_.velocities, loads, result, how);
}

}  // namespace kempe::detail
