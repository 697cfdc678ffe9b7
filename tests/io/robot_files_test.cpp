// Whole robots as files have them: what is read, and the degrees of freedom that result.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "io_testing.hpp"
#include "kempe/robots.hpp"

namespace kempe {
namespace {

using io_testing::contains;

/// A leg that floats: a geared hip, a knee, and an ankle whose belt runs along the thigh.
constexpr const char* kBeltLeg = R"(<robot name="belt_leg">
  <link name="world"/>
  <link name="trunk"><inertial><mass value="3.5"/>
    <inertia ixx="0.02" ixy="-5.8e-05" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial></link>
  <link name="thigh"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial></link>
  <link name="shin"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
    <inertia ixx="0.005" ixy="0" ixz="0" iyy="0.005" iyz="0" izz="0.0005"/></inertial></link>
  <link name="foot"><inertial><mass value="0.2"/>
    <inertia ixx="0.0003" ixy="0" ixz="0" iyy="0.0005" iyz="0" izz="0.0005"/></inertial></link>
  <link name="hip_rotor"><inertial><mass value="0.05"/>
    <inertia ixx="3e-05" ixy="0" ixz="0" iyy="6e-05" iyz="0" izz="3e-05"/></inertial></link>
  <link name="ankle_rotor"><inertial><mass value="0.05"/>
    <inertia ixx="3e-05" ixy="0" ixz="0" iyy="6e-05" iyz="0" izz="3e-05"/></inertial></link>
  <joint name="base" type="floating"><parent link="world"/><child link="trunk"/></joint>
  <joint name="hip" type="revolute" independent="true"><parent link="trunk"/><child link="thigh"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="1" effort="30" velocity="20"/></joint>
  <joint name="hip_motor" type="continuous" independent="false">
    <parent link="trunk"/><child link="hip_rotor"/><axis xyz="0 1 0"/></joint>
  <joint name="knee" type="revolute"><parent link="thigh"/><child link="shin"/>
    <origin xyz="0 0 -0.25"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="2.4" effort="30" velocity="20"/></joint>
  <joint name="ankle" type="revolute"><parent link="shin"/><child link="foot"/>
    <origin xyz="0 0 -0.25"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="20"/></joint>
  <joint name="ankle_motor" type="continuous" independent="false">
    <parent link="thigh"/><child link="ankle_rotor"/><axis xyz="0 1 0"/></joint>
  <coupling name="gear">
    <predecessor link="thigh"/><successor link="hip_rotor"/><ratio value="6"/></coupling>
  <coupling name="belt">
    <predecessor link="foot"/><successor link="ankle_rotor"/><ratio value="12"/></coupling>
</robot>
)";

/// Two arms of two rods, whose ends a YAML file beside it joins.
constexpr const char* kTwoArms = R"(<robot name="two_arms">
  <link name="frame"/>
  <link name="left_upper"><inertial><origin xyz="0 0 -0.1"/><mass value="0.4"/>
    <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.0001"/></inertial></link>
  <link name="left_lower"><inertial><origin xyz="0 0 -0.15"/><mass value="0.3"/>
    <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.0001"/></inertial></link>
  <link name="left_tip"/>
  <link name="right_upper"><inertial><origin xyz="0 0 -0.1"/><mass value="0.4"/>
    <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.0001"/></inertial></link>
  <link name="right_lower"><inertial><origin xyz="0 0 -0.15"/><mass value="0.3"/>
    <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.0001"/></inertial></link>
  <link name="right_tip"/>
  <joint name="left_motor" type="revolute"><parent link="frame"/><child link="left_upper"/>
    <origin xyz="-0.1 0 0"/><axis xyz="0 1 0"/><limit effort="1" velocity="20"/></joint>
  <joint name="left_elbow" type="continuous"><parent link="left_upper"/><child link="left_lower"/>
    <origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/><joint_properties friction="0.0"/></joint>
  <joint name="left_end" type="fixed"><parent link="left_lower"/><child link="left_tip"/>
    <origin xyz="0 0 -0.3"/></joint>
  <joint name="right_motor" type="revolute"><parent link="frame"/><child link="right_upper"/>
    <origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><limit effort="1" velocity="20"/></joint>
  <joint name="right_elbow" type="continuous"><parent link="right_upper"/>
    <child link="right_lower"/><origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/></joint>
  <joint name="right_end" type="fixed"><parent link="right_lower"/><child link="right_tip"/>
    <origin xyz="0 0 -0.3"/></joint>
</robot>
)";
constexpr const char* kTwoArmsClosed =
    "closed_loop: [['left_end', 'right_end']]\n"
    "type: ['3d']\n"
    "name_mot: ['left_motor', 'right_motor']\n";

