// Constraints on velocities, and those that are switched on and off, against the formulas of
// textbooks.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "constraint_example.hpp"

namespace kempe::test {
namespace {

// --- constraints on velocities
// ---------------------------------------------------------------------

/// A wheel or ball of radius r that stands on a plane that falls off towards x.
void expectRollsDown(double share, double moment, bool ball) {
  const double m = 1.7, r = 0.3, slope = 0.4, J = moment * m * r * r;
  Example e(freeBody(m, {ball ? J : 0.5 * J, J, ball ? J : 0.5 * J}));
  e.constraints.add(Rolling{.name = "wheel",
                            .body = "body",
                            .axle = {0, 1, 0},
                            .radius = r,
                            .ball = ball,
                            .plane = at({}, {0, slope, 0})});
  const Eigen::Vector3d down(std::cos(slope), 0, -std::sin(slope)),
      normal(std::sin(slope), 0, std::cos(slope));
  e.q.head(3) = r * normal;
  for (const double speed : {0.0, 1.3}) {
    e.v.head(3) = speed * down;
    e.v.tail(3) = Eigen::Vector3d(0, speed / r, 0);
    const Solution s = e.solve();
    const double a = share * kGravity * std::sin(slope);
    // Rates of numbers along the body's axes, which turn.
    const Eigen::Vector3d turning(0, speed / r, 0);
    const Eigen::Vector3d linear = a * down - turning.cross(Eigen::Vector3d(e.v.head(3)));
    EXPECT_TRUE(closeTo(s.a.head(3), linear, 1e-12));
    EXPECT_TRUE(closeTo(s.a.tail(3), numbers({0, a / r, 0}), 1e-12));
    const Eigen::Vector3d force = m * kGravity * std::cos(slope) * normal -
                                  (1 - share) * m * kGravity * std::sin(slope) * down;
    const Vector wrench = e.wrench("wheel", s.lambda);
    EXPECT_TRUE(closeTo(wrench.head(3), force, 1e-12));
    EXPECT_TRUE(closeTo(wrench.tail(3), Vector::Zero(3), 1e-12));
  }
}

TEST(Rolls, DiscDownAnInclineWithTwoThirdsOfGravity) {
  expectRollsDown(2.0 / 3.0, 0.5, false);
}

TEST(Rolls, BallDownAnInclineWithFiveSeventhsOfGravity) {
  expectRollsDown(5.0 / 7.0, 0.4, true);
}

/// A coin on slides, turned about z, leaned about its heading, spun about its axle.
Mechanism coin(double m, double r) {
  Mechanism robot("coin");
  robot.addBody("ground");
  addSlides(robot, "carrier", 0.0, "xyz");
  robot.addBody("heading");
  robot.addBody("leaning");
  robot.addBody("coin").withMass(m).withInertia(0.25 * m * r * r, 0.5 * m * r * r,
                                                0.25 * m * r * r);
  robot.addRevolute("yaw").from("carrier").to("heading").about({0, 0, 1});
  robot.addRevolute("lean").from("heading").to("leaning").about({1, 0, 0});
  robot.addRevolute("spin").from("leaning").to("coin").about({0, 1, 0});
  return robot;
}

TEST(Rolls, CoinLeansIntoACircle) {
  const double m = 0.2, r = 0.1, theta = -0.3, turn = 2.5;
  const double A = 0.25 * m * r * r, C = 0.5 * m * r * r;
  const double s = std::sin(theta), c = std::cos(theta);
  // Moments about the centre: r m (V Ω c + g s) = Ω (A Ω c s − C ω c), V = r ω.
  const double about =
      (A * turn * turn * s * c - m * kGravity * r * s) / ((C + m * r * r) * turn * c);
  const double speed = r * about;
  Example e(coin(m, r));
  e.constraints.add(Rolling{.name = "rim", .body = "coin", .axle = {0, 1, 0}, .radius = r});
  e.q = numbers({0, -speed / turn - 0.0, r * c, 0, theta, 0});
  e.v = numbers({speed, 0, 0, turn, 0, about - turn * s});
  Vector rates = poisoned(3);
  constraintVelocityErrors(e.model, e.data, e.constraints, 0.0, e.q, e.v, rates);
  ASSERT_TRUE(closeTo(rates, Vector::Zero(3), 1e-14));
  ASSERT_TRUE(closeTo(e.errors(), Vector::Zero(3), 1e-14));
  const Solution solution = e.solve();
  EXPECT_TRUE(closeTo(solution.a, numbers({0, speed * turn, 0, 0, 0, 0}), 1e-10));
  EXPECT_TRUE(closeTo(e.wrench("rim", solution.lambda),
                      numbers({0, m * speed * turn, m * kGravity, 0, 0, 0}), 1e-10));
  const Vector start = e.q;
  e.run(2.0 * std::numbers::pi / turn, 4000);  // once around
  EXPECT_TRUE(closeTo(e.q.head(3), start.head(3), 1e-7));
  EXPECT_NEAR(e.q[3], 2.0 * std::numbers::pi, 1e-7);
  EXPECT_NEAR(e.q[4], theta, 1e-7);
}

TEST(KnifeEdgeConstraint, SkateOnAnInclineGoesAlongACycloid) {
  const double m = 1.4, J = 0.2, slope = 0.3, w = 1.7;
  Mechanism robot("skate");
  robot.gravity = {kGravity * std::sin(slope), 0, -kGravity * std::cos(slope)};
  robot.addBody("ice");
  robot.addBody("skate").withMass(m).withInertia(J, J, J);
  robot.addJoint("slide", JointType::Planar).from("ice").to("skate").about({0, 0, 1});
  Example e(robot);
  // The blade is along x of the skate: its y is the direction that is forbidden.
  e.constraints.add(
      KnifeEdge{.name = "blade", .body = "skate", .frame = at({}, {0, 0, 0.5 * std::numbers::pi})});
  e.v = numbers({0, 0, w});
  const double pull = kGravity * std::sin(slope);
  for (int i = 0; i < 4; ++i) {
    e.run(0.6, 300);
    const double wt = w * e.t;
    EXPECT_NEAR(e.q[0], pull / (2 * w * w) * std::pow(std::sin(wt), 2), 1e-9);
    EXPECT_NEAR(e.q[1], pull / (2 * w * w) * (wt - 0.5 * std::sin(2 * wt)), 1e-9);
    EXPECT_NEAR(e.q[2], wt, 1e-12);
    EXPECT_NEAR(e.solve().lambda[0], 2 * m * pull * std::sin(wt), 1e-7);
  }
}

// --- switching
// -------------------------------------------------------------------------------------

TEST(Switched, HandThatGraspsKeepsMomentumAndLosesEnergy) {
  const double m1 = 2.0, J1 = 0.05, m2 = 0.5, J2 = 0.01;
  Mechanism robot("catch");
  robot.gravity = {};
  robot.addBody("ground");
  robot.addBody("hand").withMass(m1).withInertia(J1, J1, J1);
  robot.addBody("ball").withMass(m2).withInertia(J2, J2, J2);
  robot.addJoint("hand_moves", JointType::Planar).from("ground").to("hand");
  robot.addJoint("ball_moves", JointType::Planar).from("ground").to("ball");
  Example e(robot);
  const int grasp = e.constraints.add(LoopJoint{.name = "grasp", .type = LoopType::Fixed}
                                          .from("hand", at({0.1, 0.2, 0}))
                                          .to("ball", at({-0.05, 0, 0})));
  const Eigen::Vector2d offset(0.15, 0.2);  // from the hand's centre to the ball's
  e.q = numbers({0, 0, 0, offset.x(), offset.y(), 0});
  e.v = numbers({0.3, -0.1, 0.4, -2.0, 0.5, -3.0});
  Vector before = poisoned(6), after = poisoned(6);
  momentum(e.model, e.data, e.q, e.v, before);
  const double energyBefore = e.kinetic();
  const Vector impulses = e.strike();
  momentum(e.model, e.data, e.q, e.v, after);
  EXPECT_TRUE(closeTo(after, before, 1e-13));

  const double reduced = m1 * m2 / (m1 + m2), inertia = J1 + J2 + reduced * offset.squaredNorm();
  const Eigen::Vector2d relative(-2.0 - 0.3, 0.5 + 0.1);
  const double spin =
      J1 * 0.4 + J2 * -3.0 + reduced * (offset.x() * relative.y() - offset.y() * relative.x());
  EXPECT_NEAR(e.v[2], spin / inertia, 1e-13);
  EXPECT_NEAR(e.v[5], spin / inertia, 1e-13);
  const Eigen::Vector2d center =
      (m1 * Eigen::Vector2d(0.3, -0.1) + m2 * Eigen::Vector2d(-2.0, 0.5)) / (m1 + m2);
  const double lost =
      energyBefore - 0.5 * (m1 + m2) * center.squaredNorm() - 0.5 * spin * spin / inertia;
  EXPECT_GT(lost, 0.1);
  EXPECT_NEAR(energyBefore - e.kinetic(), lost, 1e-13);
  // The impulse is what the ball's momentum changed by.
  const Vector push = e.wrench("grasp", impulses);
  EXPECT_TRUE(closeTo(push.head(2), numbers({m2 * (e.v[3] + 2.0), m2 * (e.v[4] - 0.5)}), 1e-13));

  // Held in a plane by a weld of six rows, of which three are about motions out of it.
  const Solution held = e.solve();
  EXPECT_EQ(held.report.rows, 6);
  EXPECT_EQ(held.report.rank, 3);
  EXPECT_LT(held.report.inconsistency, 1e-12);
  e.run(0.5, 200);
  EXPECT_TRUE(closeTo(e.errors(), Vector::Zero(6), 1e-9));
  momentum(e.model, e.data, e.q, e.v, after);
  EXPECT_TRUE(closeTo(after, before, 1e-9));

  // Released, both fly straight on.
  e.constraints.enable(grasp, false);
  const Vector thrown = e.v, from = e.q;
  e.run(0.5, 5);
  EXPECT_EQ(e.solve().report.rows, 0);
  EXPECT_TRUE(closeTo(e.v, thrown, 1e-14));
  EXPECT_TRUE(closeTo(e.q, (from + 0.5 * thrown).eval(), 1e-13));
}

TEST(Switched, FootThatSticksTurnsARodAboutItsEnd) {
  const double m = 1.1, L = 0.9, J = m * L * L / 12.0, V = 2.0, w = 0.7;
  Example e(freeBody(m, {0.01 * J, J, J}));
  const int foot = e.constraints.add(LoopJoint{.name = "foot", .type = LoopType::Spherical}
                                         .from("", at({0, 0, 0}))
                                         .to("body", at({-0.5 * L, 0, 0})));
  e.q.head(3) = Eigen::Vector3d(0.5 * L, 0, 0);
  e.v = numbers({0, 0, -V, 0, w, 0});
  const Vector impulse = e.strike();
  // Angular momentum about the foot, y axis: J ω + m (L/2) V.
  const double after = (J * w + 0.5 * m * L * V) / (J + 0.25 * m * L * L);
  EXPECT_TRUE(closeTo(e.v, numbers({0, 0, -0.5 * L * after, 0, after, 0}), 1e-12));
  EXPECT_TRUE(closeTo(impulse, numbers({0, 0, m * (V - 0.5 * L * after)}), 1e-12));

  // While it sticks: a rod that falls about its end. Its foot carries a quarter of the weight and
  // what turning asks for.
  const Solution stuck = e.solve();
  EXPECT_NEAR(stuck.a[4], 1.5 * kGravity / L, 1e-11);
  EXPECT_TRUE(closeTo(stuck.lambda, numbers({-0.5 * m * L * after * after, 0, 0.25 * m * kGravity}),
                      1e-11));
  // Released: free flight.
  e.constraints.enable(foot, false);
  const Solution flight = e.solve();
  const Eigen::Vector3d turning(0, after, 0), velocity = e.v.head(3);
  EXPECT_TRUE(closeTo(flight.a.head(3),
                      (Eigen::Vector3d(0, 0, -kGravity) - turning.cross(velocity)).eval(), 1e-12));
  EXPECT_TRUE(closeTo(flight.a.tail(3), Vector::Zero(3), 1e-12));
}

}  // namespace
}  // namespace kempe::test
