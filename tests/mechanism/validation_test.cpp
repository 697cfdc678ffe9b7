// Every mistake in the names, the tree, the bodies and the joints of a mechanism is refused with
// the name of what is wrong and what to do about it.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>

#include "mechanism/mistake.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::contains;
using test::errorOf;
using test::expectRefusal;
using test::kInfinity;
using test::kNaN;
using test::Mistake;
using test::titleOf;
using test::twoLinkArm;

TEST(Inertia, MayBeWhatRoundingLeavesOfZero) {
  Mechanism robot = twoLinkArm();
  robot.addBody("camera").withInertia(-2.4e-35, 0, 2.4e-35);
  robot.addFixed("mount").from("lower").to("camera");
  EXPECT_TRUE(robot.validate().empty());
}

TEST(Inertia, OfWhatMovesTogetherCounts) {
  Mechanism robot = twoLinkArm();
  robot.addBody("antenna").withMass(0.01).withInertia(-3.5e-8, 3.5e-8, 9.1e-8);
  robot.addFixed("glue").from("lower").to("antenna");
  EXPECT_TRUE(
      contains(test::warningsOf(Model(robot)),
               "body \"antenna\": its inertia is not positive semidefinite: principal moments "
               "(-3.5e-08, 3.5e-08, 9.1e-08) kg·m². No real body has it. It is used as it "
               "is, because that of all bodies that are fixed together here is positive."));
  robot.bodies.back().withInertia(-30, 35, 91);
  EXPECT_TRUE(
      contains(errorOf(robot), "body \"antenna\": its inertia is not positive semidefinite"));
}

TEST(Inertia, OfBodiesThatDoNotMoveChangesNothing) {
  Mechanism robot = twoLinkArm();
  robot.bodies[0].withInertia(-1, 1, 1);
  EXPECT_TRUE(
      contains(test::warningsOf(Model(robot)), "It does not move, so this changes nothing."));
}

/// 1e-20 kg·m² beside the diagonal of a zero inertia, as in published files.
TEST(Inertia, MayBeZeroButForRoundingInABodyWithMass) {
  Mechanism robot = twoLinkArm();
  robot.addBody("ankle").withMass(0.2675).withInertia({0, 0, 1.4e-20, 0, 0, 0});
  robot.addFixed("mount").from("lower").to("ankle");
  EXPECT_TRUE(robot.validate().empty());
}

class EveryMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(EveryMistake, IsRefusedWithItsCulpritAndARemedy) {
  expectRefusal(GetParam());
}

// --- names -------------------------------------------------------------------------------------

const std::vector<Mistake> inNames{
    {"BodyNotUtf8", [](Mechanism& m) { m.bodies[1].name = "upp\xff"; },
     "body \"upp?\": its name is not UTF-8 text", "Give it another name."},
    {"MechanismNotUtf8", [](Mechanism& m) { m.name = "\xed\xa0\x80"; },
     "mechanism \"???\": its name is not UTF-8 text", "Give it another name."},
    {"BodyTwice", [](Mechanism& m) { m.addBody("upper"); }, "body \"upper\": the name is taken",
     "Rename one of the two."},
    {"JointTwice",
     [](Mechanism& m) {
       addBar(m, "hand");
       m.addRevolute("elbow").from("lower").to("hand");
     },
     "joint \"elbow\": the name is taken", "Rename one of the two."},
    {"CouplingTwice",
     [](Mechanism& m) {
       m.addGear("gear", "elbow", 2, "shoulder");
       m.addGear("gear", "elbow", 2, "shoulder");
     },
     "coupling \"gear\": the name is taken", "Rename one of the two."},
    {"LoopTwice",
     [](Mechanism& m) {
       m.addLoop("tip", LoopType::Planar).from("lower").to("ground");
       m.addLoop("tip", LoopType::Planar).from("lower").to("ground");
     },
     "loop \"tip\": the name is taken", "Rename one of the two."},
    {"RodLikeACoupling",
     [](Mechanism& m) {
       m.addGear("link", "elbow", 2, "shoulder");
       m.addRod("link").from("lower", {}).to("ground", {}).ofLength(1);
     },
     "rod \"link\": the name is taken", "Rename one of the two."},
    {"FunctionLikeALoop",
     [](Mechanism& m) {
       m.addLoop("tip", LoopType::Planar).from("lower").to("ground");
       m.addFunction("tip", {"elbow"}, 1, [](const auto& q, auto& phi) { phi[0] = q[0]; });
     },
     "function \"tip\": the name is taken", "Rename one of the two."},
    {"BodyWithoutName", [](Mechanism& m) { addBar(m, ""); }, "body number 4 has no name",
     "Give it one."},
    {"JointWithoutName",
     [](Mechanism& m) {
       addBar(m, "hand");
       m.addRevolute("").from("lower").to("hand");
     },
     "joint number 3 has no name", "Give it one."},
    {"CouplingWithoutName", [](Mechanism& m) { m.addGear("", "elbow", 2, "shoulder"); },
     "coupling number 1 has no name", "Give it one."},
    {"LoopWithoutName",
     [](Mechanism& m) { m.addLoop("", LoopType::Planar).from("lower").to("ground"); },
     "loop number 1 has no name", "Give it one."},
};
INSTANTIATE_TEST_SUITE_P(Names, EveryMistake, ::testing::ValuesIn(inNames), titleOf);

