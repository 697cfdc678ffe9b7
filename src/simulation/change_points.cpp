#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kempe/configuration.hpp"
#include "kempe/errors.hpp"
#include "kempe/mass_matrix.hpp"
#include "loops/decompositions.hpp"
#include "model/cut_loops.hpp"
#include "simulation/regularity.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

// Where a mechanism passes a position in which K loses rank (docs/maths.md, "Change points").
//
// At a distance s from it, rounding ε ≈ 3e-16 of closed loops moves positions across the branch by
// ε / s and changes G by ε / s² and accelerations by v² ε / s³:                                  (1)
// they are smooth functions of s, but cannot be computed there. They are interpolated from
// positions on the branch on both sides.

namespace kempe::detail {
namespace {

/// Interpolation with 2n nodes ±h, ±2h … ±nh around the singular point is wrong by
/// (n!)² h²ⁿ f⁽²ⁿ⁾ / (2n)! ≈ (n!)² (h / ρ)²ⁿ, with ρ the distance of f from its nearest pole. With
/// n = 6 and h = 0.04 (radians, or lengths of the cluster) that is 1e-11 for ρ = 1 and 6e-10 for
/// ρ = 0.7; rounding (1) at the nearest node is 5e-12 v². It is used where |s| < h, so that rounding
/// is not larger elsewhere.
constexpr double kSpacing = 0.04;
constexpr int kEachSide = 6;
/// The distance at which rows of loops that are left cut are looked at on both sides.
constexpr double kProbe = 0.1;
/// Loops that are left cut miss a change point where the interpolated position leaves them open by
/// more than this, in metres or radians: as much as interpolation may be wrong.
constexpr double kRowMiss = 1e-11;
/// Loops that miss a change point by a relative length x turn within √x of it. Below this x the
/// turn counts as a corner, which shifts positions by up to 2 kBefore vertex widths. Above it, it is followed
/// with short steps: accelerations are wrong by v² ε / √x³ (1) for a time of √x / v, and velocities
/// by a part ε / x of them per step, altogether 1e-5.
constexpr double kMiss = 3e-10;
/// Where only the rows that the model keeps lose rank, loops go straight on up to this x. Positions
/// on both sides are wrong by x / kSpacing = 2.5e-4.
constexpr double kKeptMiss = 1e-5;
/// Below this x for each body of the loops, rounding of the mechanism's own numbers decides (origins
/// and angles of files, products of rotations), and the loops go straight on. Parallelograms of three
/// bodies miss by up to 2e-15, one of a robot with 14 bodies by 7e-15.
constexpr double kExact = 1.3e-15;
/// A turn is made at this many times the width of its vertex before the point: the branches are
/// their asymptotes there to a sixteenth of that.
constexpr double kBefore = 4.0;
constexpr int kMostRounds = 50;  // to find it
constexpr int kMostTurns = 5;    // that are found from one another, along a crease

/// Calls visit(weight, node) for the nodes around a point at the way −`way`, with Lagrange's weights
/// for the value at 0.
template <typename Visit>
void forEachNode(double way, const Visit& visit) {
  std::array<double, 2 * kEachSide> nodes{};
  for (int k = 0; k < kEachSide; ++k) {
    nodes[2 * k] = -way - (k + 1) * kSpacing;
    nodes[2 * k + 1] = -way + (k + 1) * kSpacing;
  }
  for (const double node : nodes) {
    double weight = 1.0;
    for (const double other : nodes) {
      weight *= other == node ? 1.0 : other / (other - node);
    }
    visit(weight, node);
  }
}

}  // namespace

SingularPoint* Simulation::passageOf(std::size_t cluster) {
  SingularPoint* point = points_[cluster].get();
  const ClusterEntry& entry = work().impl().tables.clusters[cluster];
  const double* positions = work().positions().data() + entry.firstPosition;
  if (!(work().regularity()[cluster] < (entry.nv == 1 ? kNearSingular : kNarrow)) ||
      !(heading_.segment(entry.firstVelocity, entry.velocities).cwiseAbs().maxCoeff() > 0.0)) {
    return nullptr;
  }
  if (static_cast<int>(cluster) != turning_ && !point->isKnownNear(positions)) {
    point->locate(positions);
  }
  const bool passes = point->miss() < kMiss || (point->isOfKeptRows() && point->miss() < kKeptMiss);
  return point->found() && passes ? point : nullptr;
}

double Simulation::wayFrom(std::size_t cluster, VectorIn q) {
  const ClusterEntry& entry = work().impl().tables.clusters[cluster];
  return points_[cluster]->distanceAlong(heading_.data() + entry.firstVelocity,
                                         q.data() + entry.firstQ);
}

Standing Simulation::standAt(VectorIn q, double* G) {
  const Standing standing = work().placeAt(q, G);
  std::vector<char>& crossing = work().crossing();
  bool any = false;
  Standing others = Standing::Regular;
  for (const std::size_t c : looped_) {
    straightOn_[c] = static_cast<char>(passageOf(c) != nullptr);
    crossing[c] = static_cast<char>(straightOn_[c] != 0 && std::abs(wayFrom(c, q)) < kSpacing);
    any = any || crossing[c] != 0;
    if (crossing[c] == 0) {
      others = std::max(others, work().standing(c));
    }
  }
  return any && others == Standing::Regular ? Standing::ChangePoint : standing;
}

void Simulation::lookAhead(Rates& rates) const {
  for (const std::size_t c : looped_) {
    if (straightOn_[c] != 0) {
      rates.regularity[c] = 1.0;
    }
  }
}

template <typename Visit>
void Simulation::aroundChangePoint(VectorIn q, const Visit& visit) {
  // Positions of q relative to the points; clusters that pass at the same time share the nodes.
  double first = 1.0, last = -1.0;
  for (std::size_t c = 0; c < points_.size(); ++c) {
    if (work().crossing()[c] != 0) {
      const double way = wayFrom(c, q);
      first = std::min(first, way);
      last = std::max(last, way);
    }
  }
  forEachNode(0.5 * (first + last), [&](double weight, double node) {
    work().moveAcross(q, heading_, node, nodeQ_);
    visit(weight, nodeQ_);
  });
}

bool Simulation::visitAround(VectorIn q, const std::function<void(double, VectorIn)>& visit) {
  const Standing standing = standAt(q, node_.G.data());
  if (standing == Standing::Regular) {
    visit(1.0, q);
    return false;
  }
  if (standing != Standing::ChangePoint) {
    work().throwSingular();
  }
  aroundChangePoint(q, [&](double weight, VectorIn aside) {
    if (work().placeAt(aside, node_.G.data()) != Standing::Regular) {
      work().throwSingular();
    }
    visit(weight, aside);
  });
  return true;
}

void Simulation::evaluateAcross(double t, VectorIn q, VectorIn v, Rates& rates) {
  rates.setZero();
  aroundChangePoint(q, [&](double weight, VectorIn aside) {
    if (work().placeAt(aside, node_.G.data()) != Standing::Regular) {
      work().throwSingular();
    }
    evaluateAt(t, aside, v, node_);
    rates.add(weight, node_);
    work().addDisplacement(q, aside, weight, rates.displacement);
  });
  work().writeConstantRatios(rates.G.data());
  work().place(v, rates.velocities);
}

Energy Simulation::energyAcross() {
  Energy sum;
  aroundChangePoint(state_.q, [&](double weight, VectorIn aside) {
    static_cast<void>(work().placeAt(aside, node_.G.data()));
    const Energy here = energyAt(aside, state_.v);
    sum.kinetic += weight * here.kinetic;
    sum.potential += weight * here.potential;
  });
  return sum;
}

void Simulation::addBiasAcross(VectorOut sum) {
  static_cast<void>(standAt(state_.q, node_.G.data()));  // which clusters cross
  aroundChangePoint(state_.q, [&](double weight, VectorIn aside) {
    constraintBias(work().model(), work().data(), aside, state_.v, bias_);
    sum += weight * bias_;
  });
}

void Simulation::moveAlongRows(double t, VectorIn q, VectorIn v, double way) {
  work().pick(heading_, nodeWay_);
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
                      heading_.cwiseAbs().maxCoeff() > 0.0;
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
    rates.secondsAhead = Coordinates::kStepAhead * regularity / heading_.cwiseAbs().maxCoeff();
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
    integrate(work().model(), work().data(), state_.q, nodeWay_, 1.0, nodeQ_);
    usualRows_.rank = std::max(usualRows_.rank, rankOfRows(nodeQ_));
  } catch (const AssemblyError&) {
    return;  // embedded loops do not reach that position
  } catch (const SingularityError&) {
    return;
  }
  evaluate(state_.time, state_.q, state_.v, *first_);
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
  if (first_->crossingRows) {
    nodeQ_ = state_.q;
    integrate(work().model(), work().data(), nodeQ_, first_->rowDisplacement, 1.0, state_.q);
    state_.v = first_->rowVelocities;
    return;
  }
  bool exact = first_->crossing;
  for (std::size_t c = 0; c < points_.size() && exact; ++c) {
    exact = work().crossing()[c] == 0 || goesStraightOn(c);
  }
  if (exact) {
    work().displace(first_->displacement, state_.q);
  }
}

