#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kempe/named_states.hpp"
#include "model/model_impl.hpp"

/// Shared by the two functions of kempe/named_states.hpp.
namespace kempe::detail {

/// Named positions and velocities are met within this many radians or reaches (per second). More of
/// them than the mechanism has DoFs cannot agree exactly; these are numbers with six digits.
inline constexpr double kNamedTolerance = 1e-6;

enum class NamedQuantity { Position, Velocity };

/// Numbers by name, in the order of the spanning coordinates, and which of them are given.
struct NamedCoordinates {
  std::vector<double> values;
  std::vector<char> given;

  /// The others are those of `start`. Throws std::invalid_argument as kempe/named_states.hpp says.
  NamedCoordinates(const ModelImpl& model, const NamedValues& named, NamedQuantity quantity,
                   std::vector<double> start);
};

bool hasLoops(const ClusterEntry& cluster);

bool areAmong(const std::vector<int>& some, std::span<const int> all);

/// K of the rows that are kept, for velocities in the units of ModelTables::velocityScales and rows in
/// those of ModelTables::rowScales.
Eigen::MatrixXd scaledLoopJacobian(const Model& model, Data& data, const ClusterEntry& cluster,
                                   const std::vector<double>& positions);

}  // namespace kempe::detail
