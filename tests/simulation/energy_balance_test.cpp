#include <gtest/gtest.h>

#include <cmath>

#include "linkages.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

constexpr Integrator kAll[] = {Integrator::SemiImplicitEuler, Integrator::RungeKutta4,
                               Integrator::ImplicitMidpoint, Integrator::Adaptive};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Simulator turningFourBar(Integrator integrator, double speed) {
  Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35)), {.integrator = integrator});
  simulator.setState(simulator.model().neutral(), Eigen::VectorXd::Constant(1, speed));
  return simulator;
}

TEST(EnergyBalance, CountsLosses) {
  for (const Integrator integrator :
       {Integrator::RungeKutta4, Integrator::ImplicitMidpoint, Integrator::Adaptive}) {
    Simulator simulator = turningFourBar(integrator, 20.0);
    simulator.addSpring(JointSpring{.joint = "pivot", .stiffness = 3.0, .damping = 0.02});
    const Recording recording = simulator.run(1.0, 1e-3);
    EXPECT_GT(recording.samples.back().work.lost(), 0.1);
    EXPECT_LT(recording.energyDrift(), 1e-3) << toString(integrator);
    EXPECT_TRUE(recording.warnings.empty()) << recording.warnings.front();
  }
}

TEST(EnergyBalance, NamesStepsThatAreTooLong) {
  Simulator simulator = turningFourBar(Integrator::RungeKutta4, 40.0);
  Recording recording;
  try {
    recording = simulator.run(2.0, 0.025);
  } catch (const SimulationError& error) {
    EXPECT_TRUE(contains(error.what(), "steps of 0.025 s are too long")) << error.what();
    EXPECT_FALSE(contains(error.what(), "closure")) << error.what();
    recording = error.recording();
  }
  ASSERT_EQ(recording.warnings.size(), 1U);
  EXPECT_TRUE(contains(recording.warnings[0], "steps of 0.025 s are too long"))
      << recording.warnings[0];
  EXPECT_GT(recording.energyDrift(), 0.01);
}

/// A controller that stops the robot between two samples takes back the energy that it supplied; what
/// is left of it in the samples is nothing, beside which every error is large.
TEST(EnergyBalance, CountsEnergyExchangedBetweenSamples) {
  for (const Integrator integrator : {Integrator::Adaptive, Integrator::Radau, Integrator::Auto}) {
    SCOPED_TRACE(toString(integrator));
    Simulator simulator(Model(block(2.0)), {.integrator = integrator});
    simulator.setController([](double, VectorIn q, VectorIn v, VectorOut tau) {
      constexpr double kGain = 1e10;
      tau[0] = -kGain * q[0] - 2.0 * std::sqrt(2.0 * kGain) * v[0];
    });
    simulator.setState(one(0.5), one(0.0));
    const Recording recording = simulator.run(0.1, 1e-2);
    EXPECT_NEAR(simulator.q()[0], 0.0, 1e-6);
    EXPECT_TRUE(recording.warnings.empty()) << recording.warnings.front();
    EXPECT_LT(recording.energyDrift(), 1e-3);
    // x = x₀ (1 + ω t) exp(−ω t) is fastest at t = 1/ω, with x₀ ω / e.
    const double fastest = 0.5 * std::sqrt(0.5e10) / std::exp(1.0);
    EXPECT_NEAR(recording.energyExchanged / (fastest * fastest), 1.0, 0.1);
  }
}

TEST(EnergyBalance, NamesPrescribedMotionsThatContradictThemselves) {
  struct Case {
    const char* text;
    PrescribedMotion (*motion)(double);
  };
  const Case wrong[] = {
      {"its velocity is",
       [](double t) {
         return PrescribedMotion{std::sin(t), 1.0, 0.0};
       }},
      {"its acceleration is",
       [](double t) {
         return PrescribedMotion{std::sin(t), std::cos(t), -std::cos(t)};
       }},
  };
  const Case right[] = {
      {"",
       [](double t) {
         return PrescribedMotion{std::sin(t), std::cos(t), -std::sin(t)};
       }},
      {"fast",
       [](double t) {
         return PrescribedMotion{1e-9 * std::sin(1e6 * t), 1e-3 * std::cos(1e6 * t),
                                 -1e3 * std::sin(1e6 * t)};
       }},
      {"a ramp that ends at a sample",
       [](double t) {
         return t < 0.5 ? PrescribedMotion{t, 1.0, 0.0} : PrescribedMotion{0.5, 0.0, 0.0};
       }},
      {"an acceleration that jumps",
       [](double t) {
         return t < 0.5 ? PrescribedMotion{t * t, 2 * t, 2.0}
                        : PrescribedMotion{t - 0.25, 1.0, 0.0};
       }},
      {"at rest",
       [](double) {
         return PrescribedMotion{0.0, 0.0, 0.0};
       }},
  };
  const auto warningsOf = [](const Case& tried, double dt) {
    const Model model(block(1.0));
    Constraints constraints(model);
    constraints.prescribe("drive", "slide", tried.motion);
    Simulator simulator(model);
    simulator.setConstraints(constraints);
    for (int i = 0; i < 100 && simulator.time() < 1.0 - 0.5 * dt; ++i) {
      simulator.step(dt);
    }
    return simulator.warnings();
  };
  for (const Case& tried : wrong) {
    for (const double dt : {1e-2, 0.25}) {
      const std::vector<std::string> warnings = warningsOf(tried, dt);
      ASSERT_FALSE(warnings.empty());
      EXPECT_TRUE(contains(warnings[0], "\"drive\" contradicts itself")) << warnings[0];
      EXPECT_TRUE(contains(warnings[0], tried.text)) << warnings[0];
    }
  }
  for (const Case& tried : right) {
    for (const std::string& text :
         warningsOf(tried, std::string(tried.text) == "fast" ? 1e-5 : 1e-2)) {
      EXPECT_FALSE(contains(text, "contradicts itself")) << text;
    }
  }
}