bool Simulation::goesStraightOn(std::size_t cluster) const {
  return points_[cluster]->isOfKeptRows() ||
         points_[cluster]->miss() < kExact * model.impl().tables.clusters[cluster].bodies;
}

int Simulation::turningCluster() {
  for (const std::size_t c : looped_) {
    SingularPoint* point = points_[c].get();
    if (!point->found() || goesStraightOn(c) || point->miss() >= kMiss) {
      continue;
    }
    const ClusterEntry& cluster = work().impl().tables.clusters[c];
    if (!point->isNear(state_.q.data() + cluster.firstQ) ||
        !point->isNear(next_.q.data() + cluster.firstQ)) {
      continue;
    }
    const double before = wayFrom(c, state_.q), after = wayFrom(c, next_.q);
    if (!(before < 0.0 && after > -kSpacing)) {
      continue;
    }
    turn_ = point->turn(heading_.data() + cluster.firstVelocity);
    if (!turn_ && after >= 0.0) {
      throwCannotTurn(static_cast<int>(c));
    }
    if (turn_ && before < -kBefore * turn_->width && after >= -kBefore * turn_->width) {
      return static_cast<int>(c);
    }
  }
  return -1;
}

double Simulation::stepToTurn(int cluster, double h) {
  // Along a crease every position has a point of its own, with another miss: the one that was found
  // from the ends of the step leads near the turn, from where the right one is found.
  const auto c = static_cast<std::size_t>(cluster);
  const ClusterEntry& entry = work().impl().tables.clusters[c];
  const struct Keep {
    int& turning;
    ~Keep() { turning = -1; }
  } keep{turning_ = cluster};
  for (int round = 0; round < kMostTurns; ++round) {
    const double found = stepToWay(cluster, h, -kBefore * turn_->width, 0.01 * turn_->width);
    if (entry.nv == 1) {
      return found;
    }
    const SingularPoint::Turn before = *turn_;
    points_[c]->locate(next_.q.data() + entry.firstQ);
    turn_ = points_[c]->turn(heading_.data() + entry.firstVelocity);
    if (!turn_) {
      break;
    }
    if (std::abs(turn_->width - before.width) < 0.1 * before.width &&
        turn_->after.dot(before.after) > 0.0) {
      return found;
    }
    attempt(h);
  }
  throwCannotTurn(cluster);
}

