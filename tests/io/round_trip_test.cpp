// read → write → read gives the same mechanism and the same compiled model.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>
#include <utility>

#include "io_testing.hpp"
#include "kempe/configuration.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/robots.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::expectSame;

/// Every tag and attribute that the reader knows.
constexpr const char* everything = R"(<?xml version="1.0"?>
<robot name="every &quot;feature&quot; &amp; more">
  <gravity xyz="0.1 0 -1.62"/>
  <friction slip_speed="0.012345678901234567"/>
  <material name="wood"><color rgba="0.5 0.25 0.125 1"/><texture filename="wood.png"/></material>
  <link name="ground"/>
  <link name="Füße &lt;1&gt;">
    <inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0.3 0.2 0.1"/>
      <mass value="1.2345678901234567"/>
      <inertia ixx="0.011" ixy="0.001" ixz="-0.002" iyy="0.012" iyz="0.003" izz="0.013"/>
    </inertial>
    <visual name="v">
      <origin xyz="1 2 3" rpy="-1 1.5707963267948966 2"/>
      <geometry><box size="1 2 3"/></geometry>
      <material name="wood"/>
    </visual>
    <visual><geometry><mesh filename="a b.stl" scale="1 -1 1"/></geometry></visual>
    <collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision>
    <collision name="c"><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
  </link>
  <link name="two"/><link name="three"/><link name="four"/><link name="five"/><link name="six"/>
  <link name="seven"/><link name="eight"/><link name="nine"/><link name="ten"/>
  <joint name="revolute" type="revolute" independent="true" actuated="true" start_pose="0.25">
    <parent link="ground"/><child link="Füße &lt;1&gt;"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.1 -1.5707963267948966 0.4"/>
    <axis xyz="0 -3 4"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/>
    <dynamics damping="0.1" friction="0.2" armature="0.3" spring_stiffness="0.4"
              spring_reference="-0.5"/>
  </joint>
  <joint name="continuous" type="continuous" independent="false" actuated="false">
    <parent link="ground"/><child link="two"/><limit effort="7" velocity="1e30"/>
    <mimic joint="revolute" multiplier="-2" offset="0.5"/>
  </joint>
  <joint name="prismatic" type="prismatic">
    <parent link="two"/><child link="three"/><limit lower="-0.5" upper="1e30" effort="1" velocity="2"/>
  </joint>
  <joint name="helical" type="helical">
    <parent link="three"/><child link="four"/><axis xyz="0 0 1"/><pitch value="0.003"/>
    <limit lower="-1e30" upper="1e30"/>
  </joint>
  <joint name="cylindrical" type="cylindrical"><parent link="four"/><child link="five"/></joint>
  <joint name="universal" type="universal">
    <parent link="five"/><child link="six"/><axis xyz="1 0 0"/><axis2 xyz="0 0 1"/>
  </joint>
  <joint name="spherical" type="spherical"><parent link="six"/><child link="seven"/></joint>
  <joint name="planar" type="planar"><parent link="seven"/><child link="eight"/></joint>
  <joint name="floating" type="floating"><parent link="eight"/><child link="nine"/></joint>
  <joint name="fixed" type="fixed">
    <parent link="nine"/><child link="ten"/><origin rpy="3.141592653589793 0 3.141592653589793"/>
  </joint>
  <coupling name="belt">
    <predecessor link="three"/><successor link="Füße &lt;1&gt;"/><ratio value="6.25"/><offset value="0.1"/>
  </coupling>
  <coupling name="screw" cut="true">
    <joint name="cylindrical" coefficient="0.1"/>
    <joint name="cylindrical" component="1" coefficient="-1"/>
  </coupling>
  <loop name="revolute loop" type="revolute">
    <predecessor link="ten"><origin xyz="1 0 0" rpy="0 1.5707963267948966 0"/></predecessor>
    <successor link="ground"><origin xyz="0 1 0"/></successor>
    <axis xyz="0 0 -1"/>
  </loop>
  <loop name="universal loop" type="universal">
    <predecessor link="ten"/><successor link="ground"/><axis xyz="1 0 0"/><axis2 xyz="0 2 0"/>
  </loop>
  <loop name="ball" type="spherical" cut="false"><predecessor link="ten"/><successor link="two"/></loop>
  <loop name="weld" type="fixed" cut="true"><predecessor link="ten"/><successor link="three"/></loop>
  <loop name="slide" type="prismatic">
    <predecessor link="ten"/><successor link="four"/><axis xyz="1 1 1"/>
  </loop>
  <loop name="tube" type="cylindrical">
    <predecessor link="ten"/><successor link="five"/><axis xyz="0 1 0"/>
  </loop>
  <loop name="table" type="planar">
    <predecessor link="ten"/><successor link="six"/><axis xyz="0 0 1"/>
  </loop>
  <rod name="rod" cut="false">
    <predecessor link="two" xyz="0.1 0 0"/><successor link="ten" xyz="0 0 0.3333333333333333"/>
    <length value="0.155"/>
  </rod>
  <function name="cam" cut="true">
    <joint name="helical" symbol="a"/>
    <joint name="cylindrical" component="1" symbol="way"/>
    <formula value="s = sin(2 * a); way - 0.01 * s, 1 + select(a &lt; s, a^2, -way) * 2"/>
  </function>
