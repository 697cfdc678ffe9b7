#pragma once

#include <algorithm>
#include <vector>

#include "loops/cluster_rows.hpp"
#include "tables/workspace.hpp"

namespace kempe::detail {

/// Memory for work on one cluster at a time, large enough for every cluster of a model; only K
/// and the factors of K_d (see clusterJacobian) are kept for all of them.
template <typename T>
struct LoopScratch {
  LoopScratch() = default;
  explicit LoopScratch(const TablesView<T>& tables) {
    std::size_t bodies = 0, positions = 0, n = 0, rows = 0;
    const auto widen = [](std::size_t& size, int candidate) {
      size = std::max(size, static_cast<std::size_t>(candidate));
    };
    for (const ClusterEntry& cluster : tables.clusters) {
      widen(bodies, cluster.bodies);
      widen(positions, cluster.positions);
      widen(n, cluster.velocities);
      widen(rows, cluster.rows);
    }
    for (const LoopEntry<T>& loop : tables.loops) {
      calls.makeRoomFor(loop.terms, loop.rows);
    }
    X.resize(bodies);
    v.resize(bodies);
    a.resize(bodies);
    s.resize(n);
    sRates.resize(n);
    nodeS.resize(static_cast<std::size_t>(tables.nodeShapes.size()));
    q.resize(positions);
    rates.resize(n);
    step.resize(n);
    trialStep.resize(n);
    phi.resize(rows);
    k.resize(rows);
    sorted.resize(rows);
    K.resize(std::max(rows * n, static_cast<std::size_t>(tables.rowNumbers)));
    factors.resize(static_cast<std::size_t>(tables.factorNumbers));
    normal.resize(n * n);
    factor.resize(n * n);
    gradient.resize(n);
    rightSide.resize(n * n);
    held.resize(n);
    pivots.resize(static_cast<std::size_t>(tables.dependent.size()));
    function.resize(static_cast<std::size_t>(tables.functionNumbers));
    kept.resize(static_cast<std::size_t>(tables.keptRegisters));
  }

  /// A state of the cluster seen from its output body, at positions `at`.
  ClusterState<T> state(const T* at) {
    return {at, rates.data(), X.data(),        s.data(),    v.data(), a.data(),    {},
            {}, {},           function.data(), kept.data(), nullptr,  nodeS.data()};
  }
  FunctionScratch forFunctions() { return calls.view(); }
  LoopWork<T> work() {
    return {K.data(),        k.data(),    rightSide.data(), factors.data(), pivots.data(),
            nullptr,         nullptr,     nullptr,          nullptr,        nullptr,
            function.data(), kept.data(), sorted.data()};
  }

  std::vector<Transform<T>> X;
  std::vector<Motion<T>> v, a, s, sRates, nodeS;
  std::vector<T> q, rates, step, trialStep;
  std::vector<T> phi, k, sorted, K, factors, normal, factor, gradient, rightSide;
  std::vector<int> pivots;
  std::vector<char> held;
  std::vector<T> function;  ///< registers of the program of a function
  std::vector<T> kept;      ///< registers that functions keep from slopes to second rates
  CallMemory calls;         ///< of functions that are called back
};

}  // namespace kempe::detail
