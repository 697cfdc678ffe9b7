#include <gtest/gtest.h>

#include <cmath>

#include "linkages.hpp"

// Runs that take very many steps say so, with the cause and a remedy; others do not.

namespace kempe::test {
namespace {

Mechanism pendulum(int bars) {
  Mechanism robot = planar("pendulum");
  for (int i = 0; i < bars; ++i) {
    const std::string name = "bar" + std::to_string(i);
    addLink(robot, name, 0.4, 1.0);
    Joint& joint = robot.addRevolute("hinge" + std::to_string(i));
    joint.from(i == 0 ? "ground" : "bar" + std::to_string(i - 1)).to(name);
    if (i > 0) {
      joint.at({0.4, 0, 0});
    }
  }
  return robot;
}

/// The warning of a run that ends early once it takes many steps.
template <typename SetUp>
std::string warningOf(const Mechanism& robot, Integrator integrator, double dt,
                      const SetUp& setUp) {
  const Model model(robot);
  Simulator simulator(model, {.integrator = integrator});
  setUp(simulator);
  simulator.setState(Eigen::VectorXd::Constant(model.nq(), 0.3), Eigen::VectorXd::Zero(model.nv()));
  while (simulator.time() < 1.0 && simulator.statistics().steps < 100'000) {
    simulator.step(dt);
  }
  const std::vector<std::string> warnings = simulator.warnings();
  EXPECT_LE(warnings.size(), 1);
  return warnings.empty() ? "" : warnings.front();
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void dryFriction(Simulator& simulator) {
  simulator.setController([](double, VectorIn, VectorIn v, VectorOut tau) {
    for (Eigen::Index i = 0; i < tau.size(); ++i) {
      tau[i] = v[i] > 0.0 ? -3.0 : v[i] < 0.0 ? 3.0 : 0.0;
    }
  });
}

TEST(Effort, ForcesThatJumpAreNamed) {
  for (const Integrator integrator : {Integrator::Adaptive, Integrator::Auto}) {
    for (const int bars : {1, 2}) {
      const std::string text = warningOf(pendulum(bars), integrator, 1e-4, dryFriction);
      EXPECT_TRUE(says(text, "steps are very short") && says(text, "forces jump")) << text;
    }
  }
}

TEST(Effort, StiffMotionsAreNamed) {
  const auto stiff = [](Simulator& simulator) {
    simulator.addSpring({.joint = "hinge0", .stiffness = 1e6, .damping = 1e5});
  };
  const std::string text = warningOf(pendulum(2), Integrator::Adaptive, 1e-3, stiff);
  EXPECT_TRUE(says(text, "the motion is stiff") && says(text, "\"radau\" or \"auto\"")) << text;
  EXPECT_EQ(warningOf(pendulum(2), Integrator::Auto, 1e-3, stiff), "");
  EXPECT_EQ(warningOf(pendulum(2), Integrator::Radau, 1e-3, stiff), "");
}

TEST(Effort, FastOscillationsAreNamed) {
  const std::string text = warningOf(pendulum(1), Integrator::Auto, 1e-4, [](Simulator& simulator) {
    simulator.addSpring({.joint = "hinge0", .stiffness = 1e12, .rest = 0.2999});
  });
  EXPECT_TRUE(says(text, "an oscillation is fast")) << text;
}

TEST(Effort, OfSmoothMotionsIsNotReported) {
  for (const Integrator integrator : {Integrator::Adaptive, Integrator::Radau, Integrator::Auto}) {
    for (const double dt : {2e-5, 1.0}) {
      EXPECT_EQ(warningOf(pendulum(2), integrator, dt, [](Simulator&) {}), "");
    }
    // Elastic stops and friction that are hit and stick now and then.
    EXPECT_EQ(warningOf(pendulum(2), integrator, 1e-2,
                        [](Simulator& simulator) {
                          simulator.addLimit({.joint = "hinge0",
                                              .stiffness = 1e6,
                                              .damping = 10.0,
                                              .lower = -0.5,
                                              .upper = 0.5});
                          simulator.addFriction({.joint = "hinge1", .coulomb = 0.1});
                        }),
              "");
  }
}

}  // namespace
}  // namespace kempe::test