double Simulation::stepToWay(int cluster, double h, double goal, double tolerance) {
  // Regula falsi (Illinois).
  const auto remaining = [&](VectorIn q) {
    return wayFrom(static_cast<std::size_t>(cluster), q) - goal;
  };
  double low = 0.0, high = h, atLow = remaining(state_.q), atHigh = remaining(next_.q);
  for (int round = 0; round < kMostRounds; ++round) {
    const double middle = low + (high - low) * atLow / (atLow - atHigh);
    attempt(middle);
    const double here = remaining(next_.q);
    if (std::abs(here) < tolerance || !(high - low > 1e-14 * high)) {
      return middle;
    }
    if (here < 0.0) {
      atHigh *= low == 0.0 ? 1.0 : 0.5;
      low = middle;
      atLow = here;
    } else {
      atLow *= 0.5;
      high = middle;
      atHigh = here;
    }
  }
  throwCannotTurn(cluster);
}

void Simulation::turn(int cluster) {
  const auto c = static_cast<std::size_t>(cluster);
  if (isConstrained()) {
    throwCannotTurn(cluster);
  }
  const ClusterEntry& entry = work().impl().tables.clusters[c];
  const int nv = static_cast<int>(state_.v.size());
  const auto placeMass = [&](Eigen::MatrixXd& H) {
    H.setZero(nv, nv);
    const auto add = [&](double weight, VectorIn q) {
      massMatrix(work().model(), work().data(), q, massHere_);
      H += weight * massHere_;
    };
    if (standAt(state_.q, node_.G.data()) == Standing::ChangePoint) {
      aroundChangePoint(state_.q, add);
    } else {
      add(1.0, state_.q);
    }
  };
  // Directions in which both branches can move: all other coordinates, and the crease.
  const auto common = [&](Eigen::MatrixXd& E) {
    E.setZero(nv, nv - 1);
    int column = 0;
    for (int i = 0; i < nv; ++i) {
      if (i < entry.firstV || i >= entry.firstV + entry.nv) {
        E(i, column++) = 1.0;
      }
    }
    Eigen::VectorXd velocities = Eigen::VectorXd::Zero(model.nvSpanning()), v(nv);
    for (int i = 0; i + 1 < entry.nv; ++i) {
      velocities.segment(entry.firstVelocity, entry.velocities) = turn_->crease.col(i);
      work().pick(velocities, v);
      E.col(column++) = v;
    }
  };
  massHere_.setZero(nv, nv);
  Eigen::MatrixXd H, E;
  placeMass(H);
  common(E);
  const Energy before = energyNow();
  const Eigen::VectorXd momentum = E.transpose() * (H * state_.v);

  heading_.segment(entry.firstVelocity, entry.velocities) = turn_->after;
  points_[c]->placeBeside(kBefore * turn_->width, turn_->after, state_.q.data() + entry.firstQ);
  Eigen::VectorXd aside = state_.q;
  points_[c]->placeBeside(kSpacing, turn_->after, aside.data() + entry.firstQ);
  if (work().placeAt(aside, node_.G.data()) != Standing::Regular ||
      work().worstRatio(node_.G.data()) > Coordinates::kExchange) {
    work().best(aside, lists_);
    choice_ = choiceOf(lists_);
    ++coordinateChanges;
  }
  // v = E c + t u with the momentum Eᵀ H v and the energy of before, and u > 0:
  //   c = (Eᵀ H E)⁻¹ (p − Eᵀ H t u) = c₀ − d u,   u² (t − E d)ᵀ H (t − E d) = 2 T − pᵀ c₀
  placeMass(H);
  common(E);
  Eigen::VectorXd t(nv), spanningT = Eigen::VectorXd::Zero(model.nvSpanning());
  spanningT.segment(entry.firstVelocity, entry.velocities) = turn_->after;
  work().pick(spanningT, t);
  const Eigen::MatrixXd HE = E.transpose() * H * E;
  const auto solvedInCommon = [&](const Eigen::VectorXd& p) -> Eigen::VectorXd {
    return p.size() == 0 ? p : Eigen::VectorXd(solved(HE, p));  // one DoF has none in common
  };
  const Eigen::VectorXd c0 = solvedInCommon(momentum);
  const Eigen::VectorXd across = t - E * solvedInCommon(E.transpose() * (H * t));
  state_.v.setZero();
  const double kinetic = before.kinetic + before.potential - energyNow().potential;
  const double rest = std::max(0.0, 2.0 * kinetic - momentum.dot(c0));
  const double speed = std::sqrt(rest / across.dot(H * across));
  state_.v = E * c0 + speed * across;
  evaluate(state_.time, state_.q, state_.v, *first_);
  show();
  forgetSteps();
}

