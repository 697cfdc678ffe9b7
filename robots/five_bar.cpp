#include <numbers>

#include "building.hpp"
#include "kempe/robots.hpp"

namespace kempe::robots {
namespace {

using std::numbers::pi;
using Sym = SymMat3<double>;

constexpr double kRodLength = 0.46, kRodThickness = 0.05;
constexpr double kMotorForward = 0.1, kMotorSide = 0.15, kMotorHeight = 0.042018709005587948;
constexpr double kEffectorReach = 0.5275;
/// The published motors have 1 N·m, which is not enough to hold the rods against gravity.
constexpr Limits kMotorLimits{.velocity = 20, .effort = 30};

// The published rods and frame have twice the density of steel, the balls of 5 cm weigh 654 t each.
// Here: hollow rods, and balls with the density of water.
constexpr double kRodScale = 1.0 / 20, kBallScale = 1e-7;

constexpr Inertial scaled(double scale, const Inertial& published) {
  const Sym& I = published.inertia;
  return {scale * published.mass,
          published.center,
          {scale * I.xx, scale * I.xy, scale * I.xz, scale * I.yy, scale * I.yz, scale * I.zz}};
}

constexpr Inertial kFrame =
    scaled(kRodScale, {90.55799165500025,
                       {0.05, 0, kMotorHeight},
                       Sym::diagonal(2.3756861654595265, 0.57624941965684406, 1.9503667318943501)});
/// A rod that points along +y or −y.
constexpr Inertial rodAlong(double sign) {
  return scaled(kRodScale,
                {24.820995827500131,
                 {0, sign * kRodLength / 2, kRodThickness / 2},
                 Sym::diagonal(0.68085505004432478, 0.037611570769567768, 0.70812453921910079)});
}
constexpr Inertial kEndRod = scaled(kRodScale, {29.820293741250193,
                                                {0, -0.26855892668729658, -0.016617624633196396},
                                                {0.92256274106550962, 0, 0, 0.056382861354550264,
                                                 0.047853547920913585, 0.94571458962747512}});
constexpr Inertial kBall =
    scaled(kBallScale, {654498.46949787356,
                        {},
                        Sym::diagonal(163.62461737446843, 163.62461737446843, 163.62461737446843)});

}  // namespace

/// Two motors drive two arms of two rods each, which meet in a pair of balls fixed to each other.
/// The pair rotates freely between the arms: a third degree of freedom (DoF), whose joint is marked
/// independent like the motors. Three of the six rows of the closure are redundant.
Mechanism fiveBar() {
  Mechanism robot("five_bar");
  addBody(robot, "built", kFrame);
  const auto add = [&](const Part& part) -> Joint& {
    return addPart(robot, part, kZ, kMotorLimits);
  };
  add({"rod", "mot1", "built", at({kMotorForward, kMotorSide, kMotorHeight}, {pi / 2, 0, pi / 2}),
       rodAlong(-1)})
      .independent();
  add({"rod_2", "free1", "rod", at({0, -kRodLength, kRodThickness}), rodAlong(-1)}).dependent();
  add({"sphere", "closedloop1_A", "rod_2", at({0, -kRodLength, 0}, {0, 0, pi / 2}), kBall})
      .independent();

  add({"rod_3", "mot2", "built",
       at({kMotorForward, -kMotorSide, kMotorHeight}, {-pi / 2, 0, -pi / 2}), rodAlong(+1)})
      .independent();
  add({"end_rod", "free2", "rod_3", at({0, kRodLength, 0}, {0, 0, -pi}), kEndRod}).dependent();
  add({"sphere_2", "closedloop1_B", "end_rod", at({0, -kRodLength, kRodThickness}), kBall})
      .dependent();
  addFrame(robot, "effector", "end_rod", at({0, -kEffectorReach, 0}, {-pi / 2, -pi / 2, 0}));

  robot.addLoop("closedloop1", LoopType::Fixed).from("sphere").to("sphere_2");
  return robot;
}

}  // namespace kempe::robots
