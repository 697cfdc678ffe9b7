#include "peers.hpp"

#include "peer_choice.hpp"

namespace kempe::bench {
namespace {

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
  const std::vector<PeerWay> right = rightWays(robotName, method, robot, ways);
  for (const PeerWay& way : right) {
    if (registered == Ways::All) {
      registerWay(benchmarkName(way.algorithm, robotName, method + "_" + way.name), way,
                  robot.states.size(), links);
    }
  }
  for (const auto& [algorithm, way] : fastestWays(right, robot.states.size())) {
    registerWay(benchmarkName(algorithm, robotName, method), way, robot.states.size(), links);
  }
}

}  // namespace kempe::bench
