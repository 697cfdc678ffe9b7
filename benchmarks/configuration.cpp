/// Time of compiling robots and of the configuration functions, per call.
/// Names are algorithm/robot/method.

#include "kempe/configuration.hpp"

#include <benchmark/benchmark.h>

#include <string>

#include "kempe/robots.hpp"

namespace {

using kempe::Data;
using kempe::Model;

constexpr double step = 1e-3;  // seconds, of a simulation

/// A configuration, a velocity and room for results, the same in every run.
struct State {
  explicit State(const Model& model)
      : data(model),
        q(model.randomConfiguration(1)),
        v(Eigen::VectorXd::LinSpaced(model.nv(), -0.5, 0.5)),
        result(model.nq()),
        velocity(model.nv()),
        positions(model.nqSpanning()),
        velocities(model.nvSpanning()),
        G(model.nvSpanning(), model.nv()) {}

  Data data;
  Eigen::VectorXd q, v, result, velocity, positions, velocities;
  Eigen::MatrixXd G;
};

void compile(benchmark::State& run, const std::string& robot) {
  const kempe::Mechanism mechanism = kempe::robots::mechanism(robot);
  for (auto _ : run) benchmark::DoNotOptimize(Model(mechanism));
}

template <typename Function>
void measure(const std::string& algorithm, const std::string& robot, Function function) {
  benchmark::RegisterBenchmark((algorithm + "/" + robot + "/cluster").c_str(),
                               [robot, function](benchmark::State& run) {
                                 const Model model = kempe::robots::load(robot);
                                 State state(model);
                                 for (auto _ : run) {
                                   function(model, state);
                                   benchmark::ClobberMemory();
                                 }
                               });
}

void registerAll() {
  for (const std::string& robot : kempe::robots::names()) {
    benchmark::RegisterBenchmark(("compile/" + robot + "/cluster").c_str(), compile, robot)
        ->Unit(benchmark::kMillisecond);
    measure("project", robot, [](const Model& model, State& s) {
      // From a short way off, as after a step of an integrator that knows no loops.
      s.result = s.q.array() + step;
      kempe::project(model, s.data, s.result, s.result);
    });
    measure("integrate", robot, [](const Model& model, State& s) {
      kempe::integrate(model, s.data, s.q, s.v, step, s.result);
    });
    measure("difference", robot, [](const Model& model, State& s) {
      kempe::difference(model, s.data, s.q, s.q, s.velocity);
    });
    measure("spanning", robot, [](const Model& model, State& s) {
      kempe::spanning(model, s.data, s.q, s.v, s.positions, s.velocities);
    });
    measure("constraint_jacobian", robot, [](const Model& model, State& s) {
      kempe::constraintJacobian(model, s.data, s.q, s.G);
    });
    measure("constraint_bias", robot, [](const Model& model, State& s) {
      kempe::constraintBias(model, s.data, s.q, s.v, s.velocities);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  registerAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
