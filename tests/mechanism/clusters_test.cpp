// Clusters are found from the graph: a loop joins the bodies of its branches up to the nearest
// common ancestor, and overlapping loops merge.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "mechanism/small_robots.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::addBarOn;
using test::addFourBar;
using test::addRotorOn;
using test::clusterWith;
using test::Names;
using test::namesOf;
using test::partitionOf;
using Partition = std::set<Names>;

/// A chain of bars "1", "2", … on "ground", joined in series.
Mechanism chain(int length) {
  Mechanism robot("chain");
  robot.addBody("ground");
  for (int i = 1; i <= length; ++i) {
    addBarOn(robot, i == 1 ? "ground" : std::to_string(i - 1), std::to_string(i), {1, 0, 0});
  }
  return robot;
}

TEST(Clusters, OfATreeAreItsBodies) {
  Mechanism robot = chain(3);
  addBarOn(robot, "1", "4", {0, 1, 0});
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1"}, {"2"}, {"3"}, {"4"}}));
  EXPECT_EQ(clusterWith(model, "1").outputBody, "ground");
  EXPECT_EQ(clusterWith(model, "4").outputBody, "1");
  for (const ClusterInfo& cluster : model.clusters()) {
    EXPECT_EQ(cluster.mobility, 1);
    EXPECT_TRUE(cluster.loops.empty());
    EXPECT_FALSE(cluster.implicit);
  }
}

TEST(Clusters, OfAGearHoldTheTwoItCouples) {
  Mechanism robot = chain(3);
  addRotorOn(robot, "1", "rotor");
  robot.addGear("gear", "to_rotor", 6, "to_2");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1"}, {"2", "rotor"}, {"3"}}));
  const ClusterInfo& geared = clusterWith(model, "rotor");
  EXPECT_EQ(geared.outputBody, "1");
  EXPECT_EQ(geared.loops, std::vector<std::string>{"gear"});
  EXPECT_EQ(geared.mobility, 1);
  EXPECT_FALSE(geared.implicit);
  EXPECT_EQ(clusterWith(model, "3").outputBody, "2");
}

TEST(Clusters, OfAGearAlongOneBranchHoldAllBetween) {
  Mechanism robot = chain(5);
  robot.addGear("gear", "to_4", 2, "to_2");
  EXPECT_EQ(partitionOf(Model(robot)), (Partition{{"1"}, {"2", "3", "4"}, {"5"}}));
}

TEST(Clusters, OfADifferentialHoldMotorsAndBothJoints) {
  Mechanism robot = chain(2);
  addRotorOn(robot, "ground", "left").independent();
  addRotorOn(robot, "ground", "right").independent();
  robot.joints[0].dependent();
  robot.joints[1].dependent();
  robot.addCoupling("sum").plus(1, "to_left").plus(1, "to_right").minus(2, "to_1");
  robot.addCoupling("spread").plus(1, "to_left").minus(1, "to_right").minus(2, "to_2");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1", "2", "left", "right"}}));
  const ClusterInfo& cluster = model.clusters().front();
  EXPECT_EQ(cluster.mobility, 2);
  EXPECT_EQ(cluster.independent, (std::vector<std::string>{"to_left", "to_right"}));
}

TEST(Clusters, OfNestedLoopsAreOne) {
  // A small four-bar whose crank and rocker sit on the coupler of a large one closes on the way.
  Mechanism robot = chain(1);
  addFourBar(robot, "1", "outer_");
  addBarOn(robot, "outer_coupler", "inner", {0.2, 0, 0}).dependent();
  robot.addRod("rod").from("inner", {0.5, 0, 0}).to("outer_rocker", {0.3, 0, 0}).ofLength(0.6);
  const Model model(robot);
  EXPECT_EQ(partitionOf(model),
            (Partition{{"1"}, {"outer_crank", "outer_coupler", "outer_rocker", "inner"}}));
  EXPECT_EQ(clusterWith(model, "inner").mobility, 1);
  EXPECT_EQ(namesOf(clusterWith(model, "inner").loops), (Names{"outer_loop", "rod"}));
}

TEST(Clusters, OfALoopWithinALoopBodyStayApart) {
  Mechanism robot = chain(0);
  addFourBar(robot, "ground", "outer_");
  addFourBar(robot, "outer_coupler", "inner_");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"outer_crank", "outer_coupler", "outer_rocker"},
                                           {"inner_crank", "inner_coupler", "inner_rocker"}}));
  EXPECT_EQ(clusterWith(model, "inner_crank").outputBody, "outer_coupler");
  EXPECT_EQ(clusterWith(model, "outer_crank").outputBody, "ground");
}

