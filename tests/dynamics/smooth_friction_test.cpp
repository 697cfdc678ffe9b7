#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

/// Smooth dry friction in closed form. The random mechanisms of the other tests have it, too.
namespace kempe::test {
namespace {

struct Pendulum {
  double gear = -9.0, slip = 0.3;
  double linkFriction = 0.7, rotorFriction = 0.05, linkDamping = 0.3, rotorDamping = 0.02;

  /// F tanh(q̇ / slip) + d q̇ of the link and of the rotor, along the hinge.
  [[nodiscard]] double resistance(double rate) const {
    return linkFriction * std::tanh(rate / slip) +
           gear * rotorFriction * std::tanh(gear * rate / slip) +
           (linkDamping + gear * gear * rotorDamping) * rate;
  }
  [[nodiscard]] double slope(double rate) const {
    const auto steepness = [&](double speed) {
      return (1.0 - std::tanh(speed / slip) * std::tanh(speed / slip)) / slip;
    };
    return linkFriction * steepness(rate) + gear * gear * rotorFriction * steepness(gear * rate) +
           linkDamping + gear * gear * rotorDamping;
  }
  [[nodiscard]] double curvature(double rate) const {
    const auto bend = [&](double speed) {
      const double t = std::tanh(speed / slip);
      return -2.0 * t * (1.0 - t * t) / (slip * slip);
    };
    return linkFriction * bend(rate) + gear * gear * gear * rotorFriction * bend(gear * rate);
  }

  [[nodiscard]] Mechanism mechanism(bool rubbing) const {
    Mechanism robot("geared pendulum");
    robot.frictionSlipSpeed = slip;
    robot.addBody("ground");
    robot.addBody("link").withMass(1.7).centeredAt({0, 0, -0.4}).withInertia(0.01, 0.03, 0.03);
    robot.addBody("rotor").withMass(0.3).withInertia(1e-4, 2e-4, 1e-4);
    Joint& hinge = robot.addRevolute("hinge").from("ground").to("link").about({0, 1, 0});
    Joint& shaft = robot.addRevolute("shaft").from("ground").to("rotor").about({0, 1, 0});
    shaft.dependent();
    if (rubbing) {
      hinge.withFriction(linkFriction).withDamping(linkDamping);
      shaft.withFriction(rotorFriction).withDamping(rotorDamping);
    }
    robot.addGear("gear", "shaft", gear, "hinge");
    return robot;
  }
};

Eigen::VectorXd scalarOf(double x) {
  return Eigen::VectorXd::Constant(1, x);
}

TEST(SmoothFriction, OfLinkAndRotorIsAddedUpWithTheirOwnRates) {
  const Pendulum pendulum;
  for (const bool fold : {true, false}) {
    const Model with(pendulum.mechanism(true), {.foldRotors = fold});
    const Model without(pendulum.mechanism(false), {.foldRotors = fold});
    Data data(with), other(without);
    for (const double rate : {0.0, 0.02, -0.4, 3.0}) {
      const Eigen::VectorXd q = scalarOf(0.9), v = scalarOf(rate), a = scalarOf(2.1);
      Eigen::VectorXd tau = poisoned(1), bare = poisoned(1), back = poisoned(1);
      inverseDynamics(with, data, q, v, a, tau);
      inverseDynamics(without, other, q, v, a, bare);
      EXPECT_NEAR(tau[0] - bare[0], pendulum.resistance(rate), 1e-13);
      forwardDynamics(with, data, q, v, tau, back);
      EXPECT_NEAR(back[0], a[0], 1e-12);
      Eigen::VectorXd h = poisoned(1), zero = scalarOf(0.0);
      biasForces(with, data, q, v, h);
      inverseDynamics(with, data, q, v, zero, tau);
      EXPECT_NEAR(h[0], tau[0], 1e-13);

      Eigen::MatrixXd byQ = poisoned(1, 1), byV = poisoned(1, 1), H = poisoned(1, 1);
      inverseDynamicsDerivatives(with, data, q, v, a, byQ, byV, H);
      EXPECT_NEAR(byV(0, 0), pendulum.slope(rate), 1e-12);
      Eigen::MatrixXd ofQ = poisoned(1, 1), ofV = poisoned(1, 1), ofTau = poisoned(1, 1);
      forwardDynamics(with, data, q, v, tau, back);
      forwardDynamicsDerivatives(with, data, q, v, tau, ofQ, ofV, ofTau);
      EXPECT_NEAR(ofV(0, 0), -pendulum.slope(rate) / H(0, 0), 1e-11);

      const Eigen::VectorXd one = scalarOf(1.0);
      Eigen::MatrixXd qq = poisoned(1, 1), qv = poisoned(1, 1), vv = poisoned(1, 1),
                      qa = poisoned(1, 1);
      inverseDynamicsSecondDerivatives(with, data, q, v, a, one, qq, qv, vv, qa);
      EXPECT_NEAR(vv(0, 0), pendulum.curvature(rate), 1e-10);
    }
  }
}

TEST(SmoothFriction, InLanesIsThatOfOneState) {
  const Pendulum pendulum;
  const Model model(pendulum.mechanism(true));
  Data data(model);
  Batch batch(model, {.threads = 1});
  // From where tanh is linear to where it is one, side by side in the lanes.
  const Eigen::Index states = 1000;
  Eigen::MatrixXd q(states, 1), v(states, 1), a(states, 1), tau = poisoned(states, 1);
  for (Eigen::Index k = 0; k < states; ++k) {
    q(k, 0) = 0.01 * static_cast<double>(k);
    a(k, 0) = -1.0;
    v(k, 0) = (k % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, -9.0 + 0.012 * static_cast<double>(k));
  }
  inverseDynamics(model, batch, q, v, a, tau);
  for (Eigen::Index k = 0; k < states; ++k) {
    Eigen::VectorXd x = poisoned(1);
    inverseDynamics(model, data, q.row(k).transpose(), v.row(k).transpose(), a.row(k).transpose(),
                    x);
    ASSERT_NEAR(tau(k, 0), x[0], 1e-13 * std::max(1.0, std::abs(x[0]))) << v(k, 0);
  }
}

TEST(SmoothFriction, HasNoLimitOfSpeed) {
  const Pendulum pendulum;
  Mechanism robot = pendulum.mechanism(true);
  for (Joint& joint : robot.joints) {
    joint.withDamping(0.0);
  }
  for (const double slip : {1e-30, 0.3, 1e6}) {
    robot.frictionSlipSpeed = slip;
    const Model model(robot);
    Data data(model);
    DataF dataF(model);
    for (const double rate : {0.0, 1e-3, -0.4, 3.0, 1e100}) {
      Eigen::VectorXd tau = poisoned(1);
      Eigen::MatrixXd byQ = poisoned(1, 1), byV = poisoned(1, 1), H = poisoned(1, 1);
      const Eigen::VectorXd q = scalarOf(0.0), v = scalarOf(rate), a = scalarOf(0.0);
      inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H);
      EXPECT_TRUE(std::isfinite(byV(0, 0))) << slip << " " << rate;
      const Eigen::VectorXf qF = q.cast<float>(), vF = scalarOf(std::min(rate, 1e15)).cast<float>();
      const Eigen::VectorXf aF = a.cast<float>();
      Eigen::MatrixXf byQF(1, 1), byVF(1, 1), HF(1, 1);
      inverseDynamicsDerivatives<float>(model, dataF, qF, vF, aF, byQF, byVF, HF);
      EXPECT_TRUE(std::isfinite(byVF(0, 0))) << slip << " " << rate;
    }
  }
}

}  // namespace
}  // namespace kempe::test
