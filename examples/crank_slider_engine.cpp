/// A piston engine whose independent coordinate is the piston position, which has dead points at
/// both ends of the stroke: a motor starts it against a spring, and the crank turns through them.

#include <cmath>
#include <cstdio>
#include <kempe/kempe.hpp>
#include <numbers>

namespace {

constexpr double kCrank = 0.05, kRod = 0.15;  // metres

/// x points along the cylinder. At zero the crank points along it too.
kempe::Mechanism describeEngine() {
  kempe::Mechanism engine("crank_slider_engine");
  engine.addBody("block");
  engine.addBody("flywheel").withMass(2).withInertia(4e-3, 4e-3, 8e-3);
  engine.addBody("rod").withMass(0.3).centeredAt({kRod / 2, 0, 0}).withInertia(1e-5, 6e-4, 6e-4);
  engine.addBody("piston").withMass(0.25).withInertia(1e-4, 1e-4, 1e-4);

  engine.addJoint("crank", kempe::JointType::Continuous).from("block").to("flywheel").dependent();
  engine.addJoint("crank_pin", kempe::JointType::Continuous)
      .from("flywheel")
      .to("rod")
      .at({kCrank, 0, 0})
      .dependent();
  engine.addPrismatic("slide").from("block").to("piston").along({1, 0, 0}).independent();
  engine.addLoop("piston_pin", kempe::LoopType::Revolute)
      .from("rod", kempe::at({kRod, 0, 0}))
      .to("piston");
  return engine;
}

}  // namespace

int main() {
  const kempe::Model model(describeEngine());
  kempe::Simulator simulator(model, {.integrator = kempe::Integrator::Adaptive});

  // The gas is modelled as a spring that pushes the piston outward.
  simulator.addSpring(kempe::JointSpring{.joint = "slide", .stiffness = 80.0, .rest = 0.2});
  const int starter = simulator.addMotor({.joint = "crank",
                                          .gear = 12.0,
                                          .rotorInertia = 2e-5,
                                          .stallTorque = 0.6,
                                          .noLoadSpeed = 400.0,
                                          .viscousFriction = 1e-5});
  simulator.setMotorTorque(starter, 1.0);  // above its capability: the torque-speed line limits it

  // At rest, with the crank turned by a quarter turn.
  Eigen::VectorXd q(model.nq());
  for (std::size_t i = 0; i < model.qNames().size(); ++i) {
    const std::string& name = model.qNames()[i];
    q[static_cast<Eigen::Index>(i)] = name == "slide" ? std::sqrt(kRod * kRod - kCrank * kCrank)
                                      : name == "crank"
                                          ? std::numbers::pi / 2
                                          : -std::numbers::pi / 2 - std::asin(kCrank / kRod);
  }
  simulator.setState(q, Eigen::VectorXd::Zero(model.nv()));
  const kempe::Energy start = simulator.energy();

  std::printf("The model's independent coordinate is \"%s\".\n\n", model.vNames()[0].c_str());
  std::printf("  time s   turns  crank rad/s  piston m  motor N m  computed in\n");
  double widest = 0.0;
  const int crank = model.jointVelocityIndex("crank");
  for (int i = 0; i <= 10; ++i) {
    if (i > 0) {
      simulator.stepTo(0.1 * i);
    }
    widest = std::max(widest, simulator.loopError());
    double angle = 0.0, piston = 0.0;
    for (std::size_t j = 0; j < model.qNames().size(); ++j) {
      const double x = simulator.q()[static_cast<Eigen::Index>(j)];
      angle = model.qNames()[j] == "crank" ? x : angle;
      piston = model.qNames()[j] == "slide" ? x : piston;
    }
    std::printf("  %6.1f  %6.2f  %11.3f  %8.4f  %9.4f  %s\n", simulator.time(),
                angle / (2 * std::numbers::pi), simulator.spanningVelocities()[crank], piston,
                simulator.motorTorque(starter), simulator.coordinates()[0].c_str());
  }
  const kempe::Energy end = simulator.energy();
  const double balance =
      end.kinetic + end.potential - start.kinetic - start.potential - simulator.work().balance();
  std::printf("\nThe motor did %.4f J of work, its friction dissipated %.4f J.\n",
              simulator.work().motors, simulator.work().damping);
  std::printf("Energy error: %s 1e-5 J. Largest loop error %.1e.\n",
              std::abs(balance) < 1e-5 ? "less than" : "more than", widest);
}
