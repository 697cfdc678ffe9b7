#include "simulation/robot_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/constraint_solver.hpp"
#include "algorithms/cut_loops.hpp"
#include "kempe/configuration.hpp"
#include "kempe/forward_dynamics.hpp"
#include "simulation/switch_rows.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr double kDivergedSpeed =
    1e100;  // a velocity above this means that the simulation diverged

}  // namespace

void RobotEquations::start() {
  const Model& model = choices_.user();
  node_.resize(work(), acting_.elements);
  for (Eigen::VectorXd* each : {&tau_, &nodeV_, &nodeWay_}) {
    each->setZero(model.nv());
  }
  bias_.setZero(model.nvSpanning());
  nodeQ_ = model.neutral();
  rows_.setZero(model.nLoopRows());
}

void RobotEquations::evaluate(double t, VectorIn q, VectorIn v, Rates& rates) {
  ++evaluations_;
  if (!(v.cwiseAbs().maxCoeff() < kDivergedSpeed)) {
    std::size_t wrong = 0;
    while (std::abs(v[static_cast<Eigen::Index>(wrong)]) < kDivergedSpeed) {
      ++wrong;
    }
    throw Diverged(
        "the velocity of " + kempe::quoted(work().model().vNames()[wrong]) + " exceeded 1e100",
        acting_.divergenceRemedy());
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

void RobotEquations::evaluateAt(double t, VectorIn q, VectorIn v, Rates& rates) {
  acting_.gather(t, q, v, choices_, rates, tau_);
  accelerate(t, q, v, rates);
}

void RobotEquations::accelerate(double t, VectorIn q, VectorIn v, Rates& rates) {
  Coordinates& chosen = work();
  const bool holds = switches().holds();
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
    solver.add(switches().held());
  }
  double regularity = 0.0;
  std::optional<ConstraintReport> report =
      kernelAccelerations(solver, t, stabilizationRate_, q.data(), v.data(), tau_.data(),
                          forcesOnBodies, rates.a.data(), &regularity);
  int rank = report ? report->rank : 0;
  if (!report) {
    report = constrainedAccelerations(solver, t, stabilizationRate_, q.data(), v.data(),
                                      tau_.data(), forcesOnBodies, rates.a.data());
    rank = solver.rank();
    regularity = solver.regularity();
  }
  redundantRows_ = report->rank < report->rows;
  if (solver.rows() != known_.count) {
    known_ = {.count = solver.rows(), .miss = known_.miss};
  }
  known_.rank = std::max(known_.rank, rank);
  rowRegularity_ = rank < known_.rank ? 0.0 : regularity;
  known_.regularity = std::max(known_.regularity, rowRegularity_);
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
    holdExactly(switches(), chosen, rates.a);
  }
}

void RobotEquations::project(State& state) {
  projectState(work().model(), work().data(), table(), state.time, state.q, state.v);
}

void RobotEquations::requireCompatibleAt(const State& state) {
  if (redundantRows_) {
    requireCompatible(work().model(), work().data(), table(), state.time, state.q, state.v);
  }
}

double RobotEquations::gapOf(const Constraints& of, int constraint, const State& state) {
  Evaluation<double> e(work().model(), work().data());
  e.work->wholeRotors = true;
  e.place(state.q);
  e.move(state.v.data(), nullptr);
  ConstraintSolver<double> solver(e);
  solver.add(of.table());
  solver.evaluate(state.time);
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
void RobotEquations::spanningAccelerations(const State& state, const Rates& rates,
                                           VectorOut accelerations) {
  work().spread(rates.G.data(), rates.a, accelerations);
  if (rates.crossing) {
    addBiasAcross(state, accelerations);
  } else {
    constraintBias(work().model(), work().data(), state.q, state.v, bias_);
    accelerations += bias_;
  }
}

Energy RobotEquations::energyAt(VectorIn q, VectorIn v) {
  Energy energy = kempe::energy(work().model(), work().data(), q, v);
  acting_.addPotential(work(), q, energy);
  return energy;
}

Energy RobotEquations::energyOf(const State& state) {
  return points_.standAt(state.q, node_.G.data()) == Standing::ChangePoint
             ? energyAcross(state)
             : energyAt(state.q, state.v);
}

double RobotEquations::loopError(VectorIn q) {
  if (rows_.size() == 0) {
    return 0.0;
  }
  loopResidual(work().model(), work().data(), q, rows_);
  return rows_.cwiseAbs().maxCoeff();
}

}  // namespace kempe::detail
