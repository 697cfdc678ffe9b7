#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <numbers>
#include <string>

#include "simulation/linkages.hpp"

#ifdef NDEBUG  // without optimisation, parts of the library slow down by different factors

namespace kempe::test {
namespace {

/// Rockers on the ground, drawn at an angle to the horizontal, each joined to the next by a coupler.
Mechanism ladder(int loops, double angle = std::numbers::pi / 2) {
  Mechanism robot = planar("ladder");
  for (int i = 0; i <= loops; ++i) {
    const std::string rocker = "rocker" + std::to_string(i);
    addLink(robot, rocker, 1.0, 1.0);
    robot.addRevolute(rocker).from("ground").to(rocker).at({1.0 * i, 0, 0}, {0, 0, angle});
  }
  for (int i = 0; i < loops; ++i) {
    const std::string number = std::to_string(i), coupler = "coupler" + number;
    addLink(robot, coupler, 1.0, 1.0);
    robot.addRevolute(coupler).from("rocker" + number).to(coupler).at({1, 0, 0}, {0, 0, -angle});
    robot.addLoop("pin" + number, LoopType::Revolute)
        .from(coupler, at({1, 0, 0}))
        .to("rocker" + std::to_string(i + 1), at({1, 0, 0}));
  }
  return robot;
}

/// The least processor time, in seconds, of some steps.
double stepTime(const Mechanism& robot) {
  Simulator simulator(Model(robot), {.integrator = Integrator::RungeKutta4});
  double least = 1e300;
  for (int i = 0; i < 10; ++i) {
    const std::clock_t begun = std::clock();
    for (int step = 0; step < 10; ++step) {
      simulator.step(1e-3);
    }
    least = std::min(least, static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
  }
  return least;
}

/// Each loop shares joints with two others only, so that a step takes less than the cube of their
/// number.
TEST(StepTime, GrowsSlowlyWithTheNumberOfLoopsOfOneCluster) {
  EXPECT_LT(stepTime(ladder(80)), 7.0 * stepTime(ladder(40)));
}

/// 1 s of processor time, on any machine that is not much slower than those of 2020. The ladder falls
/// through its flat position, where all of its loops have change points, several times.
TEST(StepTime, TenSecondsOfALadderOf40LoopsTakeASecond) {
  double least = 1e300;
  for (int i = 0; i < 2; ++i) {
    Simulator simulator(Model(ladder(40, 1.2)), {});
    const std::clock_t begun = std::clock();
    const Recording motion = simulator.run(10.0, 0.01);
    least = std::min(least, static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
    ASSERT_EQ(motion.samples.size(), 1001u);
    const auto lowest = std::ranges::min(motion.samples, {}, [](const auto& s) { return s.q[0]; });
    ASSERT_LT(lowest.q[0], -1.2) << "it has not fallen through its flat position";
  }
  EXPECT_LT(least, 1.0);
}

}  // namespace
}  // namespace kempe::test

#endif