</robot>
)";

TEST(RoundTrip, EveryFeature) {
  const Mechanism first = readUrdfText(everything);
  EXPECT_TRUE(first.warnings.empty()) << first.warnings.front();
  EXPECT_NO_THROW(static_cast<void>(first.validate()));
  const std::string text = writeUrdfText(first);
  const Mechanism second = readUrdfText(text);
  EXPECT_TRUE(second.warnings.empty()) << second.warnings.front();
  expectSame(first, second);
  EXPECT_EQ(second.bodies[1].name, "Füße <1>");
  EXPECT_EQ(second.bodies[1].visuals[0].texture, "wood.png");
}

TEST(RoundTrip, StartPosesOfModes) {
  const std::string text = R"(<robot name="bent"><link name="ground"/><link name="rod">
    <flexible length="0.5" E="7e10" density="2700" area="1e-4" Iy="1e-9" Iz="1e-9" modes="3"
              start_pose="0.01 0 -0.02"/></link>
    <joint name="clamp" type="fixed"><parent link="ground"/><child link="rod"/></joint></robot>)";
  Mechanism first = readUrdfText(text);
  EXPECT_EQ(first.startPose.at("rod/mode3").front(), -0.02);
  first.startPose.erase("rod/mode2");
  // Of the description, and of the mechanism of a model, which has the parts of the beam.
  const Mechanism compiled = Model(first).mechanism();
  for (const Mechanism* mechanism : {&std::as_const(first), &compiled}) {
    const Model model(readUrdfText(writeUrdfText(*mechanism)));
    EXPECT_EQ(model.neutral(), Eigen::Vector3d(0.01, 0.0, -0.02));
  }
}

std::string printed(const Model& model) {
  std::ostringstream text;
  text << model;
  return text.str();
}

/// The same structure, and the same motions at a configuration of each.
void expectSameModel(const Model& a, const Model& b) {
  EXPECT_EQ(printed(a), printed(b));
  EXPECT_EQ(a.qNames(), b.qNames());
  EXPECT_EQ(a.vNames(), b.vNames());
  EXPECT_EQ(a.frameNames(), b.frameNames());
  EXPECT_EQ(a.loopRowNames(), b.loopRowNames());
  EXPECT_EQ(a.foldedRotors(), b.foldedRotors());
  EXPECT_EQ(a.cutLoops(), b.cutLoops());
  EXPECT_EQ(a.totalMass(), b.totalMass());
  ASSERT_EQ(a.nq(), b.nq());
  ASSERT_EQ(a.nv(), b.nv());
  // Rounding of the angles that a file holds, magnified by how well a loop is conditioned.
  constexpr double closeness = 1e-9;
  Data dataA(a), dataB(b);
  for (const Vector& q : {a.neutral(), a.randomConfiguration(1)}) {
    Eigen::VectorXd residual = Eigen::VectorXd::Constant(b.nLoopRows(), 1.0);
    loopResidual(b, dataB, q, residual);
    EXPECT_LT(residual.size() == 0 ? 0.0 : residual.cwiseAbs().maxCoeff(), closeness);
    Eigen::MatrixXd Ga(a.nvSpanning(), a.nv()), Gb(b.nvSpanning(), b.nv());
    constraintJacobian(a, dataA, q, Ga);
    constraintJacobian(b, dataB, q, Gb);
    EXPECT_LT((Ga - Gb).cwiseAbs().maxCoeff(), closeness * (1.0 + Ga.cwiseAbs().maxCoeff()));
  }
}

