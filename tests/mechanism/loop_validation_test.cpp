// Every mistake in loops, rods, couplings and functions is refused with the name of what is wrong
// and what to do about it.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>

#include "mechanism/mistake.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::contains;
using test::expectRefusal;
using test::kInfinity;
using test::kNaN;
using test::Mistake;
using test::titleOf;
using test::twoLinkArm;
using test::warningsOf;

class EveryBadLoop : public ::testing::TestWithParam<Mistake> {};

TEST_P(EveryBadLoop, IsRefusedWithItsCulpritAndARemedy) {
  expectRefusal(GetParam());
}

/// A body "tool" that is fixed to "lower".
void addTool(Mechanism& robot) {
  addBar(robot, "tool");
  robot.addFixed("mount").from("lower").to("tool");
}

LoopJoint& addTip(Mechanism& robot, LoopType type = LoopType::Planar) {
  return robot.addLoop("tip", type).from("lower").to("ground");
}

// --- loop joints and rods ----------------------------------------------------------------------

const std::vector<Mistake> loopJoints{
    {"UnknownPredecessor", [](Mechanism& m) { addTip(m).from("lowr"); },
     "loop \"tip\": its predecessor \"lowr\" does not exist", "Check the name or add the body."},
    {"UnknownSuccessor", [](Mechanism& m) { addTip(m).to("grund"); },
     "loop \"tip\": its successor \"grund\" does not exist", "Check the name or add the body."},
    {"NoSuccessor", [](Mechanism& m) { addTip(m).to(""); }, "loop \"tip\": has no successor body",
     "Name one."},
    {"SameBody",
     [](Mechanism& m) {
       addTip(m).to("lower", at({1, 0, 0}));
     },
     "loop \"tip\": both ends are on body \"lower\"", "Put one end on another body."},
    {"SameBodyThroughAFixedJoint",
     [](Mechanism& m) {
       addTool(m);
       addTip(m).to("tool");
     },
     "loop \"tip\": bodies \"lower\" and \"tool\" are fixed to each other",
     "Put one end on a body that moves against the other, or remove the loop."},
    {"ZeroAxis",
     [](Mechanism& m) {
       addTip(m).about({0, 0, 0});
     },
     "loop \"tip\": its axis has no direction", "Give a nonzero, finite vector."},
    {"ParallelAxes",
     [](Mechanism& m) {
       addTip(m, LoopType::Universal).about({0, 1, 0}).thenAbout({0, -3, 0});
     },
     "loop \"tip\": axis and axis2 of a universal joint are parallel", "Turn one of them."},
    {"OriginNotANumber",
     [](Mechanism& m) {
       addTip(m).to("ground", at({0, kInfinity, 0}));
     },
     "loop \"tip\": the origin of its end on \"ground\" is not a finite position and a rotation",
     "Give it by xyz and roll, pitch, yaw."},
    {"OutOfReach",
     [](Mechanism& m) {
       addTip(m, LoopType::Spherical).to("ground", at({5, 0, 0}));
     },
     "loop \"tip\": the loop cannot be closed", "Check lengths, origins and axes of its ends"},
};
INSTANTIATE_TEST_SUITE_P(LoopJoints, EveryBadLoop, ::testing::ValuesIn(loopJoints), titleOf);

Rod& addStay(Mechanism& robot, double length) {
  return robot.addRod("stay").from("lower", {1, 0, 0}).to("ground", {0, 1, 0}).ofLength(length);
}

