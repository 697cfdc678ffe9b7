// Small mechanisms under constraints on positions, against the formulas of textbooks.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "constraint_example.hpp"

namespace kempe::test {
namespace {

Mechanism beadInSpace(double mass) {
  Mechanism robot("bead");
  robot.addBody("ground");
  addSlides(robot, "bead", mass, "xyz");
  return robot;
}

/// Links that swing about y, angles counted from hanging down towards x; links have their centres
/// of mass at `centers` below their joints, and the next joint at `lengths`.
Mechanism pendulum(const std::vector<double>& masses, const std::vector<double>& centers,
                   const std::vector<double>& moments, const std::vector<double>& lengths) {
  Mechanism robot("pendulum");
  robot.addBody("ground");
  std::string parent = "ground";
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const std::string name = "link" + std::to_string(i + 1);
    robot.addBody(name)
        .withMass(masses[i])
        .centeredAt({0, 0, -centers[i]})
        .withInertia(moments[i], moments[i], 0.0);
    robot.addRevolute("joint" + std::to_string(i + 1))
        .from(parent)
        .to(name)
        .at({0, 0, i == 0 ? 0.0 : -lengths[i - 1]})
        .about({0, -1, 0});
    parent = name;
  }
  return robot;
}

// --- prescribed and locked joints
// ------------------------------------------------------------------

TEST(Prescribed, DrivesThePivotOfAPendulumAndGivesTheForce) {
  const double M = 2.0, m = 0.7, l = 0.4, J = 0.03, A = 0.1, w = 5.0;
  Mechanism robot("cart");
  robot.addBody("rail");
  robot.addBody("cart").withMass(M);
  robot.addBody("bob").withMass(m).centeredAt({0, 0, -l}).withInertia(J, J, 0.0);
  robot.addPrismatic("slide").from("rail").to("cart").along({1, 0, 0});
  robot.addRevolute("swing").from("cart").to("bob").about({0, -1, 0});
  Example e(robot);
  e.constraints.prescribe("drive", "slide", [=](double t) {
    return PrescribedMotion{A * std::sin(w * t), A * w * std::cos(w * t),
                            -A * w * w * std::sin(w * t)};
  });
  e.q = numbers({0.0, 0.8});
  e.v = numbers({A * w, -0.5});
  for (int i = 0; i < 5; ++i) {
    const double x2 = -A * w * w * std::sin(w * e.t), theta = e.q[1], rate = e.v[1];
    const double theta2 =
        -m * l * (x2 * std::cos(theta) + kGravity * std::sin(theta)) / (J + m * l * l);
    const double force =
        (M + m) * x2 + m * l * theta2 * std::cos(theta) - m * l * rate * rate * std::sin(theta);
    const Solution s = e.solve();
    EXPECT_TRUE(closeTo(s.a, numbers({x2, theta2}), 1e-12));
    EXPECT_NEAR(s.lambda[0], force, 1e-11);
    e.run(0.13, 50);
    EXPECT_NEAR(e.q[0], A * std::sin(w * e.t), 1e-7);
  }
}

TEST(Locked, ElbowMakesADoublePendulumARigidOne) {
  const std::vector<double> m{1.3, 0.8}, c{0.3, 0.25}, J{0.04, 0.02};
  const double l = 0.5, elbow = 0.0;
  Example e(pendulum(m, c, J, {l, 0.0}));
  const double amplitude = 1.9;
  e.q = numbers({amplitude, elbow});
  e.constraints.lock("brake", "joint2", e.q);

  const double far = l + c[1];  // of the second link's centre of mass from the pivot
  const double inertia = J[0] + m[0] * c[0] * c[0] + J[1] + m[1] * far * far;
  const double moment = kGravity * (m[0] * c[0] + m[1] * far);
  // Quarter of a period: from rest to the lowest point.
  const double quarter =
      std::sqrt(inertia / moment) * std::comp_ellint_1(std::sin(0.5 * amplitude));
  e.run(quarter, 400);
  EXPECT_NEAR(e.q[0], 0.0, 1e-8);
  EXPECT_NEAR(e.q[1], elbow, 1e-12);
  EXPECT_NEAR(0.5 * inertia * e.v[0] * e.v[0], moment * (1.0 - std::cos(amplitude)), 1e-7);

  e.run(0.3 * quarter, 100);
  const Solution s = e.solve();
  const double theta2 = -moment * std::sin(e.q[0]) / inertia;
  EXPECT_NEAR(s.a[0], theta2, 1e-11);
  // Moments on the second link about the elbow.
  const double held = J[1] * theta2 + m[1] * c[1] * (far * theta2 + kGravity * std::sin(e.q[0]));
  EXPECT_NEAR(s.lambda[0], held, 1e-10);

  // Let go, the elbow swings.
  e.constraints.enable(0, false);
  EXPECT_GT(std::abs(e.solve().a[1]), 1.0);
  EXPECT_EQ(e.solve().lambda[0], 0.0);
}

TEST(Locked, BaseHoldsABodyAgainstItsWeight) {
  Mechanism robot = freeBody(3.0, {0.1, 0.2, 0.15});
  robot.bodies.back().centeredAt({0.2, 0, 0});
  Example e(robot);
  e.constraints.lock("clamp", "free", e.q);
  const Solution s = e.solve();
  EXPECT_TRUE(closeTo(s.a, Vector::Zero(6), 1e-12));
  const double weight = 3.0 * kGravity;
  EXPECT_TRUE(closeTo(s.lambda, numbers({0, 0, weight, 0, -0.2 * weight, 0}), 1e-12));
}

// --- constraints that move with time
// ---------------------------------------------------------------

TEST(Timed, BeadOnARotatingWireFliesOut) {
  const double m = 0.5, w = 2.0, start = 0.3;
  Mechanism robot("bead");
  robot.addBody("table");
  addSlides(robot, "bead", m, "xy");
  Example e(robot);
  e.constraints.addFunction("wire", {"bead_x", "bead_y"}, 1,
                            [w](const auto& r, const auto& t, auto& phi) {
                              using std::cos;
                              using std::sin;
                              phi[0] = r[1] * cos(w * t) - r[0] * sin(w * t);
                            });
  e.q = numbers({start, 0.0});
  e.v = numbers({0.0, w * start});
  e.run(1.0, 400);
  const double r = start * std::cosh(w * e.t), rate = w * start * std::sinh(w * e.t);
  EXPECT_TRUE(closeTo(e.q, numbers({r * std::cos(w * e.t), r * std::sin(w * e.t)}), 1e-8));
  EXPECT_NEAR(e.solve().lambda[0], 2.0 * m * w * rate, 1e-6);  // Coriolis
}

TEST(Timed, BeadOnARotatingHoop) {
  const double m = 0.4, R = 0.6, w = 7.0;
  Example e(beadInSpace(m));
  e.constraints.addFunction("hoop", {"bead_x", "bead_y", "bead_z"}, 2,
                            [=](const auto& r, const auto& t, auto& phi) {
                              using std::cos;
                              using std::sin;
                              phi[0] = r[1] * cos(w * t) - r[0] * sin(w * t);
                              phi[1] = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] - R * R;
                            });
  const auto expectMotion = [&](double theta, double rate) {
    const double s = std::sin(theta), c = std::cos(theta), turn = w * e.t;
    const Eigen::Vector3d in(std::cos(turn), std::sin(turn), 0),
        across(-std::sin(turn), std::cos(turn), 0), up(0, 0, 1), radial = s * in - c * up,
                                                                 along = c * in + s * up;
    e.q = R * radial;
    e.v = R * rate * along + R * w * s * across;
    const double theta2 = w * w * s * c - kGravity / R * s;
    const Solution solution = e.solve();
    const Eigen::Vector3d a = R * theta2 * along - R * rate * rate * radial +
                              2.0 * R * w * rate * c * across - R * w * w * s * in;
    EXPECT_TRUE(closeTo(solution.a, a, 1e-12));
    EXPECT_NEAR(solution.lambda[0], 2.0 * m * R * w * rate * c, 1e-11);
    EXPECT_NEAR(2.0 * R * solution.lambda[1],
                -m * (R * rate * rate + R * w * w * s * s + kGravity * c), 1e-11);
  };
  expectMotion(0.4, 0.0);
  e.t = 0.7;
  expectMotion(1.2, -3.0);
  // cos θ = g / (R ω²) is where it stays.
  e.t = 0.0;
  const double theta = std::acos(kGravity / (R * w * w));
  expectMotion(theta, 0.0);
  e.run(1.0, 1000);
  EXPECT_NEAR(e.q[2], -R * std::cos(theta), 1e-6);
}

