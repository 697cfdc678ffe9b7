/// A leg with its knee motor at the hip, which bends the knee through a gear and a four-bar
/// linkage. Describes the leg, compiles it, and moves it through one stride.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <kempe/kempe.hpp>
#include <numbers>
#include <string>

namespace {

constexpr double kGear = 8.0;  // gear ratio: motor turns per turn of hip or crank
constexpr kempe::Vector3 kAxis{0, 1, 0};
constexpr auto kTurning = kempe::JointType::Continuous;

/// x points forward and z up; at zero the leg hangs straight down.
kempe::Mechanism describeLeg() {
  kempe::Mechanism leg("geared_four_bar_leg");
  leg.addBody("trunk");
  leg.addBody("thigh").withMass(1.2).centeredAt({0, 0, -0.11}).withInertia(0.008, 0.008, 0.001);
  leg.addBody("shank").withMass(0.5).centeredAt({0, 0, -0.12}).withInertia(0.004, 0.004, 0.0002);
  leg.addBody("crank").withMass(0.05).centeredAt({0.025, 0, 0}).withInertia(1e-6, 1e-5, 1e-5);
  leg.addBody("rod").withMass(0.08).centeredAt({0, 0, -0.125}).withInertia(4e-4, 4e-4, 1e-6);
  leg.addBody("hip_rotor").withMass(0.1).withInertia(3e-5, 5e-5, 3e-5);
  leg.addBody("knee_rotor").withMass(0.1).withInertia(3e-5, 5e-5, 3e-5);

  leg.addJoint("hip", kTurning).from("trunk").to("thigh").about(kAxis);
  leg.addJoint("hip_motor", kTurning).from("trunk").to("hip_rotor").about(kAxis).independent();
  leg.addGear("hip_gear", "hip_motor", kGear, "hip");

  leg.addJoint("knee", kTurning).from("thigh").to("shank").at({0, 0, -0.25}).about(kAxis);
  leg.addRevolute("crank_pivot").from("thigh").to("crank").about(kAxis).limitedTo(-0.7, 0.7);
  leg.addJoint("knee_motor", kTurning).from("thigh").to("knee_rotor").about(kAxis).independent();
  leg.addGear("knee_gear", "knee_motor", kGear, "crank_pivot");

  leg.addJoint("rod_top", kTurning).from("crank").to("rod").at({0.05, 0, 0}).about(kAxis);
  leg.addLoop("four_bar", kempe::LoopType::Revolute)
      .from("rod", kempe::at({0, 0, -0.25}))
      .to("shank", kempe::at({0.035, 0, 0}))
      .about(kAxis);
  return leg;
}

double degrees(double radians) {
  return radians * 180 / std::numbers::pi;
}

/// Index of a name in a list of names.
Eigen::Index indexOf(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) - names.begin();
}

}  // namespace

int main() {
  const kempe::Model model(describeLeg());
  std::cout << model << '\n';

  const int hip = model.jointPositionIndex("hip"), knee = model.jointPositionIndex("knee");
  const Eigen::Index hipMotor = indexOf(model.vNames(), "hip_motor");
  const Eigen::Index kneeMotor = indexOf(model.vNames(), "knee_motor");
  const int kneeVelocity = model.jointVelocityIndex("knee");

  kempe::Data data(model);
  Eigen::VectorXd q = model.neutral(), v = Eigen::VectorXd::Zero(model.nv());
  v[hipMotor] = -kGear * 0.4;  // the stride starts with the foot in front
  kempe::integrate(model, data, q, v, 1.0, q);
  Eigen::VectorXd positions(model.nqSpanning()), residual(model.nLoopRows());
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  double open = 0.0;

  std::printf("One stride. The gear alone would give %.0f motor turns per knee turn.\n\n", kGear);
  std::printf("  time s  hip deg  knee deg  motor turns per knee turn\n");
  constexpr int steps = 400;
  constexpr double period = 0.8, dt = period / steps, rate = 2 * std::numbers::pi / period;
  for (int step = 0; step <= steps; ++step) {
    kempe::loopResidual(model, data, q, residual);
    open = std::max(open, residual.lpNorm<Eigen::Infinity>());
    if (step % (steps / 10) == 0) {
      kempe::spanningPositions(model, data, q, positions);
      kempe::constraintJacobian(model, data, q, G);
      std::printf("%8.2f %8.1f %9.1f %14.2f\n", step * dt, degrees(positions[hip]),
                  degrees(positions[knee]), 1 / G(kneeVelocity, kneeMotor));
    }
    // The hip swings by 0.4 rad to both sides; the crank bends and straightens the knee.
    const double time = (step + 0.5) * dt;
    v[hipMotor] = kGear * 0.4 * rate * std::sin(rate * time);
    v[kneeMotor] = kGear * 0.3 * rate * std::sin(rate * time);
    kempe::integrate(model, data, q, v, dt, q);
  }
  std::printf("\nLargest loop error: %.1e.\n", open);
  return open < 1e-12 ? 0 : 1;
}
