// Legged robots have frames at feet and hands, limits that leave room, and shapes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "kempe/kempe.hpp"

namespace kempe {
namespace {

struct Frame {
  std::string name;
  std::string carrier;
};

struct Legged {
  std::string robot;
  std::vector<Frame> frames;

  friend std::ostream& operator<<(std::ostream& out, const Legged& legged) {
    return out << legged.robot;
  }
};

class LeggedRobot : public ::testing::TestWithParam<Legged> {
 protected:
  const Mechanism robot_ = robots::mechanism(GetParam().robot);
  const Model model_{robot_};
};

TEST_P(LeggedRobot, HasFramesWithoutMassAtFeetAndHands) {
  for (const Frame& frame : GetParam().frames) {
    const Joint* joint = robot_.jointAbove(frame.name);
    ASSERT_NE(joint, nullptr) << frame.name;
    EXPECT_EQ(joint->type, JointType::Fixed) << frame.name;
    EXPECT_EQ(joint->parent, frame.carrier);
    EXPECT_EQ(robot_.findBody(frame.name)->mass, 0.0) << frame.name;
  }
}

TEST_P(LeggedRobot, HasSolesUnderItAndLevelInTheNeutralPosition) {
  Data data(model_);
  const Eigen::VectorXd q = model_.neutral();
  const auto placed = [&](const std::string& name) {
    return framePlacement(model_, data, q, model_.frameIndex(name));
  };
  double lowest = 0.0;
  for (const std::string& name : model_.frameNames()) {
    lowest = std::min(lowest, placed(name).p.z);
  }
  const bool crooked = GetParam().robot == "jvrc1";  // its right hip is published too low
  for (const Frame& frame : GetParam().frames) {
    if (frame.name.ends_with("foot")) {
      const Pose foot = placed(frame.name);
      EXPECT_NEAR(foot.p.z, lowest, crooked ? 0.088 : 0.01) << frame.name;
      EXPECT_LT(foot.p.z, placed(frame.carrier).p.z - 0.03) << frame.name;
      if (GetParam().robot != "tello") {  // neutral, Tello's feet are turned a little
        EXPECT_NEAR(foot.R.column(0).x, 1.0, 1e-6) << frame.name << " points forward";
      }
      EXPECT_GT(foot.R.column(2).z, 0.9) << frame.name;
    }
  }
}

TEST_P(LeggedRobot, LeftAndRightAreMirrorImages) {
  Data data(model_);
  const auto placed = [&](const std::string& name) {
    return framePlacement(model_, data, model_.neutral(), model_.frameIndex(name)).p;
  };
  for (const Frame& frame : GetParam().frames) {
    const auto left = frame.name.find("left");
    if (left == std::string::npos || GetParam().robot == "jvrc1") {
      continue;
    }
    std::string other = frame.name;
    other.replace(left, 4, "right");
    const Vector3 a = placed(frame.name), b = placed(other);
    EXPECT_NEAR(a.x, b.x, 1e-6) << frame.name;
    EXPECT_NEAR(a.y, -b.y, 1e-6) << frame.name;
    EXPECT_NEAR(a.z, b.z, 1e-6) << frame.name;
    EXPECT_GT(a.y, 0.05) << frame.name;
  }
}

/// A joint that moves a link, and not a rotor.
bool movesALink(const Joint& joint) {
  return joint.type == JointType::Revolute && joint.name.find("rotor") == std::string::npos &&
         joint.name.find("crank") == std::string::npos;
}

TEST_P(LeggedRobot, JointsOfLinksHaveRangesLessThanATurn) {
  for (const Joint& joint : robot_.joints) {
    if (movesALink(joint)) {
      const double range = joint.limits.upper - joint.limits.lower;
      EXPECT_GT(range, 0.5) << joint.name;
      EXPECT_LT(range, 6.0) << joint.name;
    }
  }
}

TEST_P(LeggedRobot, StartsWithinItsLimitsEverywhereInThem) {
  Data data(model_);
  const auto positionsAt = [&](const Eigen::VectorXd& q) {
    Eigen::VectorXd positions = Eigen::VectorXd::Constant(model_.nqSpanning(), NAN);
    spanningPositions(model_, data, q, positions);
    return positions;
  };
  const Eigen::VectorXd neutral = positionsAt(model_.neutral());
  Eigen::VectorXd lowest = neutral, highest = neutral;
  for (int seed = 0; seed < 200; ++seed) {
    const Eigen::VectorXd q = positionsAt(model_.randomConfiguration(seed));
    lowest = lowest.cwiseMin(q);
    highest = highest.cwiseMax(q);
  }
  for (const Joint& joint : robot_.joints) {
    if (joint.type == JointType::Revolute) {
      const int i = model_.jointPositionIndex(joint.name);
      EXPECT_GE(lowest[i], joint.limits.lower) << joint.name;
      EXPECT_LE(highest[i], joint.limits.upper) << joint.name;
      if (movesALink(joint)) {
        EXPECT_GT(highest[i] - lowest[i], 0.4 * (joint.limits.upper - joint.limits.lower))
            << joint.name;
      }
    }
  }
}

TEST_P(LeggedRobot, LinksAreDrawn) {
  for (const Frame& frame : GetParam().frames) {
    EXPECT_FALSE(robot_.findBody(frame.carrier)->visuals.empty()) << frame.carrier;
    EXPECT_TRUE(robot_.findBody(frame.name)->visuals.empty()) << frame.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, LeggedRobot,
                         ::testing::Values(Legged{"mini_cheetah",
                                                  {{"front_left_foot", "FL_knee_link"},
                                                   {"front_right_foot", "FR_knee_link"},
                                                   {"hind_left_foot", "HL_knee_link"},
                                                   {"hind_right_foot", "HR_knee_link"}}},
                                           Legged{"mit_humanoid",
                                                  {{"left_foot", "left_ankle_link"},
                                                   {"right_foot", "right_ankle_link"},
                                                   {"left_hand", "left_elbow_link"},
                                                   {"right_hand", "right_elbow_link"}}},
                                           Legged{"mit_humanoid_leg", {{"foot", "ankle_link"}}},
                                           Legged{"tello",
                                                  {{"left_foot", "left-foot"},
                                                   {"right_foot", "right-foot"},
                                                   {"left_hand", "left-elbow"},
                                                   {"right_hand", "right-elbow"}}},
                                           Legged{"jvrc1",
                                                  {{"left_foot", "left-ankle-pitch"},
                                                   {"right_foot", "right-ankle-pitch"},
                                                   {"left_hand", "left-wrist-yaw"},
                                                   {"right_hand", "right-wrist-yaw"}}}),
                         [](const auto& test) { return test.param.robot; });

}  // namespace
}  // namespace kempe
