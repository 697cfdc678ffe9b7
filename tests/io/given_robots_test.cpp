// The given robots: what is read from them, and the freedoms that result.

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "io_testing.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::givenRobots;

class GivenRobots : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(givenRobots())) {
      GTEST_SKIP() << "the given robots are not here";
    }
  }
  static Mechanism read(const std::string& name) { return readMechanism(givenRobots() / name); }
  static double massOf(const Mechanism& mechanism) {
    return std::accumulate(mechanism.bodies.begin(), mechanism.bodies.end(), 0.0,
                           [](double sum, const Body& body) { return sum + body.mass; });
  }
};

TEST_F(GivenRobots, EveryFileIsReadAndValid) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(givenRobots())) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".urdf" || extension == ".yaml") {
      const Mechanism mechanism = readMechanism(entry.path());
      EXPECT_NO_THROW(static_cast<void>(mechanism.validate())) << entry.path();
      EXPECT_FALSE(mechanism.joints.empty()) << entry.path();
    }
  }
}

TEST_F(GivenRobots, MiniCheetah) {
  const Mechanism robot = read("mini_cheetah.urdf");
  EXPECT_EQ(robot.name, "mini_cheetah");
  EXPECT_EQ(robot.bodies.size(), 26U);
  EXPECT_EQ(robot.joints.size(), 25U);
  EXPECT_EQ(robot.couplings.size(), 12U);
  EXPECT_TRUE(robot.warnings.empty());
  EXPECT_EQ(robot.findBody("Floating Base")->mass, 3.3);
  EXPECT_EQ(robot.findBody("FR_abad_link")->inertia.xy, -5.8e-05);
  EXPECT_EQ(robot.findBody("FR_abad_link")->line, 27);
  EXPECT_EQ(robot.findJoint("base_to_floating_base")->type, JointType::Free);
  const Joint& rotor = *robot.findJoint("torso_to_FR_abad_rotor_j");
  EXPECT_EQ(rotor.independence, false);
  EXPECT_EQ(rotor.axis, (Vector3{1, 0, 0}));
  EXPECT_EQ(rotor.limits, (Limits{-10, 10, 100, 150}));
  const std::vector<Coupling::Term> gear{{Coordinate("torso_to_FR_abad_rotor_j"), 1.0},
                                         {Coordinate("torso_to_FR_abad_j"), -6.0}};
  EXPECT_EQ(robot.couplings.front().terms, gear);
}

TEST_F(GivenRobots, HumanoidAnkleBeltAddsUpKneeAndAnkle) {
  const Mechanism leg = read("mit_humanoid_leg.urdf");
  EXPECT_EQ(leg.couplings.size(), 5U);
  const auto belt = std::ranges::find_if(
      leg.couplings, [](const Coupling& coupling) { return coupling.terms.size() == 3; });
  ASSERT_NE(belt, leg.couplings.end());  // rotor = ratio · (knee + ankle)
  EXPECT_EQ(belt->terms[1].coefficient, belt->terms[2].coefficient);
}

TEST_F(GivenRobots, FourBarLoopIsWhatTheFileSays) {
  const Mechanism robot = read("four_bar.urdf");
  ASSERT_EQ(robot.loops.size(), 1U);
  const LoopJoint& loop = robot.loops.front();
  EXPECT_EQ(loop.type, LoopType::Revolute);
  EXPECT_EQ(loop.axis, (Vector3{0, 0, 1}));
  EXPECT_EQ(loop.predecessor.body, "link2");
  EXPECT_EQ(loop.predecessor.frame.p, (Vector3{1, 0, 0}));
  EXPECT_EQ(loop.successor.frame.p, (Vector3{0.5, 0, 0}));
  EXPECT_NEAR(massOf(robot), 9.9, 9.9e-15);
  EXPECT_EQ(robot.findBody("link1")->visuals.front().material, "Red");
}

TEST_F(GivenRobots, FiveBarIsClosedByItsYaml) {
  const Mechanism robot = read("five_bar/robot.yaml");
  EXPECT_TRUE(contains(robot.source, "robot.urdf"));
  ASSERT_EQ(robot.loops.size(), 1U);
  EXPECT_EQ(robot.loops.front().type, LoopType::Fixed);
  EXPECT_EQ(robot.loops.front().predecessor.body, robot.findJoint("closedloop1_A")->child);
  EXPECT_EQ(robot.loops.front().successor.body, robot.findJoint("closedloop1_B")->child);
  EXPECT_EQ(robot.findJoint("mot1")->independence, true);
  EXPECT_EQ(robot.findJoint("mot2")->independence, true);
  EXPECT_EQ(robot.findJoint("free1")->independence, false);
  EXPECT_EQ(robot.joints.front().limits.velocity, 20.0);
  EXPECT_EQ(robot.joints.front().limits.upper, std::numeric_limits<double>::infinity());
  EXPECT_EQ(robot.warnings.size(), 2U);  // joint_properties, and no limits
}

TEST_F(GivenRobots, Freedoms) {
  const std::map<std::string, int> freedoms{
      {"mini_cheetah.urdf", 18},      {"mit_humanoid.urdf", 24},  {"mit_humanoid_leg.urdf", 5},
      {"jvrc1_humanoid.urdf", 38},    {"four_bar.urdf", 1},       {"six_bar.urdf", 3},
      {"planar_leg_linkage.urdf", 2}, {"five_bar/robot.yaml", 3}, {"revolute_rotor_chain.urdf", 3},
      {"double_pendulum.urdf", 2}};
  for (const auto& [file, expected] : freedoms) {
    EXPECT_EQ(load(givenRobots() / file).nv(), expected) << file;
  }
}

}  // namespace
}  // namespace kempe
