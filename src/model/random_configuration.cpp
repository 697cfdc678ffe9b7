#include <algorithm>
#include <cmath>

#include "algorithms/cuts.hpp"
#include "algorithms/positions.hpp"
#include "loops/assembly.hpp"
#include "loops/cluster_velocity.hpp"
#include "loops/random_positions.hpp"
#include "model/model_impl.hpp"
#include "model/random_configuration.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

constexpr double kReach = 1.0;   // metres either way where a prismatic freedom has no limits
constexpr double kStride = 0.1;  // radians or metres per step of the walk
constexpr int kDraws = 20;  // of explicit clusters, before the last one is pulled within limits

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
  std::vector<double> anywhere(const ClusterEntry& cluster) {
    std::vector<double> q(static_cast<std::size_t>(cluster.positions));
    randomPositions(tables_, cluster, model_.lower.data() + cluster.firstPosition,
                    model_.upper.data() + cluster.firstPosition, kReach, random_, q.data());
    return q;
  }

  std::vector<double> neutral(const ClusterEntry& cluster) const {
    const auto first = model_.neutralPositions.begin() + cluster.firstPosition;
    return {first, first + cluster.positions};
  }

  bool withinLimits(const ClusterEntry& cluster, const std::vector<double>& q) const {
    for (int i = 0; i < cluster.positions; ++i) {
      const int p = cluster.firstPosition + i;
      if (q[i] < model_.lower[p] || q[i] > model_.upper[p]) {
        return false;
      }
    }
    return true;
  }

  /// Couplings: the dependent positions have limits too.
  std::vector<double> drawCoupled(const ClusterEntry& cluster) {
    const double* G = tables_.G.data() + cluster.firstG;
    const double* offset = tables_.offset.data() + cluster.firstOffset;
    const int* independent = tables_.independent.data() + cluster.firstIndependent;
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
      if (withinLimits(cluster, q)) {
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

  /// Loops: from neutral towards random independent positions in short steps, until the way is
  /// blocked by the loops, a limit or a singular position; then a random place on the way.
  std::vector<double> walk(const ClusterEntry& cluster) {
    const std::vector<double> home = neutral(cluster), target = anywhere(cluster);
    const std::span<const int> dependent(tables_.dependent.data() + cluster.firstDependent,
                                         static_cast<std::size_t>(cluster.kept));
    std::vector<double> way(static_cast<std::size_t>(cluster.velocities));
    for (int b = 0; b < cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster.firstBody + b];
      const int position = body.firstPosition - cluster.firstPosition;
      jointDifference(body.type, home.data() + position, target.data() + position,
                      way.data() + body.firstVelocity - cluster.firstVelocity);
    }
    double longest = 0.0;
    for (int j = 0; j < cluster.nv; ++j) {
      longest = std::max(longest, std::abs(way[tables_.independent[cluster.firstIndependent + j]]));
    }
    const int strides = std::clamp(static_cast<int>(std::ceil(longest / kStride)), 1, 1000);
    const double regular = 1e-2 * regularity(cluster, home);
    std::vector<std::vector<double>> visited{home};
    std::vector<double> step(way.size());
    for (int stride = 0; stride < strides; ++stride) {
      for (std::size_t i = 0; i < step.size(); ++i) {
        step[i] = way[i] / strides;
      }
      for (const int i : dependent) {
        step[static_cast<std::size_t>(i)] = 0.0;
      }
      const Closure closure = closeLoops(tables_, model_.mechanism.functions, cluster, scratch_,
                                         visited.back().data(), step.data(), dependent, Rows::Kept);
      std::vector<double> next(scratch_.q.begin(), scratch_.q.begin() + cluster.positions);
      if (!closure.closed || !withinLimits(cluster, next) || leaps(dependent, step) ||
          regularity(cluster, next) < regular) {
        break;
      }
      visited.push_back(std::move(next));
    }
    const bool arrived = static_cast<int>(visited.size()) == strides + 1;
    const double place = random_.uniform(0.0, static_cast<double>(visited.size()));
    return arrived ? visited.back() : visited[static_cast<std::size_t>(place)];
  }

  /// A dependent freedom that moved this far in one stride has changed its branch.
  static bool leaps(std::span<const int> dependent, const std::vector<double>& step) {
    return std::ranges::any_of(dependent, [&](int i) {
      return std::abs(step[static_cast<std::size_t>(i)]) > 30 * kStride;
    });
  }

  /// How far from singular: the ratio of pivots of K_d.
  double regularity(const ClusterEntry& cluster, const std::vector<double>& q) {
    ClusterState<double> state = scratch_.state(q.data());
    placeCluster(tables_, cluster, state);
    std::vector<double> G(static_cast<std::size_t>(cluster.velocities * cluster.nv));
    return clusterJacobian(tables_, model_.mechanism.functions, cluster, state, scratch_, G.data());
  }

  const ModelImpl& model_;
  const ModelTables<double>& tables_;
  LoopScratch<double> scratch_;
  Random random_;
};

}  // namespace

Eigen::VectorXd detail::openConfiguration(const ModelImpl& model, std::uint64_t seed) {
  Sampler sampler(model, seed);
  Eigen::VectorXd q(model.tables.nq);
  for (const ClusterEntry& cluster : model.tables.clusters) {
    const std::vector<double> positions = sampler.draw(cluster);
    contractPositions(model.tables, cluster, positions.data(), q.data());
  }
  return q;
}

Eigen::VectorXd Model::randomConfiguration(std::uint64_t seed) const {
  if (impl_->cuts.entries.empty()) {
    return openConfiguration(*impl_, seed);
  }
  Data data(*this);
  Eigen::VectorXd closed(nq());
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    try {
      closeCuts(*this, data, openConfiguration(*impl_, kDraws * seed + draw), closed);
      return closed;
    } catch (const std::runtime_error&) {
      continue;  // another draw
    }
  }
  return neutral();
}

}  // namespace kempe
