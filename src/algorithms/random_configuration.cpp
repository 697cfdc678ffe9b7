#include <algorithm>
#include <cmath>
#include <optional>

#include "algorithms/cut_loops.hpp"
#include "loops/assembly.hpp"
#include "loops/cluster_velocity.hpp"
#include "loops/random_positions.hpp"
#include "loops/scales.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

constexpr double kReach = 1.0;  // metres either way where a joint without loops has no limits
constexpr int kDraws = 20;      // of explicit clusters, before the last one is pulled within limits
/// Of walks on the loops, in units of the velocities: the longest stride, and the shortest before a
/// way counts as blocked.
constexpr double kStride = 0.1;
constexpr double kShortestStride = 1e-3;
/// A stride whose end is this part of it away from where its tangent led may have changed the
/// branch.
constexpr double kOffTangent = 0.3;
constexpr int kTargets = 12;  // towards which walks set out, before the longest of them is taken

/// How far spanning positions, those from `first` on, are beyond their limits, in radians or metres.
double farthestBeyondLimits(const ModelImpl& model, int first,
                            const std::vector<double>& positions) {
  double most = 0.0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t p = static_cast<std::size_t>(first) + i;
    most = std::max({most, model.lower[p] - positions[i], positions[i] - model.upper[p]});
  }
  return most;
}

/// A random place on the way from `home` towards a target; the target itself where nothing blocks
/// the way.
/// @param aim     sets out for a new target; returns its distance in units of the velocities
/// @param advance advance(from, part) goes on by a part of the way; nothing where that is blocked
template <typename Place, typename Aim, typename Advance>
Place placeOnTheWay(const Place& home, Random& random, const Aim& aim, const Advance& advance) {
  struct Stop {
    double part;
    Place place;
  };
  std::vector<Stop> longest{{0.0, home}};
  double longestWalk = 0.0;
  for (int target = 0; target < kTargets && longestWalk < kShortestStride; ++target) {
    const double distance = aim();
    if (!(distance > 0.0)) {
      continue;
    }
    const double stride = std::min(1.0, kStride / distance);
    std::vector<Stop> way{{0.0, home}};
    double part = stride;
    while (way.back().part < 1.0 && part * distance >= std::min(kShortestStride, distance)) {
      part = std::min(part, 1.0 - way.back().part);
      const std::optional<Place> next = advance(way.back().place, part);
      if (next) {
        const double done = way.back().part + part;
        way.push_back({done > 1.0 - 1e-12 ? 1.0 : done, *next});
        part = std::min(stride, 2.0 * part);
      } else {
        part *= 0.5;
      }
    }
    const double walked = way.back().part * distance;
    if (way.size() > 1 && walked > longestWalk) {
      longestWalk = walked;
      longest = std::move(way);
      if (longest.back().part == 1.0) {
        return longest.back().place;
      }
      // The same way again, to a random place on it.
      const double wanted = random.uniform(0.0, longest.back().part);
      std::size_t i = 0;
      while (i + 1 < longest.size() && longest[i + 1].part <= wanted) {
        ++i;
      }
      const std::optional<Place> place =
          advance(longest[i].place, std::max(wanted - longest[i].part, 1e-3 * stride));
      longest = {{0.0, place ? *place : longest[std::max<std::size_t>(i, 1)].place}};
    }
  }
  return longest.back().place;
}

/// Draws the positions of one cluster after the other.
class Sampler {
 public:
  Sampler(const ModelImpl& model, std::uint64_t seed)
      : model_(model), tables_(model.tables), scratch_(model.tables), random_(seed) {}

  /// Positions of a cluster.
  std::vector<double> draw(const ClusterEntry& cluster) {
    switch (cluster.kind) {
      case ClusterKind::Tree:
        return anywhere(cluster);
      case ClusterKind::Explicit:
        return drawCoupled(cluster);
      case ClusterKind::Implicit:
        return walk(cluster);
    }
    return {};
  }

 private:
  std::vector<double> anywhere(const ClusterEntry& cluster, double reach = kReach) {
    std::vector<double> q(static_cast<std::size_t>(cluster.positions));
    randomPositions(tables_, cluster, model_.lower.data() + cluster.firstPosition,
                    model_.upper.data() + cluster.firstPosition, reach, random_, q.data());
    return q;
  }

  std::vector<double> neutral(const ClusterEntry& cluster) const {
    const auto first = model_.neutralPositions.begin() + cluster.firstPosition;
    return {first, first + cluster.positions};
  }