TEST(EnergyBalance, ErrorIsThatOfTheRecording) {
  for (const Integrator integrator : kAll) {
    Simulator simulator = turningFourBar(integrator, 10.0);
    simulator.step(1e-3);
    const Recording recording = simulator.run(0.1, 5e-3);
    const Recording::Sample &first = recording.samples.front(), &last = recording.samples.back();
    const double error = last.kinetic + last.potential - first.kinetic - first.potential -
                         (last.work.balance() - first.work.balance());
    EXPECT_NEAR(simulator.energyError(), error, 1e-13) << toString(integrator);
  }
}

TEST(EnergyBalance, NoAlarmForARobotAtRest) {
  // Hanging, and without gravity: nothing moves but rounding.
  for (const double g : {9.81, 0.0}) {
    Mechanism robot = planar("hanging");
    robot.gravity = {0, -g, 0};
    addLink(robot, "bar", 1.0, 1.0);
    robot.addRevolute("hinge").from("ground").to("bar");
    const Model model(robot);
    for (const Integrator integrator : kAll) {
      Simulator simulator(model, {.integrator = integrator});
      simulator.setState(Eigen::VectorXd::Constant(1, -M_PI_2), Eigen::VectorXd::Zero(1));
      const Recording recording = simulator.run(0.2, 1e-3);
      EXPECT_TRUE(recording.warnings.empty()) << recording.warnings.front();
      // The centre of mass at the height of the hinge: the energy is zero.
      simulator.setState(Eigen::VectorXd::Constant(1, 0.0), Eigen::VectorXd::Zero(1));
      simulator.setForces(Eigen::VectorXd::Constant(1, 0.5 * g));
      EXPECT_TRUE(simulator.run(0.2, 1e-3).warnings.empty());
    }
  }
}

TEST(Accelerations, AreTheRatesOfVelocities) {
  const std::vector<MechanismCase> cases = everyMechanism();
  for (std::size_t i = 0; i < cases.size(); i += 5) {
    const Model model(randomMechanism(cases[i]));
    const auto seed = static_cast<int>(i);
    Simulator simulator(model, {.relativeTolerance = 1e-12, .absoluteTolerance = 1e-12});
    Eigen::VectorXd v(model.nv());
    for (Eigen::Index j = 0; j < v.size(); ++j) {
      v[j] = 0.5 * std::sin(1.0 + 3.0 * static_cast<double>(j + seed));
    }
    simulator.setState(model.randomConfiguration(seed), v);
    const Eigen::VectorXd a = simulator.a(), all = simulator.spanningAccelerations();
    const Eigen::VectorXd start = simulator.spanningVelocities();
    const double h = 1e-5;
    simulator.step(h);
    const Eigen::VectorXd middle = (simulator.v() - v) / h;
    const Eigen::VectorXd mean = 0.5 * (a + simulator.a());
    EXPECT_TRUE(closeTo(middle, mean, 1e-5 * std::max(1.0, mean.cwiseAbs().maxCoeff())))
        << cases[i];
    const Eigen::VectorXd rates = (simulator.spanningVelocities() - start) / h;
    const Eigen::VectorXd meanOfAll = 0.5 * (all + simulator.spanningAccelerations());
    EXPECT_TRUE(closeTo(rates, meanOfAll, 1e-5 * std::max(1.0, all.cwiseAbs().maxCoeff())))
        << cases[i];
  }
}

TEST(Accelerations, ExistAtDeadPoints) {
  // The slider of an engine at the end of its stroke: a = −r ω² (1 + r / l), by hand.
  Mechanism robot = crankSlider("slide");
  robot.gravity = {0, 0, 0};
  Simulator simulator{Model(robot)};
  const Model byCrank(crankSlider("crank"));
  Data data(byCrank);
  const Eigen::VectorXd q = configuration(byCrank, {{"crank", 0.0}});
  Eigen::VectorXd positions(byCrank.nqSpanning()), velocities(byCrank.nvSpanning());
  spanning(byCrank, data, q, Eigen::VectorXd::Constant(1, 12.0), positions, velocities);
  simulator.setSpanningState(q, velocities);
  EXPECT_NEAR(simulator.v()[0], 0.0, 1e-12);
  EXPECT_NEAR(simulator.a()[0], -0.1 * 144.0 * (1.0 + 0.1 / 0.3), 1e-9);
  simulator.run(1.0, 1e-2);
  EXPECT_TRUE(simulator.a().allFinite());
}

}  // namespace
}  // namespace kempe::test
