#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "simulation/linkages.hpp"
#include "support/allocations.hpp"

namespace kempe::test {
namespace {

/// A crank-rocker at 12 rad/s.
Simulator turning(Integrator integrator) {
  Simulator simulator(Model(fourBar(0.4, 0.1, 0.35, 0.3)), {.integrator = integrator});
  simulator.setState(configuration(simulator.model(), {{"crank", 1.0}, {"pivot", 1.5}}),
                     Eigen::VectorXd::Constant(1, 12.0));
  return simulator;
}

TEST(ErrorWatch, StepsThatAreTooLongAreReportedThoughTheyKeepTheEnergy) {
  Simulator simulator = turning(Integrator::ImplicitMidpoint), exact = turning(Integrator::Radau);
  const Recording recording = simulator.run(2.0, 5e-3);
  exact.stepTo(2.0);
  EXPECT_GT(std::abs(simulator.q()[0] - exact.q()[0]), 0.01);
  EXPECT_LT(recording.energyDrift(), 0.01);
  ASSERT_EQ(recording.warnings.size(), 1U);
  EXPECT_NE(recording.warnings.front().find("steps of 0.005 s are too long for this motion: their "
                                            "errors, estimated from the accelerations, add up to"),
            std::string::npos)
      << recording.warnings.front();
}

TEST(ErrorWatch, AccurateStepsAreNot) {
  Simulator simulator = turning(Integrator::RungeKutta4), exact = turning(Integrator::Radau);
  const Recording recording = simulator.run(2.0, 1e-3);
  exact.stepTo(2.0);
  EXPECT_LT(std::abs(simulator.q()[0] - exact.q()[0]), 1e-5);
  EXPECT_TRUE(recording.warnings.empty());
  EXPECT_EQ(allocationsOf([&] { simulator.step(1e-3); }), 0);
}

/// Forces that a program sets before every step jump between the steps, not within them.
TEST(ErrorWatch, ForcesThatChangeBetweenStepsAreNoErrors) {
  Mechanism robot = planar("slide");
  robot.addBody("block").withMass(1.0).withInertia(1, 1, 1);
  robot.addPrismatic("slide").from("ground").to("block").along({1, 0, 0});
  Simulator simulator(Model(robot), {.integrator = Integrator::RungeKutta4});
  for (int i = 0; i < 1000; ++i) {
    simulator.setForces(Eigen::VectorXd::Constant(1, i % 2 == 0 ? 100.0 : -100.0));
    simulator.step(1e-3);
  }
  EXPECT_TRUE(simulator.warnings().empty());
}

/// The part of a warning that has the sum of the errors.
std::string sumOf(const std::string& warning) {
  return warning.substr(std::min(warning.size(), warning.find("their errors")));
}

/// A motion that is a hundred times slower, under weaker gravity and with longer steps, has the same
/// errors.
TEST(ErrorWatch, DoesNotDependOnTheUnitOfTime) {
  std::vector<std::string> sums;
  for (const double slower : {1.0, 100.0}) {
    Mechanism robot = fourBar(0.4, 0.1, 0.35, 0.3);
    robot.gravity = {0, -9.81 / (slower * slower), 0};
    Simulator simulator(Model(robot), {.integrator = Integrator::ImplicitMidpoint});
    simulator.setState(configuration(simulator.model(), {{"crank", 1.0}, {"pivot", 1.5}}),
                       one(12.0 / slower));
    const Recording recording = simulator.run(2.0 * slower, 5e-3 * slower);
    ASSERT_EQ(recording.warnings.size(), 1U) << slower;
    sums.push_back(sumOf(recording.warnings.front()));
  }
  EXPECT_NE(sums[0], "");
  EXPECT_EQ(sums[0], sums[1]);
}

/// Steps are watched also where a program sets the forces before each of them.
TEST(ErrorWatch, StepsThatFollowNoOthersAreWatched) {
  const struct {
    Integrator integrator;
    double tooLong, accurate;
  } cases[] = {{Integrator::SemiImplicitEuler, 1e-3, 1e-6},
               {Integrator::ImplicitMidpoint, 1.5e-2, 2e-4},
               {Integrator::RungeKutta4, 3e-2, 1e-3}};
  for (const auto& [integrator, tooLong, accurate] : cases) {
    for (const double dt : {tooLong, accurate}) {
      Simulator simulator = turning(integrator), exact = turning(Integrator::Radau);
      const int steps = static_cast<int>(std::lround(0.3 / dt));
      for (int i = 1; i <= steps; ++i) {
        simulator.setForces(one(0.0));
        simulator.stepTo(i * dt);
      }
      exact.stepTo(simulator.time());
      const double error = std::abs(simulator.q()[0] - exact.q()[0]);
      EXPECT_EQ(simulator.warnings().empty(), dt == accurate)
          << toString(integrator) << " dt " << dt << " error " << error;
      EXPECT_TRUE(dt == accurate ? error < 1e-3 : error > 3e-3)
          << toString(integrator) << " dt " << dt << " error " << error;
    }
  }
}

}  // namespace
}  // namespace kempe::test
