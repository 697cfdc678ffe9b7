/// Time of forward dynamics as robots grow: serial chains, with motors of their own or without, and
/// single loops. Names are algorithm/robot_<links>/method; the counter per_link is the time divided
/// by the number of links.

#include <benchmark/benchmark.h>

#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "kempe/kempe.hpp"
#include "peer_choice.hpp"
#include "peers.hpp"
#include "robots.hpp"

namespace {

using kempe::Data;
using kempe::Mechanism;
using kempe::Method;
using kempe::Model;
using kempe::bench::State;

constexpr int kChains[] = {2, 5, 10, 20, 50, 100, 200};
constexpr int kLoops[] = {2, 3, 5, 10, 20, 40};
constexpr int kStates = 16;

/// One closed loop of n equal links in a plane, which together with the ground form a regular
/// polygon where all positions are zero. Two links need a rod without mass as a side of its own, or
/// they could not move. The loop is embedded, or left cut.
Mechanism loopOf(int n, bool cut) {
  const bool withRod = n == 2;
  const int sides = n + (withRod ? 2 : 1);
  const double turn = 2 * std::numbers::pi / sides;
  Mechanism robot("loop");
  robot.addBody("ground");
  std::string parent = "ground";
  for (int i = 0; i < n; ++i) {
    const std::string link = "link-" + std::to_string(i);
    robot.addBody(link).withMass(1).centeredAt({0.5, 0, 0}).withInertia(1, 1, 1);
    robot.addJoint("joint-" + std::to_string(i), kempe::JointType::Continuous)
        .from(parent)
        .to(link)
        .at({i == 0 ? 0.0 : 1.0, 0, 0}, {0, 0, turn})
        .about({0, 0, 1});
    parent = link;
  }
  const kempe::Vector3 tip{1, 0, 0}, end{-1, 0, 0};
  if (withRod) {
    robot.addRod("closure").from(parent, tip).to("ground", end).ofLength(1).leftCut(cut);
  } else {
    robot.addLoop("closure", kempe::LoopType::Revolute)
        .from(parent, kempe::at(tip))
        .to("ground", kempe::at(end))
        .about({0, 0, 1})
        .leftCut(cut);
  }
  return robot;
}

struct Bench {
  explicit Bench(const Model& robot)
      : model(robot),
        data(robot),
        states(kempe::bench::randomStates(robot, kStates)),
        result(robot.nv()) {}

  Model model;
  Data data;
  std::vector<State> states;
  Eigen::VectorXd result;
};

void registerOurs(const std::string& robot, const std::string& way, Method method,
                  const std::shared_ptr<Bench>& bench, int links) {
  benchmark::RegisterBenchmark(("forward_dynamics/" + robot + "/" + way).c_str(),
                               [bench, links, method](benchmark::State& run) {
                                 std::size_t i = 0;
                                 for (auto _ : run) {
                                   const State& s = bench->states[i];
                                   kempe::forwardDynamics(bench->model, bench->data, s.q, s.v,
                                                          s.tau, bench->result, {.method = method});
                                   benchmark::ClobberMemory();
                                   i = (i + 1) % bench->states.size();
                                 }
                                 kempe::bench::countPerLink(run, links);
                               });
}

#ifdef KEMPE_BENCH_PINOCCHIO
std::vector<kempe::bench::PeerWay> forwardDynamicsOf(std::vector<kempe::bench::PeerWay> ways) {
  std::erase_if(ways, [](const auto& way) { return way.algorithm != "forward_dynamics"; });
  return kempe::bench::withoutDenseWays(std::move(ways));
}
#endif

void registerRobot(const std::string& name, const Mechanism& mechanism, int links) {
  const std::string robot = name + "_" + std::to_string(links);
  const auto bench = std::make_shared<Bench>(Model(mechanism));
  registerOurs(robot, "cluster", Method::Cluster, bench, links);
  registerOurs(robot, "projection", Method::Projection, bench, links);
  registerOurs(robot, "lagrange", Method::Lagrange, bench, links);
  if (!mechanism.loops.empty() || !mechanism.rods.empty()) {
    registerOurs(robot, "cut_joint", Method::CutJoint, bench, links);
  }
#ifdef KEMPE_BENCH_PINOCCHIO
  using namespace kempe::bench;
  if (bench->model.nvSpanning() > kMostFreedomsOfPeers) {
    return;
  }
  const PeerRobot peer = forPeers(bench->model, bench->states);
  const bool tree =
      mechanism.couplings.empty() && mechanism.loops.empty() && mechanism.rods.empty();
  registerPeer(robot, tree ? "pinocchio" : "pinocchio_exact", peer,
               forwardDynamicsOf(tree ? pinocchioOpenTree(peer) : pinocchioExact(peer)),
               Ways::Fastest, links);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  for (const int n : kChains) {
    const Mechanism geared = kempe::bench::publishedRobot("geared_chain", n);
    registerRobot("chain", kempe::bench::openTree(geared), n);
    registerRobot("geared_chain", geared, n);
    registerRobot("belt_chain", kempe::bench::publishedRobot("belt_chain", n), n);
  }
  for (const int n : kLoops) {
    registerRobot("loop", loopOf(n, false), n);
    // The default for large loops is based on these (src/mechanism/clusters.cpp).
    const auto cut = std::make_shared<Bench>(Model(loopOf(n, true)));
    registerOurs("loop_" + std::to_string(n), "cluster_cut", Method::Cluster, cut, n);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
