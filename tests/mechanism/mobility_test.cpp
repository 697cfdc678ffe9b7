// Mobility is computed from the rank of the loops at closed configurations, whatever a count of
// DoFs and rows would say.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>

#include "kempe/configuration.hpp"
#include "mechanism/small_robots.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::addBarOn;
using test::addFourBar;
using test::clusterWith;
using test::contains;

Mechanism onGround(const std::string& name) {
  Mechanism robot(name);
  robot.addBody("ground");
  return robot;
}

Mechanism fourBarClosedBy(LoopType type) {
  Mechanism robot = onGround("four_bar");
  addFourBar(robot, "ground", "");
  robot.loops[0].type = type;
  return robot;
}

Mechanism parallelogram() {
  Mechanism robot = onGround("parallelogram");
  addBarOn(robot, "ground", "crank", {}).independent();
  addBarOn(robot, "crank", "coupler", {0.5, 0, 0}).dependent();
  addBarOn(robot, "ground", "rocker", {0.5, 0, 0}).dependent();
  robot.addLoop("loop", LoopType::Revolute)
      .from("coupler", at({0.5, 0, 0}))
      .to("rocker", at({0.5, 0, 0}));
  return robot;
}

/// Four bars in the tree, the last of them welded to the ground.
Mechanism weldedFourBar() {
  Mechanism robot = onGround("welded_four_bar");
  addBarOn(robot, "ground", "1", {}).independent();
  addBarOn(robot, "1", "2", {0.4, 0, 0}).dependent();
  addBarOn(robot, "2", "3", {0.9, 0, 0}).dependent();
  addBarOn(robot, "3", "4", {0.7, 0, 0}).dependent();
  robot.addLoop("weld", LoopType::Fixed).from("4", at({1, 0, 0})).to("ground");
  return robot;
}

Mechanism sliderCrank() {
  Mechanism robot = onGround("slider_crank");
  addBarOn(robot, "ground", "crank", {}).independent();
  addBarOn(robot, "crank", "rod", {0.3, 0, 0}).dependent();
  addBar(robot, "piston");
  robot.addPrismatic("slide").from("ground").to("piston").along({1, 0, 0}).dependent();
  robot.addLoop("pin", LoopType::Revolute).from("rod", at({0.9, 0, 0})).to("piston");
  return robot;
}

/// Four skew axes in space; moves although six times the loop count says it cannot. Opposite bars
/// are equal, and sin(twist) / length is the same for all.
Mechanism bennett() {
  constexpr double a = 1.0, b = 0.7, alpha = 0.9;
  const double beta = std::asin(b / a * std::sin(alpha));
  Mechanism robot = onGround("bennett");
  addBarOn(robot, "ground", "1", {}).independent();
  addBarOn(robot, "1", "2", {}).at({a, 0, 0}, {alpha, 0, 0}).dependent();
  addBarOn(robot, "2", "3", {}).at({b, 0, 0}, {beta, 0, 0}).dependent();
  robot.addLoop("loop", LoopType::Revolute)
      .from("3", at({a, 0, 0}, {alpha, 0, 0}))
      .to("ground", at({b, 0, 0}, {beta, 0, 0}).inverse());
  return robot;
}

/// Two hinged pairs of plates in planes at right angles guide a table straight up.
Mechanism sarrus() {
  const Vector3 x{1, 0, 0}, y{0, 1, 0};
  Mechanism robot = onGround("sarrus");
  addBarOn(robot, "ground", "a1", {0, 1, 0}).about(x).independent();
  addBarOn(robot, "a1", "a2", {0, 0, 1}).about(x).dependent();
  addBarOn(robot, "a2", "table", {0, 0, 1}).about(x).dependent();
  addBarOn(robot, "ground", "b1", {1, 0, 0}).about(y).dependent();
  addBarOn(robot, "b1", "b2", {0, 0, 1}).about(y).dependent();
  robot.addLoop("loop", LoopType::Revolute)
      .from("b2", at({0, 0, 1}))
      .to("table", at({1, -1, 0}))
      .about(y);
  return robot;
}

/// Crank and rocker about skew axes with a rod between them.
Mechanism crankRodRocker() {
  Mechanism robot = onGround("crank_rod_rocker");
  addBarOn(robot, "ground", "crank", {}).independent();
  addBarOn(robot, "ground", "rocker", {1, 0, 0}).about({0, 1, 0}).dependent();
  robot.addRod("rod").from("crank", {0.3, 0, 0}).to("rocker", {0.5, 0, 0}).ofLength(1.1);
  return robot;
}

