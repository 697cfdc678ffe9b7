#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algorithms/cut_loops.hpp"
#include "algorithms/named_coordinates.hpp"
#include "kempe/configuration.hpp"
#include "kempe/constraints.hpp"
#include "kempe/errors.hpp"
#include "loops/assembly.hpp"
#include "loops/decompositions.hpp"
#include "loops/random_positions.hpp"
#include "loops/selection.hpp"
#include "model/arguments.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// Longest part, in radians or reaches, in which named joints are moved from the neutral position.
/// The other joints are predicted from the parts before, by polynomials of up to this order. Where
/// branches meet, at a distance r, they are about r apart, and the prediction is wrong by
/// kPart^(order + 1) = 2e-8 or so: the loops stay on their branch. A rotor after many turns is moved
/// in so many parts at most.
constexpr double kPart = 0.05;
constexpr int kOrder = 5;
constexpr int kMostParts = 5000;
/// Loops whose smallest singular value is below this part of the largest are near a change point. The
/// last parts of the way there are divided into so many, which predict the end to rounding: in the
/// direction that the loops leave open, the equations determine it to its square root only.
constexpr double kNearChangePoint = 0.02;
constexpr int kLastParts = 2, kFineParts = 12;
/// Starts of the other joints where that does not lead to the named positions.
constexpr int kNamedRestarts = 24;
/// Halvings of the last part, to find the end of what can be reached: 0.05 / 2³⁰ is rounding.
constexpr int kHalvings = 30;

/// A scalar coordinate of a joint, or all coordinates of a spherical or free joint.
struct HeldCoordinate {
  int body = 0;
  int component = 0;  ///< 0 for whole joints
  bool whole = false;
};

/// Moves the named joints from the neutral configuration to their positions.
class NamedPose {
 public:
  NamedPose(const Model& model, Data& data, const NamedValues& named)
      : model_(model), impl_(model.impl()), tables_(impl_.tables), data_(data) {
    positions_.resize(static_cast<std::size_t>(tables_.positions));
    expandPositions(impl_, model.neutral().data(), positions_.data());
    open_ = positions_;
    NamedCoordinates coordinates(impl_, named, NamedQuantity::Position, positions_);
    target_ = std::move(coordinates.values);
    for (int b = 0; b < static_cast<int>(tables_.bodies.size()); ++b) {
      const BodyEntry<double>& body = tables_.bodies[b];
      double* position = target_.data() + body.firstPosition;
      const auto isGiven = [&](int i) { return coordinates.given[body.firstPosition + i] != 0; };
      if (hasScalarCoordinates(body.type)) {
        for (int i = 0; i < velocitySize(body.type); ++i) {
          if (isGiven(i)) {
            held_.push_back({b, i, false});
          }
        }
        continue;
      }
      const double none[6] = {};
      jointRetract(body.type, position, none, position);  // makes the quaternion of unit length
      bool any = false;
      for (int i = 0; i < positionSize(body.type); ++i) {
        any |= isGiven(i);
      }
      if (any) {
        held_.push_back({b, 0, true});
      }
    }
  }

  void write(VectorOut q) {
    // Clusters move independently of each other, unless loops that are cut connect them.
    std::vector<int> all(tables_.clusters.size());
    std::iota(all.begin(), all.end(), 0);
    if (!impl_.cuts.entries.empty()) {
      reach(all);
    } else {
      for (const int c : all) {
        reach({c});
      }
    }
    Eigen::VectorXd result(tables_.nq);
    contract(positions_, result);
    q = result;
  }

 private:
  void contract(const std::vector<double>& positions, Eigen::VectorXd& q) const {
    for (const ClusterEntry& cluster : tables_.clusters) {
      contractPositions(tables_, cluster, positions.data() + cluster.firstPosition, q.data());
    }
  }

  [[nodiscard]] bool isIn(const HeldCoordinate& held, const ClusterEntry& cluster) const {
    return held.body >= cluster.firstBody && held.body < cluster.firstBody + cluster.bodies;
  }

  /// What is left of the way to a coordinate's target, up to six numbers.
  std::array<double, 6> wayTo(const HeldCoordinate& held, const double* positions) const {
    const BodyEntry<double>& body = tables_.bodies[held.body];
    std::array<double, 6> way{};
    jointDifference(body.type, positions + body.firstPosition, target_.data() + body.firstPosition,
                    way.data());
    return way;
  }

  /// The same in radians or reaches.
  [[nodiscard]] double distanceTo(const HeldCoordinate& held, const double* positions) const {
    const BodyEntry<double>& body = tables_.bodies[held.body];
    const std::array<double, 6> way = wayTo(held, positions);
    const int count = held.whole ? velocitySize(body.type) : 1;
    double most = 0.0;
    for (int i = held.component; i < held.component + count; ++i) {
      most = std::max(most, std::abs(way[i]) / tables_.velocityScales[body.firstVelocity + i]);
    }
    return most;
  }

