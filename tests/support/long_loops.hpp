#pragma once

#include <numbers>
#include <string>

#include "kempe/mechanism.hpp"

namespace kempe::test {

/// Two planar loops with many DoFs on a floating base: one is a chain closed at its end, the other
/// two chains whose ends meet. With all positions zero they are regular polygons, the base a side.
inline Mechanism longLoops() {
  constexpr int kLinks = 8;
  constexpr double kTurn = 2 * std::numbers::pi / (kLinks + 1);
  Mechanism robot("long_loops");
  robot.addBody("base").withMass(3).centeredAt({0.1, 0.2, -0.1}).withInertia(1, 1.2, 0.8);
  robot.addFloatingBase();
  // Links of unit length, each turned against the one before it; returns the last one.
  const auto addChain = [&](const std::string& name, int links, const Pose& root, double turn) {
    std::string parent = "base";
    for (int i = 0; i < links; ++i) {
      const std::string link = name + std::to_string(i);
      robot.addBody(link).withMass(1 + 0.1 * i).centeredAt({0.5, 0.1, 0.05}).withInertia(1, 2, 1.5);
      robot.addJoint("to_" + link, JointType::Continuous)
          .from(parent)
          .to(link)
          .at(i == 0 ? root : at({1, 0, 0}, {0, 0, turn}))
          .about({0, 0, 1})
          .withArmature(i == 2 ? 0.3 : 0.0)
          .withDamping(i == 1 ? 0.2 : 0.0);
      parent = link;
    }
    return parent;
  };
  const Pose tip = at({1, 0, 0});
  const std::string end = addChain("closed", kLinks, at({0, 0, 0}, {0, 0, kTurn}), kTurn);
  robot.addLoop("closure", LoopType::Revolute)
      .from(end, tip)
      .to("base", at({-1, 0, 0}))
      .about({0, 0, 1})
      .leftCut(false);
  const std::string left = addChain("left", kLinks / 2, at({0, 0, 1}, {0, 0, kTurn}), kTurn);
  const std::string right =
      addChain("right", kLinks / 2, at({-1, 0, 1}, {0, 0, std::numbers::pi - kTurn}), -kTurn);
  robot.addLoop("meeting", LoopType::Revolute)
      .from(left, tip)
      .to(right, tip)
      .about({0, 0, 1})
      .leftCut(false);
  return robot;
}

}  // namespace kempe::test