/// A table in the plane on three legs of two bars: 3-RRR.
Mechanism planarTable() {
  Mechanism robot = onGround("planar_table");
  for (int leg = 0; leg < 3; ++leg) {
    const std::string name = std::to_string(leg);
    const double angle = 2 * M_PI / 3 * leg;
    const Vector3 direction{std::cos(angle), std::sin(angle), 0};
    addBarOn(robot, "ground", "thigh" + name, 1.5 * direction).independent();
    addBarOn(robot, "thigh" + name, "shank" + name, {1, 0, 0}).dependent();
    if (leg == 0) {
      addBarOn(robot, "shank0", "table", {1, 0, 0}).dependent();
    } else {
      robot.addLoop("foot" + name, LoopType::Revolute)
          .from("shank" + name, at({1, 0, 0}))
          .to("table", at(0.3 * direction - Vector3{0.3, 0, 0}));
    }
  }
  return robot;
}

/// A free table on rods from the ground.
Mechanism tableOnRods(int rods) {
  Mechanism robot = onGround("table_on_rods");
  addBar(robot, "table");
  robot.addJoint("float", JointType::Free).from("ground").to("table").at({0, 0, 1});
  for (int i = 0; i < rods; ++i) {
    const double low = 2.1 * i, high = 0.7 + 1.3 * i;
    robot.addRod("rod" + std::to_string(i))
        .from("ground", {std::cos(low), std::sin(low), 0})
        .to("table", {0.5 * std::cos(high), 0.5 * std::sin(high), 0})
        .ofLength(1.3);
  }
  return robot;
}

/// A free table on six legs, each a universal joint and a telescope, with balls at the table.
Mechanism stewart() {
  Mechanism robot = onGround("stewart");
  addBar(robot, "table");
  robot.addJoint("float", JointType::Free).from("ground").to("table").at({0, 0, 1}).dependent();
  for (int leg = 0; leg < 6; ++leg) {
    const std::string name = std::to_string(leg);
    const int pair = leg / 2;
    const double side = leg % 2 == 0 ? 1 : -1, corner = 2 * M_PI / 3 * pair;
    const double low = corner + 0.2 * side, high = corner + 0.8 * side;
    addBar(robot, "tube" + name);
    robot.addJoint("hip" + name, JointType::Universal)
        .from("ground")
        .to("tube" + name)
        .at({std::cos(low), std::sin(low), 0})
        .about({1, 0, 0})
        .thenAbout({0, 1, 0})
        .dependent();
    addBar(robot, "piston" + name);
    robot.addPrismatic("slide" + name)
        .from("tube" + name)
        .to("piston" + name)
        .along({0, 0, 1})
        .independent();
    robot.addLoop("ball" + name, LoopType::Spherical)
        .from("piston" + name, at({0, 0, 1}))
        .to("table", at({0.6 * std::cos(high), 0.6 * std::sin(high), 0}));
  }
  return robot;
}

struct Linkage {
  std::function<Mechanism()> build;
  std::string title;
  int rows, mobility, redundant;

  friend std::ostream& operator<<(std::ostream& out, const Linkage& linkage) {
    return out << linkage.title;
  }
};

class EveryLinkage : public ::testing::TestWithParam<Linkage> {};

TEST_P(EveryLinkage, HasItsMobility) {
  const Linkage& linkage = GetParam();
  const Model model(linkage.build());
  EXPECT_EQ(model.nLoopRows(), linkage.rows);
  EXPECT_EQ(model.nv(), linkage.mobility);
  ASSERT_EQ(model.clusters().size(), 1u);
  EXPECT_EQ(model.clusters().front().mobility, linkage.mobility);
  EXPECT_EQ(model.clusters().front().redundantRows, linkage.redundant);
  EXPECT_EQ(model.nvSpanning() - (linkage.rows - linkage.redundant), linkage.mobility);
}

/// The DoFs that are counted can be moved: from neutral a small motion along each stays closed.
TEST_P(EveryLinkage, MovesAlongEachFreedom) {
  const Model model(GetParam().build());
  Data data(model);
  Eigen::VectorXd q(model.nq()), residual(model.nLoopRows()), v(model.nv());
  for (int i = 0; i < model.nv(); ++i) {
    v = Eigen::VectorXd::Unit(model.nv(), i);
    integrate(model, data, model.neutral(), v, 0.02, q);
    loopResidual(model, data, q, residual);
    EXPECT_LT(residual.cwiseAbs().maxCoeff(), 1e-12) << model.vNames()[static_cast<std::size_t>(i)];
    EXPECT_GT((q - model.neutral()).norm(), 0.01);
  }
}

