#include "simulation/change_points.hpp"

#include <algorithm>
#include <cmath>

#include "simulation/regularity.hpp"

namespace kempe::detail {
namespace {

/// Where only the rows that the model keeps lose rank, loops go straight on up to this x. Positions
/// on both sides are wrong by x / kSpacing = 2.5e-4.
constexpr double kKeptMiss = 1e-5;
/// Below this x for each body of the loops, rounding of the mechanism's own numbers decides (origins
/// and angles of files, products of rotations), and the loops go straight on. Parallelograms of three
/// bodies miss by up to 2e-15, one of a robot with 14 bodies by 7e-15.
constexpr double kExact = 1.3e-15;

}  // namespace

void ChangePoints::start(const Model& user) {
  const ModelTables<double>& tables = user.impl().tables;
  points_.clear();
  looped_.clear();
  straightOn_.assign(tables.clusters.size(), 0);
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    points_.emplace_back();
    if (tables.clusters[c].kind == ClusterKind::Implicit && tables.clusters[c].nv > 0) {
      points_[c] = std::make_unique<SingularPoint>(user, choices_.scales(), static_cast<int>(c));
      looped_.push_back(c);
    }
  }
  aside_ = user.neutral();
}

SingularPoint* ChangePoints::passageOf(std::size_t cluster) {
  SingularPoint* point = points_[cluster].get();
  Coordinates& chosen = choices_.current();
  const ClusterEntry& entry = chosen.impl().tables.clusters[cluster];
  const double* positions = chosen.positions().data() + entry.firstPosition;
  if (!(chosen.regularity()[cluster] < (entry.nv == 1 ? kNearSingular : kNarrow)) ||
      !(heading_.segment(entry.firstVelocity, entry.velocities).cwiseAbs().maxCoeff() > 0.0)) {
    return nullptr;
  }
  if (static_cast<int>(cluster) != fixed_ && !point->isKnownNear(positions)) {
    point->locate(positions);
  }
  const bool passes = point->miss() < kMiss || (point->isOfKeptRows() && point->miss() < kKeptMiss);
  return point->found() && passes ? point : nullptr;
}

double ChangePoints::wayFrom(std::size_t cluster, VectorIn q) {
  const ClusterEntry& entry = choices_.current().impl().tables.clusters[cluster];
  return points_[cluster]->distanceAlong(heading_.data() + entry.firstVelocity,
                                         q.data() + entry.firstQ);
}

Standing ChangePoints::standAt(VectorIn q, double* G) {
  Coordinates& chosen = choices_.current();
  const Standing standing = chosen.placeAt(q, G);
  std::vector<char>& crossing = chosen.crossing();
  bool any = false;
  Standing others = Standing::Regular;
  for (const std::size_t c : looped_) {
    straightOn_[c] = static_cast<char>(passageOf(c) != nullptr);
    crossing[c] = static_cast<char>(straightOn_[c] != 0 && std::abs(wayFrom(c, q)) < kSpacing);
    any = any || crossing[c] != 0;
    if (crossing[c] == 0) {
      others = std::max(others, chosen.standing(c));
    }
  }
  return any && others == Standing::Regular ? Standing::ChangePoint : standing;
}

void ChangePoints::lookAhead(std::vector<double>& regularity) const {
  for (const std::size_t c : looped_) {
    if (straightOn_[c] != 0) {
      regularity[c] = 1.0;
    }
  }
}

void ChangePoints::visitAround(VectorIn q, const std::function<void(double, VectorIn)>& visit) {
  // Positions of q relative to the points; clusters that pass at the same time share the nodes.
  double first = 1.0, last = -1.0;
  for (std::size_t c = 0; c < points_.size(); ++c) {
    if (choices_.current().crossing()[c] != 0) {
      const double way = wayFrom(c, q);
      first = std::min(first, way);
      last = std::max(last, way);
    }
  }
  forEachNode(0.5 * (first + last), [&](double weight, double node) {
    choices_.current().moveAcross(q, heading_, node, aside_);
    visit(weight, aside_);
  });
}

bool ChangePoints::goesStraightOn(std::size_t cluster) const {
  const int bodies = choices_.current().impl().tables.clusters[cluster].bodies;
  return points_[cluster]->isOfKeptRows() || points_[cluster]->miss() < kExact * bodies;
}

bool ChangePoints::allGoStraightOn() {
  for (std::size_t c = 0; c < points_.size(); ++c) {
    if (choices_.current().crossing()[c] != 0 && !goesStraightOn(c)) {
      return false;
    }
  }
  return true;
}

}  // namespace kempe::detail
