// What exporters leave in a URDF and what changes nothing that Kempe computes is a warning.

#include <gtest/gtest.h>

#include "io_testing.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::robotWith;

struct Leftover {
  const char* name;
  std::string text;
  const char* warning;
};

std::string leftoverName(const testing::TestParamInfo<Leftover>& leftover) {
  return leftover.param.name;
}

std::ostream& operator<<(std::ostream& out, const Leftover& leftover) {
  return out << leftover.text;
}

std::string linkWith(const std::string& contents) {
  return robotWith("<link name='d'>" + contents +
                   "</link><joint name='cd' type='fixed'><parent link='c'/><child link='d'/>"
                   "</joint>");
}

std::string jointWith(const std::string& contents) {
  return robotWith(
      "<link name='d'/><joint name='cd' type='revolute'><parent link='c'/><child link='d'/>" +
      contents + "</joint>");
}

const std::string limits = "<limit lower='-1' upper='1' effort='1' velocity='1'/>";

class HarmlessLeftover : public testing::TestWithParam<Leftover> {};

TEST_P(HarmlessLeftover, IsReadWithOneWarning) {
  const Mechanism mechanism = readUrdfText(GetParam().text, "file");
  static_cast<void>(mechanism.validate());
  ASSERT_EQ(mechanism.warnings.size(), 1U);
  EXPECT_TRUE(mechanism.warnings[0].starts_with(GetParam().warning)) << mechanism.warnings[0];
}

const Leftover leftovers[] = {
    {"ZeroOriginOfALink", linkWith("<origin xyz='0 0 0' rpy='0 0 0'/>"),
     "file:7: <origin> directly in a link, zero, has no meaning"},
    {"GazeboInALink", linkWith("<gazebo><kp>1</kp></gazebo>"),
     "file:7: <gazebo> does not affect the dynamics"},
    {"TransmissionInAJoint", jointWith(limits + "<transmission/>"),
     "file:7: <transmission> does not affect the dynamics"},
    {"SafetyController", jointWith(limits + "<safety_controller k_velocity='0'/>"),
     "file:7: <safety_controller> does not affect the dynamics"},
    {"SameElementTwice", jointWith(limits + "<axis xyz='0 0 1'/><axis xyz='0 0 1'/>"),
     "file:7: a second <axis> repeats the first"},
    {"SameLimitsInAnotherOrder",
     jointWith(limits + "<limit velocity='1' upper='1' lower='-1' effort='1'/>"),
     "file:7: a second <limit> repeats the first"},
    {"AllLimitsZero", jointWith("<limit lower='0' upper='0' effort='0' velocity='0'/>"),
     "file:7: all limits of a revolute joint are zero"},
    {"MimicOfAFixedJoint",
     robotWith("<link name='d'/><joint name='cd' type='fixed'><parent link='c'/><child link='d'/>"
               "<mimic joint='ab'/></joint>"),
     "file:7: a fixed joint cannot mimic another"},
    {"KinematicLink", linkWith("<kinematic>1</kinematic>"),
     "file:7: <kinematic> does not affect the dynamics"},
    {"SelfFilter", linkWith("<self_filter><scale/></self_filter>"),
     "file:7: <self_filter> does not affect the dynamics"},
    {"RobotWithoutName", robotWith("").replace(7, 8, ""), "file:1: <robot> has no name"},
    {"MaterialWithoutName", robotWith("<material/>"),
     "file:7: <material> of robot \"r\": the attribute \"name\" is missing"},
    {"MaterialTwice", robotWith("<material name='m'/><material name='m'/>"),
     "file:7: material \"m\": the material is defined twice"},
    {"EmptyMaterial",
     linkWith("<visual><geometry><sphere radius='1'/></geometry><material name=''/></visual>"),
     "file:7: a material without name, colour and texture"},
    {"ColourOfThreeNumbers",
     linkWith("<visual><geometry><sphere radius='1'/></geometry><material name=''>"
              "<color rgba='1 0 0'/></material></visual>"),
     "file:7: <color> of material \"\" of <visual> of link \"d\": rgba=\"1 0 0\" holds 3 numbers."},
    {"VisualWithoutGeometry", linkWith("<visual/>"),
     "file:7: <visual> of link \"d\": has no <geometry>"},
    {"EmptyGeometry", linkWith("<collision><geometry/></collision>"),
     "file:7: <geometry> of <collision> of link \"d\": holds 0 shapes"},
    {"TwoShapes",
     linkWith("<visual><geometry><sphere radius='1'/><box size='1 1 1'/></geometry></visual>"),
     "file:7: <geometry> of <visual> of link \"d\": holds 2 shapes"},
    {"NegativeRadius", linkWith("<visual><geometry><sphere radius='-1'/></geometry></visual>"),
     "file:7: <sphere> of <geometry> of <visual> of link \"d\": radius is negative"},
    {"MeshWithoutFile", linkWith("<visual><geometry><mesh filename=''/></geometry></visual>"),
     "file:7: <mesh> of <geometry> of <visual> of link \"d\": the attribute \"filename\" is empty"},
    {"UnknownTagInAShape",
     linkWith("<collision><geometry><sphere radius='1'/></geometry><friction_model/></collision>"),
     "file:7: <collision> of link \"d\": the tag <friction_model> is not known here"},
    {"TextInAShape",
     linkWith("<collision>round<geometry><sphere radius='1'/></geometry></collision>"),
     "file:7: <collision> of link \"d\": text \"round\" is between the tags"},
};

