// What the URDF reader makes of links, shapes and joints.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "io_testing.hpp"
#include "kempe/configuration.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::expectSame;

constexpr double infinity = std::numeric_limits<double>::infinity();

Mechanism readLink(const std::string& contents) {
  return readUrdfText("<robot name='r'><link name='b'>" + contents + "</link></robot>", "file");
}

Joint readJoint(const std::string& attributes, const std::string& contents) {
  return readUrdfText("<robot name='r'><link name='a'/><link name='b'/><joint name='j' " +
                          attributes + "><parent link='a'/><child link='b'/>" + contents +
                          "</joint></robot>",
                      "file")
      .joints.front();
}

TEST(UrdfLink, WithoutInertialIsMassless) {
  const Mechanism mechanism = readLink("");
  EXPECT_EQ(mechanism.bodies.front().mass, 0.0);
  EXPECT_EQ(mechanism.bodies.front().inertia, SymMat3<double>{});
  EXPECT_TRUE(mechanism.warnings.empty());
}

TEST(UrdfLink, InertiaIsTurnedIntoBodyAxes) {
  // A quarter turn about z takes the own x axis onto y.
  const Body body = readLink(
                        "<inertial><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/>"
                        "<mass value='2'/><inertia ixx='1' iyy='2' izz='2.5' ixy='0.25' ixz='0' "
                        "iyz='0.5'/></inertial>")
                        .bodies.front();
  EXPECT_EQ(body.mass, 2.0);
  EXPECT_EQ(body.centerOfMass, (Vector3{1, 2, 3}));
  EXPECT_NEAR(body.inertia.xx, 2.0, 1e-15);
  EXPECT_NEAR(body.inertia.yy, 1.0, 1e-15);
  EXPECT_NEAR(body.inertia.zz, 2.5, 1e-15);
  EXPECT_NEAR(body.inertia.xy, -0.25, 1e-15);
  EXPECT_NEAR(body.inertia.xz, -0.5, 1e-15);
  EXPECT_NEAR(body.inertia.yz, 0.0, 1e-15);
}

TEST(UrdfLink, KeepsEveryShape) {
  const Mechanism mechanism = readLink(
      "<visual name='v'><origin xyz='0 0 1'/><geometry><box size='1 2 3'/></geometry>"
      "<material name='red'><color rgba='1 0 0 0.5'/></material></visual>"
      "<visual><geometry><mesh filename='package://m.stl' scale='1 1 -1'/></geometry></visual>"
      "<visual><geometry><mesh filename='n.obj'/></geometry><material name=''>"
      "<texture filename='wood.png'/></material></visual>"
      "<collision><geometry><cylinder radius='0.1' length='2'/></geometry></collision>"
      "<collision><geometry><capsule radius='0.2' length='3'/></geometry></collision>"
      "<collision><geometry><sphere radius='0.3'/></geometry>"
      "<material name='red'/></collision>");
  const Body& body = mechanism.bodies.front();
  ASSERT_EQ(body.visuals.size(), 3U);
  EXPECT_EQ(body.visuals[0].kind, Shape::Kind::Box);
  EXPECT_EQ(body.visuals[0].size, (Vector3{1, 2, 3}));
  EXPECT_EQ(body.visuals[0].name, "v");
  EXPECT_EQ(body.visuals[0].origin.p, (Vector3{0, 0, 1}));
  EXPECT_EQ(body.visuals[0].color, (std::array{1.0, 0.0, 0.0, 0.5}));
  EXPECT_EQ(body.visuals[1].kind, Shape::Kind::Mesh);
  EXPECT_EQ(body.visuals[1].mesh, "package://m.stl");
  EXPECT_EQ(body.visuals[1].size, (Vector3{1, 1, -1}));
  EXPECT_EQ(body.visuals[2].size, (Vector3{1, 1, 1}));
  EXPECT_EQ(body.visuals[2].texture, "wood.png");
  ASSERT_EQ(body.collisions.size(), 3U);
  EXPECT_EQ(body.collisions[0].kind, Shape::Kind::Cylinder);
  EXPECT_EQ(body.collisions[0].length, 2.0);
  EXPECT_EQ(body.collisions[1].kind, Shape::Kind::Capsule);
  EXPECT_EQ(body.collisions[1].radius, 0.2);
  EXPECT_EQ(body.collisions[2].kind, Shape::Kind::Sphere);
  EXPECT_EQ(body.collisions[2].color, body.visuals[0].color);
  EXPECT_TRUE(mechanism.warnings.empty());
}

TEST(UrdfLink, MaterialsOfTheRobotAreFoundByName) {
  const Mechanism mechanism = readUrdfText(
      "<robot name='r'><link name='b'>"
      "<visual><geometry><sphere radius='1'/></geometry><material name='blue'/></visual>\n"
      "<visual><geometry><sphere radius='1'/></geometry><material name='lost'/></visual></link>"
      "<material name='blue'><color rgba='0 0 1 1'/></material></robot>",
      "file");
  EXPECT_EQ(mechanism.bodies.front().visuals[0].color, (std::array{0.0, 0.0, 1.0, 1.0}));
  EXPECT_EQ(mechanism.bodies.front().visuals[1].material, "lost");
  ASSERT_EQ(mechanism.warnings.size(), 1U);
  EXPECT_TRUE(contains(mechanism.warnings[0], "file:2: the material \"lost\""))
      << mechanism.warnings[0];
}

