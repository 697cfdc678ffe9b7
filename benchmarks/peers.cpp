#include "peers.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>

namespace kempe::bench {
namespace {

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

/// Seconds for all states, the best of several.
double timeOf(const PeerWay& way, std::size_t states) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < states; ++i) {
      way.compute(i);
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
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
  struct Best {
    const PeerWay* way = nullptr;
    double time = std::numeric_limits<double>::infinity();
  };
  std::map<std::string, Best> fastest;
  for (const PeerWay& way : ways) {
    const std::string name = way.algorithm + "/" + robotName + "/" + method;
    const double error = errorOf(way, robot);
    if (!(error <= way.tolerance)) {
      std::cerr << name << "_" << way.name << " is left out: it is wrong by " << error << "\n";
      continue;
    }
    const double time = timeOf(way, robot.states.size());
    if (Best& best = fastest[way.algorithm]; way.complete && time < best.time) {
      best = {&way, time};
    }
    if (registered == Ways::All) {
      registerWay(name + "_" + way.name, way, robot.states.size(), links);
    }
  }
  for (const auto& [algorithm, best] : fastest) {
    if (best.way != nullptr) {
      registerWay(algorithm + "/" + robotName + "/" + method, *best.way, robot.states.size(),
                  links);
    }
  }
}

}  // namespace kempe::bench
