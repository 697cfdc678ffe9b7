#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <random>

#include "dynamics/flexible_mechanisms.hpp"
#include "linear_steps.hpp"
#include "linkages.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

/// All that have a step of given length; that of Radau is solved to tolerances only.
constexpr Integrator kDirect[] = {Integrator::SemiImplicitEuler, Integrator::RungeKutta4,
                                  Integrator::ImplicitMidpoint, Integrator::Adaptive};
constexpr Integrator kEach[] = {Integrator::SemiImplicitEuler, Integrator::RungeKutta4,
                                Integrator::ImplicitMidpoint, Integrator::Adaptive,
                                Integrator::Radau};

/// So large tolerances that integrators with error control take the whole step at once.
SimulatorOptions inOneStep(Integrator integrator) {
  return {.integrator = integrator, .relativeTolerance = 1e6, .absoluteTolerance = 1e6};
}

/// Steps from states that setState() takes.
class Stepped : public StepFromMovedState {
 public:
  Stepped(Simulator& simulator, double dt, unsigned seed, double speed = 1.0)
      : StepFromMovedState(simulator, dt, seed),
        q_(model_.randomConfiguration(seed)),
        v_(speed * random()) {
    tau_ = random();
    rememberEnd();
  }
  void moveStart(double x) override {
    Eigen::VectorXd moved(model_.nq());
    integrate(model_, data_, q_, alongQ_, x, moved);
    simulator_.setForces(tau_ + x * alongTau_);
    simulator_.setState(moved, v_ + x * alongV_, 0.3);
  }

 private:
  Eigen::VectorXd q_, v_;
};

void expectDerivativesOfSteps(Simulator& simulator, double dt, unsigned seed,
                              double relative = 1e-7, double speed = 1.0, double length = 1e-3) {
  Stepped stepped(simulator, dt, seed, speed);
  for (int round = 0; round < 3; ++round) {
    stepped.turn();
    stepped.moveStart(0.0);
    const LinearStep found = linearStepOf(simulator, dt);
    EXPECT_TRUE(closeTo(stepped.alongDirection(found),
                        differentiated([&](double x) { return stepped.step(x); }, length),
                        relative))
        << toString(simulator.options().integrator);
  }
}

void withoutFriction(Mechanism& robot) {
  for (Joint& joint : robot.joints) {
    joint.friction = 0.0;
  }
}

/// Adds everything that has a derivative, to joints with one coordinate and between points; `strength`
/// multiplies the forces.
void addElements(Simulator& simulator, const std::string& joint, const std::string& other,
                 const std::string& from, const std::string& to, double strength = 1.0) {
  simulator.addSpring(JointSpring{
      .joint = joint, .stiffness = 30.0 * strength, .rest = 0.2, .damping = 2.0 * strength});
  simulator.addSpring(PointSpring{
      {from, {0.1, -0.2, 0.3}}, {to, {0.2, 0.1, -0.1}}, 40.0 * strength, 0.3, 5.0 * strength});
  simulator.addFriction({.joint = other,
                         .coulomb = 0.8 * strength,
                         .slipSpeed = 0.3,
                         .viscous = 0.2 * strength,
                         .breakaway = 1.1 * strength,
                         .stribeckSpeed = 0.4});
  simulator.addLimit({.joint = other,
                      .stiffness = 10.0 * strength,
                      .damping = 1.0 * strength,
                      .lower = -5,
                      .upper = -4});
  const int motor = simulator.addMotor({.joint = joint,
                                        .gear = 3.0,
                                        .stallTorque = 2.0 * strength,
                                        .noLoadSpeed = 5.0,
                                        .viscousFriction = 0.05 * strength});
  simulator.setMotorTorque(motor, 50.0);  // beyond its curve
  const int frame = simulator.model().frameIndex(to);
  simulator.setExternalForces({{frame, {1, 2, 3, 0.1, 0.2, 0.3}, Reference::LocalWorldAligned},
                               {frame, {3, 1, -2, 0.1, 0.3, 0.2}, Reference::Local},
                               {frame, {-1, 2, 1, 0.5, 0.1, 0.4}, Reference::World}});
}