void expectSurvival(const Mechanism& first) {
  Mechanism second = readUrdfText(writeUrdfText(first));
  expectSame(first, second);
  second.warnings = first.warnings;  // what is odd about a file is not what it describes
  expectSameModel(Model(first), Model(second));
}

TEST(RoundTrip, EveryBundledRobot) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    expectSurvival(robots::mechanism(name));
  }
}

TEST(RoundTrip, TelloHasEqualDynamics) {
  const Mechanism built = robots::mechanism("tello");
  const Model first(built), second(readUrdfText(writeUrdfText(built)));
  ASSERT_EQ(built.functions.size(), 2U);
  EXPECT_EQ(first.mechanism().functions.front().expression,
            second.mechanism().functions.front().expression);
  Data one(first), other(second);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Eigen::VectorXd q = first.randomConfiguration(seed);
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(first.nv(), -2.0, 1.5), tau = 3.0 * v;
    Eigen::VectorXd a(first.nv()), b(first.nv());
    forwardDynamics(first, one, q, v, tau, a);
    forwardDynamics(second, other, q, v, tau, b);
    EXPECT_LE((a - b).norm(), 1e-12 * a.norm()) << "seed " << seed;
  }
}

TEST(RoundTrip, FunctionsOfComponentsAndLeftCut) {
  Mechanism robot("m");
  robot.addBody("a");
  for (const char* name : {"b", "c"}) {
    robot.addBody(name).withMass(1.0).withInertia(1, 1, 1);
  }
  robot.addJoint("slide", JointType::Cylindrical).from("a").to("b");
  robot.addRevolute("turn").from("a").to("c");
  robot
      .addFunction("thread", {Coordinate("slide", 1), "turn"}, 2,
                   [](const auto& q, auto& phi) {
                     using std::sin;
                     phi[0] = q[0] - 0.1 * sin(q[1]);
                     phi[1] = select(q[0] < 100.0, q[1] * 0.0, q[1]);
                   })
      .cut = true;
  const Mechanism read = readUrdfText(writeUrdfText(robot));
  ASSERT_EQ(read.functions.size(), 1U);
  const Function& function = read.functions.front();
  EXPECT_EQ(function.name, "thread");
  EXPECT_EQ(function.cut, true);
  EXPECT_EQ(function.rows, 2);
  EXPECT_EQ(function.coordinates, (std::vector<Coordinate>{{"slide", 1}, {"turn", 0}}));
  EXPECT_EQ(function.expression, robot.functions.front().traced());
}

TEST(RoundTrip, RobotsWithLoopsLeftCut) {
  for (const char* name : {"four_bar", "six_bar", "mini_cheetah"}) {
    SCOPED_TRACE(name);
    Mechanism robot = robots::mechanism(name);
    const auto cutAll = [](auto& loops) {
      for (auto& loop : loops) {
        loop.leftCut();
      }
    };
    cutAll(robot.loops);
    cutAll(robot.rods);
    cutAll(robot.couplings);
    EXPECT_EQ(Model(robot).cutLoops().size(),
              robot.loops.size() + robot.rods.size() + robot.couplings.size());
    expectSurvival(robot);
  }
}

