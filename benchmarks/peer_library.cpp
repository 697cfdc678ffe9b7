/// Pinocchio for `kempe paper`: a library with a C interface, so that its calls take turns with
/// Kempe's in one process. Python's side is studies/kempe_studies/paper/peers.py.

#include <chrono>
#include <deque>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "kempe/kempe.hpp"
#include "peer_choice.hpp"
#include "robots.hpp"

namespace {

using kempe::Mechanism;
using kempe::Model;
using kempe::bench::PeerRobot;
using kempe::bench::PeerWay;

constexpr int kChainStates = 8;

struct NamedWay {
  std::string name;  ///< algorithm/method
  PeerWay way;
};
/// The ways of one robot.
struct Opened {
  std::vector<NamedWay> ways;
  std::size_t states = 0;
};

PeerRobot peerRobot(const Model& model, int states, const std::string& foot) {
  return forPeers(model, kempe::bench::randomStates(model, states), {foot});
}

void addFastest(Opened& opened, const std::string& robotName, const std::string& method,
                const PeerRobot& robot, const std::vector<PeerWay>& ways) {
  opened.states = robot.states.size();
  const std::vector<PeerWay> right = rightWays(robotName, method, robot, ways);
  for (const auto& [algorithm, way] : fastestWays(right, opened.states)) {
    opened.ways.push_back({std::string(algorithm).append("/").append(method), way});
  }
}

Opened open(const std::string& name, int links, const std::string& foot) {
  const Mechanism mechanism = kempe::bench::publishedRobot(name, links);
  const int states = links > 0 ? kChainStates : kempe::bench::kStates;
  const Model tree(kempe::bench::openTreeWithArmature(mechanism)), closed(mechanism);
  Opened opened;
  if (tree.nv() <= kempe::bench::kMostFreedomsOfPeers) {
    const PeerRobot robot = peerRobot(tree, states, foot);
    addFastest(opened, name, "pinocchio", robot,
               withoutDenseWays(kempe::bench::pinocchioOpenTree(robot)));
  }
  if (closed.nvSpanning() <= kempe::bench::kMostFreedomsOfPeers) {
    const PeerRobot robot = peerRobot(closed, states, foot);
    addFastest(opened, name, "pinocchio_exact", robot,
               links > 0 ? withoutDenseWays(kempe::bench::pinocchioExact(robot))
                         : kempe::bench::pinocchioExact(robot));
  }
  return opened;
}

std::deque<Opened>& all() {
  static std::deque<Opened> opened;
  return opened;
}

}  // namespace

#define KEMPE_PEER extern "C" KEMPE_BENCH_SHOWN
// NOLINTBEGIN(readability-identifier-naming): names of C

/// The fastest ways for a bundled robot (chains: of so many links, 0 otherwise) and the operational
/// inertia of a body, checked against Kempe's results; null, with a message, where there are none.
/// Lives as long as the process.
KEMPE_PEER void* kempe_peer_open(const char* robot, int links, const char* foot) {
  try {
    all().push_back(open(robot, links, foot));
    return &all().back();
  } catch (const std::exception& error) {
    std::cerr << robot << ": " << error.what() << "\n";
  } catch (...) {
    std::cerr << robot << ": failed\n";
  }
  return nullptr;
}

KEMPE_PEER int kempe_peer_states(const void* opened) {
  return static_cast<int>(static_cast<const Opened*>(opened)->states);
}

KEMPE_PEER int kempe_peer_ways(const void* opened) {
  return opened == nullptr ? 0 : static_cast<int>(static_cast<const Opened*>(opened)->ways.size());
}

/// algorithm/method
KEMPE_PEER const char* kempe_peer_name(const void* opened, int way) {
  return static_cast<const Opened*>(opened)->ways[static_cast<std::size_t>(way)].name.c_str();
}

/// Seconds that one call takes, on average of so many.
KEMPE_PEER double kempe_peer_seconds(const void* opened, int way, int calls) {
  using Clock = std::chrono::steady_clock;
  const Opened& robot = *static_cast<const Opened*>(opened);
  const PeerWay& chosen = robot.ways[static_cast<std::size_t>(way)].way;
  const Clock::time_point start = Clock::now();
  for (int call = 0; call < calls; ++call) {
    chosen.compute(static_cast<std::size_t>(call) % robot.states);
  }
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

KEMPE_PEER const char* kempe_peer_version() {
  static const std::string version = kempe::bench::pinocchioVersion();
  return version.c_str();
}
// NOLINTEND(readability-identifier-naming)