/// Radau IIA is of order five, so that its derivative is that of many short steps.
void expectRadauLikeManyShortSteps(const Model& model, const std::function<void(Simulator&)>& add,
                                   double dt, int parts, double relative) {
  Simulator whole(model, {.integrator = Integrator::Radau});
  Simulator part(model, {.integrator = Integrator::RungeKutta4});
  for (Simulator* each : {&whole, &part}) {
    add(*each);
    each->setState(model.randomConfiguration(4), Eigen::VectorXd::LinSpaced(model.nv(), -1, 1));
  }
  const LinearStep found = linearStepOf(whole, dt);
  const int n = model.nv();
  Eigen::MatrixXd A = Eigen::MatrixXd::Identity(2 * n, 2 * n), B = Eigen::MatrixXd::Zero(2 * n, n);
  for (int i = 0; i < parts; ++i) {
    const LinearStep one = linearStepOf(part, dt / parts);
    A = one.A * A;
    B = one.A * B + one.B;
    part.step(dt / parts);
  }
  EXPECT_TRUE(closeTo(found.A, A, relative));
  EXPECT_TRUE(closeTo(found.B, B, relative));
}

class LinearizeEveryMechanism : public ::testing::TestWithParam<MechanismCase> {
 protected:
  LinearizeEveryMechanism() : robot(randomMechanism(GetParam())) {
    if (robot.frictionSlipSpeed == 0.0) {
      withoutFriction(robot);
    }
  }
  Mechanism robot;
};

TEST_P(LinearizeEveryMechanism, IsTheDerivativeOfTheStep) {
  const Model model(robot);
  for (const Integrator integrator : kDirect) {
    Simulator simulator(model, inOneStep(integrator));
    expectDerivativesOfSteps(simulator, integrator == Integrator::Adaptive ? 2e-3 : 4e-3, 5);
  }
}

/// Springs, dampers, friction, a motor and forces on joints with one DoF and between points; of the
/// integrators one for each mechanism, and Radau.
TEST_P(LinearizeEveryMechanism, IncludesEverythingThatActs) {
  std::vector<std::string> joints;
  for (const Joint& joint : robot.joints) {
    if (velocitySize(joint.type) == 1) {
      joints.push_back(joint.name);
    }
  }
  const Model model(robot);
  const auto add = [&](Simulator& simulator) {
    if (!joints.empty()) {
      addElements(simulator, joints.front(), joints.back(), robot.bodies.front().name,
                  robot.bodies.back().name, 0.01);  // some bodies are light
    }
  };
  const Integrator integrator = kDirect[GetParam().seed % std::size(kDirect)];
  Simulator simulator(model, inOneStep(integrator));
  add(simulator);
  expectDerivativesOfSteps(simulator, integrator == Integrator::Adaptive ? 4e-6 : 1e-4, 5);
  expectRadauLikeManyShortSteps(model, add, 5e-5, 4, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Random, LinearizeEveryMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

TEST(Linearize, IsTheDerivativeOfTheStepForRobots) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    Mechanism robot = robots::mechanism(name);
    withoutFriction(robot);
    const Model model(robot);
    for (const Integrator integrator : kDirect) {
      Simulator simulator(model, inOneStep(integrator));
      // A step of the pair is divided at first where accelerations are large.
      expectDerivativesOfSteps(simulator, integrator == Integrator::Adaptive ? 1e-4 : 2e-3, 3);
    }
  }
}

/// Beams, of which one bends in a loop; steps follow their fastest modes.
TEST(Linearize, IsTheDerivativeOfTheStepForBeams) {
  for (const Bending& choice :
       {Bending{.seed = 2, .floats = true}, Bending{.seed = 4, .loop = true},
        Bending{.seed = 7, .pair = true}}) {
    const Model model(flexibleTree(choice));
    for (const Integrator integrator : kDirect) {
      Simulator simulator(model, inOneStep(integrator));
      addElements(simulator, "shoulder", "elbow", "arm", "tip", 0.01);
      expectDerivativesOfSteps(simulator, 2e-6, 5, 1e-6, 1.0, 1e-4);
    }
  }
}