TEST(Timed, FunctionOfOneCoordinateIsAPrescribedOne) {
  Example e(pendulum({1.0, 0.6}, {0.2, 0.3}, {0.01, 0.02}, {0.4, 0.0}));
  e.constraints.addFunction("motion", {"joint1"}, 1, [](const auto& q, const auto& t, auto& phi) {
    using std::sin;
    phi[0] = q[0] - 0.5 * sin(3.0 * t);
  });
  e.constraints.prescribe("same", "joint1", [](double t) {
    return PrescribedMotion{0.5 * std::sin(3 * t), 1.5 * std::cos(3 * t), -4.5 * std::sin(3 * t)};
  });
  e.t = 0.2;
  e.q = numbers({0.5 * std::sin(0.6), -0.7});
  e.v = numbers({1.5 * std::cos(0.6), 0.4});
  for (const int on : {0, 1}) {
    e.constraints.enable(on, true);
    e.constraints.enable(1 - on, false);
    const Solution s = e.solve();
    EXPECT_NEAR(s.a[0], -4.5 * std::sin(0.6), 1e-12);
    EXPECT_EQ(s.lambda[1 - on], 0.0);
    e.constraints.enable(1 - on, true);
    e.constraints.enable(on, false);
    const Solution other = e.solve();
    EXPECT_TRUE(closeTo(other.a, s.a, 1e-12));
    EXPECT_NEAR(other.lambda[1 - on], s.lambda[on], 1e-11);
  }
}