  /// The named coordinate of these clusters that is farthest from its target.
  const HeldCoordinate* farthest(const std::vector<int>& clusters,
                                 const std::vector<double>& positions) const {
    const HeldCoordinate* result = nullptr;
    for (const HeldCoordinate& held : held_) {
      const bool counts =
          std::ranges::any_of(clusters, [&](int c) { return isIn(held, tables_.clusters[c]); });
      if (counts && (result == nullptr ||
                     distanceTo(held, positions.data()) > distanceTo(*result, positions.data()))) {
        result = &held;
      }
    }
    return result;
  }

  /// Velocities of a cluster whose joints are named, ascending.
  [[nodiscard]] std::vector<int> heldIn(const ClusterEntry& cluster) const {
    std::vector<int> list;
    for (const HeldCoordinate& held : held_) {
      const BodyEntry<double>& body = tables_.bodies[held.body];
      const int count = held.whole ? velocitySize(body.type) : 1;
      for (int i = 0; isIn(held, cluster) && i < count; ++i) {
        list.push_back(body.firstVelocity - cluster.firstVelocity + held.component + i);
      }
    }
    return list;
  }

  /// Moves named joints by a fraction of their way and closes the loops. The other joints start up
  /// to `spread` radians or reaches away from where they are, or where steps_ predict them. False if
  /// the loops stay open.
  bool advance(const std::vector<int>& clusters, double fraction, double spread = 0.0) {
    std::vector<double> moved = positions_;
    for (const int c : clusters) {
      const ClusterEntry& cluster = tables_.clusters[c];
      const std::vector<double> none(static_cast<std::size_t>(cluster.velocities), 0.0);
      const bool foreseen =
          spread == 0.0 && !steps_.empty() &&
          advanceCluster(cluster, fraction, spread, predicted(cluster), moved.data());
      if (!foreseen && !advanceCluster(cluster, fraction, spread, none, moved.data())) {
        return false;
      }
    }
    if (!impl_.cuts.entries.empty() && !closeCutLoops(moved, true)) {
      return false;
    }
    steps_.insert(steps_.begin(), differenceOf(positions_, moved));
    steps_.resize(std::min<std::size_t>(steps_.size(), kOrder));
    positions_ = std::move(moved);
    return true;
  }

  /// Spanning velocities that lead from one position to another in unit time.
  [[nodiscard]] std::vector<double> differenceOf(const std::vector<double>& from,
                                                 const std::vector<double>& to) const {
    std::vector<double> step(static_cast<std::size_t>(model_.nvSpanning()), 0.0);
    for (const ClusterEntry& cluster : tables_.clusters) {
      differenceOfCluster(tables_, cluster, from.data() + cluster.firstPosition,
                          to.data() + cluster.firstPosition, step.data() + cluster.firstVelocity);
    }
    return step;
  }