// --- the tree ----------------------------------------------------------------------------------

const std::vector<Mistake> inTree{
    {"UnknownParent", [](Mechanism& m) { m.joints[1].from("uper"); },
     "joint \"elbow\": its parent \"uper\" does not exist", "Check the name or add the body."},
    {"UnknownChild", [](Mechanism& m) { m.joints[1].to("lowr"); },
     "joint \"elbow\": its child \"lowr\" does not exist", "Check the name or add the body."},
    {"NoParent", [](Mechanism& m) { m.joints[1].from(""); }, "joint \"elbow\": has no parent body",
     "Name one."},
    {"NoChild", [](Mechanism& m) { m.joints[1].to(""); }, "joint \"elbow\": has no child body",
     "Name one."},
    {"JointToItself", [](Mechanism& m) { m.joints[1].to("upper"); },
     "joint \"elbow\": connects body \"upper\" to itself", "Name another parent."},
    {"TwoParents", [](Mechanism& m) { m.addRevolute("second").from("ground").to("lower"); },
     "joint \"second\": body \"lower\" is already the child of joint \"elbow\"",
     "Make one of the two joints a loop."},
    {"CycleWithoutRoot",
     [](Mechanism& m) {
       m.joints.clear();
       m.addRevolute("hanging").from("lower").to("ground");
       m.addRevolute("down").from("upper").to("lower");
       m.addRevolute("up").from("lower").to("upper");
     },
     "joint \"down\": the tree joints form a cycle (\"down\", \"up\") and no body is the root",
     "Make one of them a loop."},
    {"CycleBesideTheRoot",
     [](Mechanism& m) {
       addBar(m, "a");
       addBar(m, "b");
       addBar(m, "c");
       m.addRevolute("ca").from("c").to("a");
       m.addRevolute("ab").from("a").to("b");
       m.addRevolute("bc").from("b").to("c");
     },
     "the tree joints form a cycle (\"ca\", \"ab\", \"bc\") and body \"a\" is not connected to the "
     "root \"ground\"",
     "Make one of them a loop and join the part to the root."},
    {"SeveralRoots", [](Mechanism& m) { addBar(m, "stray"); },
     "mechanism \"arm\" consists of 2 disconnected parts: bodies \"ground\", \"stray\" have no "
     "joint above them",
     "Exactly one may be the root; connect the others."},
    {"DisconnectedPart",
     [](Mechanism& m) {
       addBar(m, "wheel");
       addBar(m, "axle");
       m.addRevolute("bearing").from("axle").to("wheel");
     },
     "bodies \"ground\", \"axle\" have no joint above them", "connect the others."},
    {"NoBodies",
     [](Mechanism& m) {
       m.bodies.clear();
       m.joints.clear();
     },
     "mechanism \"arm\" has no bodies", "Add at least a root and a body that moves."},
    {"AllFixed", [](Mechanism& m) { m.joints[0].type = m.joints[1].type = JointType::Fixed; },
     "mechanism \"arm\" has no degree of freedom: all its bodies are fixed to the root \"ground\"",
     "Add a joint that moves, or load it with a floating base."},
    {"GravityNotANumber", [](Mechanism& m) { m.gravity.z = kNaN; },
     "mechanism \"arm\": its gravity is not finite", "Give finite numbers."},
    {"SlipSpeedNegative", [](Mechanism& m) { m.frictionSlipSpeed = -0.1; },
     "mechanism \"arm\": the slip speed of its friction is -0.1",
     "Give a finite number greater than zero, or zero for friction that sticks."},
    {"SlipSpeedNotANumber", [](Mechanism& m) { m.frictionSlipSpeed = kNaN; },
     "mechanism \"arm\": the slip speed of its friction is nan", "Give a finite number"},
    {"SlipSpeedTooSmall", [](Mechanism& m) { m.frictionSlipSpeed = 1e-40; },
     "mechanism \"arm\": the slip speed of its friction is 1e-40", "Give a finite number"},
};
INSTANTIATE_TEST_SUITE_P(Tree, EveryMistake, ::testing::ValuesIn(inTree), titleOf);