const std::vector<Linkage> linkages{
    {[] { return fourBarClosedBy(LoopType::Revolute); }, "FourBarByRevolute", 5, 1, 3},
    {[] { return fourBarClosedBy(LoopType::Cylindrical); }, "FourBarByCylindrical", 4, 1, 2},
    {[] { return fourBarClosedBy(LoopType::Spherical); }, "FourBarBySpherical", 3, 1, 1},
    {parallelogram, "Parallelogram", 5, 1, 3},
    {weldedFourBar, "WeldedFourBar", 6, 1, 3},
    {sliderCrank, "SliderCrank", 5, 1, 3},
    {bennett, "Bennett", 5, 1, 3},
    {sarrus, "Sarrus", 5, 1, 1},
    {crankRodRocker, "CrankRodRocker", 1, 1, 0},
    {planarTable, "PlanarTable", 10, 3, 6},
    {[] { return tableOnRods(1); }, "TableOnOneRod", 1, 5, 0},
    {[] { return tableOnRods(3); }, "TableOnThreeRods", 3, 3, 0},
    {[] { return tableOnRods(5); }, "TableOnFiveRods", 5, 1, 0},
    {stewart, "Stewart", 18, 6, 0},
};
INSTANTIATE_TEST_SUITE_P(Linkages, EveryLinkage, ::testing::ValuesIn(linkages),
                         [](const auto& test) { return test.param.title; });

TEST(Mobility, OfThreeBarsIsNoneAndSaidOfTheStructure) {
  Mechanism robot = onGround("trestle");
  addBarOn(robot, "ground", "turntable", {});
  addBarOn(robot, "turntable", "left", {});
  addBarOn(robot, "turntable", "right", {1, 0, 0});
  robot.addLoop("top", LoopType::Revolute)
      .from("left", at({0.8, 0, 0}))
      .to("right", at({0.7, 0, 0}));
  const Model model(robot);
  EXPECT_EQ(model.nv(), 1);
  EXPECT_EQ(clusterWith(model, "left").mobility, 0);
  EXPECT_TRUE(
      contains(test::warningsOf(model),
               "loop \"top\": the loops leave it no degree of freedom: it is a rigid structure"))
      << test::warningsOf(model);
}

TEST(Mobility, OfASecondEqualLoopIsTheSame) {
  Mechanism robot = fourBarClosedBy(LoopType::Revolute);
  LoopJoint again = robot.loops[0];
  again.name = "again";
  robot.loops.push_back(again);
  const Model model(robot);
  EXPECT_EQ(model.nv(), 1);
  EXPECT_EQ(model.clusters().front().redundantRows, 8);
}

// --- independent coordinates of loops ----------------------------------------------------------

TEST(IndependentCoordinates, AreThoseMarkedWhereTheyDetermineTheLoop) {
  for (const std::string motor : {"crank", "coupler", "rocker"}) {
    Mechanism robot = fourBarClosedBy(LoopType::Revolute);
    for (Joint& joint : robot.joints) {
      joint.independence = joint.child == motor;
    }
    const Model model(robot);
    EXPECT_EQ(model.vNames(), std::vector<std::string>{"to_" + motor});
    EXPECT_TRUE(model.warnings().empty()) << test::warningsOf(model);
  }
}

TEST(IndependentCoordinates, ThatDetermineNothingAreReplacedWithAWarning) {
  // The piston's spin about the cylinder is free of the rest.
  Mechanism robot = sliderCrank();
  robot.joints[2].type = JointType::Cylindrical;
  robot.loops[0].type = LoopType::Spherical;
  robot.bodies.back().centeredAt({}).withInertia(0.02, 0.03, 0.03);
  robot.joints[0].independent();
  robot.joints[1].independent();
  robot.joints[2].dependent();
  const Model model(robot);
  EXPECT_EQ(model.nv(), 2);
  EXPECT_TRUE(test::namesOf(model.vNames()).contains("slide.angle"));
  EXPECT_TRUE(contains(test::warningsOf(model),
                       "loop \"pin\": the coordinates marked independent do not determine the "
                       "others; chosen for good conditioning: "))
      << test::warningsOf(model);
}

TEST(IndependentCoordinates, OfWrongNumberAreReplacedWithAWarning) {
  Mechanism robot = fourBarClosedBy(LoopType::Revolute);
  for (Joint& joint : robot.joints) {
    joint.independent();
  }
  const Model model(robot);
  EXPECT_EQ(model.nv(), 1);
  const std::string warnings = test::warningsOf(model);
  EXPECT_TRUE(contains(warnings,
                       "loop \"loop\": it has 1 degree of freedom, but 3 coordinates are marked "
                       "independent"))
      << warnings;
  EXPECT_TRUE(contains(warnings, "Mark 1.")) << warnings;
}

}  // namespace
}  // namespace kempe
