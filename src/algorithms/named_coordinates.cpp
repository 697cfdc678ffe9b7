#include "algorithms/named_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "text/messages.hpp"
#include "text/nearest_name.hpp"

namespace kempe::detail {
namespace {

/// Where a name points to.
struct Place {
  int body = 0;
  int component = 0, count = 0;  ///< of the joint's positions or velocities
};

const char* wordFor(NamedQuantity quantity) {
  return quantity == NamedQuantity::Position ? "position" : "velocity";
}

[[noreturn]] void refuse(const std::string& name, NamedQuantity quantity,
                         const std::string& reason) {
  throw std::invalid_argument(std::string(wordFor(quantity)) + " of " +
                              kempe::quoted(asUtf8(name)) + ": " + reason);
}

/// `model "leg" has no moving joint or coordinate of this name. Did you mean "hip"?`
[[noreturn]] void refuseUnknown(const ModelImpl& model, const std::string& name,
                                NamedQuantity quantity) {
  const std::vector<std::string>& coordinates =
      quantity == NamedQuantity::Position ? model.positionNames : model.velocityNames;
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

Place placeOf(const ModelImpl& model, const std::string& name, NamedQuantity quantity) {
  const bool positions = quantity == NamedQuantity::Position;
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

void requireValues(const Place& place, const std::string& name, NamedQuantity quantity,
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

void requireWholeQuaternion(JointType type, const Place& place, const std::string& name,
                            const std::vector<double>& numbers) {
  if (hasScalarCoordinates(type)) {
    return;
  }
  const int quaternion = positionSize(type) - 4;
  if (place.count == 1 && place.component >= quaternion) {
    refuse(name, NamedQuantity::Position,
           "a quaternion is needed whole. Give the joint's " + std::to_string(positionSize(type)) +
               " positions under its name.");
  }
  if (place.count > 1 &&
      !(Eigen::Map<const Eigen::Vector4d>(numbers.data() + quaternion).norm() > 1e-6)) {
    refuse(name, NamedQuantity::Position, "its quaternion is zero.");
  }
}

}  // namespace

NamedCoordinates::NamedCoordinates(const ModelImpl& model, const NamedValues& named,
                                   NamedQuantity quantity, std::vector<double> start)
    : values(std::move(start)), given(values.size(), 0) {
  for (const auto& [name, numbers] : named) {
    const Place place = placeOf(model, name, quantity);
    requireValues(place, name, quantity, numbers);
    const BodyEntry<double>& body = model.tables.bodies[place.body];
    if (quantity == NamedQuantity::Position) {
      requireWholeQuaternion(body.type, place, name, numbers);
    }
    const int first = place.component + (quantity == NamedQuantity::Position ? body.firstPosition
                                                                             : body.firstVelocity);
    for (int i = 0; i < place.count; ++i) {
      if (given[first + i] != 0) {
        refuse(name, quantity, "it is given twice, for the joint and for its coordinate.");
      }
      values[first + i] = numbers[i];
      given[first + i] = 1;
    }
  }
}

bool areAmong(const std::vector<int>& some, std::span<const int> all) {
  return std::ranges::all_of(some, [&](int i) { return std::ranges::find(all, i) != all.end(); });
}

bool hasLoops(const ClusterEntry& cluster) {
  return cluster.kind == ClusterKind::Explicit || cluster.kind == ClusterKind::Implicit;
}

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

}  // namespace kempe::detail