  [[nodiscard]] double beyondLimits(const ClusterEntry& cluster,
                                    const std::vector<double>& q) const {
    return farthestBeyondLimits(model_, cluster.firstPosition, q);
  }

  /// Couplings: the dependent positions have limits too.
  std::vector<double> drawCoupled(const ClusterEntry& cluster) {
    const double* G = tables_.G.data() + cluster.firstG;
    const double* offset = tables_.offset.data() + cluster.firstOffset;
    const std::span<const int> independent = independentOf(tables_, cluster);
    const std::vector<double> home = neutral(cluster);
    std::vector<double> q(home.size());
    for (int attempt = 0; attempt < kDraws; ++attempt) {
      const std::vector<double> drawn = anywhere(cluster);
      for (int i = 0; i < cluster.positions; ++i) {
        q[i] = offset[i];
        for (int j = 0; j < cluster.nv; ++j) {
          q[i] += G[i * cluster.nv + j] * drawn[independent[j]];
        }
      }
      if (beyondLimits(cluster, q) == 0.0) {
        return q;
      }
    }
    // Pull the last one towards neutral, as far as the tightest limit asks, and a random bit more.
    double fraction = 1.0;
    for (int i = 0; i < cluster.positions; ++i) {
      const int p = cluster.firstPosition + i;
      const double way = q[i] - home[i];
      const double room = way > 0.0 ? model_.upper[p] - home[i] : model_.lower[p] - home[i];
      if (way != 0.0) {
        fraction = std::clamp(room / way, 0.0, fraction);
      }
    }
    fraction *= random_.uniform(0.0, 1.0);
    for (int i = 0; i < cluster.positions; ++i) {
      q[i] = home[i] + fraction * (q[i] - home[i]);
    }
    return q;
  }

  /// Loops: from neutral towards random independent positions in short strides along the tangent,
  /// until the loops, a limit or a singular configuration block the way.
  std::vector<double> walk(const ClusterEntry& cluster) {
    const std::vector<double> home = neutral(cluster);
    const std::span<const int> dependent = dependentOf(tables_, cluster);
    const std::span<const int> independent = independentOf(tables_, cluster);
    const double* units = tables_.velocityScales.data() + cluster.firstVelocity;
    const double reach = clusterReach(tables_, cluster);
    const double regular = 1e-2 * regularity(cluster, home);
    const auto n = static_cast<std::size_t>(cluster.velocities);
    std::vector<double> way(n), step(n);

    const auto aim = [&] {
      const std::vector<double> target = anywhere(cluster, reach);
      differenceOfCluster(tables_, cluster, home.data(), target.data(), way.data());
      double distance = 0.0;
      for (const int i : independent) {
        distance = std::max(distance, std::abs(way[i]) / units[i]);
      }
      return distance;
    };
    const auto advance = [&](const std::vector<double>& from,
                             double part) -> std::optional<std::vector<double>> {
      if (regularity(cluster, from) <= 0.0) {
        return std::nullopt;
      }
      double length = 0.0;
      for (std::size_t i = 0; i < n; ++i) {  // q̇ = G ẏ
        step[i] = 0.0;
        for (int j = 0; j < cluster.nv; ++j) {
          step[i] += G_[i * static_cast<std::size_t>(cluster.nv) + static_cast<std::size_t>(j)] *
                     part * way[independent[j]];
        }
        length = std::max(length, std::abs(step[i]) / units[i]);
      }
      if (length > 3.0 * kStride) {
        return std::nullopt;  // the dependent ones hurry: a shorter stride
      }
      const std::vector<double> tangent = step;
      const Closure closure = closeLoops(tables_, model_.mechanism.functions, cluster, scratch_,
                                         from.data(), step.data(), dependent, Rows::Kept);
      std::vector<double> next(scratch_.q.begin(), scratch_.q.begin() + cluster.positions);
      double off = 0.0;
      for (const int i : dependent) {
        off = std::max(off, std::abs(step[i] - tangent[i]) / units[i]);
      }
      const bool onBranch = off <= kOffTangent * length;
      if (!closure.closed || !onBranch ||
          beyondLimits(cluster, next) > std::max(0.0, beyondLimits(cluster, from)) ||
          regularity(cluster, next) < regular) {
        return std::nullopt;
      }
      return next;
    };
    return placeOnTheWay(home, random_, aim, advance);
  }