TEST(RoundTrip, RotationsAlsoWhereRollAndYawAreNotApart) {
  constexpr unsigned seed = 3;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> angle(-std::numbers::pi, std::numbers::pi);
  std::uniform_real_distribution<double> exponent(-17, -1);
  for (int i = 0; i < 2000; ++i) {
    Mechanism mechanism;
    mechanism.addBody("a");
    mechanism.addBody("b");
    Joint& joint = mechanism.addFixed("j").from("a").to("b");
    // Half of them within 1e-17 … 0.1 of the poles, and exactly on them.
    const double offset = i % 5 == 0 ? 0.0 : std::pow(10.0, exponent(random));
    const double pole = (i % 2 == 0 ? 0.5 : -0.5) * std::numbers::pi;
    const double pitch = i % 3 == 0 ? angle(random) : pole + offset;
    joint.at({0, 0, 0}, {angle(random), pitch, angle(random)});
    const Mechanism read = readUrdfText(writeUrdfText(mechanism));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", number " + std::to_string(i));
    expectSame(read.joints.front().origin, joint.origin, "origin");
  }
}

TEST(Writer, RefusesWhatNoFileCanHold) {
  Mechanism mechanism("m");
  mechanism.addFunction("phi", {"j"}, 1,
                        [](const auto& q, auto& phi) { phi[0] = q[0] < 0.0 ? 0.0 * q[0] : q[0]; });
  try {
    writeUrdfText(mechanism);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_TRUE(contains(error.what(),
                         "function \"phi\": a file can hold it only as a formula: the function "
                         "branches"))
        << error.what();
  }
  Mechanism infinite("m");
  infinite.addBody("b").withMass(std::numeric_limits<double>::infinity());
  EXPECT_THROW(writeUrdfText(infinite), ModelError);
  Mechanism limited("m");
  limited.addBody("a");
  limited.addBody("b");
  limited.addRevolute("j").from("a").to("b").limits.upper = std::nan("");
  EXPECT_THROW(writeUrdfText(limited), ModelError);
  EXPECT_THROW(writeUrdfText(Mechanism("")), ModelError);
  Mechanism controlled("m");
  controlled.addBody("b\x01");
  EXPECT_THROW(writeUrdfText(controlled), ModelError);
}

TEST(Writer, NamesTheNumberThatIsTooLarge) {
  Mechanism robot("arm");
  robot.addBody("ground");
  robot.addBody("arm").withMass(1.0).withInertia(1, 1, 1);
  robot.addRevolute("j1").from("ground").to("arm").about({0, 0, 1});
  robot.joints.front().stiffness = 3e12;
  robot.joints.front().damping = 2e13;
  robot.joints.front().friction = 1e14;
  const Mechanism read = readUrdfText(writeUrdfText(robot));
  EXPECT_EQ(read.joints.front().stiffness, 3e12);
  EXPECT_EQ(read.joints.front().damping, 2e13);
  EXPECT_EQ(read.joints.front().friction, 1e14);
  const auto refusal = [&]() -> std::string {
    try {
      return writeUrdfText(robot);
    } catch (const ModelError& error) {
      return error.what();
    }
  };
  robot.joints.front().armature = 3e12;
  EXPECT_EQ(
      refusal(),
      "joint \"j1\": armature = 3e+12 is larger than 1e+12, which no file may hold. Correct it "
      "before writing.");
  robot.joints.front().armature = 0.0;
  robot.bodies.back().mass = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(), "link \"arm\": mass is not finite. Correct it before writing.");
}

TEST(Writer, WritesFiles) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "kempe_writer_test.urdf";
  const Mechanism mechanism = readUrdfText(everything);
  writeUrdf(mechanism, path);
  expectSame(readMechanism(path), mechanism);
  EXPECT_EQ(readMechanism(path).source, path.string());
  std::filesystem::remove(path);
  EXPECT_THROW(writeUrdf(mechanism, path / "no" / "such" / "folder.urdf"), ModelError);
}

}  // namespace
}  // namespace kempe
