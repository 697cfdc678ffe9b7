#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <utility>
#include <vector>

#include "dynamics/flexible_mechanisms.hpp"
#include "kempe/constrained_forward_dynamics_derivatives.hpp"
#include "linear_steps.hpp"
#include "linkages.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

/// Linear models of simulations with constraints and with loops that are left cut.
namespace kempe::test {
namespace {

constexpr Integrator kStepped[] = {Integrator::SemiImplicitEuler, Integrator::RungeKutta4,
                                   Integrator::ImplicitMidpoint, Integrator::Adaptive};

SimulatorOptions stabilizedBy(Stabilization stabilization, Integrator integrator) {
  return {.integrator = integrator,
          .relativeTolerance = 1e6,  // so large that integrators take the whole step at once
          .absoluteTolerance = 1e6,
          .stabilization = stabilization,
          .baumgarteRate = 60.0};
}

/// Steps from states that are off the constraints too, where setState() would not leave them but
/// restore() does.
class MovedStart : public StepFromMovedState {
 public:
  MovedStart(Simulator& simulator, double dt, unsigned seed, double speed)
      : StepFromMovedState(simulator, dt, seed) {
    tau_ = random();
    simulator_.setForces(tau_);
    simulator_.setState(model_.randomConfiguration(seed), speed * random(), 0.3);
    start_ = simulator_.snapshot();
    v_ = simulator_.v();
    rememberEnd();
  }
  void moveStart(double x) override {
    Snapshot moved = start_;
    Eigen::VectorXd positions(model_.nqSpanning());
    integrate(model_, data_, start_.q, alongQ_, x, moved.q);
    spanning(model_, data_, moved.q, v_ + x * alongV_, positions, moved.velocities);
    simulator_.setForces(tau_ + x * alongTau_);
    simulator_.restore(moved);
  }