const std::vector<Mistake> rods{
    {"NegativeLength", [](Mechanism& m) { addStay(m, -0.2); },
     "rod \"stay\": its length must be positive, and is -0.2 m",
     "For two points that coincide use a spherical loop."},
    {"ZeroLength", [](Mechanism& m) { addStay(m, 0); },
     "rod \"stay\": its length must be positive, and is 0 m",
     "For two points that coincide use a spherical loop."},
    {"LengthNotANumber", [](Mechanism& m) { addStay(m, kNaN); },
     "rod \"stay\": its length must be positive, and is nan m", "use a spherical loop."},
    {"InfiniteLength", [](Mechanism& m) { addStay(m, kInfinity); },
     "rod \"stay\": its length must be positive, and is inf m", "use a spherical loop."},
    {"PointNotANumber",
     [](Mechanism& m) {
       addStay(m, 1).from("lower", {kNaN, 0, 0});
     },
     "rod \"stay\": its end point on \"lower\" is not finite", "Give finite numbers."},
    {"UnknownBody", [](Mechanism& m) { addStay(m, 1).to("wall", {}); },
     "rod \"stay\": its successor \"wall\" does not exist", "Check the name or add the body."},
    {"SameBody", [](Mechanism& m) { addStay(m, 1).to("lower", {}); },
     "rod \"stay\": both ends are on body \"lower\"", "Put one end on another body."},
    {"SameBodyThroughAFixedJoint",
     [](Mechanism& m) {
       addTool(m);
       addStay(m, 1).to("tool", {});
     },
     "rod \"stay\": bodies \"lower\" and \"tool\" are fixed to each other",
     "Put one end on a body that moves against the other, or remove the loop."},
    {"TooLong", [](Mechanism& m) { addStay(m, 9); }, "rod \"stay\": the loop cannot be closed",
     "Check lengths"},
};
INSTANTIATE_TEST_SUITE_P(Rods, EveryBadLoop, ::testing::ValuesIn(rods), titleOf);

// --- couplings ---------------------------------------------------------------------------------

const std::vector<Mistake> couplings{
    {"Empty", [](Mechanism& m) { m.addCoupling("gear"); }, "coupling \"gear\": couples no joints",
     "Name at least two"},
    {"UnknownJoint", [](Mechanism& m) { m.addGear("gear", "elbow", 2, "sholder"); },
     "coupling \"gear\": joint \"sholder\" does not exist", "Check the name."},
    {"Ball",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Spherical;
       m.addGear("gear", "elbow", 2, "shoulder");
     },
     "coupling \"gear\": joint \"elbow\" is spherical and has no scalar position",
     "Name another joint."},
    {"FixedJoint",
     [](Mechanism& m) {
       addTool(m);
       m.addGear("gear", "mount", 2, "shoulder");
     },
     "coupling \"gear\": joint \"mount\" is fixed and has no scalar position",
     "Name another joint."},
    {"UnknownComponent",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Cylindrical;
       m.addGear("gear", Coordinate("elbow", 2), 2, "shoulder");
     },
     "coupling \"gear\": joint \"elbow\" has 2 coordinate(s), numbered from 0; there is no number "
     "2",
     "Name one of them."},
    {"NegativeComponent",
     [](Mechanism& m) { m.addGear("gear", Coordinate("elbow", -1), 2, "shoulder"); },
     "coupling \"gear\": joint \"elbow\" has 1 coordinate(s), numbered from 0; there is no number "
     "-1",
     "Name one of them."},
    {"JointTwice", [](Mechanism& m) { m.addGear("gear", "elbow", 2, "elbow"); },
     "coupling \"gear\": joint \"elbow\" occurs twice", "Add its coefficients up."},
    {"AllRatiosZero",
     [](Mechanism& m) { m.addCoupling("gear").plus(0, "elbow").plus(0, "shoulder"); },
     "coupling \"gear\": all its ratios are zero", "Give a nonzero one or remove it."},
    {"RatioNotANumber", [](Mechanism& m) { m.addGear("gear", "elbow", kNaN, "shoulder"); },
     "coupling \"gear\": the ratio at joint \"shoulder\" is not finite", "Give a finite number."},
    {"InfiniteOffset",
     [](Mechanism& m) { m.addGear("gear", "elbow", 2, "shoulder").equals(kInfinity); },
     "coupling \"gear\": its offset is not finite", "Give finite numbers."},
    {"Contradiction",
     [](Mechanism& m) {
       m.addGear("gear", "elbow", 2, "shoulder");
       m.addGear("second", "elbow", 2, "shoulder").equals(0.5);
     },
     "coupling \"second\": it contradicts the couplings before it",
     "Correct its ratios or offset, or remove it."},
    {"ContradictionInARing",
     [](Mechanism& m) {
       addBar(m, "hand");
       m.addRevolute("wrist").from("lower").to("hand");
       m.addGear("first", "elbow", 2, "shoulder");
       m.addGear("second", "wrist", 2, "elbow");
       m.addGear("third", "wrist", 4, "shoulder").equals(1);
     },
     "coupling \"third\": it contradicts the couplings before it", "or remove it."},
    {"HoldsEverything",
     [](Mechanism& m) {
       m.addGear("gear", "elbow", 2, "shoulder");
       m.addGear("other_gear", "elbow", 3, "shoulder");
     },
     "mechanism \"arm\" has no degree of freedom: its loops (gear, other_gear) hold every joint",
     "remove a loop or a coupling."},
};
INSTANTIATE_TEST_SUITE_P(Couplings, EveryBadLoop, ::testing::ValuesIn(couplings), titleOf);

