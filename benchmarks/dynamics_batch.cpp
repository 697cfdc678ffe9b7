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
        byQ(H),
        byV(H),
        Omega(kBatch, 36 * ends.size() * ends.size()),
        velocities(kBatch, 6 * ends.size()),
        jacobians(kBatch, 6 * ends.size() * robot.nv()),
        momenta(kBatch, 6),
        joints(kBatch, 6 * robot.jointNames().size()),
        held(heldEnds(robot, endsOf(robot))),
        multipliers(kBatch, held.rows()) {
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
  Rows q, v, tau, result, H, byQ, byV, Omega, velocities, jacobians, momenta, joints;
  Constraints held;  ///< the ends, at their points
  Rows multipliers;
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
  if (bench->held.rows() <= model.nv()) {
    measure("constrained_dynamics" + which, bench, [](Bench& b) {
      constrainedForwardDynamics(b.model, b.batch, b.held, 0.0, b.q, b.v, b.tau, b.result,
                                 b.multipliers);
    });
  }
  measure("forward_dynamics_derivatives" + which, bench, [](Bench& b) {
    forwardDynamicsDerivatives(b.model, b.batch, b.q, b.v, b.tau, b.byQ, b.byV, b.H);
  });
  measure("inverse_dynamics_derivatives" + which, bench, [](Bench& b) {
    inverseDynamicsDerivatives(b.model, b.batch, b.q, b.v, b.tau, b.byQ, b.byV, b.H);
  });
  measure("mass_matrix" + which, bench, [](Bench& b) { massMatrix(b.model, b.batch, b.q, b.H); });
  measure("inverse_operational_inertia" + which, bench,
          [](Bench& b) { inverseOperationalInertia(b.model, b.batch, b.q, b.ends, b.Omega); });
  measure("joint_forces" + which, bench, [](Bench& b) {
    forwardDynamicsAndForces(b.model, b.batch, b.q, b.v, b.tau, b.result, b.joints, {});
  });
  measure("coriolis_matrix" + which, bench,
          [](Bench& b) { coriolisMatrix(b.model, b.batch, b.q, b.v, b.H); });
  measure("bias_forces" + which, bench,
          [](Bench& b) { biasForces(b.model, b.batch, b.q, b.v, b.result); });
  measure("gravity_forces" + which, bench,
          [](Bench& b) { gravityForces(b.model, b.batch, b.q, b.result); });
  measure("frame_velocities" + which, bench,
          [](Bench& b) { frameVelocity(b.model, b.batch, b.q, b.v, b.ends, b.velocities); });
  measure("frame_jacobians" + which, bench,
          [](Bench& b) { frameJacobian(b.model, b.batch, b.q, b.ends, b.jacobians); });
  measure("momentum" + which, bench,
          [](Bench& b) { momentum(b.model, b.batch, b.q, b.v, b.momenta); });
}

}  // namespace kempe::bench
