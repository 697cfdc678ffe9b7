#include "dynamics_batch.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "kempe/batch.hpp"
#include "kempe/kempe.hpp"
#include "robots.hpp"

namespace kempe::bench {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kBatch = 1024;

/// A robot, one state in each row, and room for results.
struct Bench {
  explicit Bench(const Model& robot)
      : model(robot),
        batch(robot, {.threads = 1}),
        ends(framesOf(robot, endsOf(robot))),
        q(kBatch, robot.nq()),
        v(kBatch, robot.nv()),
        tau(kBatch, robot.nv()),
        result(kBatch, robot.nv()),
        H(kBatch, robot.nv() * robot.nv()),
        Omega(kBatch, 36 * ends.size() * ends.size()) {
    const std::vector<State> states = randomStates(robot, kBatch);
    for (int i = 0; i < kBatch; ++i) {
      const State& state = states[static_cast<std::size_t>(i)];
      q.row(i) = state.q.transpose();
      v.row(i) = state.v.transpose();
      tau.row(i) = state.tau.transpose();
    }
  }

  Model model;
  Batch batch;
  std::vector<int> ends;
  Rows q, v, tau, result, H, Omega;
};

template <typename Function>
void measure(const std::string& name, const std::shared_ptr<Bench>& bench, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), [bench, function](benchmark::State& run) {
    for (auto _ : run) {
      function(*bench);
      benchmark::ClobberMemory();
    }
    run.SetItemsProcessed(run.iterations() * kBatch);
  });
}

}  // namespace

void registerBatch(const std::string& robot, const Model& model) {
  const auto bench = std::make_shared<Bench>(model);
  const std::string which = "/" + robot + "/cluster_batch";
  measure("forward_dynamics" + which, bench,
          [](Bench& b) { forwardDynamics(b.model, b.batch, b.q, b.v, b.tau, b.result); });
  measure("inverse_dynamics" + which, bench,
          [](Bench& b) { inverseDynamics(b.model, b.batch, b.q, b.v, b.tau, b.result); });
  measure("mass_matrix" + which, bench, [](Bench& b) { massMatrix(b.model, b.batch, b.q, b.H); });
  measure("inverse_operational_inertia" + which, bench,
          [](Bench& b) { inverseOperationalInertia(b.model, b.batch, b.q, b.ends, b.Omega); });
}

}  // namespace kempe::bench
