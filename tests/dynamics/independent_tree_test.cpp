#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "kempe/kempe.hpp"
#include "model/model_impl.hpp"
#include "support/close_to.hpp"

namespace kempe::test {
namespace {

/// H of a method: columns of inverse dynamics.
Eigen::MatrixXd massMatrixBy(Method method, const Model& model, const Eigen::VectorXd& q) {
  Data data(model);
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd bias = poisoned(model.nv()), column = poisoned(model.nv());
  Eigen::MatrixXd H(model.nv(), model.nv());
  inverseDynamics(model, data, q, rest, rest, bias, {.method = method});
  for (int j = 0; j < model.nv(); ++j) {
    inverseDynamics(model, data, q, rest, Eigen::VectorXd::Unit(model.nv(), j), column,
                    {.method = method});
    H.col(j) = column - bias;
  }
  return H;
}

Eigen::VectorXd accelerationBy(Method method, const Model& model, const Eigen::VectorXd& q,
                               const Eigen::VectorXd& v, const Eigen::VectorXd& tau) {
  Data data(model);
  Eigen::VectorXd a = poisoned(model.nv());
  forwardDynamics(model, data, q, v, tau, a, {.method = method});
  return a;
}

std::vector<std::string> keptBodies(const Model& model) {
  std::vector<std::string> names;
  for (const int b : model.impl().independentTree().bodies) {
    names.push_back(model.bodyNames()[static_cast<std::size_t>(b)]);
  }
  return names;
}

/// What an action that throws Error says.
template <typename Error, typename Action>
std::string textOf(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

constexpr double kMass = 1.5, kLength = 0.4, kInertia = 0.02;  // links
constexpr double kRotorMass = 0.3, kRotorInertia = 2e-4, kGear = 7.0, kOffset = 0.15;

/// A link that hangs along −z and swings about y, at `origin` on its parent, with a geared rotor
/// there too, `offset` further down.
void addGearedPendulum(Mechanism& robot, const std::string& name, const std::string& parent,
                       const Vector3& origin, double offset) {
  robot.addBody(name)
      .withMass(kMass)
      .centeredAt({0, 0, -kLength})
      .withInertia(kInertia, kInertia, kInertia);
  robot.addRevolute(name + "_joint").from(parent).to(name).at(origin).about({0, 1, 0});
  robot.addBody(name + "_rotor").withMass(kRotorMass).withInertia(1e-4, kRotorInertia, 1e-4);
  robot.addRevolute(name + "_rotor_joint")
      .from(parent)
      .to(name + "_rotor")
      .at(origin + Vector3{0, 0, -offset})
      .about({0, 1, 0})
      .dependent();
  robot.addGear(name + "_gear", name + "_rotor_joint", kGear, name + "_joint");
}

TEST(IndependentTree, ReflectedInertiaIsExactForARotorOnTheGround) {
  Mechanism robot("pendulum");
  robot.addBody("ground");
  addGearedPendulum(robot, "link", "ground", {}, 0.0);
  const Model model(robot);
  const double theta = 0.7, rate = 1.3, torque = 0.9;
  const double H = kInertia + kMass * kLength * kLength + kGear * kGear * kRotorInertia;
  const double expected = (torque - kMass * 9.81 * kLength * std::sin(theta)) / H;
  const auto one = [](double x) { return Eigen::VectorXd::Constant(1, x); };
  for (const Method method : {Method::Cluster, Method::Approximate}) {
    EXPECT_NEAR(accelerationBy(method, model, one(theta), one(rate), one(torque))[0], expected,
                1e-12);
  }
  const double without = H - kGear * kGear * kRotorInertia;
  EXPECT_NEAR(
      accelerationBy(Method::Unconstrained, model, one(theta), one(rate), one(torque))[0] * without,
      expected * H, 1e-12);
}

TEST(IndependentTree, WhatReflectedInertiaMissesOfARotorOnALink) {
  // T = ½ m d² θ̇₁² + ½ J (θ̇₁ + N θ̇₂)² of the second rotor, d from the first joint; of this
  // Approximate knows ½ J N² θ̇₂² alone.
  Mechanism robot("double_pendulum");
  robot.addBody("ground");
  addGearedPendulum(robot, "upper", "ground", {}, 0.0);
  addGearedPendulum(robot, "lower", "upper", {0, 0, -2 * kLength}, kOffset);
  const Model model(robot);
  const Eigen::Vector2d q(0.4, -1.1);
  const double d = 2 * kLength + kOffset;
  Eigen::Matrix2d missing;
  missing << kRotorMass * d * d + kRotorInertia, kGear * kRotorInertia,  //
      kGear * kRotorInertia, 0.0;
  const Eigen::MatrixXd difference =
      massMatrixBy(Method::Cluster, model, q) - massMatrixBy(Method::Approximate, model, q);
  EXPECT_TRUE(closeTo(difference, missing, 1e-13));
}

TEST(IndependentTree, MiniCheetahReflectsGearRatioSquaredTimesRotorInertia) {
  const Model model = robots::load("mini_cheetah");
  const Eigen::VectorXd q = model.randomConfiguration(3);
  Mechanism bare = robots::miniCheetah();
  bare.couplings.clear();
  std::erase_if(bare.bodies, [](const Body& b) { return b.name.ends_with("_rotor"); });
  std::erase_if(bare.joints, [](const Joint& j) { return j.name.ends_with("_rotor_j"); });
  const Model bareModel(bare);
  ASSERT_EQ(bareModel.vNames(), model.vNames());
  Data data(bareModel);
  Eigen::MatrixXd H = poisoned(bareModel.nv(), bareModel.nv());
  massMatrix(bareModel, data, q, H);
  EXPECT_TRUE(closeTo(massMatrixBy(Method::Unconstrained, model, q), H, 1e-12));

  for (int i = 6; i < model.nv(); ++i) {
    const bool knee = model.vNames()[static_cast<std::size_t>(i)].find("knee") != std::string::npos;
    H(i, i) += 0.000063 * (knee ? 9.33 * 9.33 : 36.0);
  }
  EXPECT_TRUE(closeTo(massMatrixBy(Method::Approximate, model, q), H, 1e-12));

  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1), tau = v.reverse();
  const Eigen::VectorXd exact = accelerationBy(Method::Cluster, model, q, v, tau);
  const Eigen::VectorXd approximate = accelerationBy(Method::Approximate, model, q, v, tau);
  const Eigen::VectorXd unconstrained = accelerationBy(Method::Unconstrained, model, q, v, tau);
  EXPECT_GT((unconstrained - exact).norm(), 0.1 * exact.norm());
  EXPECT_GT((approximate - exact).norm(), 1e-3 * exact.norm());
  EXPECT_LT((approximate - exact).norm(), (unconstrained - exact).norm());
}

TEST(IndependentTree, KeepsLinksWhereMotorsAreIndependent) {
  const std::vector<std::string> kept = keptBodies(robots::load("tello"));
  for (const std::string leg : {"left-", "right-"}) {
    for (const std::string body : {"hip-clamp", "gimbal", "thigh", "shin", "foot"}) {
      EXPECT_NE(std::ranges::find(kept, leg + body), kept.end()) << leg + body;
    }
    EXPECT_EQ(std::ranges::find(kept, leg + "hip-rotor-1"), kept.end());
    EXPECT_EQ(std::ranges::find(kept, leg + "knee-ankle-rotor-1"), kept.end());
  }
  EXPECT_EQ(keptBodies(robots::load("four_bar")), std::vector<std::string>{"link1"});
  // Rods of both arms would leave the idle pair of balls undetermined; the second arm is heavier.
  EXPECT_EQ(keptBodies(robots::load("five_bar")),
            (std::vector<std::string>{"rod_3", "end_rod", "sphere_2"}));
}

TEST(IndependentTree, SaysWhichBodyCannotBeKept) {
  Mechanism robot("machine");
  robot.addBody("ground");
  addGearedPendulum(robot, "arm", "ground", {}, 0.0);
  robot.addBody("flag").withMass(0.1).centeredAt({0.1, 0, 0}).withInertia(0.1, 0.1, 0.1);
  robot.addRevolute("flag_joint").from("arm_rotor").to("flag").about({1, 0, 0});
  addGearedPendulum(robot, "hand", "arm", {}, 0.0);
  const Model model(robot);
  Data data(model);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd x = poisoned(model.nv());
  for (const Method method : {Method::Approximate, Method::Unconstrained}) {
    const std::string text = textOf<std::invalid_argument>(
        [&] { forwardDynamics(model, data, model.neutral(), zero, zero, x, {.method = method}); });
    EXPECT_NE(text.find("model \"machine\" has no independent tree"), std::string::npos) << text;
    EXPECT_NE(text.find("body \"arm_rotor\" carries"), std::string::npos) << text;
    EXPECT_NE(text.find("\"arm_gear\""), std::string::npos) << text;
    EXPECT_NE(text.find("Method::Cluster"), std::string::npos) << text;
  }
  for (const Method method : {Method::Projection, Method::Lagrange}) {
    forwardDynamics(model, data, model.neutral(), zero, zero, x, {.method = method});
    EXPECT_TRUE(x.allFinite());
  }
}

TEST(IndependentTree, RefusesForcesOnBodiesThatItLeavesOut) {
  const Model model = robots::load("four_bar");
  Data data(model);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd x = poisoned(model.nv());
  const std::vector<FrameForce> force{{.frame = model.frameIndex("link3"), .wrench = {1, 0, 0}}};
  const std::string text = textOf<std::invalid_argument>([&] {
    inverseDynamics(model, data, model.neutral(), zero, zero, x,
                    {.external = force, .method = Method::Unconstrained});
  });
  EXPECT_NE(text.find("frame \"link3\" sits on body \"link3\""), std::string::npos) << text;
  EXPECT_NE(text.find("independent tree leaves out"), std::string::npos) << text;
}

TEST(Methods, ReportDeadPoints) {
  const Model model = robots::load("four_bar");
  Data data(model);
  const Eigen::VectorXd q = Eigen::VectorXd::Zero(model.nq()), zero = Eigen::VectorXd::Zero(1);
  Eigen::VectorXd x = poisoned(1);
  for (const Method method : {Method::Projection, Method::Lagrange}) {
    EXPECT_THROW(inverseDynamics(model, data, q, zero, zero, x, {.method = method}),
                 SingularityError);
    const std::string text = textOf<SingularityError>(
        [&] { forwardDynamics(model, data, q, zero, zero, x, {.method = method}); });
    EXPECT_NE(text.find("loop \"loop1\" is in a singular configuration"), std::string::npos)
        << text;
  }
}

/// A four-bar in the x-z plane: crank, coupler, rocker, of which only those named have mass.
Mechanism fourBarOn(const std::string& parent, Mechanism robot, bool couplerHasMass) {
  const auto add = [&](const std::string& name, const std::string& from, double x, bool mass) {
    Body& body = robot.addBody(name);
    if (mass) {
      body.withMass(1.0).centeredAt({0.1, 0, 0.05}).withInertia(0.01, 0.02, 0.03);
    }
    robot.addRevolute(name + "_joint").from(from).to(name).at({x, 0, 0.1}).about({0, 1, 0});
  };
  add("crank", parent, 0.0, true);
  robot.joints.back().independent();
  add("coupler", "crank", 0.3, couplerHasMass);
  add("rocker", parent, 0.5, false);
  robot.addLoop("closure", LoopType::Revolute)
      .from("coupler", at({0.6, 0, 0}))
      .to("rocker", at({0.25, 0, 0.4}))
      .about({0, 1, 0});
  return robot;
}

TEST(Methods, BodiesWithoutInertiaInALoop) {
  for (const bool floating : {false, true}) {
    for (const bool couplerHasMass : {false, true}) {
      Mechanism start("linkage");
      start.addBody("base").withMass(2.0).withInertia(0.1, 0.2, 0.3);
      Mechanism robot = fourBarOn("base", start, couplerHasMass);
      robot.addBody("load").withMass(0.5).centeredAt({0, 0, -0.2}).withInertia(0.01, 0.01, 0.01);
      robot.addRevolute("load_joint").from("rocker").to("load").at({0.1, 0, 0.1}).about({1, 0, 0});
      if (floating) {
        robot.addFloatingBase();
      }
      const Model model(robot);
      const Eigen::VectorXd q = model.randomConfiguration(2);
      const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1), tau = v.reverse();
      const Eigen::VectorXd expected = accelerationBy(Method::Cluster, model, q, v, tau);
      for (const Method method : {Method::Projection, Method::Lagrange}) {
        EXPECT_TRUE(closeTo(accelerationBy(method, model, q, v, tau), expected, 1e-10));
      }
    }
  }
}

TEST(Methods, LoopsThatAreRigid) {
  Mechanism robot("truss");
  robot.addBody("ground");
  robot.addBody("a").withMass(1).centeredAt({0.2, 0, 0}).withInertia(0.1, 0.1, 0.1);
  robot.addBody("b").withMass(1).centeredAt({0.2, 0, 0}).withInertia(0.1, 0.1, 0.1);
  robot.addRevolute("ground_a").from("ground").to("a").about({0, 1, 0});
  robot.addRevolute("ground_b").from("ground").to("b").at({0.5, 0, 0}).about({0, 1, 0});
  robot.addLoop("corner", LoopType::Revolute)
      .from("a", at({0.5, 0, 0}))
      .to("b", at({0.4, 0, 0}))
      .about({0, 1, 0});
  robot.addBody("swing").withMass(1).centeredAt({0, 0, -0.3}).withInertia(0.1, 0.1, 0.1);
  robot.addRevolute("a_swing").from("a").to("swing").at({0.5, 0, 0}).about({1, 0, 0});
  const Model model(robot);
  ASSERT_EQ(model.nv(), 1);
  const Eigen::VectorXd& q = model.neutral();
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(1);
  const Eigen::VectorXd expected = accelerationBy(Method::Cluster, model, q, v, v);
  for (const Method method : {Method::Projection, Method::Lagrange}) {
    EXPECT_TRUE(closeTo(accelerationBy(method, model, q, v, v), expected, 1e-12));
  }
  EXPECT_THROW(accelerationBy(Method::Approximate, model, q, v, v), std::invalid_argument);
}

}  // namespace
}  // namespace kempe::test