TEST(Coupling, OfOneJointHoldsItAndSaysSo) {
  Mechanism robot = twoLinkArm();
  robot.addCoupling("brake").plus(2, "elbow").equals(1);
  const Model model(robot);
  EXPECT_EQ(model.vNames(), std::vector<std::string>{"shoulder"});
  EXPECT_TRUE(contains(
      warningsOf(model),
      "coupling \"brake\": the loops leave it no degree of freedom: it is a rigid structure"))
      << warningsOf(model);
}

TEST(Coupling, SaidTwiceIsRedundantAndNoContradiction) {
  Mechanism robot = twoLinkArm();
  robot.addGear("gear", "elbow", 2, "shoulder").equals(0.5);
  robot.addCoupling("again").plus(-3, "elbow").plus(6, "shoulder").equals(-1.5);
  const Model model(robot);
  EXPECT_EQ(model.nv(), 1);
  EXPECT_EQ(model.clusters().front().redundantRows, 1);
}

// --- functions ---------------------------------------------------------------------------------

/// φ = elbow − 2 shoulder.
constexpr auto kGear = [](const auto& q, auto& phi) { phi[0] = q[0] - q[1] * 2.0; };

const std::vector<Mistake> functions{
    {"NoRows",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "shoulder"}, 0, kGear);
     },
     "function \"cam\": it has 0 row(s) and 2 coordinate(s)", "Give at least one of each."},
    {"NoCoordinates", [](Mechanism& m) { m.addFunction("cam", {}, 1, kGear); },
     "function \"cam\": it has 1 row(s) and 0 coordinate(s)", "Give at least one of each."},
    {"NothingToCall",
     [](Mechanism& m) {
       Function& cam = m.functions.emplace_back();
       cam.name = "cam";
       cam.coordinates = {"elbow"};
     },
     "function \"cam\": has no function to call", "Add it with addFunction()."},
    {"NoDerivative",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "shoulder"}, 1, kGear).jet = nullptr;
     },
     "function \"cam\": has no function to call", "Add it with addFunction()."},
    {"UnknownJoint",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "knee"}, 1, kGear);
     },
     "function \"cam\": joint \"knee\" does not exist", "Check the name."},
    {"CoordinateTwice",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "elbow"}, 1, kGear);
     },
     "function \"cam\": joint \"elbow\" occurs twice", "Name each coordinate once."},
    {"FreeJoint",
     [](Mechanism& m) {
       m.joints[0].type = JointType::Free;
       m.addFunction("cam", {"elbow", "shoulder"}, 1, kGear);
     },
     "function \"cam\": joint \"shoulder\" is free and has no scalar position",
     "Name another joint."},
    {"NotANumber",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "shoulder"}, 1,
                     [](const auto& q, auto& phi) { phi[0] = q[0] * kNaN; });
     },
     "function \"cam\": its value is not finite",
     "Check that it gives finite numbers over the range of its joints."},
    {"NotANumberInItsFirstRowOnly",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "shoulder"}, 2, [](const auto& q, auto& phi) {
         phi[0] = q[0] * kNaN;
         phi[1] = q[1] * 0.0;
       });
     },
     "function \"cam\": its value is not finite",
     "Check that it gives finite numbers over the range of its joints."},
    {"NotANumberBesideAGoodLoop",
     [](Mechanism& m) {
       m.addGear("gear", "elbow", 2, "shoulder");
       m.addFunction("cam", {"elbow", "shoulder"}, 1,
                     [](const auto& q, auto& phi) { phi[0] = q[0] * kInfinity; });
     },
     "function \"cam\": its value is not finite",
     "Check that it gives finite numbers over the range of its joints."},
    {"WithoutAZero",
     [](Mechanism& m) {
       m.addFunction("cam", {"elbow", "shoulder"}, 1,
                     [](const auto& q, auto& phi) { phi[0] = q[0] * q[0] + q[1] * q[1] + 1.0; });
     },
     "function \"cam\": the loop cannot be closed; in the best of 400 starts it stayed open by 1",
     "Check lengths"},
};
INSTANTIATE_TEST_SUITE_P(Functions, EveryBadLoop, ::testing::ValuesIn(functions), titleOf);

