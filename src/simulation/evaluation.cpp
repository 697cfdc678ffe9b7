#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "algorithms/constraint_solver.hpp"
#include "kempe/configuration.hpp"
#include "kempe/forward_dynamics.hpp"
#include "model/cut_loops.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr double kBeyond = 1e100;  // a velocity above this means that the simulation diverged

}  // namespace

void Simulation::evaluate(double t, VectorIn q, VectorIn v, Rates& rates) {
  ++effort().evaluations;
  if (!(v.cwiseAbs().maxCoeff() < kBeyond)) {
    std::size_t wrong = 0;
    while (std::abs(v[static_cast<Eigen::Index>(wrong)]) < kBeyond) {
      ++wrong;
    }
    throw Diverged(
        "the velocity of " + kempe::quoted(work().model().vNames()[wrong]) + " exceeded 1e100",
        divergenceRemedy());
  }
  const Standing standing = points_.standAt(q, rates.G.data());
  rates.regularity = work().regularity();
  rates.crossing = standing == Standing::ChangePoint;
  rates.crossingRows = false;
  rates.rowRegularity = 1.0;
  rates.secondsAhead = std::numeric_limits<double>::infinity();
  points_.lookAhead(rates.regularity);
  if (standing == Standing::Regular) {
    if (isConstrained()) {
      evaluateConstrained(t, q, v, rates);
    } else {
      evaluateAt(t, q, v, rates);
    }
  } else if (standing == Standing::ChangePoint) {
    evaluateAcross(t, q, v, rates);
  } else {
    work().throwSingular();
  }
}

void Simulation::evaluateAt(double t, VectorIn q, VectorIn v, Rates& rates) {
  gatherForces(t, q, v, rates);
  accelerate(t, q, v, rates);
}

void Simulation::gatherForces(double t, VectorIn q, VectorIn v, Rates& rates) {
  Coordinates& chosen = work();
  rates.power = {};
  chosen.spread(rates.G.data(), v, rates.velocities);
  choices_.pickUsers(rates.velocities, rates.v);
  if (controller) {
    rates.tau.setZero();
    controller(t, q, rates.v, rates.tau);
    if (!rates.tau.allFinite()) {
      Eigen::Index wrong = 0;
      while (std::isfinite(rates.tau[wrong])) {
        ++wrong;
      }
      throw ForceNotFinite("the controller's force along " +
                           kempe::quoted(model.vNames()[static_cast<std::size_t>(wrong)]) +
                           " is not finite");
    }
  } else {
    rates.tau = forces;
  }
  rates.power[kController] = rates.tau.dot(rates.v);

  rates.external.clear();
  rates.external.insert(rates.external.end(), externalForces.begin(), externalForces.end());
  if (externalFunction) {
    externalFunction(t, q, rates.v, rates.external);
  }
  for (const FrameForce& force : rates.external) {
    frameAt(chosen.impl(), force.frame);
  }
  if (motorController) {
    commands.setZero();
    motorController(t, q, rates.v, commands);
    if (!commands.allFinite()) {
      throw ForceNotFinite("the motor controller's torques are not finite");
    }
  }

  rates.forces.setZero();
  const ForceState state{chosen.positions(), rates.velocities, rates.forces, rates.external,
                         rates.power};
  if (elements.actOnJoints()) {
    elements.applyToJoints(state, commands, rates.torques);
    elements.switches.read(chosen.positions(), rates.velocities, rates.readings);
  }
  if (dissipates_) {
    const ModelTables<double>& tables = chosen.impl().tables;
    for (int i = 0; i < tables.velocities; ++i) {
      const double rate = rates.velocities[i];
      rates.power[kDamping] += tables.damping[i] * rate * rate;
    }
  }
  // The user's forces are exact where the user's coordinates are at work.
  if (choices_.index() == 0 && !elements.actOnJoints()) {
    tau_ = rates.tau;
  } else {
    spanningForces_ = rates.forces;
    choices_.addUsers(rates.tau, spanningForces_);
    chosen.gather(rates.G.data(), spanningForces_, tau_);
  }
  if (!rates.external.empty() || elements.actBetweenPoints()) {
    PlacedEvaluation<double> placed(chosen.model(), chosen.data(), q);
    placed.move(v.data(), nullptr);
    rates.power[kExternal] += externalPower(chosen.impl(), *placed.work, rates.external);
    elements.applyBetweenPoints(*placed.work, state);
  }
}