TEST(UrdfJoint, EveryType) {
  const std::pair<const char*, JointType> types[] = {{"fixed", JointType::Fixed},
                                                     {"revolute", JointType::Revolute},
                                                     {"continuous", JointType::Continuous},
                                                     {"prismatic", JointType::Prismatic},
                                                     {"cylindrical", JointType::Cylindrical},
                                                     {"spherical", JointType::Spherical},
                                                     {"planar", JointType::Planar},
                                                     {"floating", JointType::Free}};
  for (const auto& [name, type] : types) {
    EXPECT_EQ(readJoint("type='" + std::string(name) + "'", "").type, type) << name;
  }
  const Joint screw = readJoint("type='helical'", "<axis xyz='0 0 -2'/><pitch value='0.01'/>");
  EXPECT_EQ(screw.type, JointType::Helical);
  EXPECT_EQ(screw.axis, (Vector3{0, 0, -2}));
  EXPECT_EQ(screw.pitch, 0.01);
  const Joint cross = readJoint("type='universal'", "<axis xyz='0 0 1'/><axis2 xyz='1 0 0'/>");
  EXPECT_EQ(cross.type, JointType::Universal);
  EXPECT_EQ(cross.axis2, (Vector3{1, 0, 0}));
}

TEST(UrdfJoint, DefaultsAreUrdfs) {
  const Joint joint = readJoint("type='continuous'", "");
  EXPECT_EQ(joint.axis, (Vector3{1, 0, 0}));
  EXPECT_EQ(joint.limits, Limits{});
  EXPECT_EQ(joint.independence, std::nullopt);
  EXPECT_EQ(joint.line, 1);
  expectSame(joint.origin, Pose{}, "origin");
}

TEST(UrdfJoint, ReadsOriginLimitsAndDynamics) {
  const Joint joint = readJoint("type='revolute' independent='false'",
                                "<origin xyz='1 2 3' rpy='0.1 -0.2 0.3'/><axis xyz='0 -1 0'/>"
                                "<limit lower='-1' upper='2' effort='30' velocity='4'/>"
                                "<dynamics damping='0.5' friction='0.25' armature='0.125' "
                                "spring_stiffness='8' spring_reference='-0.75'/>");
  expectSame(joint.origin, at({1, 2, 3}, {0.1, -0.2, 0.3}), "origin");
  EXPECT_EQ(joint.axis, (Vector3{0, -1, 0}));
  EXPECT_EQ(joint.limits, (Limits{-1, 2, 4, 30}));
  EXPECT_EQ(joint.damping, 0.5);
  EXPECT_EQ(joint.friction, 0.25);
  EXPECT_EQ(joint.stiffness, 8.0);
  EXPECT_EQ(joint.springReference, -0.75);
  EXPECT_EQ(joint.armature, 0.125);
  EXPECT_EQ(joint.independence, false);
  EXPECT_EQ(readJoint("type='continuous' independent='true'", "").independence, true);
}

TEST(UrdfJoint, QuaternionOriginEqualsAngles) {
  const double half = std::numbers::sqrt2 / 2;
  const Joint joint = readJoint("type='fixed'", "<origin quat_xyzw='0 0 1 1'/>");
  expectSame(joint.origin, at({}, {0, 0, 2 * std::asin(half)}), "origin");
}

TEST(UrdfJoint, HugeLimitsAreNone) {
  const Joint joint = readJoint("type='prismatic'",
                                "<limit lower='-1e30' upper='1e31' effort='1e308' velocity='5'/>");
  EXPECT_EQ(joint.limits, (Limits{-infinity, infinity, 5, infinity}));
}

TEST(UrdfJoint, OneLimitAloneLeavesTheOtherAtZero) {
  EXPECT_EQ(readJoint("type='revolute'", "<limit upper='2'/>").limits.lower, 0.0);
  EXPECT_EQ(readJoint("type='revolute'", "<limit lower='-2'/>").limits.upper, 0.0);
}

TEST(UrdfJoint, MissingLimitsAreNoneWithOneWarning) {
  const Mechanism mechanism = readUrdfText(
      "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>\n"
      "<joint name='ab' type='revolute'><parent link='a'/><child link='b'/>"
      "<limit effort='1' velocity='20'/></joint>\n"
      "<joint name='bc' type='revolute'><parent link='b'/><child link='c'/></joint></robot>",
      "file");
  EXPECT_EQ(mechanism.joints[0].limits, (Limits{-infinity, infinity, 20, 1}));
  EXPECT_EQ(mechanism.joints[1].limits, Limits{});
  ASSERT_EQ(mechanism.warnings.size(), 1U);
  EXPECT_TRUE(contains(mechanism.warnings[0], "file:2: a revolute joint without lower and upper"));
  EXPECT_TRUE(contains(mechanism.warnings[0], "(2 times, first here)"));
}

