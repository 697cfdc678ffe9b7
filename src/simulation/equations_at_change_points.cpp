// Rates at change points: their limits along the motion (change_points.hpp).

#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/cut_loops.hpp"
#include "kempe/configuration.hpp"
#include "simulation/regularity.hpp"
#include "simulation/robot_equations.hpp"
#include "simulation/switch_rows.hpp"

namespace kempe::detail {
namespace {

/// The distance at which rows of loops that are left cut are looked at on both sides.
constexpr double kProbe = 0.1;
/// Loops that are left cut miss a change point where the interpolated position leaves them open by
/// more than this, in metres or radians: as much as interpolation may be wrong.
constexpr double kRowMiss = 1e-11;

}  // namespace

void RobotEquations::evaluateAcross(double t, VectorIn q, VectorIn v, Rates& rates) {
  rates.setZero();
  points_.placedAround(q, node_.G.data(), [&](double weight, VectorIn aside) {
    evaluateAt(t, aside, v, node_);
    rates.add(weight, node_);
    work().addDisplacement(q, aside, weight, rates.displacement);
  });
  work().writeConstantRatios(rates.G.data());
  work().place(v, rates.velocities);
}

Energy RobotEquations::energyAcross(const State& state) {
  Energy sum;
  points_.around(state.q, [&](double weight, VectorIn aside) {
    static_cast<void>(work().placeAt(aside, node_.G.data()));
    const Energy here = energyAt(aside, state.v);
    sum.kinetic += weight * here.kinetic;
    sum.potential += weight * here.potential;
  });
  return sum;
}

void RobotEquations::addBiasAcross(const State& state, VectorOut sum) {
  static_cast<void>(points_.standAt(state.q, node_.G.data()));  // which clusters cross
  points_.around(state.q, [&](double weight, VectorIn aside) {
    constraintBias(work().model(), work().data(), aside, state.v, bias_);
    sum += weight * bias_;
  });
}

void RobotEquations::moveAlongRows(double t, VectorIn q, VectorIn v, double way) {
  work().pick(heading_, nodeWay_);
  nodeWay_ *= way / nodeWay_.cwiseAbs().maxCoeff();
  integrate(work().model(), work().data(), q, nodeWay_, 1.0, nodeQ_);
  nodeV_ = v;
  projectState(work().model(), work().data(), table(), t, nodeQ_, nodeV_);
}

std::optional<double> RobotEquations::wayFromRows(double t, VectorIn q, VectorIn v) {
  // The regularity is r = c |s| near the point: s = d (r₊ − r₋) / (r₊ + r₋) from those at ± d.
  std::array<double, 2> aside{};
  for (const int side : {0, 1}) {
    moveAlongRows(t, q, v, (2 * side - 1) * kProbe);
    if (work().placeAt(nodeQ_, node_.G.data()) != Standing::Regular) {
      return std::nullopt;
    }
    evaluateAt(t, nodeQ_, nodeV_, node_);
    aside[static_cast<std::size_t>(side)] = rowRegularity_;
  }
  const double way = kProbe * (aside[1] - aside[0]) / (aside[1] + aside[0]);
  return std::abs(way) < kSpacing ? std::optional(way) : std::nullopt;
}

void RobotEquations::evaluateConstrained(double t, VectorIn q, VectorIn v, Rates& rates) {
  // Only loops tell whether they miss the point; joints that friction holds do not go on.
  const bool moving =
      work().impl().cuts.rows > 0 && !switches().holds() && heading_.cwiseAbs().maxCoeff() > 0.0;
  try {
    evaluateAt(t, q, v, rates);
    if (!moving || rowRegularity_ > kNearSingular * known_.regularity) {
      known_.miss = false;
      rates.rowRegularity = rowRegularity_ > 0.0 ? 1.0 : 0.0;
      return;
    }
  } catch (const SingularityError&) {
    if (!moving) {
      throw;
    }
    rowRegularity_ = 0.0;
  }
  const double regularity = rowRegularity_ / known_.regularity;
  rates.rowRegularity = regularity;
  const std::optional<double> way = known_.miss ? std::nullopt : wayFromRows(t, q, v);
  if (way) {
    evaluateAcrossRows(t, q, v, *way, rates);
    rates.crossingRows = gapAcrossRows(q, rates) < kRowMiss;
    known_.miss = !rates.crossingRows;
  }
  if (!rates.crossingRows) {
    static_cast<void>(work().placeAt(q, rates.G.data()));
    evaluateAt(t, q, v, rates);
    rates.secondsAhead = Coordinates::kStepAhead * regularity / heading_.cwiseAbs().maxCoeff();
  }
}

void RobotEquations::learnUsualRank(const State& state, Rates& rates) {
  if (known_.learned) {
    return;
  }
  known_.learned = true;
  if (work().impl().cuts.rows == 0 || !redundantRows_ || switches().holds()) {
    return;
  }
  // Open loops have the rank that they have almost everywhere.
  for (Eigen::Index i = 0; i < nodeWay_.size(); ++i) {
    nodeWay_[i] = kProbe * std::sin(1.0 + static_cast<double>(i));
  }
  try {
    integrate(work().model(), work().data(), state.q, nodeWay_, 1.0, nodeQ_);
    known_.rank = std::max(known_.rank, rankOfRows(*this, state.time, nodeQ_, state.v));
  } catch (const AssemblyError&) {
    return;  // embedded loops do not reach that position
  } catch (const SingularityError&) {
    return;
  }
  evaluate(state.time, state.q, state.v, rates);
}

double RobotEquations::gapAcrossRows(VectorIn q, const Rates& rates) {
  cutRows_.setZero(work().impl().cuts.rows);
  integrate(work().model(), work().data(), q, rates.rowDisplacement, 1.0, nodeQ_);
  cutResidual(work().model(), work().data(), nodeQ_, cutRows_.data());
  return cutRows_.cwiseAbs().maxCoeff();
}

void RobotEquations::evaluateAcrossRows(double t, VectorIn q, VectorIn v, double way,
                                        Rates& rates) {
  rates.setZero();
  forEachNode(way, [&](double weight, double node) {
    moveAlongRows(t, q, v, node);
    if (work().placeAt(nodeQ_, node_.G.data()) != Standing::Regular) {
      work().throwSingular();
    }
    evaluateAt(t, nodeQ_, nodeV_, node_);
    rates.add(weight, node_);
    difference(work().model(), work().data(), q, nodeQ_, nodeWay_);
    rates.rowDisplacement += weight * nodeWay_;
    rates.rowVelocities += weight * nodeV_;
  });
  work().writeConstantRatios(rates.G.data());
}

void RobotEquations::straighten(State& state, const Rates& rates) {
  if (rates.crossingRows) {
    nodeQ_ = state.q;
    integrate(work().model(), work().data(), nodeQ_, rates.rowDisplacement, 1.0, state.q);
    state.v = rates.rowVelocities;
  } else if (rates.crossing && points_.allGoStraightOn()) {
    work().displace(rates.displacement, state.q);
  }
}

}  // namespace kempe::detail
