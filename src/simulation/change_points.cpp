#include <algorithm>
#include <array>
#include <cmath>

#include "simulation/simulation.hpp"

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
/// The change point ahead is looked for where the smallest pivot of K is below this fraction of the
/// usual; where several DoFs make it another point at every position, below the second.
constexpr double kAhead = 0.2;
constexpr double kNarrow = 0.03;
/// Loops that miss a change point by a larger relative length x than this turn within √x = 3e-6,
/// which is followed with short steps: accelerations there are wrong by ε / √x³ (1) for a time of
/// √x, velocities by ε / x = 1e-5. Below it the corner is √x wide at most.
constexpr double kMiss = 1e-11;

}  // namespace

SingularPoint* Simulation::passageOf(std::size_t cluster) {
  SingularPoint* point = points_[cluster].get();
  const ClusterEntry& entry = work().impl().tables.clusters[cluster];
  const double* positions = work().positions().data() + entry.firstPosition;
  if (point == nullptr || !(work().regularity()[cluster] < (entry.nv == 1 ? kAhead : kNarrow)) ||
      !(heading_.segment(entry.firstVelocity, entry.velocities).cwiseAbs().maxCoeff() > 0.0)) {
    return nullptr;
  }
  if (!point->isKnownNear(positions)) {
    point->locate(positions);
  }
  return point->found() && point->miss() < kMiss ? point : nullptr;
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
  for (std::size_t c = 0; c < crossing.size(); ++c) {
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
  for (std::size_t c = 0; c < rates.regularity.size(); ++c) {
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
  std::array<double, 2 * kEachSide> nodes{};
  for (int k = 0; k < kEachSide; ++k) {
    nodes[2 * k] = -0.5 * (first + last) - (k + 1) * kSpacing;
    nodes[2 * k + 1] = -0.5 * (first + last) + (k + 1) * kSpacing;
  }
  for (const double node : nodes) {
    double weight = 1.0;  // Lagrange's, at 0
    for (const double other : nodes) {
      weight *= other == node ? 1.0 : other / (other - node);
    }
    work().moveAcross(q, heading_, node, nodeQ_);
    visit(weight, nodeQ_);
  }
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

void Simulation::straighten() {
  if (first_.crossing && first_.displacement.cwiseAbs().maxCoeff() > 0.0) {
    work().displace(first_.displacement, state_.q);
  }
}

}  // namespace kempe::detail