/// ẍ = −ω² x: steps are rational functions of h [0 1; −ω² 0].
TEST(Linearize, GivesTheStabilityFunctionsForAnOscillator) {
  const double mass = 2.0, k = 50.0, h = 0.13;
  const Eigen::Matrix2d I = Eigen::Matrix2d::Identity();
  Eigen::Matrix2d z;
  z << 0, h, -k / mass * h, 0;
  const Eigen::Matrix2d z2 = z * z, z3 = z2 * z, z4 = z3 * z, z5 = z4 * z, z6 = z5 * z;
  const auto expected = [&](Integrator integrator) -> Eigen::Matrix2d {
    switch (integrator) {
      case Integrator::SemiImplicitEuler: {
        Eigen::Matrix2d A;
        A << 1 - k / mass * h * h, h, -k / mass * h, 1;
        return A;
      }
      case Integrator::RungeKutta4:
        return I + z + z2 / 2 + z3 / 6 + z4 / 24;
      case Integrator::ImplicitMidpoint:
        return (I - z / 2).inverse() * (I + z / 2);
      case Integrator::Adaptive:
        return I + z + z2 / 2 + z3 / 6 + z4 / 24 + z5 / 120 + z6 / 600;
      default:  // Radau IIA
        return (I - 3.0 / 5 * z + 3.0 / 20 * z2 - z3 / 60).inverse() * (I + 2.0 / 5 * z + z2 / 20);
    }
  };
  for (const Integrator integrator : kEach) {
    Simulator simulator{Model(block(mass)), {.integrator = integrator}};
    simulator.addSpring(JointSpring{.joint = "slide", .stiffness = k, .rest = 0.4});
    simulator.setState(one(0.7), one(-0.3));
    const LinearStep found = linearStepOf(simulator, h);
    EXPECT_TRUE(closeTo(found.A, expected(integrator), 1e-14)) << toString(integrator);
    // The state that the force of one newton displaces is that which a shift of the rest by 1/k does:
    // B = (1 − A) [1/k; 0].
    EXPECT_TRUE(closeTo(found.B, (I - expected(integrator)).col(0) / k, 1e-14))
        << toString(integrator);
  }
}

/// The pendulum m l² φ̈ = −m g l sin φ − d φ̇ + τ.
TEST(Linearize, GivesTheDerivativeOfAPendulumsEulerStep) {
  const double m = 1.5, l = 0.8, d = 0.3, h = 0.01;
  Mechanism robot = planar("pendulum");
  robot.addBody("bob").withMass(m).centeredAt({0, -l, 0});
  robot.addRevolute("pivot").from("ground").to("bob").about({0, 0, 1});
  robot.joints.back().damping = d;
  Simulator simulator{Model(robot), {.integrator = Integrator::SemiImplicitEuler}};
  simulator.setState(one(0.9), one(-2.0));
  const double ofQ = -9.81 / l * std::cos(0.9), ofV = -d / (m * l * l), ofTau = 1 / (m * l * l);
  const LinearStep found = linearStepOf(simulator, h);
  Eigen::Matrix2d A;
  A << 1 + h * h * ofQ, h * (1 + h * ofV), h * ofQ, 1 + h * ofV;
  EXPECT_TRUE(closeTo(found.A, A, 1e-14));
  EXPECT_TRUE(closeTo(found.B, Eigen::Vector2d(h * h * ofTau, h * ofTau), 1e-14));
  Eigen::MatrixXd rates = poisoned(2, 2), input = poisoned(2, 1);
  simulator.linearizeRates(rates, input);
  A << 0, 1, ofQ, ofV;
  EXPECT_TRUE(closeTo(rates, A, 1e-13));
  EXPECT_TRUE(closeTo(input, Eigen::Vector2d(0, ofTau), 1e-14));
}