// --- the independent set -----------------------------------------------------------------------

TEST(IndependentSet, OfWrongSizeIsCorrectedAndSaidWithTheRightNumber) {
  Mechanism robot = twoLinkArm();
  robot.joints[0].independent();
  robot.joints[1].independent();
  robot.addGear("gear", "elbow", 2, "shoulder");
  const Model model(robot);
  EXPECT_EQ(model.nv(), 1);
  const std::string warnings = warningsOf(model);
  EXPECT_TRUE(contains(warnings,
                       "coupling \"gear\": it has 1 degree of freedom, but 2 coordinates are "
                       "marked independent (shoulder, elbow)"))
      << warnings;
  EXPECT_TRUE(contains(warnings, "Mark 1.")) << warnings;
}

TEST(IndependentSet, ThatDoesNotDetermineTheRestIsReplacedAndSaid) {
  // Shoulder and elbow follow each other, so that the two of them leave the wrist undetermined.
  Mechanism robot = twoLinkArm();
  addBar(robot, "hand");
  robot.addRevolute("wrist").from("lower").to("hand").dependent();
  robot.joints[0].independent();
  robot.joints[1].independent();
  robot.addCoupling("gear").plus(1, "elbow").minus(2, "shoulder").plus(0, "wrist");
  const Model model(robot);
  EXPECT_EQ(model.nv(), 2);
  EXPECT_TRUE(test::namesOf(model.vNames()).contains("wrist"));
  EXPECT_TRUE(contains(warningsOf(model),
                       "coupling \"gear\": the coordinates marked independent do not determine the "
                       "others; chosen for good conditioning: "))
      << warningsOf(model);
}

TEST(IndependentSet, ThatIsNotMarkedIsChosenAndSaid) {
  Mechanism robot = twoLinkArm();
  robot.addGear("gear", "elbow", 2, "shoulder");
  const Model model(robot);
  const std::string warnings = warningsOf(model);
  EXPECT_TRUE(contains(warnings,
                       "coupling \"gear\": it has 1 degree of freedom and no independent "
                       "coordinates are marked; chosen for good conditioning: " +
                           model.vNames().front() + "."))
      << warnings;
}

TEST(IndependentSet, ThatIsAdmissibleIsTakenInSilence) {
  for (const std::string motor : {"shoulder", "elbow"}) {
    Mechanism robot = twoLinkArm();
    (motor == "elbow" ? robot.joints[0] : robot.joints[1]).dependent();
    robot.addGear("gear", "elbow", 2, "shoulder");
    const Model model(robot);
    EXPECT_EQ(model.vNames(), std::vector<std::string>{motor});
    EXPECT_EQ(warningsOf(model), "");
  }
}

}  // namespace
}  // namespace kempe
