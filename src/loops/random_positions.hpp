#pragma once

#include <random>

#include "tables/tables.hpp"

namespace kempe::detail {

/// Random numbers that are the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }

 private:
  std::mt19937_64 engine_;
};

/// A random rotation, uniformly distributed.
Quaternion<double> randomQuaternion(Random& random);

/// Random positions of a cluster's joints, regardless of loops: within the limits or, if there are
/// none, within a full turn or `reach` metres in either direction.
void randomPositions(const ModelTables<double>& tables, const ClusterEntry& cluster,
                     const double* lower, const double* upper, double reach, Random& random,
                     double* q);

}  // namespace kempe::detail