void Simulation::throwIfSingular() const {
  const std::vector<ClusterEntry>& clusters = model.impl().tables.clusters;
  for (std::size_t c = 0; c < first_->regularity.size(); ++c) {
    if (points_[c] != nullptr && first_->regularity[c] < kAtSingular) {
      const std::string& loop = model.impl().rowNames[clusters[c].firstRow];
      throw SingularityError("loop " + kempe::quoted(loop) +
                                 " is near a singular position at t = " + shortNumber(state_.time) +
                                 " s, which the integrator cannot pass within its tolerances. Use "
                                 "larger tolerances, or keep away from it",
                             loop, 1.0 / first_->regularity[c]);
    }
  }
}

void Simulation::throwCannotTurn(int cluster) const {
  const ClusterEntry& entry = model.impl().tables.clusters[static_cast<std::size_t>(cluster)];
  const std::string& loop = model.impl().rowNames[entry.firstRow];
  throw SingularityError(
      "loop " + kempe::quoted(loop) + " reaches a singular position at t = " +
          shortNumber(state_.time) + " s, which it misses by " +
          shortNumber(points_[static_cast<std::size_t>(cluster)]->miss()) +
          " of its size: it turns onto another branch there, which cannot be followed together "
          "with other loops or constraints. Make the lengths of its links exact, or the misfit "
          "larger.",
      loop, std::numeric_limits<double>::infinity());
}

}  // namespace kempe::detail
