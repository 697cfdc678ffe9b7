#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "kempe/kempe.hpp"

// How the time of compiling a model grows with its size. Ratios of processor times are compared,
// which neither the machine nor other programs on it change much.

namespace kempe::test {
namespace {

/// The least processor time, in seconds, of some compilations.
double compileTime(const Mechanism& robot) {
  double least = 1e300;
  for (int i = 0; i < 5; ++i) {
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

TEST(CompileTime, IsLinearInTheLengthOfAChain) {
  EXPECT_LT(compileTime(chain(2000)), 3.0 * compileTime(chain(1000)));
}

}  // namespace
}  // namespace kempe::test
