// A leaf that looks the same at every angle of its joint is folded into its parent; nothing else
// is, and nothing that a user sees changes by it.

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "kempe/configuration.hpp"
#include "kempe/robots.hpp"
#include "mechanism/small_robots.hpp"
#include "model/model_impl.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::addRotorOn;
using test::twoLinkArm;

using Folded = std::vector<std::string>;

/// An arm with a rotor "wheel" on its lower bar that qualifies.
Mechanism armWithWheel() {
  Mechanism robot = twoLinkArm();
  robot.addBody("wheel").withMass(0.5).centeredAt({0, 0, 0.1}).withInertia(0.01, 0.01, 0.015);
  robot.addRevolute("axle").from("lower").to("wheel").at({0.4, 0, 0}, {0.3, 0.2, 0.1});
  return robot;
}

Body& wheelOf(Mechanism& robot) {
  return robot.bodies[3];
}

Joint& axleOf(Mechanism& robot) {
  return robot.joints[2];
}

struct Change {
  std::string title;
  std::function<void(Mechanism&)> make;
  bool folds;

  friend std::ostream& operator<<(std::ostream& out, const Change& change) {
    return out << change.title;
  }
};

class EveryWheel : public ::testing::TestWithParam<Change> {};

TEST_P(EveryWheel, FoldsWhereItLooksTheSameAtEveryAngle) {
  Mechanism robot = armWithWheel();
  GetParam().make(robot);
  const Model model(robot);
  EXPECT_EQ(model.foldedRotors(), GetParam().folds ? Folded{"wheel"} : Folded{});
  EXPECT_EQ(Model(robot, {.foldRotors = false}).foldedRotors(), Folded{});
}

const std::vector<Change> changes{
    {"AsItIs", [](Mechanism&) {}, true},
    {"Continuous", [](Mechanism& m) { axleOf(m).type = JointType::Continuous; }, true},
    {"AboutAnotherAxis",
     [](Mechanism& m) {
       axleOf(m).about({-3, 0, 0});
       wheelOf(m).centeredAt({0.2, 0, 0}).withInertia(0.015, 0.01, 0.01);
     },
     true},
    {"AboutASkewAxis",
     [](Mechanism& m) {
       const Vector3 axis{1, 2, 2};
       axleOf(m).about(axis);
       // 0.01 across the axis, 0.016 along it
       const Vector3 n = normalized(axis);
       const double extra = 0.006;
       wheelOf(m).centeredAt(0.3 * n).withInertia({0.01 + extra * n.x * n.x, extra * n.x * n.y,
                                                   extra * n.x * n.z, 0.01 + extra * n.y * n.y,
                                                   extra * n.y * n.z, 0.01 + extra * n.z * n.z});
     },
     true},
    {"WithoutMass", [](Mechanism& m) { wheelOf(m).withMass(0); }, true},
    {"OnTheGround", [](Mechanism& m) { axleOf(m).from("ground"); }, true},
    {"Coupled", [](Mechanism& m) { m.addGear("gear", "axle", 5, "elbow"); }, true},
    // A loop end on the rim changes nothing in how its inertia looks to the parent.
    {"WithALoopPoint",
     [](Mechanism& m) {
       m.addRod("rod").from("wheel", {0.1, 0, 0}).to("upper", {0, 0.5, 0}).ofLength(1.5);
     },
     true},
    {"BalancedByAFixedPart",
     [](Mechanism& m) {
       for (const double side : {1.0, -1.0}) {
         const std::string name = side > 0 ? "left" : "right";
         m.addBody(name + "_weight").withMass(0.1).withInertia(0, 0, 0);
         m.addFixed(name).from("wheel").to(name + "_weight").at({side, 0, 0});
         m.addBody(name + "_other").withMass(0.1).withInertia(0, 0, 0);
         m.addFixed(name + "2").from("wheel").to(name + "_other").at({0, side, 0});
       }
     },
     true},
    {"CenterOffTheAxis",
     [](Mechanism& m) {
       wheelOf(m).centeredAt({1e-4, 0, 0.1});
     },
     false},
    {"UnequalAcross", [](Mechanism& m) { wheelOf(m).withInertia(0.01, 0.0101, 0.015); }, false},
    {"SkewInertia",
     [](Mechanism& m) {
       wheelOf(m).withInertia({0.01, 0, 1e-4, 0.01, 0, 0.015});
     },
     false},
    {"ProductAcross",
     [](Mechanism& m) {
       wheelOf(m).withInertia({0.01, 1e-4, 0, 0.01, 0, 0.015});
     },
     false},
    {"UnbalancedByAFixedPart",
     [](Mechanism& m) {
       m.addBody("weight").withMass(0.1);
       m.addFixed("clip").from("wheel").to("weight").at({0.1, 0, 0});
     },
     false},
    {"CarriesABody",
     [](Mechanism& m) {
       addBar(m, "hand");
       m.addRevolute("wrist").from("wheel").to("hand");
     },
     false},
    {"Slides", [](Mechanism& m) { axleOf(m).type = JointType::Prismatic; }, false},
    {"Screws",
     [](Mechanism& m) {
       axleOf(m).type = JointType::Helical;
       axleOf(m).withPitch(0.1);
     },
     false},
    {"IsABall", [](Mechanism& m) { axleOf(m).type = JointType::Spherical; }, false},
};
INSTANTIATE_TEST_SUITE_P(Wheels, EveryWheel, ::testing::ValuesIn(changes),
                         [](const auto& test) { return test.param.title; });