// --- rods and couplings
// ----------------------------------------------------------------------------

TEST(RodConstraint, IsTheThreadOfAConicalPendulum) {
  const double m = 0.3, l = 0.8, theta = 0.6;
  Example e(beadInSpace(m));
  e.constraints.add(Rod{.name = "thread"}.from("", {0, 0, 2}).to("bead", {}).ofLength(l));
  const double radius = l * std::sin(theta);
  const double speed = std::sqrt(kGravity * radius * std::tan(theta));
  e.q = numbers({radius, 0, 2 - l * std::cos(theta)});
  e.v = numbers({0, speed, 0});
  const Solution s = e.solve();
  EXPECT_TRUE(closeTo(s.a, numbers({-speed * speed / radius, 0, 0}), 1e-12));
  const double tension = m * kGravity / std::cos(theta);
  EXPECT_TRUE(closeTo(e.wrench("thread", s.lambda),
                      numbers({-tension * std::sin(theta), 0, tension * std::cos(theta), 0, 0, 0}),
                      1e-12));
  e.run(2.0 * std::numbers::pi * radius / speed, 800);  // once around
  EXPECT_TRUE(closeTo(e.q, numbers({radius, 0, 2 - l * std::cos(theta)}), 1e-8));
}

TEST(CouplingConstraint, IsTheCordOfAtwoodsMachine) {
  const double m1 = 1.0, m2 = 1.5;
  Mechanism robot("machine");
  robot.addBody("ground");
  addSlides(robot, "left", m1, "z");
  addSlides(robot, "right", m2, "z");
  Example e(robot);
  e.constraints.add(Coupling{.name = "cord"}.plus(1, "left_z").plus(1, "right_z"));
  const Solution s = e.solve();
  const double a = kGravity * (m2 - m1) / (m1 + m2);
  EXPECT_TRUE(closeTo(s.a, numbers({a, -a}), 1e-13));
  EXPECT_NEAR(s.lambda[0], 2 * m1 * m2 * kGravity / (m1 + m2), 1e-12);
}

// --- errors that decay, and errors that are taken off
// ------------------------------------------------

TEST(Stabilized, ErrorsDecayAsTheCriticallyDampedSolution) {
  const double rate = 3.0, x = 0.2, speed = 0.5;
  Mechanism robot("slides");
  robot.gravity = {};
  robot.addBody("ground");
  addSlides(robot, "body", 2.0, "xy");
  Example e(robot);
  e.constraints.prescribe("hold", "body_x", [](double) { return PrescribedMotion{}; });
  e.constraints.add(
      KnifeEdge{.name = "blade", .body = "body", .frame = at({}, {0, 0, 0.5 * std::numbers::pi})});
  e.constraints.stabilize(rate);
  EXPECT_EQ(e.constraints.stabilization(), rate);
  e.q = numbers({x, 0});
  e.v = numbers({speed, 1.0});
  e.run(1.0, 400);
  EXPECT_NEAR(e.q[0], (x + (speed + rate * x) * e.t) * std::exp(-rate * e.t), 1e-9);
  EXPECT_NEAR(e.v[1], std::exp(-rate * e.t), 1e-9);
}