// --- bodies ------------------------------------------------------------------------------------

const std::vector<Mistake> inBodies{
    {"NegativeMass", [](Mechanism& m) { m.bodies[1].mass = -2.5; },
     "body \"upper\": its mass is negative (-2.5 kg)", "Give zero or more."},
    {"MassNotANumber", [](Mechanism& m) { m.bodies[1].mass = kNaN; },
     "body \"upper\": its mass is not finite", "Give finite numbers."},
    {"InfiniteMass", [](Mechanism& m) { m.bodies[1].mass = kInfinity; },
     "body \"upper\": its mass is not finite", "Give finite numbers."},
    {"CenterNotANumber", [](Mechanism& m) { m.bodies[2].centerOfMass.y = kNaN; },
     "body \"lower\": its centre of mass is not finite", "Give finite numbers."},
    {"InfiniteInertia", [](Mechanism& m) { m.bodies[2].inertia.yz = kInfinity; },
     "body \"lower\": its inertia is not finite", "Give finite numbers."},
    {"NegativeMoment", [](Mechanism& m) { m.bodies[2].withInertia(-0.5, 1, 1); },
     "body \"lower\": its inertia is not positive semidefinite: principal moments (-0.5, 1, 1)",
     "Check signs and products of inertia."},
    {"LargeProduct",
     [](Mechanism& m) {
       m.bodies[2].withInertia({1, 2, 0, 1, 0, 1});
     },
     "body \"lower\": its inertia is not positive semidefinite: principal moments (-1, 1, 3)",
     "Check signs and products of inertia."},
    {"MasslessLeaf",
     [](Mechanism& m) {
       m.addBody("feather");
       m.addRevolute("flutter").from("lower").to("feather");
     },
     "coordinate \"flutter\" moves no inertia",
     "Give the bodies that it moves a mass or an inertia, or fix the joint."},
    {"MasslessChain",
     [](Mechanism& m) {
       for (Body& body : m.bodies) {
         body.withMass(0).withInertia(0, 0, 0);
       }
     },
     "coordinate \"elbow\" moves no inertia", "Give the bodies that it moves a mass"},
    {"PointMassOnItsAxis",
     [](Mechanism& m) {
       m.addBody("bead").withMass(3);
       m.addRevolute("spin").from("lower").to("bead");
     },
     "coordinate \"spin\" moves no inertia", "or fix the joint."},
    {"MasslessBetweenSliders",
     [](Mechanism& m) {
       m.addBody("carriage");
       m.addPrismatic("near").from("lower").to("carriage").at({0.1, 0.2, 0.3}).along({1, 2, 3});
       m.addBody("load").withMass(2).centeredAt({0.1, 0, 0}).withInertia(1, 1, 1);
       m.addPrismatic("far").from("carriage").to("load").along({1, 2, 3});
     },
     "coordinate \"near\" moves no inertia", "Give the bodies that it moves a mass"},
    {"MassWithoutInertiaOnABall",
     [](Mechanism& m) {
       m.addBody("bob").withMass(3).centeredAt({0, 0, -1});
       m.addJoint("ball", JointType::Spherical).from("lower").to("bob");
     },
     "coordinate \"ball.wz\" moves no inertia", "Give the bodies that it moves"},
};
INSTANTIATE_TEST_SUITE_P(Bodies, EveryMistake, ::testing::ValuesIn(inBodies), titleOf);

TEST(Inertia, OfAMasslessRotorIsEnough) {
  Mechanism robot = twoLinkArm();
  test::addRotorOn(robot, "lower", "rotor");
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Inertia, OfAnArmatureIsEnough) {
  Mechanism robot = twoLinkArm();
  robot.addBody("shaft");
  robot.addRevolute("spin").from("lower").to("shaft").withArmature(1e-3);
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Inertia, FurtherOutOnTheBranchIsEnough) {
  Mechanism robot = twoLinkArm();
  robot.bodies[1].withMass(0).withInertia(0, 0, 0);
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Inertia, OfWhatIsFixedToABodyIsEnough) {
  Mechanism robot = twoLinkArm();
  robot.addBody("carrier");
  robot.addRevolute("wrist").from("lower").to("carrier");
  addBar(robot, "tool");
  robot.addFixed("mount").from("carrier").to("tool");
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Inertia, ThatBreaksTheTriangleInequalityIsAWarningWithTheFigure) {
  Mechanism robot = twoLinkArm();
  robot.bodies[2].withInertia(0.1, 0.2, 0.5);
  const std::string warnings = test::warningsOf(Model(robot));
  EXPECT_TRUE(contains(warnings,
                       "body \"lower\": its inertia breaks the triangle inequality by 0.2 kg·m²: "
                       "principal moments (0.1, 0.2, 0.5) kg·m²"))
      << warnings;
}

