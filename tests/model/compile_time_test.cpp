#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <numbers>
#include <string>

#include "kempe/kempe.hpp"

// How the time of compiling a model grows with its size, by ratios of processor times, which neither
// the machine nor other programs on it change much; and bounds in seconds of processor time, of which
// docs/performance.md has the measured figures.

#ifdef NDEBUG  // without optimisation, parts of the library slow down by different factors

namespace kempe::test {
namespace {

constexpr double kPi = std::numbers::pi;

/// The least processor time, in seconds, of some compilations.
double compileTime(const Mechanism& robot, int times = 5) {
  double least = 1e300;
  for (int i = 0; i < times; ++i) {
    const std::clock_t begun = std::clock();
    const Model model(robot);
    const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    least = std::min(least, seconds);
  }
  return least;
}

/// A bar of 1 m along x.
void addBar(Mechanism& robot, const std::string& name) {
  robot.addBody(name).withMass(1).centeredAt({0.5, 0, 0}).withInertia(1e-3, 0.1, 0.1);
}

Mechanism chain(int joints) {
  Mechanism robot("chain");
  robot.addBody("ground");
  std::string parent = "ground";
  for (int i = 0; i < joints; ++i) {
    const std::string number = std::to_string(i), link = "link" + number;
    addBar(robot, link);
    robot.addRevolute("joint" + number).from(parent).to(link).at({i > 0 ? 1.0 : 0.0, 0, 0});
    parent = link;
  }
  return robot;
}

/// A parallelogram whose coupler is pinned to its rocker by one loop, or by many equal ones.
Mechanism parallelogram(int loops) {
  Mechanism robot("parallelogram");
  robot.addBody("ground");
  for (const char* name : {"crank", "coupler", "rocker"}) {
    addBar(robot, name);
  }
  robot.addRevolute("crank").from("ground").to("crank").at({0, 0, 0}, {0, 0, 1.2});
  robot.addRevolute("coupler").from("crank").to("coupler").at({1, 0, 0}, {0, 0, -1.2});
  robot.addRevolute("rocker").from("ground").to("rocker").at({1, 0, 0}, {0, 0, 1.2});
  for (int i = 0; i < loops; ++i) {
    robot.addLoop("pin" + std::to_string(i), LoopType::Revolute)
        .from("coupler", at({1, 0, 0}))
        .to("rocker", at({1, 0, 0}));
  }
  return robot;
}

TEST(CompileTime, IsLinearInTheNumberOfEqualLoops) {
  EXPECT_LT(compileTime(parallelogram(800)), 3.0 * compileTime(parallelogram(400)));
}

/// A figure of this process in MB, such as VmRSS.
double memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (double kilobytes = 0.0; word == name + ":" && status >> kilobytes) {
      return kilobytes / 1024.0;
    }
  }
  ADD_FAILURE() << "/proc/self/status has no " << name;
  return 0.0;
}

TEST(CompileTime, FourThousandEqualLoopsNeedLittleMemory) {
  const Mechanism robot = parallelogram(4000);
  std::ofstream("/proc/self/clear_refs") << "5";  // forgets the peak of other tests
  const double before = memory("VmRSS");
  const Model model(robot);
  EXPECT_EQ(model.nv(), 1);
  EXPECT_LT(memory("VmHWM") - before, 200.0);
}

/// N + 1 rockers on the ground, each joined to the next by a coupler.
Mechanism ladder(int loops) {
  Mechanism robot("ladder");
  robot.addBody("ground");
  for (int i = 0; i <= loops; ++i) {
    const std::string number = std::to_string(i), rocker = "rocker" + number;
    addBar(robot, rocker);
    robot.addRevolute(rocker).from("ground").to(rocker).at({1.0 * i, 0, 0}, {0, 0, 1.2});
  }
  for (int i = 0; i < loops; ++i) {
    const std::string number = std::to_string(i), coupler = "coupler" + number;
    addBar(robot, coupler);
    robot.addRevolute(coupler).from("rocker" + number).to(coupler).at({1, 0, 0}, {0, 0, -1.2});
    robot.addLoop("loop" + number, LoopType::Revolute)
        .from(coupler, at({1, 0, 0}))
        .to("rocker" + std::to_string(i + 1), at({1, 0, 0}));
  }
  return robot;
}