TEST(Projected, PositionsMoveWhatIsLight) {
  const double m1 = 1.0, m2 = 3.0;
  Mechanism robot("slides");
  robot.addBody("ground");
  addSlides(robot, "light", m1, "x");
  addSlides(robot, "heavy", m2, "x");
  Example e(robot);
  e.constraints.add(Coupling{.name = "apart"}.plus(1, "heavy_x").minus(1, "light_x").equals(0.5));
  Vector closed = poisoned(2);
  projectPositions(e.model, e.data, e.constraints, 0.0, numbers({0.1, 0.2}), closed);
  // 0.4 m of gap, shared as 3 to 1.
  EXPECT_TRUE(closeTo(closed, numbers({0.1 - 0.3, 0.2 + 0.1}), 1e-13));
}

TEST(Projected, PositionsTakeNoWildSteps) {
  // The angles of a weld can begin at the top of their sines, where slopes vanish.
  Mechanism robot = robots::mechanism("five_bar");
  robot.loops[0].leftCut();
  Example e(robot);
  EXPECT_LT(e.q.lpNorm<Eigen::Infinity>(), 10.0);
  for (const double turn : {0.05, -0.3}) {
    e.constraints = Constraints(e.model);
    e.constraints.add(Coupling{.name = "held"}.plus(1, "mot1").equals(e.q[0] + turn));
    Vector closed = poisoned(e.model.nq()), residual = poisoned(e.model.nLoopRows());
    projectPositions(e.model, e.data, e.constraints, 0.0, e.q, closed);
    EXPECT_NEAR(closed[0], e.q[0] + turn, 1e-12);
    EXPECT_LT((closed - e.q).lpNorm<Eigen::Infinity>(), 1.0);
    loopResidual(e.model, e.data, closed, residual);
    EXPECT_LT(residual.lpNorm<Eigen::Infinity>(), 1e-11);
  }
}

TEST(Projected, PositionsStepBackFromWhereAFunctionEnds) {
  Mechanism robot("slide");
  robot.addBody("ground");
  addSlides(robot, "body", 1.0, "x");
  Example e(robot);
  e.constraints.addFunction("curve", {"body_x"}, 1, [](const auto& x, const auto&, auto& phi) {
    using std::log;
    phi[0] = log(x[0]);
  });
  Vector closed = poisoned(1);
  // A whole step leads to 3 (1 − log 3), which is negative.
  projectPositions(e.model, e.data, e.constraints, 0.0, numbers({3.0}), closed);
  EXPECT_NEAR(closed[0], 1.0, 1e-12);
  EXPECT_THROW(projectPositions(e.model, e.data, e.constraints, 0.0, numbers({-1.0}), closed),
               SingularityError);
}

TEST(Projected, PositionsSayWhatCannotBeMet) {
  Example e(pendulum({1.0}, {0.5}, {0.1}, {0.0}));
  e.constraints.add(Rod{.name = "tie"}.from("", {5, 0, 0}).to("link1", {0, 0, -1}).ofLength(0.3));
  Vector closed = poisoned(1);
  try {
    projectPositions(e.model, e.data, e.constraints, 0.0, numbers({0.1}), closed);
    FAIL() << "nothing was thrown";
  } catch (const AssemblyError& error) {
    EXPECT_EQ(error.loop(), "tie");
    EXPECT_GT(error.gap(), 3.0);
    EXPECT_NE(std::string(error.what()).find("constraint \"tie\" cannot be satisfied"),
              std::string::npos)
        << error.what();
  }
}

TEST(Wrench, OfAWeldCarriesTheWeight) {
  const double m = 4.0;
  Example e(freeBody(m, {0.2, 0.3, 0.4}));
  e.constraints.add(LoopJoint{.name = "weld", .type = LoopType::Fixed}
                        .from("", at({0.3, -0.2, 0}))
                        .to("body", at({0.3, -0.2, 0})));
  const Solution s = e.solve();
  EXPECT_EQ(s.report.rank, 6);
  EXPECT_TRUE(closeTo(s.a, Vector::Zero(6), 1e-12));
  const double weight = m * kGravity;
  // The centre of mass is at −(0.3, −0.2, 0) from the weld: moment = −(r × weight).
  EXPECT_TRUE(closeTo(e.wrench("weld", s.lambda),
                      numbers({0, 0, weight, 0.2 * weight, 0.3 * weight, 0}), 1e-12));
}

}  // namespace
}  // namespace kempe::test
