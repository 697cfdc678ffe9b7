#include "peer_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>

namespace kempe::bench {
namespace {

const std::vector<double>& expected(const PeerState& state, const std::string& algorithm) {
  if (algorithm == "forward_dynamics") {
    return state.acceleration;
  }
  if (algorithm == "inverse_dynamics") {
    return state.force;
  }
  if (algorithm == "forward_dynamics_derivatives") {
    return state.accelerationDerivatives;
  }
  if (algorithm == "inverse_dynamics_derivatives") {
    return state.forceDerivatives;
  }
  if (algorithm == "constrained_dynamics") {
    return state.heldAcceleration;
  }
  return algorithm == "mass_matrix" ? state.massMatrix : state.inverseOperationalInertia;
}

/// The largest difference from the expected result, relative to the largest number of each state.
double errorOf(const PeerWay& way, const PeerRobot& robot) {
  double worst = 0.0;
  for (std::size_t i = 0; i < robot.states.size(); ++i) {
    way.compute(i);
    const std::vector<double> found = way.result();
    const std::vector<double>& wanted = expected(robot.states[i], way.algorithm);
    if (found.size() != wanted.size()) {
      return std::numeric_limits<double>::infinity();
    }
    double error = 0.0, size = 0.0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (!std::isfinite(found[k])) {
        return std::numeric_limits<double>::infinity();
      }
      error = std::max(error, std::abs(found[k] - wanted[k]));
      size = std::max(size, std::abs(wanted[k]));
    }
    worst = std::max(worst, error / size);
  }
  return worst;
}

/// Seconds that each way takes for all states: the best of many rounds, in turns, so that a busy
/// moment of the machine hits all alike.
std::vector<double> timesOf(const std::vector<const PeerWay*>& ways, std::size_t states) {
  using Clock = std::chrono::steady_clock;
  constexpr int rounds = 40;
  std::vector<double> best(ways.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const Clock::time_point begin = Clock::now();
      for (std::size_t i = 0; i < states; ++i) {
        ways[k]->compute(i);
      }
      best[k] = std::min(best[k], std::chrono::duration<double>(Clock::now() - begin).count());
    }
  }
  return best;
}

}  // namespace

std::string benchmarkName(const std::string& algorithm, const std::string& robot,
                          const std::string& method) {
  std::string name = algorithm;
  name.append("/").append(robot).append("/").append(method);
  return name;
}

std::vector<PeerWay> rightWays(const std::string& robotName, const std::string& method,
                               const PeerRobot& robot, const std::vector<PeerWay>& ways) {
  std::vector<PeerWay> right;
  for (const PeerWay& way : ways) {
    const double error = errorOf(way, robot);
    if (error <= way.tolerance) {
      right.push_back(way);
    } else {
      std::cerr << benchmarkName(way.algorithm, robotName, method + "_" + way.name)
                << " is left out: it is wrong by " << error << "\n";
    }
  }
  return right;
}

std::map<std::string, PeerWay> fastestWays(const std::vector<PeerWay>& ways, std::size_t states) {
  std::map<std::string, std::vector<const PeerWay*>> candidates;  // by algorithm
  for (const PeerWay& way : ways) {
    if (way.complete) {
      candidates[way.algorithm].push_back(&way);
    }
  }
  std::map<std::string, PeerWay> fastest;
  for (const auto& [algorithm, choice] : candidates) {
    const std::vector<double> times = timesOf(choice, states);
    const auto best = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
    fastest.emplace(algorithm, *choice[best]);
  }
  return fastest;
}

std::vector<PeerWay> withoutDenseWays(std::vector<PeerWay> ways) {
  std::erase_if(ways, [](const PeerWay& way) {
    return way.name.find("dense") != std::string::npos || way.name.find("llt") != std::string::npos;
  });
  return ways;
}

}  // namespace kempe::bench
