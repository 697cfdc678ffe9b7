// The bundled robots have the figures of the published files.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <vector>

#include "kempe/io.hpp"
#include "kempe/robots.hpp"

namespace kempe {
namespace {

constexpr double kTolerance = 1e-12;  // relative for figures above one

void expectNear(double actual, double expected, const std::string& what) {
  EXPECT_NEAR(actual, expected, kTolerance * std::max(1.0, std::abs(expected))) << what;
}

void expectNear(const Vector3& actual, const Vector3& expected, const std::string& what) {
  for (int i = 0; i < 3; ++i) {
    expectNear(actual[i], expected[i], what + "[" + std::to_string(i) + "]");
  }
}

void expectNear(const Pose& actual, const Pose& expected, const std::string& what) {
  expectNear(actual.p, expected.p, what + ", position");
  expectNear(actual.R.r0, expected.R.r0, what + ", rotation row 0");
  expectNear(actual.R.r1, expected.R.r1, what + ", rotation row 1");
  expectNear(actual.R.r2, expected.R.r2, what + ", rotation row 2");
}

void expectEqual(const Body& actual, const Body& expected) {
  const SymMat3<double>&a = actual.inertia, &b = expected.inertia;
  expectNear(actual.mass, expected.mass, expected.name + ": mass");
  expectNear(actual.centerOfMass, expected.centerOfMass, expected.name + ": centre of mass");
  expectNear(Vector3{a.xx, a.yy, a.zz}, Vector3{b.xx, b.yy, b.zz}, expected.name + ": moments");
  expectNear(Vector3{a.xy, a.xz, a.yz}, Vector3{b.xy, b.xz, b.yz}, expected.name + ": products");
}

void expectEqual(const Joint& actual, const Joint& expected) {
  const std::string& name = expected.name;
  EXPECT_EQ(toString(actual.type), toString(expected.type)) << name;
  EXPECT_EQ(actual.parent, expected.parent) << name;
  EXPECT_EQ(actual.child, expected.child) << name;
  expectNear(actual.origin, expected.origin, name + ": origin");
  if (velocitySize(expected.type) == 1) {
    expectNear(normalized(actual.axis), normalized(expected.axis), name + ": axis");
  }
  EXPECT_EQ(actual.limits, expected.limits) << name;
}

void expectEqual(const LoopJoint& actual, const LoopJoint& expected) {
  const std::string& name = expected.name;
  EXPECT_EQ(toString(actual.type), toString(expected.type)) << name;
  EXPECT_EQ(actual.predecessor.body, expected.predecessor.body) << name;
  EXPECT_EQ(actual.successor.body, expected.successor.body) << name;
  expectNear(actual.predecessor.frame, expected.predecessor.frame, name + ": predecessor");
  expectNear(actual.successor.frame, expected.successor.frame, name + ": successor");
  if (expected.type != LoopType::Fixed) {
    expectNear(normalized(actual.axis), normalized(expected.axis), name + ": axis");
  }
}

/// A coupling's coefficients by joint, scaled so that the first is one: all that it says.
std::map<std::string, double> normalForm(const Coupling& coupling) {
  std::map<std::string, double> form;
  for (const Coupling::Term& term : coupling.terms) {
    form[term.coordinate.joint] += term.coefficient;
  }
  const double scale = form.begin()->second;
  for (auto& [joint, coefficient] : form) {
    coefficient /= scale;
  }
  form["= offset"] = coupling.offset / scale;
  return form;
}

std::vector<std::map<std::string, double>> normalForms(const Mechanism& mechanism) {
  std::vector<std::map<std::string, double>> forms;
  for (const Coupling& coupling : mechanism.couplings) {
    forms.push_back(normalForm(coupling));
  }
  std::ranges::sort(forms);
  return forms;
}

void expectSameCouplings(const Mechanism& actual, const Mechanism& expected) {
  const auto a = normalForms(actual), b = normalForms(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (const auto& [joint, coefficient] : b[i]) {
      ASSERT_TRUE(a[i].contains(joint)) << joint;
      expectNear(a[i].at(joint), coefficient, joint + ": coefficient");
    }
  }
}

/// What the file says, the robot has; the robot may have more bodies and joints. The joint
/// `alsoIndependent` is marked so by the robot and not by the file.
void expectContains(const Mechanism& robot, const Mechanism& file,
                    const std::string& alsoIndependent = {}) {
  for (const Body& body : file.bodies) {
    const Body* ours = robot.findBody(body.name);
    ASSERT_NE(ours, nullptr) << body.name;
    expectEqual(*ours, body);
  }
  for (const Joint& joint : file.joints) {
    const Joint* ours = robot.findJoint(joint.name);
    ASSERT_NE(ours, nullptr) << joint.name;
    expectEqual(*ours, joint);
    const bool independent = joint.independence.value_or(true) || joint.name == alsoIndependent;
    EXPECT_EQ(ours->independence.value_or(true), independent) << joint.name;
  }
}

Mechanism given(const std::string& file) {
  return readMechanism(std::filesystem::path(KEMPE_SHARED_ROBOTS) / file);
}

bool haveGivenFiles() {
  return std::filesystem::is_directory(KEMPE_SHARED_ROBOTS);
}

struct Case {
  std::string robot;
  std::string file;
  int n = 0;
  std::string alsoIndependent{};