INSTANTIATE_TEST_SUITE_P(Urdf, HarmlessLeftover, testing::ValuesIn(leftovers), leftoverName);

TEST(HarmlessLeftovers, BrokenShapesAreLeftOutAndTheOthersStay) {
  const Mechanism mechanism =
      readUrdfText(linkWith("<visual><geometry/></visual>"
                            "<visual><geometry><sphere radius='1'/></geometry><material name='red'>"
                            "<color rgba='1 0'/></material></visual>"
                            "<collision><geometry><box size='1 2'/></geometry></collision>"),
                   "file");
  const Body& body = *mechanism.findBody("d");
  ASSERT_EQ(body.visuals.size(), 1U);  // without its colour
  EXPECT_EQ(body.visuals[0].kind, Shape::Kind::Sphere);
  EXPECT_FALSE(body.visuals[0].color);
  EXPECT_TRUE(body.collisions.empty());
  EXPECT_TRUE(std::ranges::any_of(mechanism.warnings, [](const std::string& warning) {
    return contains(warning, "holds 2 numbers. Write three numbers") &&
           contains(warning, "The shape is left out.");
  }));
}

TEST(HarmlessLeftovers, LimitsThatAreAllZeroAreNone) {
  const Mechanism mechanism =
      readUrdfText(jointWith("<limit lower='0' upper='0' effort='0' velocity='0'/>"));
  EXPECT_EQ(mechanism.findJoint("cd")->limits, Limits{});
  // With an effort somebody meant them.
  const Mechanism held =
      readUrdfText(jointWith("<limit lower='0' upper='0' effort='1' velocity='0'/>"));
  EXPECT_EQ(held.findJoint("cd")->limits.upper, 0.0);
}

TEST(HarmlessLeftovers, InfiniteLimitsAreNone) {
  const Mechanism mechanism = readUrdfText(
      jointWith("<limit lower='-inf' upper='Infinity' effort='inf' velocity='+INF'/>"));
  EXPECT_EQ(mechanism.findJoint("cd")->limits, Limits{});
  EXPECT_TRUE(mechanism.warnings.empty());
}

// --- actuators ---------------------------------------------------------------------------------

TEST(Actuators, TransmissionsAndCommandInterfacesMarkTheirJoints) {
  const Mechanism mechanism = readUrdfText(
      robotWith("<transmission name='t'><type>simple</type><joint name='ab'/><actuator name='m'>"
                "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>\n"
                "<ros2_control><joint name='bc'><state_interface name='position'/></joint>"
                "</ros2_control>"),
      "file");
  EXPECT_EQ(mechanism.findJoint("ab")->actuation, true);
  EXPECT_EQ(mechanism.findJoint("bc")->actuation, std::nullopt);  // is only observed
  EXPECT_EQ(Model(mechanism).actuated(), std::vector<std::string>{"ab"});
  const Mechanism commanded = readUrdfText(
      robotWith("<ros2_control><joint name='bc'><command_interface name='effort'/></joint>"
                "</ros2_control>"));
  EXPECT_EQ(commanded.findJoint("bc")->actuation, true);
}

TEST(Actuators, WhatAJointSaysItselfCounts) {
  const Mechanism mechanism = readUrdfText(robotWith(
      "<link name='d'/><joint name='cd' type='continuous' actuated='false'><parent link='c'/>"
      "<child link='d'/></joint><transmission><joint name='cd'/></transmission>"));
  EXPECT_EQ(mechanism.findJoint("cd")->actuation, false);
}

TEST(Actuators, OfNothingThatMovesAreWarnings) {
  const Mechanism mechanism = readUrdfText(
      robotWith("<link name='d'/><joint name='cd' type='fixed'><parent link='c'/><child link='d'/>"
                "</joint><transmission><joint name='cd'/></transmission>\n"
                "<transmission><joint name='nobody'/></transmission>"),
      "file");
  ASSERT_EQ(mechanism.warnings.size(), 3U);
  EXPECT_TRUE(contains(mechanism.warnings[1], "file:7: an actuator drives joint \"cd\", which is"));
  EXPECT_TRUE(
      contains(mechanism.warnings[2], "file:8: an actuator drives joint \"nobody\", which does"));
}

}  // namespace
}  // namespace kempe
