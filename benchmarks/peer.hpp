#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kempe/mechanism.hpp"

/// The interface between the benchmarks and the peers' code: plain numbers only, because peers are
/// compiled for another instruction set, for which Eigen aligns and allocates memory differently.
namespace kempe::bench {

struct PeerState {
  std::vector<double> q, v, tau;              ///< of the model
  std::vector<double> positions, velocities;  ///< of all tree joints
  std::vector<double> G, g;  ///< q̈_span = G v̇ + g; G is nvSpanning × nv, by columns
  // The expected results, in the model's order; matrices are column-major.
  std::vector<double> acceleration;  ///< that tau causes
  std::vector<double> force;         ///< that causes the acceleration tau
  std::vector<double> massMatrix;
  std::vector<double> accelerationDerivatives;  ///< of `acceleration`, by q, v and tau
  std::vector<double> forceDerivatives;         ///< of `force`, by q, v and the acceleration
  std::vector<double> velocityDerivatives;      ///< of G v, by q; nvSpanning × nv
  /// That tau causes while the ends are held at their points; none where these rows are redundant.
  std::vector<double> heldAcceleration;
  std::vector<double> inverseOperationalInertia;  ///< of the ends, in their own axes
};

struct PeerRobot {
  Mechanism mechanism{};
  int nv = 0, nvSpanning = 0;
  std::map<std::string, int> position{}, velocity{};  ///< first spanning number of each joint
  std::vector<int> independent{};           ///< spanning number of each independent velocity
  std::vector<int> independentPositions{};  ///< and of each position in q
  std::vector<std::string> ends{};
  bool couplingsOnly = true;
  std::vector<PeerState> states{};
};

/// One way in which a peer computes something.
struct PeerWay {
  std::string algorithm{};
  std::string name{};  ///< of the way; the fastest represents the peer
  std::function<void(std::size_t state)> compute{};  ///< the computation that is measured
  std::function<std::vector<double>()> result{};     ///< of the last call, in the model's order
  double tolerance = 1e-6;  ///< of the result, relative to its largest number
  bool complete = true;     ///< false if the peer is given part of the answer: it cannot represent
};

#define KEMPE_BENCH_SHOWN __attribute__((visibility("default")))

/// Pinocchio on a robot without loops.
KEMPE_BENCH_SHOWN std::vector<PeerWay> pinocchioOpenTree(const PeerRobot& robot);
/// Pinocchio with rotors as bodies and all loops.
KEMPE_BENCH_SHOWN std::vector<PeerWay> pinocchioExact(const PeerRobot& robot);
/// MuJoCo on a robot without loops.
std::vector<PeerWay> mujocoOpenTree(const PeerRobot& robot);
/// MuJoCo with rotors as bodies and soft equality constraints.
std::vector<PeerWay> mujocoExact(const PeerRobot& robot);

KEMPE_BENCH_SHOWN std::string pinocchioVersion();
std::string mujocoVersion();

}  // namespace kempe::bench