/// A chain of four joints, of which one is a ball, on a floating base.
Mechanism chain() {
  Mechanism robot("chain");
  robot.addBody("world");
  const char* names[] = {"base", "upper", "middle", "lower"};
  for (int i = 0; i < 4; ++i) {
    robot.addBody(names[i])
        .withMass(1.0 + 0.3 * i)
        .centeredAt({0.1, 0.05 * i, -0.2})
        .withInertia(0.03, 0.04, 0.05);
  }
  robot.addJoint("free", JointType::Free).from("world").to("base");
  robot.addRevolute("hip").from("base").to("upper").at({0.1, 0, -0.1}).about({0, 1, 0});
  robot.addJoint("ball", JointType::Spherical).from("upper").to("middle").at({0, 0, -0.4});
  robot.addPrismatic("slide").from("middle").to("lower").at({0, 0, -0.3}).along({0, 0.6, 0.8});
  return robot;
}

TEST(Linearize, IncludesEverythingThatActs) {
  for (const Integrator integrator : kDirect) {
    Simulator tree(Model(chain()), inOneStep(integrator));
    addElements(tree, "hip", "slide", "world", "lower");
    expectDerivativesOfSteps(tree, 2e-3, 4);
    Simulator bodies(Model(chain()), inOneStep(integrator));
    addElements(bodies, "slide", "hip", "middle", "base");
    expectDerivativesOfSteps(bodies, 2e-3, 5);
    // Elements on dependent joints, where G changes.
    for (const char* independent : {"crank", "swivel"}) {
      Simulator loop(Model(crankSlider(independent, 0.02)), inOneStep(integrator));
      addElements(loop, "slide", "swivel", "crank_link", "piston");
      expectDerivativesOfSteps(loop, integrator == Integrator::Adaptive ? 2e-5 : 5e-4, 6);
    }
  }
}

/// Dry friction of a joint that slides is a force that changes with its speed (Stribeck).
TEST(Linearize, IncludesDryFrictionOfSlidingJoints) {
  for (const Integrator integrator : kDirect) {
    Simulator simulator(Model(chain()), inOneStep(integrator));
    simulator.addFriction(
        {.joint = "hip", .coulomb = 0.5, .viscous = 0.3, .breakaway = 1.0, .stribeckSpeed = 2.0});
    expectDerivativesOfSteps(simulator, 1e-3, 8);
  }
}

/// Where the simulator has changed to other coordinates, the result is still in the model's.
TEST(Linearize, IsInTheModelsCoordinates) {
  for (const Integrator integrator : kDirect) {
    Simulator simulator(Model(crankSlider("slide")), inOneStep(integrator));
    const Model& model = simulator.model();
    Data data(model);
    simulator.addSpring(JointSpring{.joint = "crank", .stiffness = 3.0, .rest = 0.2});
    // Near the dead point of the slider.
    const auto start = [&](double x, const Eigen::VectorXd& along) {
      Simulator helper{model};
      helper.setState(NamedValues{{"crank", {0.15}}});
      Eigen::VectorXd q(model.nq());
      integrate(model, data, helper.q(), along.head(1), x, q);
      simulator.setForces(one(0.3) + x * along.tail(1));
      simulator.setState(q, one(-0.2) + x * along.segment(1, 1));
    };
    const Eigen::VectorXd along = Eigen::Vector3d(0.01, 0.5, 0.7);
    const double dt = 1e-3;
    start(0.0, along);
    const LinearStep found = linearStepOf(simulator, dt);
    EXPECT_NE(simulator.coordinates(), model.vNames());
    simulator.step(dt);
    const Eigen::VectorXd end = simulator.q();
    const Eigen::VectorXd differences = differentiated([&](double x) -> Eigen::VectorXd {
      start(x, along);
      simulator.step(dt);
      Eigen::VectorXd way(1);
      difference(model, data, end, simulator.q(), way);
      return Eigen::Vector2d(way[0], simulator.v()[0]);
    });
    EXPECT_TRUE(closeTo(found.A * along.head(2) + found.B * along.tail(1), differences, 1e-6));
  }
}

