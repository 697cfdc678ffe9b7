#include "peers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>

namespace kempe::bench {
namespace {

/// algorithm/robot/method
std::string nameOf(const std::array<std::string, 3>& parts) {
  std::string name = parts[0];
  name.append("/").append(parts[1]).append("/").append(parts[2]);
  return name;
}

const std::vector<double>& expected(const PeerState& state, const std::string& algorithm) {
  if (algorithm == "forward_dynamics") {
    return state.acceleration;
  }
  if (algorithm == "inverse_dynamics") {
    return state.force;
  }
  return algorithm == "mass_matrix" ? state.massMatrix : state.inverseOperationalInertia;
}

/// The largest difference from what is expected, relative to the largest number of each state.
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

void registerWay(const std::string& name, const PeerWay& way, std::size_t states, int links) {
  benchmark::RegisterBenchmark(name.c_str(), [way, states, links](benchmark::State& run) {
    std::size_t i = 0;
    for (auto _ : run) {
      way.compute(i);
      benchmark::ClobberMemory();
      i = (i + 1) % states;
    }
    run.SetLabel(way.name);
    if (links > 0) {
      countPerLink(run, links);
    }
  });
}

}  // namespace

void countPerLink(benchmark::State& run, int links) {
  using benchmark::Counter;
  run.counters["per_link"] = Counter(links, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

void registerPeer(const std::string& robotName, const std::string& method, const PeerRobot& robot,
                  const std::vector<PeerWay>& ways, Ways registered, int links) {
  std::map<std::string, std::vector<const PeerWay*>> candidates;  // by algorithm
  for (const PeerWay& way : ways) {
    const std::string name = nameOf({way.algorithm, robotName, method + "_" + way.name});
    const double error = errorOf(way, robot);
    if (!(error <= way.tolerance)) {
      std::cerr << name << " is left out: it is wrong by " << error << "\n";
      continue;
    }
    if (way.complete) {
      candidates[way.algorithm].push_back(&way);
    }
    if (registered == Ways::All) {
      registerWay(name, way, robot.states.size(), links);
    }
  }
  for (const auto& [algorithm, choice] : candidates) {
    const std::vector<double> times = timesOf(choice, robot.states.size());
    const auto fastest = std::ranges::min_element(times) - times.begin();
    registerWay(nameOf({algorithm, robotName, method}), *choice[static_cast<std::size_t>(fastest)],
                robot.states.size(), links);
  }
}

}  // namespace kempe::bench
