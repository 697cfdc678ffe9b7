// A model shows people its tree of clusters, DoFs, loops and folded rotors.

#include <gtest/gtest.h>

#include <sstream>

#include "mechanism/small_robots.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::addBarOn;
using test::addFourBar;
using test::addRotorOn;
using test::contains;

std::vector<std::string> linesOf(const Model& model) {
  std::ostringstream out;
  out << model;
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The number of the only line that holds `piece`.
std::size_t lineWith(const std::vector<std::string>& lines, const std::string& piece) {
  std::size_t found = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (contains(lines[i], piece)) {
      EXPECT_EQ(found, lines.size()) << "a second line holds " << piece;
      found = i;
    }
  }
  EXPECT_LT(found, lines.size()) << "no line holds " << piece;
  return found;
}

/// Columns before the first letter.
std::size_t indentOf(const std::string& line) {
  return line.find_first_of("abcdefghijklmnopqrstuvwxyz");
}

/// A turntable with a four-bar on it; a tool on the coupler with a geared rotor.
Mechanism turntable() {
  Mechanism robot("turntable");
  robot.addBody("ground");
  addBarOn(robot, "ground", "table", {});
  addFourBar(robot, "table", "");
  addBarOn(robot, "coupler", "tool", {0.5, 0, 0});
  addRotorOn(robot, "coupler", "rotor").dependent();
  robot.addGear("gear", "to_rotor", 5, "to_tool");
  return robot;
}

TEST(Printing, BeginsWithASummary) {
  const std::vector<std::string> lines = linesOf(Model(turntable()));
  EXPECT_EQ(lines[0],
            "turntable: 3 DoFs, 6 moving bodies, 2 loops in 2 clusters, 1 folded rotor, 5 kg");
  EXPECT_TRUE(contains(lines[1], "nq 5, nv 3")) << lines[1];
  EXPECT_TRUE(contains(lines[1], "6 positions, 6 velocities")) << lines[1];
  EXPECT_TRUE(contains(lines[2], "ground (root")) << lines[2];
}

TEST(Printing, CountsOneAsOne) {
  Mechanism robot("pendulum");
  robot.addBody("ground");
  addBarOn(robot, "ground", "bob", {});
  const std::vector<std::string> lines = linesOf(Model(robot));
  EXPECT_EQ(lines[0],
            "pendulum: 1 DoF, 1 moving body, 0 loops in 0 clusters, 0 folded rotors, 1 kg");
}

TEST(Printing, ShowsEveryBodyWithItsJoint) {
  const std::vector<std::string> lines = linesOf(Model(turntable()));
  for (const char* body : {"table  [to_table: revolute]", "crank  [to_crank: revolute]",
                           "coupler  [to_coupler: revolute]", "rocker  [to_rocker: revolute]",
                           "tool  [to_tool: revolute]", "rotor  [to_rotor: revolute]"}) {
    lineWith(lines, body);
  }
}

TEST(Printing, ShowsClustersWithOutputFreedomsAndLoops) {
  const std::vector<std::string> lines = linesOf(Model(turntable()));
  const std::size_t fourBar = lineWith(lines, "cluster on table: 1 DoF (to_crank)");
  EXPECT_TRUE(contains(lines[fourBar + 1], "loops: loop (3 redundant rows)")) << lines[fourBar + 1];
  const std::size_t gear = lineWith(lines, "cluster on coupler: 1 DoF (to_tool)");
  EXPECT_TRUE(contains(lines[gear + 1], "loops: gear")) << lines[gear + 1];
  EXPECT_FALSE(contains(lines[gear + 1], "redundant")) << lines[gear + 1];
}

TEST(Printing, IndentsChildrenUnderTheirParents) {
  Mechanism robot = turntable();
  addBarOn(robot, "ground", "arm", {3, 0, 0});
  const std::vector<std::string> lines = linesOf(Model(robot));
  const std::size_t table = lineWith(lines, "[to_table:"), fourBar = lineWith(lines, "on table:"),
                    gear = lineWith(lines, "on coupler:"), tool = lineWith(lines, "[to_tool:"),
                    arm = lineWith(lines, "[to_arm:");
  EXPECT_LT(table, fourBar);
  EXPECT_LT(fourBar, gear);
  EXPECT_LT(gear, tool);
  EXPECT_LT(tool, arm);
  EXPECT_LT(indentOf(lines[table]), indentOf(lines[fourBar]));
  EXPECT_LT(indentOf(lines[fourBar]), indentOf(lines[gear]));
  EXPECT_LT(indentOf(lines[gear]), indentOf(lines[tool]));
  EXPECT_EQ(indentOf(lines[arm]), indentOf(lines[table]));
}

TEST(Printing, MarksFoldedRotorsWhereTheyAreFolded) {
  const std::vector<std::string> folded = linesOf(Model(turntable()));
  EXPECT_TRUE(contains(folded[lineWith(folded, "[to_rotor:")], "folded"));
  EXPECT_FALSE(contains(folded[lineWith(folded, "[to_tool:")], "folded"));
  const std::vector<std::string> kept = linesOf(Model(turntable(), {.foldRotors = false}));
  EXPECT_TRUE(contains(kept[0], "0 folded rotors"));
  EXPECT_FALSE(contains(kept[lineWith(kept, "[to_rotor:")], "folded"));
}

TEST(Printing, NamesLoopsThatAreLeftCut) {
  for (const std::string& line : linesOf(Model(turntable()))) {
    EXPECT_FALSE(contains(line, "cut")) << line;
  }
  Mechanism robot = turntable();
  robot.loops[0].leftCut();
  const std::vector<std::string> one = linesOf(Model(robot));
  EXPECT_TRUE(contains(one[0], "1 loop in 1 cluster, 1 loop left cut, 1 folded rotor")) << one[0];
  EXPECT_EQ(one.back(), "left cut: loop");
  lineWith(one, "cluster on coupler: 1 DoF (to_tool)");
  robot.couplings[0].leftCut();
  const std::vector<std::string> both = linesOf(Model(robot));
  EXPECT_TRUE(contains(both[0], "0 loops in 0 clusters, 2 loops left cut")) << both[0];
  const std::string& last = both.back();
  EXPECT_TRUE(last == "left cut: gear, loop" || last == "left cut: loop, gear") << last;
}

TEST(Printing, CountsWarnings) {
  Mechanism robot = turntable();
  robot.bodies[1].withInertia(1, 1, 5);
  EXPECT_TRUE(contains(linesOf(Model(robot))[0], "kg, 1 warning"));
  robot.warnings = {"its file is odd"};
  EXPECT_TRUE(contains(linesOf(Model(robot))[0], "kg, 2 warnings"));
}

TEST(Printing, LeavesOutBodiesThatAreFixedToOthers) {
  Mechanism robot = turntable();
  addBar(robot, "plate");
  robot.addFixed("bolts").from("table").to("plate");
  for (const std::string& line : linesOf(Model(robot))) {
    EXPECT_FALSE(contains(line, "bolts")) << line;
  }
}

TEST(Printing, ShowsMassesWithWhatIsFixedToBodies) {
  Mechanism robot = turntable();
  addBar(robot, "plate");
  addBar(robot, "lid");
  robot.addFixed("bolts").from("table").to("plate");
  robot.addFixed("hinges").from("plate").to("lid");
  const std::vector<std::string> lines = linesOf(Model(robot));
  lineWith(lines, "table  [to_table: revolute] 3 kg");
  lineWith(lines, "crank  [to_crank: revolute] 1 kg");
}

}  // namespace
}  // namespace kempe
