// Rates at change points: their limits along the motion (change_points.hpp).

#include <algorithm>
#include <array>
#include <cmath>

#include "kempe/configuration.hpp"
#include "model/cut_loops.hpp"
#include "simulation/regularity.hpp"
#include "simulation/simulation.hpp"

namespace kempe::detail {
namespace {

/// The distance at which rows of loops that are left cut are looked at on both sides.
constexpr double kProbe = 0.1;
/// Loops that are left cut miss a change point where the interpolated position leaves them open by
/// more than this, in metres or radians: as much as interpolation may be wrong.
constexpr double kRowMiss = 1e-11;

}  // namespace

void Simulation::evaluateAcross(double t, VectorIn q, VectorIn v, Rates& rates) {
  rates.setZero();
  points_.placedAround(q, node_.G.data(), [&](double weight, VectorIn aside) {
    evaluateAt(t, aside, v, node_);
    rates.add(weight, node_);
    work().addDisplacement(q, aside, weight, rates.displacement);
  });
  work().writeConstantRatios(rates.G.data());
  work().place(v, rates.velocities);
}

Energy Simulation::energyAcross() {
  Energy sum;
  points_.around(motion_.state.q, [&](double weight, VectorIn aside) {
    static_cast<void>(work().placeAt(aside, node_.G.data()));
    const Energy here = energyAt(aside, motion_.state.v);
    sum.kinetic += weight * here.kinetic;
    sum.potential += weight * here.potential;
  });
  return sum;
}

void Simulation::addBiasAcross(VectorOut sum) {
  static_cast<void>(points_.standAt(motion_.state.q, node_.G.data()));  // which clusters cross
  points_.around(motion_.state.q, [&](double weight, VectorIn aside) {
    constraintBias(work().model(), work().data(), aside, motion_.state.v, bias_);
    sum += weight * bias_;
  });
}

void Simulation::moveAlongRows(double t, VectorIn q, VectorIn v, double way) {
  work().pick(motion_.heading, nodeWay_);
  nodeWay_ *= way / nodeWay_.cwiseAbs().maxCoeff();
  integrate(work().model(), work().data(), q, nodeWay_, 1.0, nodeQ_);
  nodeV_ = v;
  projectState(work().model(), work().data(), constraints ? &constraints->table() : nullptr, t,
               nodeQ_, nodeV_);
}

std::optional<double> Simulation::wayFromRows(double t, VectorIn q, VectorIn v) {
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

void Simulation::evaluateConstrained(double t, VectorIn q, VectorIn v, Rates& rates) {
  // Only loops tell whether they miss the point; joints that friction holds do not go on.
  const bool moving = work().impl().cuts.rows > 0 && !elements.switches.holds() &&
                      motion_.heading.cwiseAbs().maxCoeff() > 0.0;
  try {
    evaluateAt(t, q, v, rates);
    if (!moving || rowRegularity_ > kNearSingular * usualRows_.regularity) {
      rowsMiss_ = false;
      rates.rowRegularity = rowRegularity_ > 0.0 ? 1.0 : 0.0;
      return;
    }
  } catch (const SingularityError&) {
    if (!moving) {
      throw;
    }
    rowRegularity_ = 0.0;
  }
  const double regularity = rowRegularity_ / usualRows_.regularity;
  rates.rowRegularity = regularity;
  const std::optional<double> way = rowsMiss_ ? std::nullopt : wayFromRows(t, q, v);
  if (way) {
    evaluateAcrossRows(t, q, v, *way, rates);
    rates.crossingRows = gapAcrossRows(q, rates) < kRowMiss;
    rowsMiss_ = !rates.crossingRows;
  }
  if (!rates.crossingRows) {
    static_cast<void>(work().placeAt(q, rates.G.data()));
    evaluateAt(t, q, v, rates);
    rates.secondsAhead =
        Coordinates::kStepAhead * regularity / motion_.heading.cwiseAbs().maxCoeff();
  }
}

void Simulation::learnUsualRank() {
  usualRows_.learned = true;
  if (work().impl().cuts.rows == 0 || !redundantRows_ || elements.switches.holds()) {
    return;
  }
  // Open loops have the rank that they have almost everywhere.
  for (Eigen::Index i = 0; i < nodeWay_.size(); ++i) {
    nodeWay_[i] = kProbe * std::sin(1.0 + static_cast<double>(i));
  }
  try {
    integrate(work().model(), work().data(), motion_.state.q, nodeWay_, 1.0, nodeQ_);
    usualRows_.rank = std::max(usualRows_.rank, rankOfRows(nodeQ_));
  } catch (const AssemblyError&) {
    return;  // embedded loops do not reach that position
  } catch (const SingularityError&) {
    return;
  }
  evaluate(motion_.state.time, motion_.state.q, motion_.state.v, *motion_.first);
}

double Simulation::gapAcrossRows(VectorIn q, const Rates& rates) {
  cutRows_.setZero(work().impl().cuts.rows);
  integrate(work().model(), work().data(), q, rates.rowDisplacement, 1.0, nodeQ_);
  cutResidual(work().model(), work().data(), nodeQ_, cutRows_.data());
  return cutRows_.cwiseAbs().maxCoeff();
}

void Simulation::evaluateAcrossRows(double t, VectorIn q, VectorIn v, double way, Rates& rates) {
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

void Simulation::straighten() {
  if (motion_.first->crossingRows) {
    nodeQ_ = motion_.state.q;
    integrate(work().model(), work().data(), nodeQ_, motion_.first->rowDisplacement, 1.0,
              motion_.state.q);
    motion_.state.v = motion_.first->rowVelocities;
    return;
  }
  if (motion_.first->crossing && points_.allGoStraightOn()) {
    work().displace(motion_.first->displacement, motion_.state.q);
  }
}

}  // namespace kempe::detail
