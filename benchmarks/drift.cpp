#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "drift_mujoco.hpp"
#include "simulation/drift_cases.hpp"

// Energy and loop errors of long free motions, by ways to hold the loops: the table of
// docs/drift.md. With --steps N, that many steps of the four-bar instead, a line at every tenth
// part.

namespace {

using namespace kempe;        // NOLINT(google-build-using-namespace): a program
using namespace kempe::test;  // NOLINT(google-build-using-namespace)

constexpr double kDuration = 60.0, kStep = 1e-3;

void print(const char* way, const Drift& drift) {
  std::printf("| %s | %.1e | %.1e |", way, drift.energy, drift.loops);
  if (drift.until < kDuration - 0.5 * kStep) {
    std::printf(" stopped at %.1f s |", drift.until);
  } else {
    std::printf(" |");
  }
  std::printf("\n");
}

void table() {
  std::printf("| robot | way | energy drift | loop error | |\n|---|---|---|---|---|\n");
  for (const DriftCase& given : driftCases()) {
    const auto row = [&](const char* way, const Drift& drift) {
      std::printf("| %s ", given.name.c_str());
      print(way, drift);
    };
    const Model embedded(given.mechanism);
    row("embedded, RK4", driftOf(given, embedded, rungeKutta(), kDuration, kStep));
    row("embedded, implicit midpoint",
        driftOf(given, embedded, {.integrator = Integrator::ImplicitMidpoint}, kDuration, kStep));
    if (const std::optional<Model> cut = leftCut(given.mechanism)) {
      row("cut, Baumgarte, RK4",
          driftOf(given, *cut, rungeKutta(Stabilization::Baumgarte), kDuration, kStep));
      row("cut, projection, RK4",
          driftOf(given, *cut, rungeKutta(Stabilization::Projection), kDuration, kStep));
      row("cut, nothing, RK4",
          driftOf(given, *cut, rungeKutta(Stabilization::None), kDuration, kStep));
    } else {
      std::printf("| %s | cut | — | — | bodies without inertia |\n", given.name.c_str());
    }
    if (const std::optional<Drift> mujoco = bench::mujocoDrift(given, kDuration, kStep)) {
      row("MuJoCo, RK4, equality constraints", *mujoco);
    }
    std::fflush(stdout);
  }
}

void manySteps(long steps) {
  const DriftCase given = driftCases().front();
  const Model model(given.mechanism);
  Simulator simulator(model, rungeKutta());
  simulator.setState(given.q(model), Eigen::VectorXd::Constant(model.nv(), given.rate));
  const Energy first = simulator.energy();
  std::printf(
      "| steps | largest loop error since the last line | energy error / J |\n|---|---|---|\n");
  double worst = 0.0;
  for (long i = 1; i <= steps; ++i) {
    simulator.stepTo(static_cast<double>(i) * kStep);
    if (i % 100 == 0) {
      worst = std::max(worst, simulator.loopError());
    }
    if (i % (steps / 10) == 0) {
      const Energy now = simulator.energy();
      std::printf("| %ld | %.1e | %.1e |\n", i, worst,
                  now.kinetic + now.potential - first.kinetic - first.potential);
      std::fflush(stdout);
      worst = 0.0;
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "--steps") == 0) {
    manySteps(std::max(10L, std::atol(arguments[2])));
  } else if (count == 1) {
    table();
  } else {
    std::fprintf(stderr, "usage: %s [--steps N]\n", arguments[0]);
    return 2;
  }
  return 0;
}