/// Of a robot near the dead point of its coordinates, which the simulator leaves.
TEST(Linearize, OfRatesIsInTheModelsCoordinates) {
  Simulator simulator(Model(crankSlider("slide")), {.integrator = Integrator::RungeKutta4});
  const Model& model = simulator.model();
  simulator.addSpring(JointSpring{.joint = "crank", .stiffness = 3.0, .rest = 0.2});
  Simulator helper{model};
  helper.setState(NamedValues{{"crank", {0.15}}});
  simulator.setForces(one(0.3));
  simulator.setState(helper.q(), one(-0.02));
  Eigen::MatrixXd A = poisoned(2, 2), B = poisoned(2, 1);
  simulator.linearizeRates(A, B);
  EXPECT_NE(simulator.coordinates(), model.vNames());
  const auto rate = [&](double h) {
    const LinearStep step = linearStepOf(simulator, h);
    return LinearStep{(step.A - Eigen::Matrix2d::Identity()) / h, step.B / h};
  };
  const LinearStep coarse = rate(2e-6), fine = rate(1e-6);
  EXPECT_TRUE(closeTo(2.0 * fine.A - coarse.A, A, 1e-5));
  EXPECT_TRUE(closeTo(2.0 * fine.B - coarse.B, B, 1e-5));

  simulator.setState(NamedValues{{"crank", {0.0}}});
  EXPECT_THROW(simulator.linearizeRates(A, B), SingularityError);
}

/// m v̇ = τ − F tanh(v / s)
TEST(Linearize, OfSmoothFrictionOfTheModel) {
  Mechanism robot = block(2.0);
  robot.joints.front().friction = 0.6;
  Eigen::MatrixXd A(2, 2), B(2, 1);
  Simulator dry{Model(robot)};
  EXPECT_NE(refusal([&] { dry.linearizeRates(A, B); }).find("frictionSlipSpeed"),
            std::string::npos);
  for (const double slipSpeed : {0.05, std::numeric_limits<double>::infinity()}) {
    Simulator smooth(Model(robot), {.frictionSlipSpeed = slipSpeed});
    smooth.linearizeRates(A, B);
    EXPECT_TRUE(closeTo(A, Eigen::Matrix2d{{0.0, 1.0}, {0.0, -0.6 / (2.0 * slipSpeed)}}, 1e-14));
    EXPECT_TRUE(closeTo(B, Eigen::Vector2d(0.0, 0.5), 1e-14));
    EXPECT_EQ(smooth.addFriction({.joint = "slide", .coulomb = 0.1, .slipSpeed = 0.1}), 0);
  }
  robot.frictionSlipSpeed = 0.2;
  for (const double ofSimulator : {0.0, 0.05}) {  // that of the simulator comes first
    Simulator smooth(Model(robot), {.frictionSlipSpeed = ofSimulator});
    smooth.linearizeRates(A, B);
    const double slipSpeed = ofSimulator > 0.0 ? ofSimulator : 0.2;
    EXPECT_TRUE(closeTo(A, Eigen::Matrix2d{{0.0, 1.0}, {0.0, -0.6 / (2.0 * slipSpeed)}}, 1e-14));
  }
  EXPECT_NE(refusal([&] {
              Simulator bad(Model(robot), {.frictionSlipSpeed = -1.0});
            }).find("frictionSlipSpeed: zero or more"),
            std::string::npos);
}

/// One step of Radau IIA counts whatever its error.
TEST(Linearize, OfRadauIgnoresItsErrorBesideFriction) {
  Simulator simulator(Model(chain()), {.integrator = Integrator::Radau});
  const Model& model = simulator.model();
  const int n = model.nv();
  simulator.setState(model.randomConfiguration(4), Eigen::VectorXd::LinSpaced(n, -1, 1));
  const LinearStep without = linearStepOf(simulator, 0.02);
  simulator.addFriction({.joint = "hip", .coulomb = 1e-9});
  const LinearStep found = linearStepOf(simulator, 0.02);
  EXPECT_TRUE(closeTo(found.A, without.A, 1e-6));
  EXPECT_TRUE(closeTo(found.B, without.B, 1e-6));
}