TEST(Clusters, OfLoopsThatShareABodyMerge) {
  // Two rockers on one coupler: a chain of four-bars.
  Mechanism robot = chain(0);
  addFourBar(robot, "ground", "");
  addBarOn(robot, "rocker", "second_coupler", {0.7, 0, 0}).dependent();
  addBarOn(robot, "ground", "second_rocker", {2, 0, 0}).dependent();
  robot.addLoop("second_loop", LoopType::Revolute)
      .from("second_coupler", at({1.1, 0, 0}))
      .to("second_rocker", at({0.8, 0, 0}));
  const Model model(robot);
  EXPECT_EQ(partitionOf(model),
            (Partition{{"crank", "coupler", "rocker", "second_coupler", "second_rocker"}}));
  EXPECT_EQ(model.nv(), 1);
}

TEST(Clusters, HoldCouplingsAndLoopJointsTogether) {
  Mechanism robot = chain(0);
  addFourBar(robot, "ground", "");
  addRotorOn(robot, "ground", "rotor").dependent();
  robot.addGear("gear", "to_rotor", 9, "to_crank");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"crank", "coupler", "rocker", "rotor"}}));
  const ClusterInfo& cluster = model.clusters().front();
  EXPECT_EQ(namesOf(cluster.loops), (Names{"gear", "loop"}));
  EXPECT_EQ(cluster.mobility, 1);
  EXPECT_TRUE(cluster.implicit);
}

TEST(Clusters, OfALoopToTheGroundHoldTheWholeBranch) {
  Mechanism robot = chain(4);
  addBarOn(robot, "2", "side", {0, 1, 0});
  robot.addLoop("tip", LoopType::Spherical).from("4", at({1, 0, 0})).to("ground", at({2, 1, 0}));
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1", "2", "3", "4"}, {"side"}}));
  EXPECT_EQ(clusterWith(model, "1").outputBody, "ground");
  EXPECT_EQ(clusterWith(model, "1").mobility, 2);
  EXPECT_EQ(clusterWith(model, "side").outputBody, "2");
}

TEST(Clusters, OfALoopToABodyFixedToTheGroundAreTheSame) {
  Mechanism robot = chain(4);
  addBar(robot, "post");
  robot.addFixed("bolt").from("ground").to("post").at({2, 1, 0});
  robot.addLoop("tip", LoopType::Spherical).from("4", at({1, 0, 0})).to("post");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1", "2", "3", "4"}}));
  EXPECT_EQ(model.clusters().front().outputBody, "ground");
  EXPECT_EQ(model.nv(), 2);
}

TEST(Clusters, OfIndependentLoopsStaySeparate) {
  Mechanism robot = chain(1);
  addFourBar(robot, "1", "left_");
  addFourBar(robot, "1", "right_", {0, 1, 0});
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1"},
                                           {"left_crank", "left_coupler", "left_rocker"},
                                           {"right_crank", "right_coupler", "right_rocker"}}));
  EXPECT_EQ(model.nv(), 3);
}

TEST(Clusters, ThatHangOnALoopBodyNameItAsOutput) {
  Mechanism robot = chain(0);
  addFourBar(robot, "ground", "");
  addBarOn(robot, "coupler", "tool", {0.5, 0, 0});
  addRotorOn(robot, "coupler", "rotor").dependent();
  robot.addGear("gear", "to_rotor", 5, "to_tool");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"crank", "coupler", "rocker"}, {"tool", "rotor"}}));
  EXPECT_EQ(clusterWith(model, "tool").outputBody, "coupler");
}

/// Fig. 5 of Chignoli et al.: bodies 1, 2, 3 in series form a cluster; 4 on 1 and 5 on 4 another;
/// 6 on 1 and 7 on 2 a third, whose bodies hang on two bodies of the first. The loop between 6 and
/// 7 runs through 2, so that the third joins the first and each cluster hangs on one body.
TEST(Clusters, ThatWouldHangOnTwoBodiesMergeWithTheirParent) {
  Mechanism robot = chain(3);
  addBarOn(robot, "1", "4", {0, 1, 0});
  addBarOn(robot, "4", "5", {1, 0, 0});
  addBarOn(robot, "1", "6", {0.5, 0, 0});
  addBarOn(robot, "2", "7", {0.5, 0, 0});
  robot.addCoupling("first").plus(1, "to_1").plus(1, "to_2").plus(1, "to_3");
  robot.addGear("second", "to_5", 2, "to_4");
  robot.addRod("third").from("6", {0.8, 0, 0}).to("7", {0.8, 0, 0}).ofLength(1.2);
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1", "2", "3", "6", "7"}, {"4", "5"}}));
  EXPECT_EQ(clusterWith(model, "7").outputBody, "ground");
  EXPECT_EQ(clusterWith(model, "4").outputBody, "1");
  EXPECT_EQ(model.nv(), 7 - 3);
}