/// A folder of its own for each test.
class RobotFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("kempe_robot_files_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path write(const std::string& name, const char* text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

TEST_F(RobotFile, OfAFloatingLegWithABelt) {
  const std::filesystem::path path = write("leg.urdf", kBeltLeg);
  const Mechanism robot = readMechanism(path);
  EXPECT_EQ(robot.name, "belt_leg");
  EXPECT_EQ(robot.bodies.size(), 7U);
  EXPECT_EQ(robot.joints.size(), 6U);
  EXPECT_TRUE(robot.warnings.empty());
  EXPECT_EQ(robot.findBody("trunk")->mass, 3.5);
  EXPECT_EQ(robot.findBody("trunk")->inertia.xy, -5.8e-05);
  EXPECT_EQ(robot.findBody("trunk")->line, 3);
  EXPECT_EQ(robot.findJoint("base")->type, JointType::Free);
  EXPECT_EQ(robot.findJoint("hip_motor")->independence, false);
  EXPECT_EQ(robot.findJoint("hip")->limits, (Limits{-2, 1, 20, 30}));
  const std::vector<Coupling::Term> gear{{Coordinate("hip_motor"), 1.0}, {Coordinate("hip"), -6.0}};
  EXPECT_EQ(robot.couplings.front().terms, gear);
  // rotor = ratio · (knee + ankle)
  const std::vector<Coupling::Term>& belt = robot.couplings.back().terms;
  ASSERT_EQ(belt.size(), 3U);
  EXPECT_EQ(belt[1].coefficient, belt[2].coefficient);

  const Model model = load(path);
  EXPECT_EQ(model.nv(), 9);
  EXPECT_EQ(model.foldedRotors().size(), 2U);
  EXPECT_NEAR(model.totalMass(), 5.3, 1e-14);
}

TEST_F(RobotFile, ClosedByTheYamlBesideIt) {
  static_cast<void>(write("robot.urdf", kTwoArms));
  const Mechanism robot = readMechanism(write("robot.yaml", kTwoArmsClosed));
  EXPECT_TRUE(contains(robot.source, "robot.urdf"));
  ASSERT_EQ(robot.loops.size(), 1U);
  EXPECT_EQ(robot.loops.front().type, LoopType::Spherical);
  EXPECT_EQ(robot.loops.front().predecessor.body, "left_tip");
  EXPECT_EQ(robot.loops.front().successor.body, "right_tip");
  EXPECT_EQ(robot.findJoint("left_motor")->independence, true);
  EXPECT_EQ(robot.findJoint("right_motor")->independence, true);
  EXPECT_EQ(robot.findJoint("left_elbow")->independence, false);
  EXPECT_EQ(robot.joints.front().limits.velocity, 20.0);
  EXPECT_EQ(robot.joints.front().limits.upper, std::numeric_limits<double>::infinity());
  EXPECT_EQ(robot.warnings.size(), 2U);  // joint_properties, and no limits
  EXPECT_EQ(load(folder() / "robot.yaml").nv(), 2);
}

TEST_F(RobotFile, OfABundledRobotHasItsDegreesOfFreedom) {
  for (const std::string& name : robots::names()) {
    const Mechanism robot = robots::mechanism(name);
    const std::filesystem::path path = folder() / (name + ".urdf");
    writeUrdf(robot, path);
    const Model read = load(path), built(robot);
    EXPECT_EQ(read.nv(), built.nv()) << name;
    EXPECT_EQ(read.frameNames(), built.frameNames()) << name;
  }
}

}  // namespace
}  // namespace kempe