TEST(Inertia, OfAFlatBodyIsNoWarning) {
  Mechanism robot = twoLinkArm();
  robot.bodies[2].withInertia(0.1, 0.2, 0.3);
  EXPECT_EQ(test::warningsOf(Model(robot)), "");
}

// --- joints ------------------------------------------------------------------------------------

const std::vector<Mistake> inJoints{
    {"ActuatedFixed",
     [](Mechanism& m) {
       m.addFixed("tool").from("lower").to("tool").actuated();
       m.addBody("tool");
     },
     "joint \"tool\": is fixed and cannot be actuated", "Change its type"},
    {"StartPoseOfNobody", [](Mechanism& m) { m.startPose["knee"] = {1}; },
     "start pose of joint \"knee\": there is no such joint", "Check the name."},
    {"StartPoseTooLong",
     [](Mechanism& m) {
       m.startPose["elbow"] = {1, 2};
     },
     "start pose of joint \"elbow\": it has 2 number(s), and the joint is revolute, with 1",
     "Give 1."},
    {"StartPoseEmpty", [](Mechanism& m) { m.startPose["elbow"] = {}; },
     "start pose of joint \"elbow\": it has 0 number(s)", "Give 1."},
    {"StartPoseNotANumber", [](Mechanism& m) { m.startPose["elbow"] = {kNaN}; },
     "start pose of joint \"elbow\": a number is not finite", "Give finite numbers."},
    {"StartPoseWithoutDirection",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Spherical;
       m.startPose["elbow"] = {0, 0, 0, 0};
     },
     "start pose of joint \"elbow\": its quaternion is zero", "Give x, y, z, w"},
    {"ZeroAxis",
     [](Mechanism& m) {
       m.joints[1].about({0, 0, 0});
     },
     "joint \"elbow\": its axis has no direction", "Give a nonzero, finite vector."},
    {"AxisNotANumber",
     [](Mechanism& m) {
       m.joints[1].about({0, kNaN, 1});
     },
     "joint \"elbow\": its axis has no direction", "Give a nonzero, finite vector."},
    {"AxisTooLongToMeasure",
     [](Mechanism& m) {
       m.joints[1].about({0, 1e200, 1e200});
     },
     "joint \"elbow\": its axis has no direction", "Give a nonzero, finite vector."},
    {"ZeroSecondAxis",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Universal;
       m.joints[1].thenAbout({0, 0, 0});
     },
     "joint \"elbow\": its axis2 has no direction", "Give a nonzero, finite vector."},
    {"ParallelAxes",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Universal;
       m.joints[1].about({0, 0, 2}).thenAbout({0, 0, -1});
     },
     "joint \"elbow\": axis and axis2 of a universal joint are parallel", "Turn one of them."},
    {"InfinitePitch",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Helical;
       m.joints[1].withPitch(kInfinity);
     },
     "joint \"elbow\": its pitch is not finite", "Give finite numbers."},
    {"OriginNotANumber",
     [](Mechanism& m) {
       m.joints[1].at({kNaN, 0, 0});
     },
     "joint \"elbow\": its origin is not a finite position and a rotation",
     "Give it by xyz and roll, pitch, yaw."},
    {"OriginNotARotation",
     [](Mechanism& m) {
       m.joints[1].origin.R.r0 = {2, 0, 0};
     },
     "joint \"elbow\": its origin is not a finite position and a rotation",
     "Give it by xyz and roll, pitch, yaw."},
    {"OriginAMirror",
     [](Mechanism& m) {
       m.joints[1].origin.R.r0 = {-1, 0, 0};
     },
     "joint \"elbow\": its origin is not a finite position and a rotation",
     "Give it by xyz and roll, pitch, yaw."},
    {"LimitsExchanged", [](Mechanism& m) { m.joints[1].limitedTo(0.5, -0.5); },
     "joint \"elbow\": its lower limit 0.5 is not below its upper limit -0.5",
     "Exchange or correct them."},
    {"LimitNotANumber", [](Mechanism& m) { m.joints[1].limitedTo(kNaN, 1); },
     "joint \"elbow\": its lower limit nan", "Exchange or correct them."},
    {"NegativeSpeed", [](Mechanism& m) { m.joints[1].withSpeed(-3); },
     "joint \"elbow\": its velocity and effort limits are -3 and inf", "Give zero or more"},
    {"NegativeEffort", [](Mechanism& m) { m.joints[1].withEffort(-3); },
     "joint \"elbow\": its velocity and effort limits are inf and -3", "Give zero or more"},
    {"NegativeDamping", [](Mechanism& m) { m.joints[1].withDamping(-0.1); },
     "joint \"elbow\": its damping is -0.1", "Give a finite number, zero or more."},
    {"NegativeSpring", [](Mechanism& m) { m.joints[1].withSpring(-2); },
     "joint \"elbow\": its spring stiffness is -2", "Give a finite number, zero or more."},
    {"SpringWithoutRest", [](Mechanism& m) { m.joints[1].withSpring(2, kInfinity); },
     "joint \"elbow\": its spring reference", "finite"},
    {"SpringOfABallJoint",
     [](Mechanism& m) {
       m.joints[1].type = JointType::Spherical;
       m.joints[1].withSpring(2);
     },
     "joint \"elbow\": a spring needs a joint with one degree of freedom, but this one is "
     "spherical",
     "Remove the spring"},
    {"InfiniteFriction", [](Mechanism& m) { m.joints[1].withFriction(kInfinity); },
     "joint \"elbow\": its friction is inf", "Give a finite number, zero or more."},
    {"ArmatureNotANumber", [](Mechanism& m) { m.joints[1].withArmature(kNaN); },
     "joint \"elbow\": its armature is nan", "Give a finite number, zero or more."},
};
INSTANTIATE_TEST_SUITE_P(Joints, EveryMistake, ::testing::ValuesIn(inJoints), titleOf);