TEST(Folding, OfARotorOnARotorTakesTheOuterOnly) {
  Mechanism robot = armWithWheel();
  addRotorOn(robot, "wheel", "disc");
  EXPECT_EQ(Model(robot).foldedRotors(), Folded{"disc"});
}

TEST(Folding, DoesNotCallABodyWithoutInertiaARotor) {
  Mechanism robot = armWithWheel();
  wheelOf(robot).withMass(0).withInertia(0, 0, 0);
  robot.addGear("gear", "axle", 2, "elbow");
  EXPECT_EQ(Model(robot).foldedRotors(), Folded{});
}

TEST(Folding, FindsTheMotorsOfTelloAndNotItsCranks) {
  const Model tello = robots::load("tello");
  EXPECT_FALSE(tello.foldedRotors().empty());
  for (const std::string& rotor : tello.foldedRotors()) {
    const Body* body = tello.mechanism().findBody(rotor);
    ASSERT_NE(body, nullptr);
    EXPECT_GT(body->inertia.zz, 0.0) << rotor;
  }
}

/// Σ I over all bodies at the neutral position is the same, folded or not.
TEST(Folding, MovesInertiaIntoTheParentWithoutLoss) {
  const Model folded(armWithWheel()), kept(armWithWheel(), {.foldRotors = false});
  const auto bodyOf = [](const Model& model, const std::string& name) {
    const auto it = std::ranges::find(model.bodyNames(), name);
    return model.impl().tables.bodies[static_cast<std::size_t>(it - model.bodyNames().begin())];
  };
  const auto wheel = bodyOf(kept, "wheel");
  const auto merged = bodyOf(folded, "lower").inertia;
  auto sum = bodyOf(kept, "lower").inertia;
  sum += wheel.placement * wheel.inertia;
  EXPECT_NEAR(merged.mass, sum.mass, 1e-15);
  EXPECT_NEAR(norm(merged.moment - sum.moment), 0, 1e-15);
  EXPECT_NEAR(merged.rotation.xx, sum.rotation.xx, 1e-15);
  EXPECT_NEAR(merged.rotation.xy, sum.rotation.xy, 1e-15);
  EXPECT_NEAR(merged.rotation.zz, sum.rotation.zz, 1e-15);
  EXPECT_NEAR(bodyOf(folded, "wheel").spinInertia, 0.015, 1e-15);
}

class EveryRobot : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryRobot, LooksTheSameFoldedOrNot) {
  const Model folded = robots::load(GetParam());
  const Model kept = robots::load(GetParam(), 0, {.foldRotors = false});
  EXPECT_EQ(folded.nq(), kept.nq());
  EXPECT_EQ(folded.nv(), kept.nv());
  EXPECT_EQ(folded.qNames(), kept.qNames());
  EXPECT_EQ(folded.vNames(), kept.vNames());
  EXPECT_EQ(folded.spanningPositionNames(), kept.spanningPositionNames());
  EXPECT_EQ(folded.spanningVelocityNames(), kept.spanningVelocityNames());
  EXPECT_EQ(folded.loopRowNames(), kept.loopRowNames());
  EXPECT_EQ(folded.bodyNames(), kept.bodyNames());
  EXPECT_EQ(folded.jointNames(), kept.jointNames());
  EXPECT_EQ(folded.frameNames(), kept.frameNames());
  EXPECT_EQ(folded.totalMass(), kept.totalMass());
  EXPECT_EQ(folded.neutral(), kept.neutral());

  Data foldedData(folded), keptData(kept);
  const Eigen::VectorXd q = folded.randomConfiguration(7);
  EXPECT_EQ(q, kept.randomConfiguration(7));
  Eigen::MatrixXd foldedG(folded.nvSpanning(), folded.nv()), keptG = foldedG;
  constraintJacobian(folded, foldedData, q, foldedG);
  constraintJacobian(kept, keptData, q, keptG);
  EXPECT_EQ(foldedG, keptG);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(folded.nv(), -1, 1);
  Eigen::VectorXd foldedBias(folded.nvSpanning()), keptBias = foldedBias;
  constraintBias(folded, foldedData, q, v, foldedBias);
  constraintBias(kept, keptData, q, v, keptBias);
  EXPECT_EQ(foldedBias, keptBias);
  Eigen::VectorXd foldedResidual(folded.nLoopRows()), keptResidual = foldedResidual;
  loopResidual(folded, foldedData, q, foldedResidual);
  loopResidual(kept, keptData, q, keptResidual);
  EXPECT_EQ(foldedResidual, keptResidual);
}

INSTANTIATE_TEST_SUITE_P(Robots, EveryRobot,
                         ::testing::Values("mini_cheetah", "mit_humanoid", "tello", "four_bar",
                                           "geared_chain", "belt_chain"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace kempe
