#pragma once

#include <numbers>
#include <string>
#include <string_view>

#include "kempe/kempe.hpp"

// Robots that the tests of simulations share. Gravity is along −y, so that planar linkages about z
// swing.

namespace kempe::test {

inline constexpr double kPi = std::numbers::pi;

inline constexpr Integrator kIntegrators[] = {
    Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::ImplicitMidpoint,
    Integrator::Adaptive,          Integrator::Radau,       Integrator::Auto};

inline Mechanism planar(std::string_view name) {
  Mechanism robot{std::string(name)};
  robot.gravity = {0, -9.81, 0};
  robot.addBody("ground");
  return robot;
}

/// A bar along x.
inline void addLink(Mechanism& robot, std::string_view name, double length, double mass) {
  const double inertia = mass * length * length / 12;
  robot.addBody(name)
      .withMass(mass)
      .centeredAt({0.5 * length, 0, 0})
      .withInertia(0.01 * inertia, inertia, inertia);
}

/// A bar of 0.4 m and 1 kg about z: gravity turns it with 1.962 N·m where it is level.
inline Mechanism pendulum() {
  Mechanism robot = planar("pendulum");
  addLink(robot, "bar", 0.4, 1.0);
  robot.addRevolute("hinge").from("ground").to("bar");
  return robot;
}

/// Constant in exact motions.
inline double balancedEnergy(const Simulator& simulator) {
  const Energy energy = simulator.energy();
  const Work work = simulator.work();
  return energy.kinetic + energy.potential - work.balance();
}

/// A block on a slide along x, "slide"; gravity, if any, pulls it back along −x.
inline Mechanism block(double mass, double gravity = 0.0) {
  Mechanism robot = planar("block");
  robot.gravity = {-gravity, 0, 0};
  robot.addBody("block").withMass(mass).withInertia(1, 1, 1);
  robot.addPrismatic("slide").from("ground").to("block").along({1, 0, 0});
  return robot;
}

/// The position or velocity of a robot with one DoF.
inline Eigen::VectorXd one(double x) {
  return Eigen::VectorXd::Constant(1, x);
}

/// Crank of 0.1 m, rod of 0.3 m, slider along x. `independent` is "crank", "swivel" or "slide".
inline Mechanism crankSlider(std::string_view independent, double offset = 0.0) {
  Mechanism robot = planar("crank_slider");
  addLink(robot, "crank_link", 0.1, 0.5);
  addLink(robot, "rod", 0.3, 0.4);
  robot.addBody("piston").withMass(0.3).withInertia(1e-3, 1e-3, 1e-3);
  robot.addRevolute("crank").from("ground").to("crank_link").dependent();
  robot.addRevolute("swivel").from("crank_link").to("rod").at({0.1, 0, 0}).dependent();
  robot.addPrismatic("slide")
      .from("ground")
      .to("piston")
      .at({0, offset, 0})
      .along({1, 0, 0})
      .dependent();
  robot.addLoop("pin", LoopType::Revolute).from("rod", at({0.3, 0, 0})).to("piston");
  for (Joint& joint : robot.joints) {
    if (joint.name == independent) {
      joint.independent();
    }
  }
  return robot;
}

/// Four bars on the ground; `independent` is "crank", "knee" or "pivot".
inline Mechanism fourBar(double ground, double crank, double coupler, double rocker,
                         std::string_view independent = "crank") {
  Mechanism robot = planar("four_bar");
  addLink(robot, "crank_link", crank, 0.5);
  addLink(robot, "coupler", coupler, 0.4);
  addLink(robot, "rocker", rocker, 0.6);
  robot.addRevolute("crank").from("ground").to("crank_link").dependent();
  robot.addRevolute("knee").from("crank_link").to("coupler").at({crank, 0, 0}).dependent();
  robot.addRevolute("pivot").from("ground").to("rocker").at({ground, 0, 0}).dependent();
  robot.addLoop("closure", LoopType::Revolute)
      .from("coupler", at({coupler, 0, 0}))
      .to("rocker", at({rocker, 0, 0}));
  for (Joint& joint : robot.joints) {
    if (joint.name == independent) {
      joint.independent();
    }
  }
  return robot;
}

/// Two arms of two links that meet; "left" and "right" are the independent joints.
inline Mechanism fiveBar() {
  Mechanism robot = planar("five_bar");
  for (const std::string side : {"left", "right"}) {
    addLink(robot, side + "_upper", 0.2, 0.3);
    addLink(robot, side + "_lower", 0.25, 0.2);
    robot.addRevolute(side)
        .from("ground")
        .to(side + "_upper")
        .at({side == "left" ? 0.0 : 0.2, 0, 0})
        .independent();
    robot.addRevolute(side + "_elbow")
        .from(side + "_upper")
        .to(side + "_lower")
        .at({0.2, 0, 0})
        .dependent();
  }
  robot.addLoop("tip", LoopType::Revolute)
      .from("left_lower", at({0.25, 0, 0}))
      .to("right_lower", at({0.25, 0, 0}));
  return robot;
}

/// q of a model whose joints all have one number each, closed, from named positions.
inline Eigen::VectorXd configuration(const Model& model,
                                     std::initializer_list<std::pair<std::string, double>> at) {
  Eigen::VectorXd q = model.neutral();
  for (const auto& [name, value] : at) {
    const auto& names = model.qNames();
    q[std::ranges::find(names, name) - names.begin()] = value;
  }
  Data data(model);
  Eigen::VectorXd closed(model.nq());
  project(model, data, q, closed);
  return closed;
}

/// The velocity of a joint in a simulator.
inline double rateOf(const Simulator& simulator, std::string_view joint) {
  return simulator.spanningVelocities()[simulator.model().jointVelocityIndex(joint)];
}

inline double positionOf(const Simulator& simulator, std::string_view joint) {
  const auto& names = simulator.model().qNames();
  return simulator.q()[std::ranges::find(names, joint) - names.begin()];
}

}  // namespace kempe::test
