#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kempe::test
