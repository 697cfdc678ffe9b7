/// An arm with two geared motors, the second mounted on the upper arm: joint and motor torques of a
/// fast swing, and the errors of models without exact rotors.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <kempe/kempe.hpp>
#include <numbers>

namespace {

constexpr double kGear = 30.0;  // gear ratio: motor turns per joint turn
constexpr kempe::Vector3 kAxis{0, 1, 0};
constexpr auto kTurning = kempe::JointType::Continuous;

/// x points forward and z up; at zero the arm hangs straight down.
kempe::Mechanism describeArm() {
  kempe::Mechanism arm("geared_arm");
  arm.addBody("base");
  arm.addBody("upper_arm").withMass(1.5).centeredAt({0, 0, -0.15}).withInertia(0.012, 0.012, 0.002);
  arm.addBody("forearm").withMass(0.8).centeredAt({0, 0, -0.12}).withInertia(0.005, 0.005, 0.0005);
  arm.addBody("shoulder_rotor").withMass(0.25).withInertia(6e-5, 1e-4, 6e-5);
  arm.addBody("elbow_rotor").withMass(0.25).withInertia(6e-5, 1e-4, 6e-5);

  arm.addJoint("shoulder", kTurning).from("base").to("upper_arm").about(kAxis).independent();
  arm.addJoint("shoulder_motor", kTurning).from("base").to("shoulder_rotor").about(kAxis);
  arm.addGear("shoulder_gear", "shoulder_motor", kGear, "shoulder");

  arm.addJoint("elbow", kTurning)
      .from("upper_arm")
      .to("forearm")
      .at({0, 0, -0.3})
      .about(kAxis)
      .independent();
  arm.addJoint("elbow_motor", kTurning)
      .from("upper_arm")
      .to("elbow_rotor")
      .at({0, 0, -0.05})
      .about(kAxis);
  arm.addGear("elbow_gear", "elbow_motor", kGear, "elbow");
  return arm;
}

}  // namespace

int main() {
  const kempe::Model model(describeArm());
  std::cout << model << '\n';
  kempe::Data data(model);

  const int shoulderMotor = model.jointVelocityIndex("shoulder_motor");
  const int elbowMotor = model.jointVelocityIndex("elbow_motor");
  Eigen::VectorXd q(2), v(2), a(2), tau(2), other(2), back(2);
  Eigen::VectorXd joints = Eigen::VectorXd::Zero(model.nvSpanning());

  std::printf("A swing of half a second. Torques in N m.\n\n");
  std::printf("  time s  shoulder    elbow   shoulder motor  elbow motor\n");
  constexpr int steps = 50;
  constexpr double period = 0.5, rate = 2 * std::numbers::pi / period;
  const std::array methods{kempe::Method::Approximate, kempe::Method::Unconstrained};
  std::array<double, 2> worst{};
  double largest = 0.0, residual = 0.0;
  for (int step = 0; step <= steps; ++step) {
    const double phase = rate * period * step / steps;
    q << 0.6 * std::sin(phase), 0.5 * std::sin(2 * phase);
    v << 0.6 * rate * std::cos(phase), rate * std::cos(2 * phase);
    a << -0.6 * rate * rate * std::sin(phase), -2 * rate * rate * std::sin(2 * phase);
    kempe::inverseDynamics(model, data, q, v, a, tau);
    largest = std::max(largest, tau.lpNorm<Eigen::Infinity>());

    // Motor torques, through the gears, give the joint torques.
    joints[shoulderMotor] = tau[0] / kGear;
    joints[elbowMotor] = tau[1] / kGear;
    kempe::generalizedForces(model, data, q, joints, back);
    residual = std::max(residual, (back - tau).lpNorm<Eigen::Infinity>());

    for (std::size_t k = 0; k < methods.size(); ++k) {
      kempe::inverseDynamics(model, data, q, v, a, other, {.method = methods[k]});
      worst[k] = std::max(worst[k], (other - tau).lpNorm<Eigen::Infinity>());
    }
    if (step % 5 == 2) {
      std::printf("%8.2f %9.2f %8.2f %16.3f %12.3f\n", period * step / steps, tau[0], tau[1],
                  joints[shoulderMotor], joints[elbowMotor]);
    }
  }
  std::printf("\nLargest torque: %.2f N m. Largest errors of other models:\n", largest);
  std::printf("%8.2f N m with reflected inertias on the diagonal\n", worst[0]);
  std::printf("%8.2f N m without rotors\n", worst[1]);
  std::printf("Motor torques reproduce the joint torques to %.1e N m.\n", residual);
  return residual < 1e-12 ? 0 : 1;
}