 private:
  Snapshot start_;
  Eigen::VectorXd v_;
};

void expectDerivativeInAllDirections(Simulator& simulator, double dt, unsigned seed,
                                     double relative = 1e-7, double speed = 1.0) {
  MovedStart moved(simulator, dt, seed, speed);
  for (int round = 0; round < 2; ++round) {
    moved.turn();
    moved.moveStart(0.0);
    const LinearStep found = linearStepOf(simulator, dt);
    EXPECT_TRUE(closeTo(moved.alongDirection(found),
                        differentiated([&](double x) { return moved.step(x); }, 1e-4), relative))
        << toString(simulator.options().integrator);
  }
}

/// Every loop cut, or every second one.
Mechanism leftOpen(Mechanism robot, int every) {
  int number = 0;
  const auto mark = [&](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = number++ % every == 0;
    }
  };
  mark(robot.couplings);
  mark(robot.loops);
  mark(robot.rods);
  mark(robot.functions);
  for (Joint& joint : robot.joints) {
    joint.friction = robot.frictionSlipSpeed > 0.0 ? joint.friction : 0.0;
  }
  return robot;
}

class LinearizeCutMechanism : public ::testing::TestWithParam<MechanismCase> {};

TEST_P(LinearizeCutMechanism, IsTheDerivativeOfTheStep) {
  const Model model(leftOpen(randomMechanism(GetParam()), 1 + GetParam().seed % 2));
  for (const Stabilization stabilization : {Stabilization::Baumgarte, Stabilization::None}) {
    for (const Integrator integrator : kStepped) {
      Simulator simulator(model, stabilizedBy(stabilization, integrator));
      expectDerivativeInAllDirections(simulator, 1e-3, 5);
    }
  }
  Simulator projected(model, stabilizedBy(Stabilization::Projection, Integrator::RungeKutta4));
  expectDerivativeInAllDirections(projected, 2e-4, 5);
}

std::vector<MechanismCase> withLoops() {
  std::vector<MechanismCase> chosen;
  for (const MechanismCase& each : everyMechanism()) {
    const Mechanism robot = randomMechanism(each);
    const bool loops = !robot.loops.empty() || !robot.rods.empty() || !robot.functions.empty() ||
                       !robot.couplings.empty();
    if (loops && each.seed <= 5) {
      chosen.push_back(each);
    }
  }
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(Random, LinearizeCutMechanism, ::testing::ValuesIn(withLoops()),
                         [](const auto& tested) { return nameOf(tested.param); });

/// A four-bar whose coupler bends, left cut.
TEST(LinearizeCutBeams, IsTheDerivativeOfTheStep) {
  const Model model(leftOpen(flexibleTree({.seed = 4, .loop = true}), 1));
  for (const Stabilization stabilization : {Stabilization::Baumgarte, Stabilization::None}) {
    Simulator simulator(model, stabilizedBy(stabilization, Integrator::RungeKutta4));
    expectDerivativeInAllDirections(simulator, 2e-6, 5, 1e-6);
  }
  Simulator projected(model, stabilizedBy(Stabilization::Projection, Integrator::RungeKutta4));
  expectDerivativeInAllDirections(projected, 2e-6, 5, 1e-6);
}

/// An arm of a ball, three hinges and a slide on the ground.
Mechanism arm() {
  Mechanism robot("arm");
  robot.frictionSlipSpeed = 0.4;
  robot.addBody("ground");
  std::string parent = "ground";
  for (int i = 0; i < 5; ++i) {
    const std::string name = "link" + std::to_string(i);
    robot.addBody(name)
        .withMass(1.0 + 0.3 * i)
        .centeredAt({0.1, 0.05 * i, -0.2})
        .withInertia(0.03, 0.04, 0.05);
    robot
        .addJoint("joint" + std::to_string(i), i == 0   ? JointType::Spherical
                                               : i == 3 ? JointType::Prismatic
                                                        : JointType::Revolute)
        .from(parent)
        .to(name)
        .at({0.1, 0, -0.3}, {0.3 * i, 0.2, 0.1 * i})
        .about({0, 1, 0.3})
        .withFriction(i == 0 ? 0.0 : 0.1);
    parent = name;
  }
  return robot;
}

/// One set of constraints for each kind of row.
std::vector<Constraints> constraintsOf(const Model& model) {
  std::vector<Constraints> all(5, Constraints(model));
  all[0].add(Coupling{.name = "gear", .terms = {{"joint1", 1.0}, {"joint3", 2.0}}});
  all[1].add(
      Rod{.name = "rod"}.from("ground", {0.2, 0.1, 0}).to("link4", {0, 0, -0.1}).ofLength(1.2));
  all[2].add(LoopJoint{.name = "foot", .type = LoopType::Spherical}
                 .from("ground", at({0.4, 0.1, -0.9}))
                 .to("link4", at({0, 0, -0.1})));
  all[3].add(KnifeEdge{.name = "edge", .body = "link4", .frame = at({0.1, 0, 0}, {0.2, 0.1, 0.3})});
  all[4].prescribe("drive", {"joint2"}, [](double t) {
    return PrescribedMotion{0.3 * std::sin(2.0 * t), 0.6 * std::cos(2.0 * t),
                            -1.2 * std::sin(2.0 * t)};
  });
  return all;
}

TEST(LinearizeConstraints, IsTheDerivativeOfTheStep) {
  const Model model(arm());
  for (const Constraints& constraints : constraintsOf(model)) {
    SCOPED_TRACE(constraints.name(0));
    for (const Stabilization stabilization : {Stabilization::Baumgarte, Stabilization::None}) {
      for (const Integrator integrator : kStepped) {
        Simulator simulator(model, stabilizedBy(stabilization, integrator));
        simulator.setConstraints(constraints);
        expectDerivativeInAllDirections(simulator, 2e-3, 7);
      }
    }
    Simulator projected(model, stabilizedBy(Stabilization::Projection, Integrator::RungeKutta4));
    projected.setConstraints(constraints);
    expectDerivativeInAllDirections(projected, 5e-4, 7);
  }
}

TEST(LinearizeConstraints, OfRatesIsTheConstrainedDynamics) {
  const Model model(arm());
  Data data(model);
  const int n = model.nv();
  for (Constraints constraints : constraintsOf(model)) {
    Simulator simulator(model, stabilizedBy(Stabilization::Baumgarte, Integrator::RungeKutta4));
    simulator.setConstraints(constraints);
    simulator.setState(model.randomConfiguration(7), Eigen::VectorXd::LinSpaced(n, -1, 1), 0.3);
    constraints.stabilize(60.0);
    const Eigen::VectorXd q = simulator.q(), v = simulator.v(), tau = Eigen::VectorXd::Zero(n);
    const int rows = constraints.rows();
    Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), byTau = poisoned(n, n);
    Eigen::MatrixXd ofQ(rows, n), ofV(rows, n), ofTau(rows, n);
    constrainedForwardDynamicsDerivatives(model, data, constraints, 0.3, q, v, tau, byQ, byV, byTau,
                                          ofQ, ofV, ofTau);
    Eigen::MatrixXd A = poisoned(2 * n, 2 * n), B = poisoned(2 * n, n);
    simulator.linearizeRates(A, B);
    EXPECT_TRUE(closeTo(A.bottomLeftCorner(n, n), byQ, 1e-12)) << constraints.name(0);
    EXPECT_TRUE(closeTo(A.bottomRightCorner(n, n), byV, 1e-12)) << constraints.name(0);
    EXPECT_TRUE(closeTo(B.bottomRows(n), byTau, 1e-12)) << constraints.name(0);
  }
}

/// Those of A that are largest, by their real and imaginary parts.
std::vector<std::complex<double>> largestPoles(const Eigen::MatrixXd& A, std::size_t count) {
  const Eigen::VectorXcd all = Eigen::EigenSolver<Eigen::MatrixXd>(A).eigenvalues();
  std::vector<std::complex<double>> poles(all.begin(), all.end());
  std::ranges::sort(poles, [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
  for (std::size_t i = count; i < poles.size(); ++i) {
    EXPECT_LT(std::abs(poles[i]), 1e-7) << "deviations from the loops are not projected away";
  }
  poles.resize(count);
  std::ranges::sort(poles, [](const auto& a, const auto& b) {
    return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
  });
  return poles;
}

/// A cut loop and an embedded one move the same way: projection gives the poles of the embedded one,
/// and zeros. At rest every integrator has its derivative.
TEST(LinearizeConstraints, PolesAreThoseOfTheEmbeddedLoop) {
  Mechanism closed = fourBar(1.0, 0.3, 0.9, 0.6);
  closed.gravity = {};
  const Model embedded(closed), cut(leftOpen(closed, 1));
  ASSERT_GT(cut.nv(), embedded.nv());
  const Eigen::VectorXd q = configuration(embedded, {{"crank", 1.0}, {"knee", -0.6}});
  const auto angle = [&](const std::string& joint) {
    return q[std::ranges::find(embedded.qNames(), joint) - embedded.qNames().begin()];
  };
  for (const Integrator integrator : kStepped) {
    SCOPED_TRACE(toString(integrator));
    const auto poles = [&](const Model& model) {
      Simulator simulator(model, stabilizedBy(Stabilization::Projection, integrator));
      simulator.addSpring(
          JointSpring{.joint = "pivot", .stiffness = 40.0, .rest = angle("pivot"), .damping = 0.3});
      simulator.setState(configuration(model, {{"crank", angle("crank")},
                                               {"knee", angle("knee")},
                                               {"pivot", angle("pivot")}}),
                         Eigen::VectorXd::Zero(model.nv()));
      return largestPoles(linearStepOf(simulator, 1e-2).A, 2);
    };
    const auto expected = poles(embedded), found = poles(cut);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_LT(std::abs(found[i] - expected[i]), 1e-9);
    }
  }
}

TEST(LinearizeConstraints, AllocatesNothingAfterTheFirstCall) {
  const Model model(arm());
  for (const Stabilization stabilization : {Stabilization::Baumgarte, Stabilization::Projection}) {
    Simulator simulator(model, stabilizedBy(stabilization, Integrator::RungeKutta4));
    simulator.setConstraints(constraintsOf(model)[2]);
    LinearStep result = linearStepOf(simulator, 1e-4);
    EXPECT_EQ(allocationsOf([&] { simulator.linearize(1e-4, result.A, result.B); }), 0)
        << static_cast<int>(stabilization);
  }
}

TEST(LinearizeConstraints, RefusesProjectionsOfLongWays) {
  const Model model(arm());
  const int n = model.nv();
  Simulator simulator(model,
                      stabilizedBy(Stabilization::Projection, Integrator::SemiImplicitEuler));
  simulator.setConstraints(constraintsOf(model)[2]);
  simulator.setState(model.randomConfiguration(7), Eigen::VectorXd::LinSpaced(n, -1, 1));
  Eigen::MatrixXd A(2 * n, 2 * n), B(2 * n, n);
  EXPECT_NE(refusal([&] { simulator.linearize(1e-2, A, B); }).find("stabilization=\"baumgarte\""),
            std::string::npos);
  simulator.linearizeRates(A, B);
  // A callback has no derivatives.
  Constraints callback(model);
  TimedFunction f;
  f.name = "callback";
  f.coordinates = {{"joint1"}};
  f.value = [](std::span<const double> q, double, std::span<double> phi) { phi[0] = q[0] * 0.5; };
  f.jet = [](std::span<const Jet> q, const Jet&, std::span<Jet> phi) { phi[0] = q[0] * 0.5; };
  callback.add(f);
  simulator.setConstraints(callback);
  EXPECT_NE(refusal([&] { simulator.linearizeRates(A, B); }).find("callback"), std::string::npos);
}

}  // namespace
}  // namespace kempe::test
