#include <gtest/gtest.h>

#include "kempe/model.hpp"

namespace kempe {
namespace {

using Names = std::vector<std::string>;

/// A free base with a geared motor: the rotor follows the leg.
Mechanism leg() {
  Mechanism m("leg");
  const auto add = [&](const char* name) { m.addBody(name).withMass(1).withInertia(1, 1, 1); };
  m.addBody("world");
  add("trunk");
  add("thigh");
  add("rotor");
  m.addJoint("base", JointType::Free).from("world").to("trunk");
  m.addRevolute("hip").from("trunk").to("thigh").about({0, 1, 0});
  m.addRevolute("motor").from("trunk").to("rotor").about({0, 1, 0}).dependent();
  m.addGear("gear", "motor", 6, "hip");
  return m;
}

TEST(Actuated, WithoutMarksAreTheIndependentOnesButTheFreeBase) {
  EXPECT_EQ(Model(leg()).actuated(), Names{"hip"});
}

TEST(Actuated, MarkedJointsAreAllThatCounts) {
  Mechanism robot = leg();
  robot.joints[2].actuated();
  const Model model(robot);
  EXPECT_EQ(model.actuated(), Names{"motor"});  // though it is dependent
  EXPECT_EQ(model.vNames().back(), "hip");      // which it remains
}

TEST(Actuated, MarkedAsPassiveAreLeftOut) {
  Mechanism robot = leg();
  robot.joints[1].actuated(false);
  EXPECT_EQ(Model(robot).actuated(), Names{});
}

TEST(Actuated, JointsWithSeveralCoordinatesNameThemAll) {
  Mechanism robot = leg();
  robot.couplings.clear();
  robot.joints[1].type = JointType::Universal;
  robot.joints[1].thenAbout({1, 0, 0}).actuated();
  EXPECT_EQ(Model(robot).actuated(), (Names{"hip.first", "hip.second"}));
}

TEST(Actuated, StayWhereOtherCoordinatesAreIndependent) {
  const Model model(leg());
  EXPECT_EQ(model.withIndependent({"motor"}).actuated(), model.actuated());
}

}  // namespace
}  // namespace kempe
