#include "kempe/named_states.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "algorithms/cut_loops.hpp"
#include "kempe/configuration.hpp"
#include "kempe/constraints.hpp"
#include "kempe/errors.hpp"
#include "loops/assembly.hpp"
#include "loops/cluster_velocity.hpp"
#include "loops/decompositions.hpp"
#include "loops/random_positions.hpp"
#include "model/arguments.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"
#include "text/nearest_name.hpp"

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
constexpr int kRestarts = 24;
/// Halvings of the last part, to find the end of what can be reached: 0.05 / 2³⁰ is rounding.
constexpr int kHalvings = 30;
/// Named positions and velocities are met within this many radians or reaches (per second). More of
/// them than the mechanism has DoFs cannot agree exactly; these are numbers with six digits.
constexpr double kMet = 1e-6;
/// Directions that change the rows by less, relative to the largest, are motions that loops allow.
constexpr double kAllowed = 1e-10;

/// A scalar coordinate of a joint, or all coordinates of a spherical or free joint.
struct HeldCoordinate {
  int body = 0;
  int component = 0;  ///< 0 for whole joints
  bool whole = false;
};

/// Where a name points to.
struct Place {
  int body = 0;
  int component = 0, count = 0;  ///< of the joint's positions or velocities
};

enum class Quantity { Position, Velocity };

const char* wordFor(Quantity quantity) {
  return quantity == Quantity::Position ? "position" : "velocity";
}

[[noreturn]] void refuse(const std::string& name, Quantity quantity, const std::string& reason) {
  throw std::invalid_argument(std::string(wordFor(quantity)) + " of " +
                              kempe::quoted(asUtf8(name)) + ": " + reason);
}

/// `model "leg" has no moving joint or coordinate of this name. Did you mean "hip"?`
[[noreturn]] void refuseUnknown(const ModelImpl& model, const std::string& name,
                                Quantity quantity) {
  const std::vector<std::string>& coordinates =
      quantity == Quantity::Position ? model.positionNames : model.velocityNames;
  std::vector<std::string_view> candidates(model.jointNames.begin(), model.jointNames.end());
  candidates.insert(candidates.end(), coordinates.begin(), coordinates.end());
  const std::string_view nearest = nearestName(name, candidates);
  constexpr std::size_t most = 12;
  std::vector<std::string> listed(model.jointNames.begin(),
                                  model.jointNames.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                 most, model.jointNames.size())));
  if (listed.size() < model.jointNames.size()) {
    listed.emplace_back("...");
  }
  refuse(name, quantity,
         "model " + kempe::quoted(model.mechanism.name) +
             " has no moving joint or coordinate of this name. " +
             (nearest.empty() ? "It has the joints " + joined(listed) + "."
                              : "Did you mean " + kempe::quoted(nearest) + "?"));
}

Place placeOf(const ModelImpl& model, const std::string& name, Quantity quantity) {
  const bool positions = quantity == Quantity::Position;
  const auto size = [&](const BodyEntry<double>& body) {
    return positions ? positionSize(body.type) : velocitySize(body.type);
  };
  const auto joint = model.bodyByJoint.find(name);
  if (joint != model.bodyByJoint.end()) {
    return {joint->second, 0, size(model.tables.bodies[joint->second])};
  }
  const std::vector<std::string>& names = positions ? model.positionNames : model.velocityNames;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    refuseUnknown(model, name, quantity);
  }
  const int index = static_cast<int>(found - names.begin());
  for (int b = 0; b < static_cast<int>(model.tables.bodies.size()); ++b) {
    const BodyEntry<double>& body = model.tables.bodies[b];
    const int component = index - (positions ? body.firstPosition : body.firstVelocity);
    if (component >= 0 && component < size(body)) {
      return {b, component, 1};
    }
  }
  refuseUnknown(model, name, quantity);
}

void requireValues(const Place& place, const std::string& name, Quantity quantity,
                   const std::vector<double>& values) {
  if (static_cast<int>(values.size()) != place.count) {
    refuse(name, quantity,
           std::to_string(values.size()) + " number(s) are given, but it has " +
               std::to_string(place.count) + ".");
  }
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) {
    refuse(name, quantity, "a number is not finite.");
  }
}