  friend std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.file; }
};

class GivenFile : public ::testing::TestWithParam<Case> {};

TEST_P(GivenFile, EqualsBundledRobot) {
  if (!haveGivenFiles()) {
    GTEST_SKIP() << "the folder with given robots is not present";
  }
  const Mechanism file = given(GetParam().file);
  const Mechanism robot = robots::mechanism(GetParam().robot, GetParam().n);
  EXPECT_EQ(robot.bodies.size(), file.bodies.size());
  EXPECT_EQ(robot.joints.size(), file.joints.size());
  expectContains(robot, file, GetParam().alsoIndependent);
  expectSameCouplings(robot, file);
  ASSERT_EQ(robot.loops.size(), file.loops.size());
  for (std::size_t i = 0; i < file.loops.size(); ++i) {
    expectEqual(robot.loops[i], file.loops[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Robots, GivenFile,
    ::testing::Values(Case{"mini_cheetah", "mini_cheetah.urdf"},
                      Case{"mit_humanoid", "mit_humanoid.urdf"},
                      Case{"mit_humanoid_leg", "mit_humanoid_leg.urdf"},
                      Case{"jvrc1", "jvrc1_humanoid.urdf"}, Case{"four_bar", "four_bar.urdf"},
                      Case{"six_bar", "six_bar.urdf"},
                      // its file marks the motors alone: one freedom too few
                      Case{"five_bar", "five_bar/robot.yaml", 0, "closedloop1_A"},
                      Case{"planar_leg", "planar_leg_linkage.urdf"},
                      Case{"geared_chain", "revolute_rotor_chain.urdf", 3}),
    [](const auto& test) { return test.param.robot; });

TEST(GivenTello, IsTheSpanningTreeOfTello) {
  if (!haveGivenFiles()) {
    GTEST_SKIP() << "the folder with given robots is not present";
  }
  const Mechanism file = given("tello_humanoid.urdf");
  const Mechanism robot = robots::tello();
  expectContains(robot, file);
  // What Tello has in addition, the four cranks of its hips, weighs nothing.
  EXPECT_EQ(robot.bodies.size(), file.bodies.size() + 4);
  for (const Body& body : robot.bodies) {
    if (file.findBody(body.name) == nullptr) {
      EXPECT_EQ(body.mass, 0.0) << body.name;
      EXPECT_EQ(body.inertia, SymMat3<double>{}) << body.name;
    }
  }
}

}  // namespace
}  // namespace kempe
