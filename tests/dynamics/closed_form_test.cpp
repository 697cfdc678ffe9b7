#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <map>
#include <numbers>

#include "dynamics/gravity.hpp"
#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

/// Mechanisms whose equations of motion can be written down by hand.
namespace kempe::test {
namespace {

using NamedNumbers = std::map<std::string, double>;

/// A vector from its entries' names.
Eigen::VectorXd arrange(const std::vector<std::string>& names, const NamedNumbers& values) {
  Eigen::VectorXd x(static_cast<Eigen::Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    x[static_cast<Eigen::Index>(i)] = values.at(names[i]);
  }
  return x;
}

/// τ(q, v, a) by every algorithm, rotors folded and not: inverse dynamics gives τ, forward dynamics
/// of τ gives a back, and H a + h is τ.
void expectForces(const Mechanism& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                  const Eigen::VectorXd& a, const Eigen::VectorXd& tau, double relative = 1e-12) {
  for (const bool fold : {true, false}) {
    SCOPED_TRACE(fold ? "folded" : "unfolded");
    const Model model(robot, {.foldRotors = fold});
    Data data(model);
    Eigen::VectorXd x = poisoned(model.nv());
    inverseDynamics(model, data, q, v, a, x);
    EXPECT_TRUE(closeTo(x, tau, relative));
    forwardDynamics(model, data, q, v, tau, x);
    EXPECT_TRUE(closeTo(x, a, 100 * relative));
    Eigen::MatrixXd H = poisoned(model.nv(), model.nv());
    massMatrix(model, data, q, H);
    biasForces(model, data, q, v, x);
    EXPECT_TRUE(closeTo((H * a + x).eval(), tau, relative));
  }
}

void expectForces(const Mechanism& robot, const NamedNumbers& q, const NamedNumbers& v,
                  const NamedNumbers& a, const NamedNumbers& tau) {
  const Model model(robot);
  expectForces(robot, arrange(model.qNames(), q), arrange(model.vNames(), v),
               arrange(model.vNames(), a), arrange(model.vNames(), tau));
}

// --- planar mechanisms with one DoF θ ----------------------------------------------------------

/// A body's way through the plane as θ changes: derivatives of its centre of mass and its angle.
struct PlanarMotion {
  double mass = 0, inertia = 0;
  Eigen::Vector2d way, bend;     ///< p′(θ), p″(θ)
  double turn = 0, winding = 0;  ///< φ′(θ), φ″(θ)
};

/// Lagrange's equation of T = ½ I(θ) θ̇² and V(θ):  τ = I θ̈ + ½ I′ θ̇² + V′, gravity along −y.
double lagrange(const std::vector<PlanarMotion>& bodies, double rate, double acceleration) {
  double I = 0, slope = 0, weight = 0;
  for (const PlanarMotion& b : bodies) {
    I += b.mass * b.way.squaredNorm() + b.inertia * b.turn * b.turn;
    slope += 2 * (b.mass * b.way.dot(b.bend) + b.inertia * b.turn * b.winding);
    weight += b.mass * kGravity * b.way.y();
  }
  return I * acceleration + 0.5 * slope * rate * rate + weight;
}

struct Link {
  double length = 0, mass = 0, inertia = 0;
  Eigen::Vector2d center;  ///< of mass; x along the link
};

Eigen::Vector2d direction(double angle) {
  return {std::cos(angle), std::sin(angle)};
}
Eigen::Vector2d turned(const Eigen::Vector2d& x, double angle) {
  return Eigen::Rotation2Dd(angle) * x;
}
Eigen::Vector2d quarterTurned(const Eigen::Vector2d& x) {
  return {-x.y(), x.x()};
}

/// Motion of a link at angle φ(θ) that hangs on a point with derivatives way and bend.
PlanarMotion motionOf(const Link& link, double angle, double turn, double winding,
                      const Eigen::Vector2d& way = {0, 0}, const Eigen::Vector2d& bend = {0, 0}) {
  const Eigen::Vector2d arm = turned(link.center, angle), normal = quarterTurned(arm);
  return {link.mass, link.inertia, way + turn * normal, bend + winding * normal - turn * turn * arm,
          turn,      winding};
}

Body& addLink(Mechanism& robot, const std::string& name, const Link& link) {
  return robot.addBody(name)
      .withMass(link.mass)
      .centeredAt({link.center.x(), link.center.y(), 0.0})
      .withInertia(0.6 * link.inertia, 0.7 * link.inertia, link.inertia);
}

const Link kCrank{0.3, 1.1, 0.02, {0.13, 0.02}};
const Link kCoupler{0.8, 0.9, 0.05, {0.45, -0.07}};
const Link kRocker{0.6, 1.4, 0.04, {0.25, 0.05}};
constexpr double kGround = 0.75;

Mechanism fourBar() {
  Mechanism robot("four-bar");
  robot.gravity = {0, -kGravity, 0};
  robot.addBody("ground");
  addLink(robot, "crank", kCrank);
  addLink(robot, "coupler", kCoupler);
  addLink(robot, "rocker", kRocker);
  robot.addRevolute("crank_joint").from("ground").to("crank").independent();
  robot.addRevolute("coupler_joint").from("crank").to("coupler").at({kCrank.length, 0, 0});
  robot.addRevolute("rocker_joint").from("ground").to("rocker").at({kGround, 0, 0});
  robot.addLoop("closure", LoopType::Revolute)
      .from("coupler", at({kCoupler.length, 0, 0}))
      .to("rocker", at({kRocker.length, 0, 0}));
  return robot;
}

TEST(ClosedForm, FourBarObeysItsLagrangian) {
  const Mechanism robot = fourBar();
  const double a = kCrank.length, b = kCoupler.length, c = kRocker.length;
  // All the way round: the crank is the shortest link and Grashof's inequality holds.
  for (double theta = -3.1; theta < 3.2; theta += 0.37) {
    SCOPED_TRACE("crank at " + std::to_string(theta));
    // The rocker's tip is where two circles meet, about the crank's tip and the rocker's foot.
    const Eigen::Vector2d tip = a * direction(theta), way = Eigen::Vector2d(kGround, 0) - tip;
    const double diagonal = way.norm();
    const double cosine = (b * b + diagonal * diagonal - c * c) / (2 * b * diagonal);
    const double beta = std::atan2(way.y(), way.x()) + std::acos(cosine);
    const Eigen::Vector2d end = tip + b * direction(beta) - Eigen::Vector2d(kGround, 0);
    const double gamma = std::atan2(end.y(), end.x());
    // a u⊥(θ) + b β′ u⊥(β) = c γ′ u⊥(γ), along u(γ) and along u(β); then once more by θ.
    const double sine = std::sin(beta - gamma);
    const double betaTurn = a * std::sin(gamma - theta) / (b * sine);
    const double gammaTurn = a * std::sin(beta - theta) / (c * sine);
    const double sineRate = std::cos(beta - gamma) * (betaTurn - gammaTurn);
    const double betaWinding =
        a / b * std::cos(gamma - theta) * (gammaTurn - 1) / sine - betaTurn * sineRate / sine;
    const double gammaWinding =
        a / c * std::cos(beta - theta) * (betaTurn - 1) / sine - gammaTurn * sineRate / sine;
    const std::vector<PlanarMotion> bodies{
        motionOf(kCrank, theta, 1, 0),
        motionOf(kCoupler, beta, betaTurn, betaWinding, quarterTurned(tip), -tip),
        motionOf(kRocker, gamma, gammaTurn, gammaWinding)};
    for (const auto& [rate, acceleration] : {std::pair{0.0, 0.0}, {2.5, 0.0}, {-1.3, 4.0}}) {
      expectForces(
          robot, {{"crank_joint", theta}, {"coupler_joint", beta - theta}, {"rocker_joint", gamma}},
          {{"crank_joint", rate}}, {{"crank_joint", acceleration}},
          {{"crank_joint", lagrange(bodies, rate, acceleration)}});
    }
  }
}

TEST(ClosedForm, SliderCrankObeysItsLagrangian) {
  const double r = kCrank.length, l = kCoupler.length, piston = 2.3;
  Mechanism robot("slider-crank");
  robot.gravity = {0, -kGravity, 0};
  robot.addBody("ground");
  addLink(robot, "crank", kCrank);
  addLink(robot, "rod", kCoupler);
  robot.addBody("piston").withMass(piston).withInertia(0.01, 0.01, 0.01);
  robot.addRevolute("crank_joint").from("ground").to("crank").independent();
  robot.addRevolute("rod_joint").from("crank").to("rod").at({r, 0, 0});
  robot.addPrismatic("slide").from("ground").to("piston").along({1, 0, 0});
  robot.addLoop("wrist_pin", LoopType::Revolute).from("rod", at({l, 0, 0})).to("piston");
  for (double theta = -3.0; theta < 3.2; theta += 0.41) {
    SCOPED_TRACE("crank at " + std::to_string(theta));
    // r sin θ + l sin φ = 0, by θ once and twice.
    const double phi = std::asin(-r * std::sin(theta) / l);
    const double turn = -r * std::cos(theta) / (l * std::cos(phi));
    const double winding =
        (r * std::sin(theta) + l * std::sin(phi) * turn * turn) / (l * std::cos(phi));
    const double x = r * std::cos(theta) + l * std::cos(phi);
    const double way = -r * std::sin(theta) - l * std::sin(phi) * turn;
    const double bend =
        -r * std::cos(theta) - l * (std::cos(phi) * turn * turn) - l * std::sin(phi) * winding;
    const Eigen::Vector2d tip = r * direction(theta);
    const std::vector<PlanarMotion> bodies{
        motionOf(kCrank, theta, 1, 0),
        motionOf(kCoupler, phi, turn, winding, quarterTurned(tip), -tip),
        {piston, 0.0, {way, 0}, {bend, 0}, 0, 0}};
    for (const auto& [rate, acceleration] : {std::pair{0.0, 0.0}, {3.0, 0.0}, {-2.0, 5.0}}) {
      expectForces(robot, {{"crank_joint", theta}, {"rod_joint", phi - theta}, {"slide", x}},
                   {{"crank_joint", rate}}, {{"crank_joint", acceleration}},
                   {{"crank_joint", lagrange(bodies, rate, acceleration)}});
    }
  }
}

// --- gears -------------------------------------------------------------------------------------

/// A rotor of axial inertia J whose axis is `axis`, at the parent's origin.
void addRotor(Mechanism& robot, const std::string& name, const std::string& parent,
              const Vector3& axis, double J, double across) {
  const double d = J - across;
  robot.addBody(name).withMass(0.3).withInertia(
      {across + d * axis.x * axis.x, d * axis.x * axis.y, d * axis.x * axis.z,
       across + d * axis.y * axis.y, d * axis.y * axis.z, across + d * axis.z * axis.z});
  robot.addJoint(name + "_joint", JointType::Continuous)
      .from(parent)
      .to(name)
      .about(axis)
      .dependent();
}

TEST(ClosedForm, GearedPendulumFeelsReflectedInertiaAndResistance) {
  const double m = 1.7, l = 0.4, I = 0.03, J = 2e-4, N = -9.0;
  const double damping = 0.02, friction = 0.05, armature = 1e-4;
  const double linkDamping = 0.3, linkFriction = 0.7, linkArmature = 0.02;
  Mechanism robot("geared pendulum");
  robot.addBody("ground");
  robot.addBody("pendulum").withMass(m).centeredAt({0, 0, -l}).withInertia(0.01, I, 0.03);
  robot.addRevolute("hinge")
      .from("ground")
      .to("pendulum")
      .about({0, 1, 0})
      .withDamping(linkDamping)
      .withFriction(linkFriction)
      .withArmature(linkArmature);
  addRotor(robot, "rotor", "ground", {0, 1, 0}, J, 1e-4);
  robot.joints.back().withDamping(damping).withFriction(friction).withArmature(armature);
  robot.addGear("gear", "rotor_joint", N, "hinge");
  for (const double rate : {0.0, 1.3, -0.8}) {
    for (const double theta : {0.0, 0.9, -2.0}) {
      const double acceleration = 2.1;
      const double sign = rate > 0 ? 1.0 : (rate < 0 ? -1.0 : 0.0);
      const double inertia = m * l * l + I + linkArmature + N * N * (J + armature);
      const double tau = inertia * acceleration + m * kGravity * l * std::sin(theta) +
                         (linkDamping + N * N * damping) * rate +
                         (linkFriction + std::abs(N) * friction) * sign;
      expectForces(robot, {{"hinge", theta}}, {{"hinge", rate}}, {{"hinge", acceleration}},
                   {{"hinge", tau}});
    }
  }
}

/// Springs of the link and of a rotor that turns by N θ + e.
TEST(ClosedForm, SpringsActThroughGears) {
  const double m = 1.7, l = 0.4, I = 0.03, J = 2e-4, N = -9.0, e = 0.8;
  const double k = 3.0, rest = 0.6, rotorK = 0.05, rotorRest = -7.0;
  Mechanism robot("sprung pendulum");
  robot.addBody("ground");
  robot.addBody("pendulum").withMass(m).centeredAt({0, 0, -l}).withInertia(0.01, I, 0.03);
  robot.addRevolute("hinge").from("ground").to("pendulum").about({0, 1, 0}).withSpring(k, rest);
  addRotor(robot, "rotor", "ground", {0, 1, 0}, J, 1e-4);
  robot.joints.back().withSpring(rotorK, rotorRest);
  robot.addCoupling("gear").plus(1, "rotor_joint").minus(N, "hinge").equals(e);
  for (const double theta : {0.0, 0.9, -2.0, 8.0}) {
    const double acceleration = 2.1;
    const double stretch = theta - rest, rotorStretch = N * theta + e - rotorRest;
    const double spring = k * stretch + N * rotorK * rotorStretch;
    const double tau =
        (m * l * l + I + N * N * J) * acceleration + m * kGravity * l * std::sin(theta) + spring;
    expectForces(robot, {{"hinge", theta}}, {{"hinge", 1.3}}, {{"hinge", acceleration}},
                 {{"hinge", tau}});
    const Model model(robot);
    Data data(model);
    const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, theta), still = Eigen::VectorXd::Zero(1);
    EXPECT_NEAR(energy(model, data, q, still).potential,
                -m * kGravity * l * std::cos(theta) +
                    0.5 * (k * stretch * stretch + rotorK * rotorStretch * rotorStretch),
                1e-12);
    Eigen::VectorXd holding = poisoned(1);
    gravityForces(model, data, q, holding);
    EXPECT_NEAR(holding[0], m * kGravity * l * std::sin(theta) + spring, 1e-12);
  }
}

/// The motor's coordinate is the independent one, the link stands an angle e ahead of it.
TEST(ClosedForm, AGearOfRatioOneMayHaveAnOffset) {
  const double m = 1.7, l = 0.4, I = 0.03, J = 2e-4, e = 0.8;
  Mechanism robot("offset pendulum");
  robot.addBody("ground");
  robot.addBody("pendulum").withMass(m).centeredAt({0, 0, -l}).withInertia(0.01, I, 0.03);
  robot.addRevolute("hinge").from("ground").to("pendulum").about({0, 1, 0}).dependent();
  addRotor(robot, "rotor", "ground", {0, 1, 0}, J, 1e-4);
  robot.joints.back().independent();
  robot.addCoupling("gear").plus(1, "hinge").minus(1, "rotor_joint").equals(e);
  const double theta = 0.5, acceleration = 2.1;
  expectForces(robot, {{"rotor_joint", theta}}, {{"rotor_joint", 1.3}},
               {{"rotor_joint", acceleration}},
               {{"rotor_joint",
                 (m * l * l + I + J) * acceleration + m * kGravity * l * std::sin(theta + e)}});
}

/// A disc on a torsion spring swings with ω = √(k / I) about its rest, many turns from zero; one on
/// a screw of pitch p with its mass added.
TEST(ClosedForm, TorsionalOscillatorSwingsAtItsFrequency) {
  const double I = 0.02, mass = 3.0, k = 1.5, rest = 17.0, amplitude = 0.8;
  for (const double pitch : {0.0, 0.05}) {
    Mechanism robot("oscillator");
    robot.gravity = {0, 0, 0};
    robot.addBody("ground");
    robot.addBody("disc").withMass(mass).withInertia(0.01, 0.01, I);
    robot.addJoint("spring", pitch == 0.0 ? JointType::Continuous : JointType::Helical)
        .from("ground")
        .to("disc")
        .about({0, 0, 1})
        .withPitch(pitch)
        .withSpring(k, rest);
    const double omega = std::sqrt(k / (I + mass * pitch * pitch));
    const Model model(robot);
    Simulator simulator(model, {.integrator = Integrator::RungeKutta4});
    simulator.setState(Eigen::VectorXd::Constant(1, rest + amplitude), Eigen::VectorXd::Zero(1));
    const double period = 2 * std::numbers::pi / omega;
    for (int i = 1; i <= 400; ++i) {
      const double t = period * i / 400;
      simulator.stepTo(t);
      ASSERT_NEAR(simulator.q()[0], rest + amplitude * std::cos(omega * t), 1e-7);
      ASSERT_NEAR(simulator.energy().kinetic + simulator.energy().potential,
                  0.5 * k * amplitude * amplitude, 1e-7);
    }
  }
}

/// Yaw φ about z and pitch α about y carry a disc that turns by θ about z and a geared rotor that
/// turns by N θ about x, all centred where the axes meet. With s = sin α, c = cos α and A, B, D the
/// moments of the pitching parts about x, y, z:
///
///   T = ½ K φ̇² + ½ (A s² + D c²) φ̇² + ½ B α̇² + ½ (C + J N²) θ̇² + (C c − J N s) φ̇ θ̇
TEST(ClosedForm, RotorOnAMovingLinkActsAsAGyroscope) {
  const double K = 0.2, C = 0.012, discAcross = 0.007, J = 3e-3, rotorAcross = 2e-3, N = 6.0;
  const double Ax = 0.11, By = 0.17, Dz = 0.09;
  const double A = Ax + discAcross + J, B = By + discAcross + rotorAcross, D = Dz + C + rotorAcross;
  Mechanism robot("gyroscope");
  robot.addBody("ground");
  robot.addBody("yaw_frame").withMass(1).withInertia(0.15, 0.15, K);
  robot.addBody("pitch_frame").withMass(1).withInertia(Ax, By, Dz);
  robot.addBody("disc").withMass(0.5).withInertia(discAcross, discAcross, C);
  robot.addRevolute("yaw").from("ground").to("yaw_frame").about({0, 0, 1});
  robot.addRevolute("pitch").from("yaw_frame").to("pitch_frame").about({0, 1, 0});
  robot.addRevolute("turn").from("pitch_frame").to("disc").about({0, 0, 1});
  addRotor(robot, "rotor", "pitch_frame", {1, 0, 0}, J, rotorAcross);
  robot.addGear("gear", "rotor_joint", N, "turn");
  for (const double alpha : {0.0, 0.6, -1.4, 2.5}) {
    const double s = std::sin(alpha), c = std::cos(alpha);
    const double yaw = 1.3, pitch = -0.7, turn = 4.0;         // rates
    const double yawing = 0.9, pitching = 2.0, turning = -3;  // accelerations
    const double coupling = C * c - J * N * s, gyroscopic = C * s + J * N * c;
    const NamedNumbers tau{
        {"yaw", (K + A * s * s + D * c * c) * yawing + 2 * s * c * (A - D) * pitch * yaw +
                    coupling * turning - gyroscopic * pitch * turn},
        {"pitch", B * pitching - (A - D) * s * c * yaw * yaw + gyroscopic * turn * yaw},
        {"turn", (C + J * N * N) * turning + coupling * yawing - gyroscopic * pitch * yaw}};
    expectForces(robot, {{"yaw", 0.4}, {"pitch", alpha}, {"turn", 1.1}},
                 {{"yaw", yaw}, {"pitch", pitch}, {"turn", turn}},
                 {{"yaw", yawing}, {"pitch", pitching}, {"turn", turning}}, tau);
  }
}

/// Two motors of inertia J turn by a p ± b r; p pitches a carrier about y, r rolls a body about x
/// whose centre of mass is at (l, e, 0) where r = 0.
TEST(ClosedForm, DifferentialObeysItsLagrangian) {
  const double a = 3.0, b = 2.0, J = 4e-4, carrier = 0.05, m = 1.2, l = 0.3, e = 0.1;
  const double axial = 0.02, across = 0.03;
  Mechanism robot("differential");
  robot.addBody("ground");
  robot.addBody("carrier").withMass(0.8).withInertia(0.04, carrier, 0.04);
  robot.addBody("output").withMass(m).centeredAt({l, e, 0}).withInertia(axial, across, across);
  robot.addRevolute("pitch").from("ground").to("carrier").about({0, 1, 0});
  robot.addRevolute("roll").from("carrier").to("output").about({1, 0, 0});
  for (const auto& [motor, side] : {std::pair{"left", 1.0}, {"right", -1.0}}) {
    addRotor(robot, motor, "ground", {0, 1, 0}, J, 3e-4);
    robot.addCoupling(std::string(motor) + "_gear")
        .plus(1, std::string(motor) + "_joint")
        .minus(a, "pitch")
        .minus(side * b, "roll");
  }
  for (const double r : {0.0, 0.8, -2.0}) {
    const double p = 0.5, pRate = 1.1, rRate = -2.3, pp = 0.7, rr = 1.9;
    const double s = std::sin(r), c = std::cos(r);
    const double Hpp = carrier + across + m * (l * l + e * e * s * s) + 2 * J * a * a;
    const double Hrr = axial + m * e * e + 2 * J * b * b, Hpr = -m * l * e * c;
    const double pitch = Hpp * pp + Hpr * rr + 2 * m * e * e * s * c * rRate * pRate +
                         m * l * e * s * rRate * rRate -
                         m * kGravity * (l * std::cos(p) + e * s * std::sin(p));
    const double roll = Hrr * rr + Hpr * pp - m * e * e * s * c * pRate * pRate +
                        m * kGravity * e * c * std::cos(p);
    expectForces(robot, {{"pitch", p}, {"roll", r}}, {{"pitch", pRate}, {"roll", rRate}},
                 {{"pitch", pp}, {"roll", rr}}, {{"pitch", pitch}, {"roll", roll}});
  }
  // The motors' torques arrive by sum and difference.
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd motors = Eigen::VectorXd::Zero(model.nvSpanning()), tau = poisoned(model.nv());
  motors[model.jointVelocityIndex("left_joint")] = 0.7;
  motors[model.jointVelocityIndex("right_joint")] = 0.2;
  generalizedForces(model, data, model.neutral(), motors, tau);
  EXPECT_TRUE(
      closeTo(tau, arrange(model.vNames(), {{"pitch", a * 0.9}, {"roll", b * 0.5}}), 1e-15));
}

// --- spinning bodies ---------------------------------------------------------------------------

constexpr double kTopMass = 0.8, kTopArm = 0.12;
constexpr double kTopAxial = 2e-3, kTopCentral = 1.5e-3;
constexpr double kTopAcross = kTopCentral + kTopMass * kTopArm * kTopArm;  // about the pivot

void addTop(Mechanism& robot) {
  robot.addBody("top")
      .withMass(kTopMass)
      .centeredAt({0, 0, kTopArm})
      .withInertia(kTopCentral, kTopCentral, kTopAxial);
}

/// The slow root Ω of the condition for steady precession, C ω₃ Ω − A Ω² cos θ = m g l, with ω₃ the
/// angular velocity along the top's own axis.
double precession(double tilt, double spin) {
  const double weight = kTopMass * kGravity * kTopArm, momentum = kTopAxial * spin;
  const double root = std::sqrt(momentum * momentum - 4 * kTopAcross * std::cos(tilt) * weight);
  return 2 * weight / (momentum + root);
}

TEST(ClosedForm, TopPrecessesSteadilyOnASphericalJoint) {
  Mechanism robot("top");
  robot.addBody("ground");
  addTop(robot);
  robot.addJoint("pivot", JointType::Spherical).from("ground").to("top");
  for (const double tilt : {0.3, 1.0, std::numbers::pi / 2, 2.2}) {
    SCOPED_TRACE("tilt " + std::to_string(tilt));
    const double spin = 400.0, rate = precession(tilt, spin);
    const Eigen::Quaterniond turn = Eigen::AngleAxisd(0.7, Eigen::Vector3d::UnitZ()) *
                                    Eigen::AngleAxisd(tilt, Eigen::Vector3d::UnitX()) *
                                    Eigen::AngleAxisd(1.9, Eigen::Vector3d::UnitZ());
    const Eigen::Vector3d up = turn.conjugate() * Eigen::Vector3d::UnitZ();  // axes of the top
    const Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();
    const double relative = spin - rate * std::cos(tilt);
    const Eigen::Vector3d omega = rate * up + relative * axis;
    // The axis is carried around the vertical: ω̇ = Ω ẑ × ω.
    expectForces(robot, turn.coeffs(), omega, (rate * up).cross(omega), Eigen::Vector3d::Zero(),
                 1e-11);
  }
  // Exactly m g l / (C ω) where the axis is level, nearly so for any fast top.
  const double weight = kTopMass * kGravity * kTopArm;
  EXPECT_NEAR(precession(std::numbers::pi / 2, 50.0), weight / (kTopAxial * 50.0), 1e-9);
  EXPECT_NEAR(precession(0.3, 4000.0) / (weight / (kTopAxial * 4000.0)), 1.0, 1e-3);
}

TEST(ClosedForm, TopPrecessesSteadilyInGimbals) {
  Mechanism robot("top in gimbals");
  robot.addBody("ground");
  robot.addBody("outer").withMass(1e-9).withInertia(1e-12, 1e-12, 1e-12);
  robot.addBody("inner").withMass(1e-9).withInertia(1e-12, 1e-12, 1e-12);
  addTop(robot);
  robot.addRevolute("precession").from("ground").to("outer").about({0, 0, 1});
  robot.addRevolute("tilt").from("outer").to("inner").about({1, 0, 0});
  robot.addRevolute("spin").from("inner").to("top").about({0, 0, 1});
  const Model model(robot);
  Data data(model);
  for (const double tilt : {0.3, 1.0, 2.2}) {
    const double spin = 400.0, rate = precession(tilt, spin);
    const Eigen::VectorXd q =
        arrange(model.qNames(), {{"precession", 0.4}, {"tilt", tilt}, {"spin", 2.0}});
    const Eigen::VectorXd v =
        arrange(model.vNames(),
                {{"precession", rate}, {"tilt", 0.0}, {"spin", spin - rate * std::cos(tilt)}});
    // Nothing needs to push; a top that precesses otherwise nods.
    Eigen::VectorXd tau = poisoned(3);
    biasForces(model, data, q, v, tau);
    EXPECT_TRUE(closeTo(tau, Eigen::Vector3d::Zero(), 1e-7));
    Eigen::VectorXd faster = v;
    faster *= 1.1;
    biasForces(model, data, q, faster, tau);
    EXPECT_GT(tau.norm(), 0.05);
  }
}

TEST(ClosedForm, FreeBodyObeysEuler) {
  const double m = 2.5;
  const Eigen::Vector3d moments(0.3, 0.5, 0.6), gravity(0.3, -1.0, -9.0);
  for (const Eigen::Vector3d& center :
       {Eigen::Vector3d::Zero().eval(), Eigen::Vector3d(0.2, -0.1, 0.3)}) {
    Mechanism robot("free body");
    robot.gravity = {gravity.x(), gravity.y(), gravity.z()};
    robot.addBody("body")
        .withMass(m)
        .centeredAt({center.x(), center.y(), center.z()})
        .withInertia(moments.x(), moments.y(), moments.z());
    robot.addFloatingBase();
    const Eigen::Quaterniond turn(Eigen::AngleAxisd(1.2, Eigen::Vector3d(1, 2, -1).normalized()));
    Eigen::VectorXd q(7), v(6), a(6), tau(6);
    q << 3, -2, 5, turn.coeffs();
    v << 0.4, -1.1, 0.8, 2.0, -1.5, 0.7;
    a << 1.0, 0.3, -2.0, 0.5, 1.4, -0.9;
    const Eigen::Vector3d w = v.tail<3>(), alpha = a.tail<3>(), linear = v.head<3>();
    const Eigen::Vector3d acceleration = a.head<3>() + w.cross(linear) + alpha.cross(center) +
                                         w.cross(w.cross(center)) - turn.conjugate() * gravity;
    const Eigen::Vector3d force = m * acceleration;
    const Eigen::Vector3d spin = moments.cwiseProduct(w);
    tau << force, moments.cwiseProduct(alpha) + w.cross(spin) + center.cross(force);
    expectForces(robot, q, v, a, tau);
  }
}

}  // namespace
}  // namespace kempe::test
