// Three massless revolute joints that form a ball become one spherical joint, which moves alike.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "kempe/configuration.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/io.hpp"
#include "kempe/kinematics.hpp"
#include "kempe/model.hpp"

namespace kempe {
namespace {

constexpr ModelOptions kMerged{.mergeGimbals = true};

constexpr double kHalfTurn = std::numbers::pi;

/// A link on a hinge, then a gimbal about x, y, z, then a heavy bob.
Mechanism gimbal() {
  Mechanism m("gimbal");
  m.addBody("ground");
  m.addBody("arm").withMass(2).centeredAt({0.2, 0, 0.1}).withInertia(0.1, 0.2, 0.15);
  m.addBody("ring");
  m.addBody("cross");
  m.addBody("bob").withMass(1.5).centeredAt({0.1, -0.2, 0.3}).withInertia(0.05, 0.07, 0.06);
  m.addRevolute("hinge").from("ground").to("arm").at({0, 0, 1}).about({0, 1, 0});
  m.addRevolute("roll").from("arm").to("ring").at({0.5, 0.1, 0}, {0.3, -0.2, 0.4}).about({1, 0, 0});
  m.addRevolute("pitch").from("ring").to("cross").about({0, 2, 0});
  m.addJoint("yaw", JointType::Continuous).from("cross").to("bob").about({0, 0, -1});
  return m;
}

bool isMerged(const Mechanism& mechanism) {
  try {
    return Model(mechanism, kMerged).mechanism().findJoint("yaw")->type == JointType::Spherical;
  } catch (const ModelError&) {
    return false;  // axes that stay parallel: no gimbal, and no robot
  }
}

struct Motion6 {
  Rotation R;
  Vector3 p;
  Eigen::VectorXd velocity{6}, acceleration{6};
};

/// Where the bob is, how it moves, and how it accelerates under gravity.
Motion6 motionOfBob(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  Data data(model);
  Eigen::VectorXd a(model.nv());
  forwardDynamics(model, data, q, v, Eigen::VectorXd::Zero(model.nv()), a);
  Motion6 motion;
  const int bob = model.frameIndex("bob");
  const Pose pose = framePlacement(model, data, q, bob);
  motion.R = pose.R;
  motion.p = pose.p;
  frameVelocity(model, data, q, v, bob, motion.velocity);
  frameAcceleration(model, data, q, v, a, bob, motion.acceleration);
  return motion;
}

double difference(const Rotation& a, const Rotation& b) {
  const Rotation d = a - b;
  return std::max({norm(d.r0), norm(d.r1), norm(d.r2)});
}

/// The state of the merged model in which the bob is and moves as in a state of the gimbal.
void expectSameMotion(const Mechanism& mechanism, const Eigen::VectorXd& q,
                      const Eigen::VectorXd& v) {
  const Model kept(mechanism, {.mergeGimbals = false}), merged(mechanism, kMerged);
  ASSERT_EQ(kept.nv(), 4);
  ASSERT_EQ(merged.nv(), 4);
  ASSERT_EQ(merged.nq(), 5);
  const Motion6 before = motionOfBob(kept, q, v);

  // The ball's quaternion from a start pose of the gimbal, its rate from that of the bob.
  Mechanism posed = mechanism;
  for (const char* joint : {"roll", "pitch", "yaw"}) {
    posed.startPose[joint] = {q[kept.jointPositionIndex(joint)]};
  }
  const std::vector<double> quaternion = Model(posed, kMerged).mechanism().startPose.at("yaw");
  ASSERT_EQ(quaternion.size(), 4U);
  Eigen::VectorXd qMerged(5), vMerged(4);
  qMerged[merged.jointPositionIndex("hinge")] = q[kept.jointPositionIndex("hinge")];
  for (int i = 0; i < 4; ++i) {
    qMerged[merged.jointPositionIndex("yaw") + i] = quaternion[static_cast<std::size_t>(i)];
  }
  Data data(merged);
  const int hinge = merged.jointVelocityIndex("hinge"), ball = merged.jointVelocityIndex("yaw");
  const double rate = v[kept.jointVelocityIndex("hinge")];
  // The bob's angular velocity without that of the arm, in the bob's frame.
  const Vector3 w{before.velocity[3], before.velocity[4] - rate, before.velocity[5]};
  const Vector3 own = transposeTimes(before.R, w);
  vMerged[hinge] = rate;
  vMerged[ball] = own.x;
  vMerged[ball + 1] = own.y;
  vMerged[ball + 2] = own.z;

  const Motion6 after = motionOfBob(merged, qMerged, vMerged);
  EXPECT_LT(difference(before.R, after.R), 1e-12);
  EXPECT_LT(norm(before.p - after.p), 1e-12);
  EXPECT_LT((before.velocity - after.velocity).norm(), 1e-11);
  EXPECT_LT((before.acceleration - after.acceleration).norm(),
            1e-9 * (1 + before.acceleration.norm()));
}

BeamOptions slenderBeam() {
  return {.length = 0.5, .E = 7e9, .density = 2700, .area = 2e-4, .Iy = 1e-8, .Iz = 2e-8};
}

TEST(MergeGimbals, KeepsBeams) {
  Mechanism m = gimbal();
  std::erase_if(m.bodies, [](const Body& body) { return body.name == "cross"; });
  m.addBeam("cross", slenderBeam());
  EXPECT_FALSE(isMerged(m));
}

TEST(MergeGimbals, BallsStayOnTheNodesOfBeams) {
  Mechanism m = gimbal();
  std::erase_if(m.bodies, [](const Body& body) { return body.name == "arm"; });
  m.addBeam("arm", slenderBeam());
  for (Joint& joint : m.joints) {
    joint.parentNode = joint.name == "roll" ? "end" : "";
  }
  ASSERT_TRUE(isMerged(m));
  const Model merged(m, kMerged), plain(m);
  Data data(merged), plainData(plain);
  Eigen::VectorXd q = merged.neutral(), other = plain.neutral();
  q[merged.jointPositionIndex("arm/mode1")] = other[plain.jointPositionIndex("arm/mode1")] = 0.02;
  const Pose found = framePlacement(merged, data, q, merged.frameIndex("bob"));
  const Pose expected = framePlacement(plain, plainData, other, plain.frameIndex("bob"));
  EXPECT_LT(norm(found.p - expected.p), 1e-12);
  EXPECT_LT(norm(found.R * Vector3{1, 2, 3} - expected.R * Vector3{1, 2, 3}), 1e-12);
}

TEST(MergedGimbal, MovesAsTheGimbalDoes) {
  for (const double angle : {0.0, 0.4, -0.9}) {
    expectSameMotion(gimbal(), Eigen::Vector4d(0.3, angle, 0.7 * angle, -1.3 * angle),
                     Eigen::Vector4d(0.5, -1.2, 0.8, 2.0));
  }
}

TEST(MergedGimbal, MayTurnAboutAPointBesideItsChild) {
  Mechanism robot = gimbal();
  robot.joints[1].origin.p = robot.joints[1].origin.p + Vector3{0.01, 0.02, 0.03};
  robot.joints[2].at({0.2, 0, 0});  // along roll's axis
  robot.joints[3].at({0, 0, 0.1});  // along yaw's own axis
  ASSERT_TRUE(isMerged(robot));
  const Model model(robot, kMerged);
  EXPECT_NE(model.mechanism().findBody("cross"), nullptr);  // stays, where the axes meet
  EXPECT_EQ(model.mechanism().findJoint("yaw_offset")->child, "bob");
  expectSameMotion(robot, Eigen::Vector4d(-0.2, 0.5, -0.4, 1.1),
                   Eigen::Vector4d(0.5, -1.2, 0.8, 2.0));
}

TEST(MergedGimbal, KeepsThePoseOfItsChildAtZero) {
  const Model kept(gimbal(), {.mergeGimbals = false}), merged(gimbal(), kMerged);
  Data keptData(kept), mergedData(merged);
  const Pose a = framePlacement(kept, keptData, kept.neutral(), kept.frameIndex("bob"));
  const Pose b = framePlacement(merged, mergedData, merged.neutral(), merged.frameIndex("bob"));
  EXPECT_LT(norm(a.p - b.p), 1e-15);
  EXPECT_LT(difference(a.R, b.R), 1e-15);
}

TEST(MergedGimbal, IsNamedAfterItsLastJointAndReported) {
  const Model model(gimbal(), kMerged);
  EXPECT_EQ(model.jointNames(), (std::vector<std::string>{"hinge", "yaw"}));
  EXPECT_EQ(model.bodyNames(), (std::vector<std::string>{"arm", "bob"}));
  EXPECT_EQ(model.mechanism().findBody("ring"), nullptr);
  ASSERT_EQ(model.warnings().size(), 1U);
  const std::string& warning = model.warnings().front();
  EXPECT_NE(warning.find("(\"roll\", \"pitch\", \"yaw\")"), std::string::npos) << warning;
  EXPECT_EQ(warning.find("limits are dropped"), std::string::npos) << warning;
  // Compiled again, it says the same.
  EXPECT_EQ(Model(model.mechanism(), kMerged).warnings(), model.warnings());
}

TEST(MergedGimbal, DropsWideLimitsAndSaysSo) {
  Mechanism robot = gimbal();
  robot.joints[2].limitedTo(-1.57, kHalfTurn);
  ASSERT_TRUE(isMerged(robot));
  EXPECT_NE(Model(robot, kMerged).warnings().front().find("limits are dropped"), std::string::npos);
}

TEST(MergedGimbal, StaysDependentWhereAllThreeAre) {
  Mechanism robot = gimbal();
  for (const std::size_t i : {1, 2, 3}) {
    robot.joints[i].dependent();
  }
  EXPECT_EQ(Model(robot, kMerged).mechanism().findJoint("yaw")->independence, false);
  robot.joints[2].independence.reset();
  EXPECT_EQ(Model(robot, kMerged).mechanism().findJoint("yaw")->independence, std::nullopt);
}

TEST(MergedGimbal, SeveralAreReportedInOneWarning) {
  Mechanism robot = gimbal();
  robot.addBody("ring2");
  robot.addBody("cross2");
  robot.addBody("bob2").withMass(1).withInertia(1, 1, 1);
  robot.addRevolute("roll2").from("bob").to("ring2").at({0.3, 0, 0}).about({1, 0, 0});
  robot.addRevolute("pitch2").from("ring2").to("cross2").about({0, 1, 0});
  robot.addRevolute("yaw2").from("cross2").to("bob2").about({0, 0, 1});
  const Model model(robot, kMerged);
  EXPECT_EQ(model.jointNames(), (std::vector<std::string>{"hinge", "yaw", "yaw2"}));
  EXPECT_EQ(model.warnings().size(), 1U);
}

struct Kept {
  const char* name;
  std::function<void(Mechanism&)> change;
};

std::ostream& operator<<(std::ostream& out, const Kept& kept) {
  return out << kept.name;
}

class KeptGimbal : public testing::TestWithParam<Kept> {};

TEST_P(KeptGimbal, IsNotMerged) {
  Mechanism robot = gimbal();
  ASSERT_TRUE(isMerged(robot));
  GetParam().change(robot);
  EXPECT_FALSE(isMerged(robot));
}

const Kept kept[] = {
    {"MassBetween", [](Mechanism& m) { m.bodies[2].withMass(0.1); }},
    {"InertiaBetween", [](Mechanism& m) { m.bodies[3].withInertia(0.1, 0.1, 0.1); }},
    {"ShapeBetween", [](Mechanism& m) { m.bodies[3].drawnAs({.kind = Shape::Kind::Sphere}); }},
    {"AnotherChild",
     [](Mechanism& m) {
       m.addBody("flag");
       m.addFixed("mast").from("ring").to("flag");
     }},
    {"LoopEnd", [](Mechanism& m) { m.addLoop("l", LoopType::Planar).from("cross").to("ground"); }},
    {"RodEnd", [](Mechanism& m) { m.addRod("r").from("ring", {}).to("ground", {}).ofLength(1.2); }},
    {"Damping", [](Mechanism& m) { m.joints[1].withDamping(0.1); }},
    {"Friction", [](Mechanism& m) { m.joints[2].withFriction(0.1); }},
    {"Armature", [](Mechanism& m) { m.joints[3].withArmature(0.1); }},
    {"Motor", [](Mechanism& m) { m.joints[2].actuated(); }},
    {"Independent", [](Mechanism& m) { m.joints[2].independent(); }},
    {"TightLimit", [](Mechanism& m) { m.joints[1].limitedTo(-1.5, 3); }},
    {"Coupled", [](Mechanism& m) { m.addGear("g", "roll", 2, "hinge"); }},
    {"InAFunction",
     [](Mechanism& m) {
       m.addFunction("f", {"roll", "hinge"}, 1,
                     [](const auto& q, auto& phi) { phi[0] = q[0] - q[1]; });
     }},
    {"Slide", [](Mechanism& m) { m.joints[2].type = JointType::Prismatic; }},
    {"AxesThatMiss",
     [](Mechanism& m) {
       m.joints[2].at({0, 0, 0.01});
     }},
    {"ThirdAxisThatMisses",
     [](Mechanism& m) {
       m.joints[3].at({0.01, 0, 0});
     }},
    {"AxesInOnePlane",
     [](Mechanism& m) {
       m.joints[3].about({1, 0, 0});
     }},
    {"ParallelAxes",
     [](Mechanism& m) {
       m.joints[2].about({1, 0, 0});
     }},
    {"SlantedAxes",
     [](Mechanism& m) {
       m.joints[2].about({1, 1, 0});
     }},
    {"TwoOnly", [](Mechanism& m) { m.joints[3].type = JointType::Fixed; }},
};

INSTANTIATE_TEST_SUITE_P(EveryReason, KeptGimbal, testing::ValuesIn(kept),
                         [](const auto& which) { return std::string(which.param.name); });

TEST(KeptGimbal, ByOption) {
  const Model model(gimbal(), {.mergeGimbals = false});
  EXPECT_EQ(model.nq(), 4);
  EXPECT_TRUE(model.warnings().empty());
}

}  // namespace
}  // namespace kempe
