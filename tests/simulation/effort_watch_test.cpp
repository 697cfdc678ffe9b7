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

TEST(Effort, IsKnownWithinOneLongStep) {
  struct Enough {};
  Simulator simulator(Model(pendulum(1)), {.integrator = Integrator::Adaptive});
  dryFriction(simulator);
  simulator.setState(one(0.3), one(0.0));
  long long looks = 0;
  std::string text;
  double time = 0.0;
  simulator.setInterruptCheck([&] {
    text = simulator.shortStepsWarning();
    time = simulator.time();
    if (++looks == 50'000 || !text.empty()) {
      throw Enough();
    }
  });
  EXPECT_THROW(simulator.step(100.0), Enough);
  EXPECT_TRUE(says(text, "forces jump")) << text;
  EXPECT_GT(time, 0.0);
  EXPECT_LT(time, 100.0);
  EXPECT_EQ(simulator.time(), 0.0);
}

/// Vibrations far below the tolerances, at 22 krad/s and hardly damped: explicit steps are at the
/// limit of their stability on the imaginary axis, where growth is so slow that only some of them
/// exceed it.
TEST(Effort, OfStiffSpringsIsLowWithAuto) {
  for (const double dt : {0.01, 1.0}) {
    for (const double damping : {1.0, 10.0, 100.0, 1000.0}) {
      Mechanism robot = planar("pendulum");
      robot.addBody("bar").withMass(1).centeredAt({0, 1, 0}).withInertia(1, 1, 1);
      robot.addRevolute("hinge").from("ground").to("bar");
      Simulator simulator{Model(robot)};
      simulator.addSpring({.joint = "hinge", .stiffness = 1e9, .rest = 0.1, .damping = damping});
      simulator.setState(one(0.1), one(0.0));
      const Recording recording = simulator.run(1.0, dt);
      EXPECT_LT(simulator.statistics().evaluations, 5000) << dt << " " << damping;
      EXPECT_GT(simulator.statistics(Integrator::Radau).steps, 0);
      EXPECT_TRUE(recording.warnings.empty()) << recording.warnings.front();
      EXPECT_NEAR(simulator.q()[0], 0.1, 1e-8);
    }
  }
}

/// A mass on a spring, without gravity: x = A cos ω t.
TEST(Effort, MotionsBelowTheTolerancesAreNamed) {
  for (const double frequency : {0.01, 100.0}) {
    for (const double amplitude : {1.0, 1e-3, 1e-6, 1e-9, 1e-12}) {
      SCOPED_TRACE(amplitude);
      const auto run = [&](double scale) {
        Simulator simulator(Model(block(1e-3)), {.relativeTolerance = 1e-8 * scale,
                                                 .absoluteTolerance = 1e-10 * scale});
        simulator.addSpring({.joint = "slide", .stiffness = 1e-3 * frequency * frequency});
        simulator.setState(one(amplitude), one(0.0));
        const Recording recording = simulator.run(20.0 / frequency, 1.0 / frequency);
        double error = 0.0;
        for (const Recording::Sample& sample : recording.samples) {
          error = std::max(error,
                           std::abs(sample.q[0] / amplitude - std::cos(frequency * sample.time)));
        }
        return std::pair(error, recording.warnings);
      };
      const auto [error, warnings] = run(1.0);
      if (error > 1e-3) {
        ASSERT_EQ(warnings.size(), 1U);
        EXPECT_TRUE(says(warnings[0], "the motion is small")) << warnings[0];
      }
      if (amplitude >= 1e-3) {
        EXPECT_LT(error, 1e-4);
        EXPECT_TRUE(warnings.empty()) << warnings.front();
      }
      const auto [scaled, none] = run(amplitude);
      EXPECT_LT(scaled, 1e-4);
      EXPECT_TRUE(none.empty()) << none.front();
    }
  }
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