/// A crank on the ground, and bars one after the other, of which every second is pinned to the
/// ground at its other end.
Mechanism dyads(int loops) {
  Mechanism robot("dyads");
  robot.addBody("ground");
  addBar(robot, "crank");
  robot.addRevolute("crank").from("ground").to("crank").at({0, 0, 0}, {0, 0, 1.2});
  std::string parent = "crank";
  for (int i = 0; i < loops; ++i) {
    const std::string number = std::to_string(i), bar = "bar" + number, rocker = "rocker" + number;
    addBar(robot, bar);
    addBar(robot, rocker);
    // The crank's far end is up, that of a rocker down.
    const bool first = i == 0;
    robot.addRevolute(bar).from(parent).to(bar).at({first ? 1.0 : 0.0, 0, 0},
                                                   {0, 0, first ? -1.2 : kPi - 1.2});
    robot.addRevolute(rocker).from(bar).to(rocker).at({1, 0, 0}, {0, 0, 1.2 - kPi});
    robot.addLoop("loop" + number, LoopType::Revolute)
        .from(rocker, at({1, 0, 0}))
        .to("ground", at({i + 1.0, 0, 0}));
    parent = rocker;
  }
  return robot;
}

Mechanism withLoopsCut(Mechanism robot) {
  for (LoopJoint& loop : robot.loops) {
    loop.leftCut();
  }
  return robot;
}

TEST(CompileTime, OfManyLoopsInOneClusterIsNotFarAboveThatOfCutLoops) {
  EXPECT_LT(compileTime(ladder(40)), 40.0 * compileTime(withLoopsCut(ladder(40))));
  EXPECT_LT(compileTime(dyads(60)), 30.0 * compileTime(withLoopsCut(dyads(60))));
}

TEST(CompileTime, OfAHundredDyadsIsBelowTwoSeconds) {
  EXPECT_LT(compileTime(dyads(100), 2), 2.0);
}

TEST(CompileTime, OfALadderOf40LoopsIsBelowASecond) {
  EXPECT_LT(compileTime(ladder(40)), 1.0);
}

struct Refusal {
  double seconds = 0.0;  ///< of processor time
  std::string error;
};

Refusal refusalOf(const Mechanism& robot) {
  Refusal refusal;
  const std::clock_t begun = std::clock();
  try {
    const Model model(robot);
    ADD_FAILURE() << robot.name << " was not refused";
  } catch (const ModelError& error) {
    refusal.error = error.what();
  }
  refusal.seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  return refusal;
}

/// A ladder with couplers that are too long.
Mechanism impossibleLadder(int loops) {
  Mechanism robot = ladder(loops);
  for (LoopJoint& loop : robot.loops) {
    loop.predecessor.frame = at({4, 0, 0});
  }
  return robot;
}

/// Dyads in one cluster, of which one is pinned to the ground too far away.
Mechanism impossibleDyads(int loops) {
  Mechanism robot = dyads(loops);
  for (LoopJoint& loop : robot.loops) {
    loop.leftCut(false);
  }
  robot.loops[static_cast<std::size_t>(loops) / 2].successor.frame = at({-500, 0, 0});
  return robot;
}

TEST(CompileTime, ImpossibleLoopsAreRefusedWithinThreeSeconds) {
  const Refusal first = refusalOf(impossibleLadder(60)), again = refusalOf(impossibleLadder(60));
  EXPECT_LT(first.seconds, 3.0);
  // The search is bounded by work, not by time: whatever else the machine does, the same mechanism
  // gives the same message, numbers included.
  EXPECT_EQ(first.error, again.error);
  EXPECT_LT(refusalOf(impossibleDyads(100)).seconds, 3.0);
}

TEST(CompileTime, IsLinearInTheLengthOfAChain) {
  EXPECT_LT(compileTime(chain(2000)), 3.0 * compileTime(chain(1000)));
  EXPECT_LT(compileTime(chain(3000)), 1.0);
}

}  // namespace
}  // namespace kempe::test

#endif