TEST(Joints, MayHaveEqualLimits) {
  Mechanism robot = twoLinkArm();
  robot.joints[1].limitedTo(0.5, 0.5);
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Joints, ThatAreScrewsOfZeroPitchTurnAsRevoluteOnes) {
  Mechanism robot = twoLinkArm();
  robot.joints[1].type = JointType::Helical;
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Joints, WithoutUseForAnAxisMayHaveNone) {
  Mechanism robot = twoLinkArm();
  robot.joints[1].type = JointType::Spherical;
  robot.joints[1].about({0, 0, 0});
  EXPECT_EQ(errorOf(robot), "");
}

TEST(Joints, WithSeveralFreedomsWarnOfLimitsThatAreNotUsed) {
  Mechanism robot = twoLinkArm();
  robot.joints[1].type = JointType::Cylindrical;
  robot.joints[1].limitedTo(-1, 1);
  const std::string warnings = test::warningsOf(Model(robot));
  EXPECT_TRUE(
      contains(warnings,
               "joint \"elbow\": position limits have no meaning for a cylindrical joint and are "
               "ignored."))
      << warnings;
}

// --- where messages begin ----------------------------------------------------------------------

TEST(Messages, BeginWithFileAndLine) {
  Mechanism robot = twoLinkArm();
  robot.source = "leg.urdf";
  robot.bodies[1].mass = -1;
  robot.bodies[1].line = 41;
  EXPECT_EQ(errorOf(robot),
            "leg.urdf:41: body \"upper\": its mass is negative (-1 kg). Give zero or more.");
  robot.bodies[1].line = 0;
  EXPECT_EQ(errorOf(robot),
            "leg.urdf: body \"upper\": its mass is negative (-1 kg). Give zero or more.");
}

TEST(Messages, SayWhereATakenNameWasFirst) {
  Mechanism robot = twoLinkArm();
  robot.source = "leg.urdf";
  robot.bodies[1].line = 7;
  robot.addBody("upper").line = 9;
  EXPECT_EQ(errorOf(robot),
            "leg.urdf:9: body \"upper\": the name is taken (line 7). Rename one of the two.");
}

TEST(Messages, OfManyRootsNameTheFirstFive) {
  Mechanism robot = twoLinkArm();
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    addBar(robot, name);
  }
  EXPECT_TRUE(contains(
      errorOf(robot),
      "consists of 6 disconnected parts: bodies \"ground\", \"a\", \"b\", \"c\", \"d\", … have"))
      << errorOf(robot);
}

}  // namespace
}  // namespace kempe