TEST(UrdfJoint, AxisOfFixedJointsIsNotLookedAt) {
  for (const char* type : {"fixed", "floating", "spherical"}) {
    const Mechanism mechanism = readUrdfText(
        io_testing::robotWith("<link name='d'/><joint name='cd' type='" + std::string(type) +
                              "'><parent link='c'/><child link='d'/><axis xyz='0 0 0'/></joint>"),
        "file");
    EXPECT_NO_THROW(static_cast<void>(mechanism.validate())) << type;
  }
}

TEST(UrdfMimic, IsACouplingAndDependent) {
  const auto withMimic = [](const std::string& attributes) {
    return readUrdfText(
        io_testing::robotWith("<link name='d'/><joint name='cd' type='continuous' " + attributes +
                              "><parent link='c'/><child link='d'/>"
                              "<mimic joint='ab' multiplier='-2' offset='0.5'/></joint>"));
  };
  const Mechanism mechanism = withMimic("");
  ASSERT_EQ(mechanism.couplings.size(), 1U);
  const Coupling& coupling = mechanism.couplings.front();
  EXPECT_EQ(coupling.name, "cd_mimic");
  // position of cd = −2 · position of ab + 0.5
  const std::vector<Coupling::Term> expected{{Coordinate("cd"), 1.0}, {Coordinate("ab"), 2.0}};
  EXPECT_EQ(coupling.terms, expected);
  EXPECT_EQ(coupling.offset, 0.5);
  EXPECT_EQ(mechanism.joints[2].independence, false);
  EXPECT_EQ(withMimic("independent='true'").joints[2].independence, true);
}

TEST(UrdfMimic, HoldsInTheModel) {
  const Model model(readUrdfText(io_testing::robotWith(
      "<link name='d'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
      "izz='1'/></inertial></link><joint name='cd' type='continuous'><parent link='c'/>"
      "<child link='d'/><mimic joint='ab' multiplier='-2' offset='0.5'/></joint>")));
  EXPECT_EQ(model.vNames(), (std::vector<std::string>{"ab", "bc"}));
  Data data(model);
  for (const Vector& q : {model.neutral(), model.randomConfiguration(5)}) {
    Eigen::VectorXd positions(model.nqSpanning());
    spanningPositions(model, data, q, positions);
    EXPECT_NEAR(positions[model.jointPositionIndex("cd")],
                -2 * positions[model.jointPositionIndex("ab")] + 0.5, 1e-14);
  }
}

TEST(UrdfMimic, MayNameAJointThatComesLater) {
  const Mechanism mechanism = readUrdfText(
      "<robot name='r'><joint name='ab' type='continuous'><parent link='a'/><child link='b'/>"
      "<mimic joint='bc'/></joint>"
      "<joint name='bc' type='continuous'><parent link='b'/><child link='c'/></joint>"
      "<link name='a'/><link name='b'/><link name='c'/></robot>");
  const std::vector<Coupling::Term> expected{{Coordinate("ab"), 1.0}, {Coordinate("bc"), -1.0}};
  EXPECT_EQ(mechanism.couplings.front().terms, expected);
}

TEST(UrdfWarnings, TagsOfOtherProgramsAndUnknownAttributes) {
  const Mechanism mechanism = readUrdfText(
      io_testing::robotWith("<transmission name='t'><type>text is fine here</type></transmission>\n"
                            "<gazebo reference='b'><mu1>0.2</mu1></gazebo>\n"
                            "<gazebo/>\n"
                            "<link name='d' colour='red'/>\n"
                            "<joint name='cd' type='fixed'><parent link='c'/><child link='d'/>"
                            "<safety_controller k_velocity='1'/></joint>"),
      "file");
  ASSERT_EQ(mechanism.warnings.size(), 4U);
  EXPECT_TRUE(contains(mechanism.warnings[0], "file:8: <gazebo> does not affect the dynamics"));
  EXPECT_TRUE(contains(mechanism.warnings[0], "(2 times, first here)"));
  EXPECT_TRUE(contains(mechanism.warnings[1], "file:10: the attribute \"colour\" of <link>"));
  EXPECT_TRUE(contains(mechanism.warnings[2], "file:11: <safety_controller>"));
  EXPECT_TRUE(contains(mechanism.warnings[3], "file:7: of <transmission>, only which joint"));
}

TEST(UrdfWarnings, NamespacesAndVersionAreSilent) {
  const Mechanism mechanism = readUrdfText(
      "\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<robot name='r' version='1.0' xmlns='u' "
      "xmlns:xacro='http://ros.org/wiki/xacro'><link name='a'/><!-- b --></robot><!-- c -->\n");
  EXPECT_TRUE(mechanism.warnings.empty());
  EXPECT_EQ(mechanism.name, "r");
  EXPECT_EQ(mechanism.source, "urdf");
}

TEST(UrdfNames, MayHoldAnyCharacters) {
  const Mechanism mechanism =
      readUrdfText("<robot name='r'><link name='&lt;Fuß &amp; &#x41;&quot;&gt;'/></robot>");
  EXPECT_EQ(mechanism.bodies.front().name, "<Fuß & A\">");
}

}  // namespace
}  // namespace kempe