/// Numbers by name, in the order of the spanning coordinates, and which of them are given.
struct NamedCoordinates {
  std::vector<double> values;
  std::vector<char> given;

  NamedCoordinates(const ModelImpl& model, const NamedValues& named, Quantity quantity,
                   std::vector<double> start)
      : values(std::move(start)), given(values.size(), 0) {
    for (const auto& [name, numbers] : named) {
      const Place place = placeOf(model, name, quantity);
      requireValues(place, name, quantity, numbers);
      const BodyEntry<double>& body = model.tables.bodies[place.body];
      if (quantity == Quantity::Position) {
        requireWholeQuaternion(body.type, place, name, numbers);
      }
      const int first = place.component +
                        (quantity == Quantity::Position ? body.firstPosition : body.firstVelocity);
      for (int i = 0; i < place.count; ++i) {
        if (given[first + i] != 0) {
          refuse(name, quantity, "it is given twice, for the joint and for its coordinate.");
        }
        values[first + i] = numbers[i];
        given[first + i] = 1;
      }
    }
  }

  static void requireWholeQuaternion(JointType type, const Place& place, const std::string& name,
                                     const std::vector<double>& numbers) {
    if (hasScalarCoordinates(type)) {
      return;
    }
    const int quaternion = positionSize(type) - 4;
    if (place.count == 1 && place.component >= quaternion) {
      refuse(name, Quantity::Position,
             "a quaternion is needed whole. Give the joint's " +
                 std::to_string(positionSize(type)) + " positions under its name.");
    }
    if (place.count > 1 &&
        !(Eigen::Map<const Eigen::Vector4d>(numbers.data() + quaternion).norm() > 1e-6)) {
      refuse(name, Quantity::Position, "its quaternion is zero.");
    }
  }
};

std::vector<int> complementOf(const std::vector<int>& some, int size) {
  std::vector<int> others;
  for (int i = 0; i < size; ++i) {
    if (!std::ranges::binary_search(some, i)) {
      others.push_back(i);
    }
  }
  return others;
}

bool areAmong(const std::vector<int>& some, std::span<const int> all) {
  return std::ranges::all_of(some, [&](int i) { return std::ranges::find(all, i) != all.end(); });
}

bool hasLoops(const ClusterEntry& cluster) {
  return cluster.kind == ClusterKind::Explicit || cluster.kind == ClusterKind::Implicit;
}

/// K of the rows that are kept, for velocities in the units of ModelTables::velocityScales and rows in
/// those of ModelTables::rowScales.
Eigen::MatrixXd scaledLoopJacobian(const Model& model, Data& data, const ClusterEntry& cluster,
                                   const std::vector<double>& positions) {
  const ModelImpl& m = model.impl();
  LoopScratch<double>& scratch = data.impl().loops;
  ClusterState<double> state = scratch.state(positions.data() + cluster.firstPosition);
  placeCluster(m.tables, cluster, state);
  const int n = cluster.velocities;
  loopJacobian(m.tables, m.mechanism.functions, cluster, state, scratch.forFunctions(),
               m.tables.rowSlots.data() + cluster.firstRow, cluster.kept, scratch.K.data());
  const Eigen::Map<const Eigen::VectorXd> units(
      m.tables.velocityScales.data() + cluster.firstVelocity, n);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::MatrixXd K = Eigen::Map<const RowMajor>(scratch.K.data(), cluster.kept, n);
  // Not relative to their own lengths: where all links lie on one line, some rows are zero.
  for (int r = 0; r < cluster.rows; ++r) {
    const int slot = m.tables.rowSlots[cluster.firstRow + r];
    if (slot >= 0) {
      K.row(slot) =
          m.tables.rowScales[cluster.firstRow + r] * K.row(slot).cwiseProduct(units.transpose());
    }
  }
  return K;
}