TEST(Clusters, SeeThroughFixedJoints) {
  Mechanism robot = chain(2);
  addBar(robot, "flange");
  robot.addFixed("weld").from("2").to("flange").at({1, 0, 0});
  addBarOn(robot, "flange", "tool", {});
  robot.addGear("gear", "to_tool", 2, "to_2");
  const Model model(robot);
  EXPECT_EQ(partitionOf(model), (Partition{{"1"}, {"2", "tool"}}));
  EXPECT_EQ(clusterWith(model, "1").mobility, 1);
}

// --- order -------------------------------------------------------------------------------------

/// A floating robot with gears, four-bars, a rod and things that hang on loop bodies.
Mechanism manyLoops() {
  Mechanism robot("many_loops");
  addBar(robot, "trunk").withInertia(0.3, 0.2, 0.4);
  addFourBar(robot, "trunk", "left_");
  addFourBar(robot, "trunk", "right_", {0, 1, 0});
  addRotorOn(robot, "trunk", "left_rotor").dependent();
  robot.addGear("left_gear", "to_left_rotor", 6, "to_left_crank");
  addBarOn(robot, "left_coupler", "foot", {0.9, 0, 0});
  addBarOn(robot, "foot", "toe", {0.2, 0, 0}).dependent();
  robot.addGear("toe_gear", "to_toe", -1, "to_foot");
  addBarOn(robot, "trunk", "neck", {1, 1, 0});
  addBarOn(robot, "neck", "head", {1, 0, 0}).dependent();
  robot.addRod("spring").from("head", {0.5, 0, 0}).to("trunk", {1, 0, 0}).ofLength(1.4);
  robot.addFloatingBase();
  return robot;
}

using Facts = std::tuple<Names, Names, Names, Names, std::string, int, int, bool>;

std::set<Facts> factsOf(const Model& model) {
  std::set<Facts> facts;
  for (const ClusterInfo& c : model.clusters()) {
    facts.emplace(namesOf(c.bodies), namesOf(c.joints), namesOf(c.loops), namesOf(c.independent),
                  c.outputBody, c.mobility, c.redundantRows, c.implicit);
  }
  return facts;
}

void expectParentsBeforeChildren(const Model& model) {
  Names earlier{"world"};
  for (const ClusterInfo& cluster : model.clusters()) {
    EXPECT_TRUE(earlier.contains(cluster.outputBody)) << cluster.outputBody;
    for (std::size_t b = 0; b < cluster.bodies.size(); ++b) {
      const Joint* joint = model.mechanism().findJoint(cluster.joints[b]);
      ASSERT_NE(joint, nullptr);
      EXPECT_EQ(joint->child, cluster.bodies[b]);
      EXPECT_TRUE(earlier.contains(joint->parent)) << joint->name;
      earlier.insert(cluster.bodies[b]);
    }
  }
}

TEST(Clusters, DoNotDependOnTheOrderOfAdding) {
  const Mechanism robot = manyLoops();
  const Model reference(robot);
  EXPECT_EQ(reference.nv(), 6 + 1 + 1 + 1 + 1);
  expectParentsBeforeChildren(reference);
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Mechanism shuffled = robot;
    std::ranges::shuffle(shuffled.bodies, random);
    std::ranges::shuffle(shuffled.joints, random);
    std::ranges::shuffle(shuffled.couplings, random);
    std::ranges::shuffle(shuffled.loops, random);
    const Model model(shuffled);
    EXPECT_EQ(factsOf(model), factsOf(reference));
    EXPECT_EQ(namesOf(model.vNames()), namesOf(reference.vNames()));
    EXPECT_EQ(namesOf(model.qNames()), namesOf(reference.qNames()));
    EXPECT_TRUE(model.warnings().empty()) << test::warningsOf(model);
    expectParentsBeforeChildren(model);
  }
}

TEST(Clusters, NameTheCoordinatesOfTheModelInOrder) {
  const Model model(manyLoops());
  std::vector<std::string> bodies, joints, independent;
  for (const ClusterInfo& c : model.clusters()) {
    bodies.insert(bodies.end(), c.bodies.begin(), c.bodies.end());
    joints.insert(joints.end(), c.joints.begin(), c.joints.end());
    independent.insert(independent.end(), c.independent.begin(), c.independent.end());
  }
  EXPECT_EQ(bodies, model.bodyNames());
  EXPECT_EQ(joints, model.jointNames());
  EXPECT_EQ(independent, model.vNames());
}

}  // namespace
}  // namespace kempe
