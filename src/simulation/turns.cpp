#include "simulation/turns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kempe/errors.hpp"
#include "kempe/mass_matrix.hpp"
#include "loops/decompositions.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// A turn is made at this many times the width of its vertex before the point: the branches are
/// their asymptotes there to a sixteenth of that.
constexpr double kBefore = 4.0;
constexpr int kMostRounds = 50;  // to find it
constexpr int kMostTurns = 5;    // that are found from one another, along a crease

}  // namespace

int Turns::turningCluster() {
  for (const std::size_t c : points().looped()) {
    SingularPoint* point = points().pointOf(c);
    if (!point->found() || points().goesStraightOn(c) || point->miss() >= kMiss) {
      continue;
    }
    const ClusterEntry& cluster = work().impl().tables.clusters[c];
    if (!point->isNear(motion_.state.q.data() + cluster.firstQ) ||
        !point->isNear(motion_.next.q.data() + cluster.firstQ)) {
      continue;
    }
    const double before = points().wayFrom(c, motion_.state.q),
                 after = points().wayFrom(c, motion_.next.q);
    if (!(before < 0.0 && after > -kSpacing)) {
      continue;
    }
    turn_ = point->turn(motion_.heading.data() + cluster.firstVelocity);
    if (!turn_ && after >= 0.0) {
      throwCannotTurn(static_cast<int>(c));
    }
    if (turn_ && before < -kBefore * turn_->width && after >= -kBefore * turn_->width) {
      return static_cast<int>(c);
    }
  }
  return -1;
}

double Turns::stepTo(int cluster, double h) {
  // Along a crease every position has a point of its own, with another miss: the one that was found
  // from the ends of the step leads near the turn, from where the right one is found.
  const auto c = static_cast<std::size_t>(cluster);
  const ClusterEntry& entry = work().impl().tables.clusters[c];
  const ChangePoints::Fixed fixed(points(), cluster);
  for (int round = 0; round < kMostTurns; ++round) {
    const double found = stepToWay(cluster, h, -kBefore * turn_->width, 0.01 * turn_->width);
    if (entry.nv == 1) {
      return found;
    }
    const SingularPoint::Turn before = *turn_;
    points().pointOf(c)->locate(motion_.next.q.data() + entry.firstQ);
    turn_ = points().pointOf(c)->turn(motion_.heading.data() + entry.firstVelocity);
    if (!turn_) {
      break;
    }
    if (std::abs(turn_->width - before.width) < 0.1 * before.width &&
        turn_->after.dot(before.after) > 0.0) {
      return found;
    }
    steps_.attempt(h);
  }
  throwCannotTurn(cluster);
}

double Turns::stepToWay(int cluster, double h, double goal, double tolerance) {
  // Regula falsi (Illinois).
  const auto remaining = [&](VectorIn q) {
    return points().wayFrom(static_cast<std::size_t>(cluster), q) - goal;
  };
  double low = 0.0, high = h, atLow = remaining(motion_.state.q),
         atHigh = remaining(motion_.next.q);
  for (int round = 0; round < kMostRounds; ++round) {
    const double middle = low + (high - low) * atLow / (atLow - atHigh);
    steps_.attempt(middle);
    const double here = remaining(motion_.next.q);
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

void Turns::turn(int cluster) {
  try {
    turnAtState(cluster);
  } catch (const AssemblyError&) {  // of positions beside the point, where no loop is to blame
    throwCannotTurn(cluster);
  }
}

void Turns::turnAtState(int cluster) {
  const auto c = static_cast<std::size_t>(cluster);
  if (equations_.isConstrained()) {
    throwCannotTurn(cluster);
  }
  const ClusterEntry& entry = work().impl().tables.clusters[c];
  const int nv = static_cast<int>(motion_.state.v.size());
  const auto placeMass = [&](Eigen::MatrixXd& H) {
    H.setZero(nv, nv);
    const auto add = [&](double weight, VectorIn q) {
      massMatrix(work().model(), work().data(), q, massHere_);
      H += weight * massHere_;
    };
    if (points().standAt(motion_.state.q, equations_.node().G.data()) == Standing::ChangePoint) {
      points().around(motion_.state.q, add);
    } else {
      add(1.0, motion_.state.q);
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
    Eigen::VectorXd velocities = Eigen::VectorXd::Zero(work().model().nvSpanning()), v(nv);
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
  const Energy before = equations_.energyOf(motion_.state);
  const Eigen::VectorXd momentum = E.transpose() * (H * motion_.state.v);

  motion_.heading.segment(entry.firstVelocity, entry.velocities) = turn_->after;
  points().pointOf(c)->placeBeside(kBefore * turn_->width, turn_->after,
                                   motion_.state.q.data() + entry.firstQ);
  Eigen::VectorXd aside = motion_.state.q;
  points().pointOf(c)->placeBeside(kSpacing, turn_->after, aside.data() + entry.firstQ);
  if (work().placeAt(aside, equations_.node().G.data()) != Standing::Regular ||
      work().worstRatio(equations_.node().G.data()) > Coordinates::kExchange) {
    CoordinateChoices& choices = equations_.choices();
    choices.changeTo(choices.bestAt(aside));
  }
  // v = E c + t u with the momentum Eᵀ H v and the energy of before, and u > 0:
  //   c = (Eᵀ H E)⁻¹ (p − Eᵀ H t u) = c₀ − d u,   u² (t − E d)ᵀ H (t − E d) = 2 T − pᵀ c₀
  placeMass(H);
  common(E);
  Eigen::VectorXd t(nv), spanningT = Eigen::VectorXd::Zero(work().model().nvSpanning());
  spanningT.segment(entry.firstVelocity, entry.velocities) = turn_->after;
  work().pick(spanningT, t);
  const Eigen::MatrixXd HE = E.transpose() * H * E;
  const auto solvedInCommon = [&](const Eigen::VectorXd& p) -> Eigen::VectorXd {
    return p.size() == 0 ? p : Eigen::VectorXd(solved(HE, p));  // one DoF has none in common
  };
  const Eigen::VectorXd c0 = solvedInCommon(momentum);
  const Eigen::VectorXd across = t - E * solvedInCommon(E.transpose() * (H * t));
  motion_.state.v.setZero();
  const double kinetic =
      before.kinetic + before.potential - equations_.energyOf(motion_.state).potential;
  const double rest = std::max(0.0, 2.0 * kinetic - momentum.dot(c0));
  const double speed = std::sqrt(rest / across.dot(H * across));
  motion_.state.v = E * c0 + speed * across;
  motion_.evaluate(equations_);
  steps_.forgetSteps();
}

void Turns::throwCannotTurn(int cluster) const {
  const ClusterEntry& entry = work().impl().tables.clusters[static_cast<std::size_t>(cluster)];
  const std::string& loop = work().impl().rowNames[entry.firstRow];
  throw SingularityError(
      "loop " + kempe::quoted(loop) + " reaches a singular position at t = " +
          shortNumber(motion_.state.time) + " s, which it misses by " +
          shortNumber(points().pointOf(static_cast<std::size_t>(cluster))->miss()) +
          " of its size: it turns onto another branch there, which cannot be followed together "
          "with other loops or constraints. Make the lengths of its links exact, or the misfit "
          "larger.",
      loop, std::numeric_limits<double>::infinity());
}

}  // namespace kempe::detail