/// Moves the named joints from the neutral configuration to their positions.
class NamedPose {
 public:
  NamedPose(const Model& model, Data& data, const NamedValues& named)
      : model_(model), impl_(model.impl()), tables_(impl_.tables), data_(data) {
    positions_.resize(static_cast<std::size_t>(tables_.positions));
    expandPositions(impl_, model.neutral().data(), positions_.data());
    open_ = positions_;
    NamedCoordinates coordinates(impl_, named, Quantity::Position, positions_);
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
    for (const BodyEntry<double>& body : tables_.bodies) {
      jointDifference(body.type, from.data() + body.firstPosition, to.data() + body.firstPosition,
                      step.data() + body.firstVelocity);
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
    return close(complementOf(held, cluster.velocities));
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
          !closeCluster(cluster, zero, complementOf({}, cluster.velocities), 0.0, place)) {
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
    const std::vector<int> movable = complementOf(heldIn(cluster), cluster.velocities);
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
    for (int restart = 0; restart <= kRestarts; ++restart) {
      positions_ = start;
      if (advance(clusters, 1.0, 3.0 * restart / kRestarts)) {
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
    if (!(distance(positions_) <= kMet)) {
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

/// Steps over which curvatures of loops are taken, and named joints are moved to find a branch, in
/// radians or reaches.
constexpr double kCurvatureStep = 1e-3, kBranchStep = 0.02;

/// The two branches that meet at a change point, for velocities u + α d which loops allow to first
/// order. They stay closed to second order if, with the combination w of rows that K lacks,
///   w · (dK/dt) (u + α d) = 0,
/// a quadratic equation in α. Returns its roots; none if they are complex or d is no branch.
std::vector<double> branches(const Model& model, Data& data, const ClusterEntry& cluster,
                             const std::vector<double>& positions, const Eigen::MatrixXd& K,
                             const Eigen::VectorXd& u, const Eigen::VectorXd& d) {
  const ModelTables<double>& tables = model.impl().tables;
  const Eigen::VectorXd w = leftSingularVectors(K).U.col(cluster.kept - 1);
  const Eigen::Map<const Eigen::VectorXd> units(
      tables.velocityScales.data() + cluster.firstVelocity, cluster.velocities);
  const auto jacobianAt = [&](const Eigen::VectorXd& step) {
    const Eigen::VectorXd way = step.cwiseProduct(units);
    std::vector<double> moved = positions;
    retractCluster(tables, cluster, positions.data() + cluster.firstPosition, way.data(),
                   moved.data() + cluster.firstPosition);
    return scaledLoopJacobian(model, data, cluster, moved);
  };
  const auto curvature = [&](const Eigen::VectorXd& v) {
    const auto difference = [&](double h) {
      return w.dot((jacobianAt(h * v) - jacobianAt(-h * v)) * v) / (2.0 * h);
    };
    const double h = kCurvatureStep / v.cwiseAbs().maxCoeff();
    return (4.0 * difference(h) - difference(2.0 * h)) / 3.0;  // of order four (Richardson)
  };
  const double at = curvature(u), up = curvature(u + d), down = curvature(u - d);
  const double a = 0.5 * (up + down) - at, b = 0.5 * (up - down);
  const double size = std::abs(a) + std::abs(b) + std::abs(at);
  const double discriminant = b * b - 4.0 * a * at;
  if (!(size > kAllowed) || discriminant < 0.0) {
    return {};
  }
  if (std::abs(a) <= kAllowed * size) {
    return std::abs(b) <= kAllowed * size ? std::vector<double>{} : std::vector<double>{-at / b};
  }
  const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  return {q / a, q == 0.0 ? 0.0 : at / q};
}

/// The velocity with which a cluster leaves `positions` if the named joints go on from the branch
/// that they are on when moved there from the neutral position, roughly; nothing if they do not pass
/// these positions.
std::optional<Eigen::VectorXd> velocityFromNeutral(const Model& model, Data& data,
                                                   const ClusterEntry& cluster,
                                                   const std::vector<double>& positions,
                                                   const NamedCoordinates& named) {
  const ModelImpl& m = model.impl();
  double fastest = 0.0;
  for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
    fastest = std::max(fastest, std::abs(named.values[i]) / m.tables.velocityScales[i]);
  }
  const double time = kBranchStep / fastest;
  NamedValues targets;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = m.tables.bodies[b];
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      if (named.given[body.firstVelocity + i] != 0) {
        const int position = body.firstPosition + i;
        targets[m.positionNames[position]] = {positions[position] +
                                              time * named.values[body.firstVelocity + i]};
      }
    }
  }
  Eigen::VectorXd q(model.nq());
  try {
    NamedPose(model, data, targets).write(q);
  } catch (const AssemblyError&) {
    return std::nullopt;
  }
  std::vector<double> next(positions.size());
  expandPositions(m, q.data(), next.data());
  Eigen::VectorXd velocity(cluster.velocities);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = m.tables.bodies[b];
    jointDifference(body.type, positions.data() + body.firstPosition,
                    next.data() + body.firstPosition,
                    velocity.data() + body.firstVelocity - cluster.firstVelocity);
  }
  const Eigen::Map<const Eigen::VectorXd> units(
      m.tables.velocityScales.data() + cluster.firstVelocity, cluster.velocities);
  velocity = velocity.cwiseQuotient(units) / time;
  // Joints that move much faster than those named have jumped to another branch.
  constexpr double kFast = 20.0;
  if (!(velocity.cwiseAbs().maxCoeff() <= kFast * fastest)) {
    return std::nullopt;
  }
  return velocity;
}

/// Velocities of one cluster with loops, in the units of ModelTables::velocityScales.
///
/// Velocities that keep the loops closed are N y, with an orthonormal basis N of the null space of
/// K. Of all y for which E N y is nearest to the named velocities, the shortest gives the shortest
/// N y. At a change point, that on the branch to which the neutral position leads.
Eigen::VectorXd velocitiesOfCluster(const Model& model, Data& data, const ClusterEntry& cluster,
                                    const std::vector<double>& positions,
                                    const NamedCoordinates& named) {
  const ModelImpl& m = model.impl();
  const int n = cluster.velocities;
  const Eigen::Map<const Eigen::VectorXd> units(
      m.tables.velocityScales.data() + cluster.firstVelocity, n);
  const Eigen::MatrixXd K = scaledLoopJacobian(model, data, cluster, positions);
  const LeftSingularVectors decomposed = leftSingularVectors(K.transpose());
  const auto rank = std::ranges::count_if(
      decomposed.values, [&](double x) { return x > kAllowed * decomposed.values[0]; });
  if (rank == n) {
    return Eigen::VectorXd::Zero(n);  // a rigid structure
  }
  const Eigen::MatrixXd N = decomposed.U.rightCols(n - rank);

  std::vector<int> given;
  for (int i = 0; i < n; ++i) {
    if (named.given[cluster.firstVelocity + i] != 0) {
      given.push_back(i);
    }
  }
  const auto solveFor = [&](const std::vector<int>& rows) -> Eigen::VectorXd {
    Eigen::VectorXd wanted(static_cast<Eigen::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      wanted[static_cast<Eigen::Index>(i)] =
          named.values[cluster.firstVelocity + rows[i]] / units[rows[i]];
    }
    const Eigen::MatrixXd all = N(rows, Eigen::all);
    // Relative to the columns of N, of length one: a joint at its dead point does not move.
    const Eigen::MatrixXd EN = (all.array().abs() > kAllowed).select(all, 0.0);
    const Eigen::VectorXd velocity = N * leastNormSolution(EN, wanted, kAllowed).x;
    const bool isChangePoint = n - rank == cluster.nv + 1 && rank == cluster.kept - 1;
    if (!isChangePoint || velocity.isZero(0.0)) {
      return velocity;
    }
    const LeftSingularVectors open = leftSingularVectors(EN.transpose());
    const auto fixed = std::ranges::count_if(open.values, [](double x) { return x > kAllowed; });
    if (fixed != cluster.nv) {
      return velocity;
    }
    const Eigen::VectorXd d = velocity.norm() * (N * open.U.col(cluster.nv));
    const std::vector<double> roots = branches(model, data, cluster, positions, K, velocity, d);
    if (roots.empty()) {
      return velocity;
    }
    const Eigen::VectorXd near =
        velocityFromNeutral(model, data, cluster, positions, named).value_or(velocity);
    const double best = *std::ranges::min_element(
        roots, {}, [&](double root) { return (velocity + root * d - near).norm(); });
    return velocity + best * d;
  };
  const std::span<const int> independent = independentOf(m.tables, cluster);
  if (areAmong(given, independent)) {
    // Independent joints that are not named are at rest if that is possible.
    const Eigen::VectorXd velocity = solveFor({independent.begin(), independent.end()});
    const bool met = std::ranges::all_of(independent, [&](int i) {
      const double wanted = named.values[cluster.firstVelocity + i] / units[i];
      return std::abs(velocity[i] - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted));
    });
    if (met) {
      return velocity.cwiseProduct(units);
    }
  }
  return solveFor(given).cwiseProduct(units);
}

/// Changes v by an impulse so that loops that are cut stay closed, named velocities held.
void keepCutsClosed(const Model& model, Data& data, VectorIn q,
                    const std::vector<double>& positions, const NamedCoordinates& named,
                    VectorOut v) {
  const ModelImpl& m = model.impl();
  Constraints rates(model);
  for (int b = 0; b < static_cast<int>(m.tables.bodies.size()); ++b) {
    const BodyEntry<double>& body = m.tables.bodies[b];
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      if (named.given[body.firstVelocity + i] != 0) {
        const PrescribedMotion motion{positions[body.firstPosition + i],
                                      named.values[body.firstVelocity + i], 0.0};
        rates.prescribe(m.velocityNames[body.firstVelocity + i], {m.jointNames[b], i},
                        [motion](double) { return motion; });
      }
    }
  }
  Eigen::VectorXd impulses(rates.rows());
  projectVelocities(model, data, rates, 0.0, q, Eigen::VectorXd(v), v, impulses);
}

}  // namespace