  /// How far from singular: the ratio of pivots of K_d. Leaves G in G_.
  double regularity(const ClusterEntry& cluster, const std::vector<double>& q) {
    ClusterState<double> state = scratch_.state(q.data());
    placeCluster(tables_, cluster, state);
    G_.resize(static_cast<std::size_t>(cluster.velocities * cluster.nv));
    return clusterJacobian(tables_, model_.mechanism.functions, cluster, state, scratch_,
                           G_.data());
  }

  const ModelImpl& model_;
  const ModelTables<double>& tables_;
  LoopScratch<double> scratch_;
  Random random_;
  std::vector<double> G_;
};

/// A random configuration whose clusters are closed; loops that are left cut are not.
Eigen::VectorXd openConfiguration(const ModelImpl& model, std::uint64_t seed) {
  Sampler sampler(model, seed);
  Eigen::VectorXd q(model.tables.nq);
  for (const ClusterEntry& cluster : model.tables.clusters) {
    const std::vector<double> positions = sampler.draw(cluster);
    contractPositions(model.tables, cluster, positions.data(), q.data());
  }
  return q;
}

/// Loops that are left cut: walks from neutral with velocities projected onto them.
class CutWalk {
 public:
  CutWalk(const Model& model, std::uint64_t seed)
      : model_(model), impl_(model.impl()), data_(model), random_(seed), way_(model.nv()) {
    for (const BodyEntry<double>& body : impl_.tables.bodies) {
      reach_ = std::max(reach_, norm(body.placement.p));
    }
    reach_ = reach_ > 0.0 ? reach_ : 1.0;
  }

  Eigen::VectorXd run() {
    return placeOnTheWay<Eigen::VectorXd>(
        model_.neutral(), random_,
        [&] {
          const auto seed = static_cast<std::uint64_t>(random_.uniform(0.0, 0x1p53));
          difference(model_, data_, model_.neutral(), openConfiguration(impl_, seed), way_);
          return lengthOf(way_);
        },
        [&](const Eigen::VectorXd& from, double part) { return advance(from, part); });
  }

 private:
  std::optional<Eigen::VectorXd> advance(const Eigen::VectorXd& from, double part) {
    Eigen::VectorXd tangent = part * way_, predicted(model_.nq()), closed(model_.nq()),
                    correction(model_.nv());
    try {
      projectOntoCuts(model_, data_, from, tangent);
      integrate(model_, data_, from, tangent, 1.0, predicted);
      closeCuts(model_, data_, predicted, closed);
      difference(model_, data_, predicted, closed, correction);
    } catch (const std::runtime_error&) {
      return std::nullopt;  // blocked by loops or singular
    }
    const double length = lengthOf(tangent);
    if (length > 3.0 * kStride || lengthOf(correction) > kOffTangent * length ||
        beyondLimits(closed) > std::max(0.0, beyondLimits(from))) {
      return std::nullopt;
    }
    return closed;
  }

  double beyondLimits(const Eigen::VectorXd& q) {
    std::vector<double>& positions = data_.impl().positions;
    expandPositions(impl_, q.data(), positions.data());
    return farthestBeyondLimits(impl_, 0, positions);
  }

  /// Largest velocity, in radians or reaches.
  [[nodiscard]] double lengthOf(const Eigen::VectorXd& v) const {
    double largest = 0.0;
    for (const ClusterEntry& cluster : impl_.tables.clusters) {
      for (int j = 0; j < cluster.nv; ++j) {
        const int i = impl_.tables.independent[cluster.firstIndependent + j];
        largest = std::max(
            largest, std::abs(v[cluster.firstV + j]) / unitOf(cluster, cluster.firstVelocity + i));
      }
    }
    return largest;
  }

  [[nodiscard]] double unitOf(const ClusterEntry& cluster, int velocity) const {
    if (cluster.kind != ClusterKind::Tree) {
      return impl_.tables.velocityScales[velocity];
    }
    const BodyEntry<double>& body = impl_.tables.bodies[cluster.firstBody];
    return slides(body.type, velocity - body.firstVelocity) ? reach_ : 1.0;
  }

  const Model& model_;
  const ModelImpl& impl_;
  Data data_;
  Random random_;
  Eigen::VectorXd way_;
  double reach_ = 0.0;
};

}  // namespace

Vector Model::randomConfiguration(std::uint64_t seed) const {
  return impl_->cuts.entries.empty() ? openConfiguration(*impl_, seed) : CutWalk(*this, seed).run();
}

}  // namespace kempe