void Simulation::accelerate(double t, VectorIn q, VectorIn v, Rates& rates) {
  Coordinates& chosen = work();
  const bool holds = elements.switches.holds();
  if (!isConstrained() && !holds) {
    forwardDynamics(chosen.model(), chosen.data(), q, v, tau_, rates.a,
                    {.external = rates.external});
    return;
  }
  // Bodies and spanning velocities have the same numbers whatever coordinates are chosen.
  Evaluation<double> e(chosen.model(), chosen.data());
  const detail::ExternalForces<double, double> forcesOnBodies = e.prepareExternal(rates.external);
  ConstraintSolver<double> solver(e);
  solver.add(e.impl.cuts);
  const int cutRows = e.impl.cuts.rows;
  if (constraints) {
    solver.add(constraints->table());
  }
  const int heldRows = cutRows + static_cast<int>(multipliers.size());
  if (holds) {
    solver.add(elements.switches.held());
  }
  const ConstraintReport report =
      constrainedAccelerations(solver, t, stabilizationRate(), q.data(), v.data(), tau_.data(),
                               forcesOnBodies, rates.a.data());
  redundantRows_ = report.rank < report.rows;
  if (solver.rows() != usualRows_.count) {
    usualRows_ = {.count = solver.rows()};
  }
  usualRows_.rank = std::max(usualRows_.rank, solver.rank());
  rowRegularity_ = solver.rank() < usualRows_.rank ? 0.0 : solver.regularity();
  usualRows_.regularity = std::max(usualRows_.regularity, rowRegularity_);
  multipliers.setZero();
  for (const ActiveConstraint& active : solver.active()) {
    const ConstraintEntry& entry = *active.entry;
    for (int r = 0; r < entry.rows; ++r) {
      const double lambda = solver.scratch.lambda[active.firstRow + r];
      if (active.firstOutput >= heldRows) {
        rates.readings.force[active.firstOutput - heldRows] = lambda;
        continue;
      }
      if (active.firstOutput >= cutRows) {
        multipliers[active.firstOutput - cutRows + r] = lambda;
      }
      // Work of prescribed motions: forces along the coordinates' own velocities.
      for (std::size_t i = 0; i < entry.terms.size(); ++i) {
        const std::size_t slope = active.firstSlope + r * entry.terms.size() + i;
        rates.power[kExternal] +=
            lambda * solver.scratch.slopes[slope] * rates.velocities[entry.terms[i].velocity];
      }
    }
  }
  if (holds) {
    holdExactly(rates.a);
  }
}

void Simulation::projectNow() {
  projectState(work().model(), work().data(), constraints ? &constraints->table() : nullptr,
               motion_.state.time, motion_.state.q, motion_.state.v);
}

void Simulation::requireCompatibleNow() {
  if (redundantRows_) {
    requireCompatible(work().model(), work().data(), constraints ? &constraints->table() : nullptr,
                      motion_.state.time, motion_.state.q, motion_.state.v);
  }
}

void Simulation::catchConstraints() {
  changed();
  elements.switches.resetModes();  // friction holds nothing against an impulse
  if (isConstrained()) {
    restartBalance();
    projectNow();
    refresh();
    requireCompatibleNow();
  }
}

double Simulation::constraintGap(const Constraints& of, int constraint) {
  Evaluation<double> e(work().model(), work().data());
  e.work->wholeRotors = true;
  e.place(motion_.state.q);
  e.move(motion_.state.v.data(), nullptr);
  ConstraintSolver<double> solver(e);
  solver.add(of.table());
  solver.evaluate(motion_.state.time);
  double gap = 0.0;
  const ConstraintEntry* asked = &of.table().entries[static_cast<std::size_t>(constraint)];
  for (const ActiveConstraint& active : solver.active()) {
    for (int r = 0; active.entry == asked && r < asked->rows; ++r) {
      gap = std::max(gap, std::abs(solver.scratch.rows[active.firstRow + r].value));
    }
  }
  return gap;
}

/// q̈ = G v̇ + g; at a change point G, v̇ and g are their limits along the motion.
const Vector& Simulation::spanningAccelerationsNow() {
  refresh();
  work().spread(motion_.first->G.data(), motion_.first->a, spanningAccelerations_);
  if (motion_.first->crossing) {
    addBiasAcross(spanningAccelerations_);
  } else {
    constraintBias(work().model(), work().data(), motion_.state.q, motion_.state.v, bias_);
    spanningAccelerations_ += bias_;
  }
  return spanningAccelerations_;
}

const Vector& Simulation::accelerationsNow() {
  refresh();
  if (choices_.index() == 0) {
    a_ = motion_.first->a;
    return a_;
  }
  spanningAccelerationsNow();
  choices_.pickUsers(spanningAccelerations_, a_);
  return a_;
}

Energy Simulation::energyAt(VectorIn q, VectorIn v) {
  Energy energy = kempe::energy(work().model(), work().data(), q, v);
  energy.potential += elements.potential(work().positions());
  if (elements.actBetweenPoints()) {
    const PlacedEvaluation<double> placed(work().model(), work().data(), q);
    energy.potential += elements.pointPotential(*placed.work);
  }
  return energy;
}

Energy Simulation::energyNow() {
  return points_.standAt(motion_.state.q, node_.G.data()) == Standing::ChangePoint
             ? energyAcross()
             : energyAt(motion_.state.q, motion_.state.v);
}

double Simulation::loopErrorNow() {
  if (rows_.size() == 0) {
    return 0.0;
  }
  loopResidual(work().model(), work().data(), motion_.state.q, rows_);
  return rows_.cwiseAbs().maxCoeff();
}

}  // namespace kempe::detail