void configurationAt(const Model& model, Data& data, const NamedValues& positions, VectorOut q) {
  requireData(model.impl(), data.impl());
  requireSize("q", q.size(), model.nq(), "model.nq");
  NamedPose(model, data, positions).write(q);
}

void velocitiesAt(const Model& model, Data& data, VectorIn q, const NamedValues& named, VectorOut v,
                  VectorOut velocities) {
  const ModelImpl& m = model.impl();
  requireData(m, data.impl());
  requireConfiguration<double>("q", m, q);
  requireSize("v", v.size(), model.nv(), "model.nv");
  requireSize("velocities", velocities.size(), model.nvSpanning(), "model.nvSpanning");
  const NamedCoordinates given(
      m, named, Quantity::Velocity,
      std::vector<double>(static_cast<std::size_t>(model.nvSpanning()), 0.0));
  std::vector<double> positions(static_cast<std::size_t>(m.tables.positions));
  expandPositions(m, q.data(), positions.data());
  Eigen::VectorXd all = Eigen::Map<const Eigen::VectorXd>(given.values.data(), model.nvSpanning());
  Eigen::VectorXd own(model.nv());
  for (const ClusterEntry& cluster : m.tables.clusters) {
    auto part = all.segment(cluster.firstVelocity, cluster.velocities);
    if (hasLoops(cluster) && !part.isZero(0.0)) {
      part = velocitiesOfCluster(model, data, cluster, positions, given);
    }
    const std::span<const int> independent = independentOf(m.tables, cluster);
    for (int i = 0; i < cluster.nv; ++i) {
      own[cluster.firstV + i] = part[independent[i]];
    }
  }
  if (!m.cuts.entries.empty() && !all.isZero(0.0)) {
    const Eigen::VectorXd here = q;
    keepCutsClosed(model, data, here, positions, given, own);
    Eigen::VectorXd unused(model.nqSpanning());
    spanning(model, data, here, own, unused, all);
  }
  for (int i = 0; i < model.nvSpanning(); ++i) {
    const double wanted = given.values[i];
    if (given.given[i] != 0 && !(std::abs(all[i] - wanted) <=
                                 kMet * std::max(m.tables.velocityScales[i], std::abs(wanted)))) {
      throw std::invalid_argument(
          "velocity of " + kempe::quoted(m.velocityNames[i]) + ": the loops do not allow " +
          shortNumber(wanted) + " here; the nearest velocity is " + shortNumber(all[i]) +
          ". Choose velocities that the loops allow, or name fewer joints.");
    }
  }
  v = own;
  velocities = all;
}

}  // namespace kempe