  /// The next step of a cluster, after those in steps_ of the same length: the polynomial through m of
  /// them continues with Σ (−1)^(k+1) (m over k) step_k.
  [[nodiscard]] std::vector<double> predicted(const ClusterEntry& cluster) const {
    std::vector<double> next(static_cast<std::size_t>(cluster.velocities), 0.0);
    const auto m = static_cast<double>(steps_.size());
    double weight = -1.0;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      weight *= -(m - static_cast<double>(k)) / static_cast<double>(k + 1);
      for (std::size_t i = 0; i < next.size(); ++i) {
        next[i] += weight * steps_[k][static_cast<std::size_t>(cluster.firstVelocity) + i];
      }
    }
    return next;
  }

  /// `others` are the steps with which joints that are not named start.
  bool advanceCluster(const ClusterEntry& cluster, double fraction, double spread,
                      const std::vector<double>& others, double* positions) {
    std::vector<double> step(static_cast<std::size_t>(cluster.velocities), 0.0);
    for (const HeldCoordinate& held : held_) {
      if (isIn(held, cluster)) {
        const BodyEntry<double>& body = tables_.bodies[held.body];
        const std::array<double, 6> way = wayTo(held, positions);
        const int first = body.firstVelocity - cluster.firstVelocity;
        const int count = held.whole ? velocitySize(body.type) : 1;
        for (int i = held.component; i < held.component + count; ++i) {
          step[first + i] = fraction * way[i];
        }
      }
    }
    double* place = positions + cluster.firstPosition;
    LoopScratch<double>& scratch = data_.impl().loops;
    if (!hasLoops(cluster)) {
      retractCluster(tables_, cluster, place, step.data(), scratch.q.data());
      std::copy_n(scratch.q.data(), cluster.positions, place);
      return true;
    }
    const std::vector<int> held = heldIn(cluster);
    const auto close = [&](std::span<const int> movable) {
      std::vector<double> start = step;
      for (const int i : movable) {
        start[i] = others[i];
      }
      return closeCluster(cluster, start, movable, spread, place);
    };
    // Independent joints that are not named stay if that is possible.
    if (areAmong(held, independentOf(tables_, cluster)) && close(dependentOf(tables_, cluster))) {
      return true;
    }
    return close(complement(held, cluster.velocities));
  }

  bool closeCluster(const ClusterEntry& cluster, std::vector<double> step,
                    std::span<const int> movable, double spread, double* place) {
    LoopScratch<double>& scratch = data_.impl().loops;
    for (const int i : movable) {
      step[i] += spread > 0.0 ? random_.uniform(-spread, spread) *
                                    tables_.velocityScales[cluster.firstVelocity + i]
                              : 0.0;
    }
    const Closure closure = closeLoops(tables_, impl_.mechanism.functions, cluster, scratch, place,
                                       step.data(), movable, Rows::Kept);
    if (closure.closed) {
      std::copy_n(scratch.q.data(), cluster.positions, place);
    } else if (closure.gap < gap_) {
      gap_ = closure.gap;
      opening_ = closure.opening;
      openLoop_ = impl_.rowNames[cluster.firstRow + closure.worstRow];
      std::copy_n(scratch.q.data(), cluster.positions, open_.data() + cluster.firstPosition);
    }
    return closure.closed;
  }

  /// Closes loops that are left cut, with the named joints where they are or free to move.
  bool closeCutLoops(std::vector<double>& positions, bool holding) {
    Eigen::VectorXd q(tables_.nq), closed(tables_.nq);
    contract(positions, q);
    Constraints holds(model_);
    for (std::size_t i = 0; holding && i < held_.size(); ++i) {
      const HeldCoordinate& held = held_[i];
      const std::string& joint = impl_.jointNames[held.body];
      if (held.whole) {
        holds.lock(std::to_string(i), joint, q);
      } else {
        const double x = positions[tables_.bodies[held.body].firstPosition + held.component];
        holds.prescribe(std::to_string(i), {joint, held.component}, [x](double) {
          return PrescribedMotion{x, 0.0, 0.0};
        });
      }
    }
    try {
      projectPositions(model_, data_, holds, 0.0, q, closed);
    } catch (const AssemblyError& error) {
      if (error.gap() < gap_) {
        gap_ = opening_ = error.gap();
        const auto cut = std::ranges::find(impl_.cutNames, error.loop());
        openLoop_ = cut == impl_.cutNames.end() ? impl_.cutNames.front() : *cut;
      }
      return false;
    } catch (const SingularityError&) {
      return false;
    }
    expandPositions(impl_, closed.data(), positions.data());
    return true;
  }

  /// Closes the loops with all joints free to move, from where they were open by the least with the
  /// named joints at their targets. False if they stay open.
  bool approach(const std::vector<int>& clusters) {
    std::vector<double> near = open_;
    for (const int c : clusters) {
      const ClusterEntry& cluster = tables_.clusters[c];
      double* place = near.data() + cluster.firstPosition;
      settle(cluster, near);
      const std::vector<double> zero(static_cast<std::size_t>(cluster.velocities), 0.0);
      if (hasLoops(cluster) &&
          !closeCluster(cluster, zero, complement({}, cluster.velocities), 0.0, place)) {
        return false;
      }
    }
    if (!impl_.cuts.entries.empty() && !closeCutLoops(near, false)) {
      return false;
    }
    positions_ = std::move(near);
    return true;
  }

  /// Puts named joints exactly at their targets: rounding, and the sign of quaternions.
  void settle(const ClusterEntry& cluster, std::vector<double>& positions) const {
    for (const HeldCoordinate& held : held_) {
      if (isIn(held, cluster)) {
        const BodyEntry<double>& body = tables_.bodies[held.body];
        const int first = body.firstPosition + held.component;
        const int count = held.whole ? positionSize(body.type) : 1;
        std::copy_n(target_.begin() + first, count, positions.begin() + first);
      }
    }
  }
  void settle(const std::vector<int>& clusters) {
    for (const int c : clusters) {
      settle(tables_.clusters[c], positions_);
    }
  }

  /// Whether the loops of a cluster are near a change point with the named joints held.
  [[nodiscard]] bool isFlat(int c) {
    const ClusterEntry& cluster = tables_.clusters[c];
    const std::vector<int> movable = complement(heldIn(cluster), cluster.velocities);
    if (cluster.kind != ClusterKind::Implicit || cluster.kept == 0 ||
        static_cast<int>(movable.size()) < cluster.kept) {
      return false;
    }
    const Eigen::MatrixXd K = scaledLoopJacobian(model_, data_, cluster, positions_);
    const Eigen::VectorXd values = firstLeftSingularVectors(K(Eigen::all, movable)).values;
    return !(values[cluster.kept - 1] > kNearChangePoint * values[0]);
  }

  /// Goes the last part of the way again, from these positions, in steps that are shorter.
  void approachFinely(const std::vector<int>& clusters, const std::vector<double>& from) {
    const std::vector<double> reached = std::exchange(positions_, from);
    steps_.clear();
    for (int part = 0; part < kFineParts; ++part) {
      if (!advance(clusters, 1.0 / (kFineParts - part))) {
        positions_ = reached;
        return;
      }
    }
    settle(clusters);
  }

  /// Brings the named joints of clusters, which no loop connects to others, to their targets.
  void reach(const std::vector<int>& clusters) {
    const HeldCoordinate* first = farthest(clusters, positions_);
    if (first == nullptr) {
      return;
    }
    const std::vector<double> start = positions_;
    const double way = distanceTo(*first, start.data());
    const bool loops = !impl_.cuts.entries.empty() || std::ranges::any_of(clusters, [&](int c) {
      return hasLoops(tables_.clusters[c]);
    });
    const int parts =
        loops ? std::clamp(static_cast<int>(std::min(std::ceil(way / kPart), 1e6)), 1, kMostParts)
              : 1;
    int done = 0;
    steps_.clear();
    std::vector<double> beforeLast = start;
    while (done < parts && advance(clusters, 1.0 / (parts - done))) {
      ++done;
      if (done + kLastParts == parts) {
        beforeLast = positions_;
      }
    }
    if (done == parts) {
      settle(clusters);
      if (loops && way > 0.0 && std::ranges::any_of(clusters, [&](int c) { return isFlat(c); })) {
        approachFinely(clusters, beforeLast);
      }
      return;
    }
    steps_.clear();
    double fraction = 1.0 / (parts - done);
    for (int halving = 0; halving < kHalvings; ++halving) {
      fraction *= 0.5;
      advance(clusters, fraction);
      steps_.clear();  // of other lengths
    }
    const std::vector<double> limit = positions_;
    gap_ = std::numeric_limits<double>::infinity();  // what counts is the gap at the targets
    open_ = start;
    for (int restart = 0; restart <= kNamedRestarts; ++restart) {
      positions_ = start;
      if (advance(clusters, 1.0, 3.0 * restart / kNamedRestarts)) {
        settle(clusters);
        return;
      }
    }
    const auto distance = [&](const std::vector<double>& positions) {
      return distanceTo(*farthest(clusters, positions), positions.data());
    };
    if (!approach(clusters) || distance(limit) < distance(positions_)) {
      positions_ = limit;
    }
    if (!(distance(positions_) <= kNamedTolerance)) {
      fail(*farthest(clusters, positions_));
    }
  }

  [[noreturn]] void fail(const HeldCoordinate& held) const {
    const BodyEntry<double>& body = tables_.bodies[held.body];
    const int p = body.firstPosition + held.component;
    const std::string loop = openLoop_.empty() ? std::string() : "loop " + kempe::quoted(openLoop_);
    const std::string subject =
        held.whole
            ? kempe::quoted(impl_.jointNames[held.body]) + " cannot have its named position"
            : kempe::quoted(impl_.positionNames[p]) + " cannot be at " + shortNumber(target_[p]);
    const std::string nearest = held.whole
                                    ? "the nearest position found is " +
                                          shortNumber(distanceTo(held, positions_.data())) + " away"
                                    : "the nearest position found is " + shortNumber(positions_[p]);
    throw AssemblyError("joint " + subject + ": " +
                            (loop.empty() ? "the loops cannot be closed"
                                          : loop + " stays open by " + shortNumber(opening_)) +
                            "; " + nearest +
                            ". Choose positions that the loops allow, or name fewer joints.",
                        openLoop_, opening_);
  }

  const Model& model_;
  const ModelImpl& impl_;
  const ModelTables<double>& tables_;
  Data& data_;
  Random random_{1};
  std::vector<double> positions_;  // spanning, closed
  std::vector<double> target_;     // spanning; only the named ones count
  std::vector<HeldCoordinate> held_;
  std::vector<std::vector<double>> steps_;  // the last ones, of equal lengths, latest first
  // Positions at the targets with loops open by the least, and the worst of these loops.
  std::vector<double> open_;
  double gap_ = std::numeric_limits<double>::infinity(), opening_ = 0.0;
  std::string openLoop_;
};

}  // namespace

void configurationAt(const Model& model, Data& data, const NamedValues& positions, VectorOut q) {
  requireData(model.impl(), data.impl());
  requireSize("q", q.size(), model.nq(), "model.nq");
  NamedPose(model, data, positions).write(q);
}

}  // namespace kempe