TEST(Linearize, OfRadauIsThatOfManyShortSteps) {
  expectRadauLikeManyShortSteps(
      Model(chain()), [](Simulator& each) { addElements(each, "hip", "slide", "world", "lower"); },
      4e-4, 10, 1e-9);
}

/// The rates are the limit of short steps, also where joints turn.
TEST(Linearize, OfRatesIsTheLimitOfShortSteps) {
  const Model model(chain());
  Simulator simulator(model, {.integrator = Integrator::RungeKutta4});
  addElements(simulator, "hip", "slide", "world", "lower");
  simulator.setState(model.randomConfiguration(4), Eigen::VectorXd::LinSpaced(model.nv(), -1, 1));
  const int n = model.nv();
  Eigen::MatrixXd A = poisoned(2 * n, 2 * n), B = poisoned(2 * n, n);
  simulator.linearizeRates(A, B);
  const Eigen::MatrixXd I = Eigen::MatrixXd::Identity(2 * n, 2 * n);
  const auto rate = [&](double h) {
    const LinearStep step = linearStepOf(simulator, h);
    return LinearStep{(step.A - I) / h, step.B / h};
  };
  const LinearStep coarse = rate(2e-5), fine = rate(1e-5);
  EXPECT_TRUE(closeTo(2.0 * fine.A - coarse.A, A, 1e-6));
  EXPECT_TRUE(closeTo(2.0 * fine.B - coarse.B, B, 1e-6));
}

TEST(Linearize, LeavesTheSimulatorAsItIs) {
  for (const Integrator integrator : kEach) {
    Simulator one(Model(chain()), {.integrator = integrator}),
        other(Model(chain()), {.integrator = integrator});
    for (Simulator* each : {&one, &other}) {
      addElements(*each, "hip", "slide", "world", "lower");
      each->setState(one.model().randomConfiguration(4), Eigen::VectorXd::Ones(one.model().nv()));
    }
    for (int i = 0; i < 5; ++i) {
      linearStepOf(one, 2e-3);
      one.step(1e-3);
      other.step(1e-3);
      EXPECT_EQ(one.q(), other.q()) << toString(integrator);
      EXPECT_EQ(one.v(), other.v());
    }
  }
}

TEST(Linearize, AllocatesNothingAfterTheFirstCall) {
  for (const Integrator integrator : kEach) {
    Simulator simulator(Model(chain()), {.integrator = integrator});
    addElements(simulator, "hip", "slide", "world", "lower");
    const int n = simulator.model().nv();
    Eigen::MatrixXd A(2 * n, 2 * n), B(2 * n, n);
    simulator.linearize(1e-3, A, B);
    EXPECT_EQ(allocationsOf([&] { simulator.linearize(1e-3, A, B); }), 0) << toString(integrator);
  }
}

TEST(Linearize, RefusesWhatHasNoDerivative) {
  Eigen::MatrixXd A(2, 2), B(2, 1), wrong(2, 2);
  const auto texts = [&](Simulator& simulator, double dt) {
    return refusal([&] { simulator.linearize(dt, A, B); });
  };
  Simulator block_{Model(block(2.0)), {.integrator = Integrator::RungeKutta4}};
  EXPECT_THROW(block_.linearize(1e-3, A, wrong), std::invalid_argument);
  EXPECT_THROW(block_.linearize(0.0, A, B), std::invalid_argument);
  EXPECT_THROW(block_.linearize(NAN, A, B), std::invalid_argument);
  Simulator stuck{Model(block(2.0))};
  stuck.addFriction({.joint = "slide", .coulomb = 1.0});
  EXPECT_NE(texts(stuck, 1e-3).find("held by dry friction"), std::string::npos);
  stuck.setState(one(0.0), one(1e-4));
  EXPECT_NE(texts(stuck, 1e-2).find("changes its mode"), std::string::npos);
}

}  // namespace
}  // namespace kempe::test
