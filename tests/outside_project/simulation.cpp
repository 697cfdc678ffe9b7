#include <filesystem>
#include <vector>

#include "check.hpp"

void checkSimulation() {
  const kempe::Model model = kempe::robots::load("planar_leg");
  kempe::Simulator other(model, {.integrator = kempe::Integrator::Adaptive});
  kempe::Simulator simulator(std::move(other));
  check(simulator.options().integrator == kempe::Integrator::Adaptive, "options");
  check(kempe::integratorCalled(kempe::toString(kempe::Integrator::RungeKutta4)) ==
            kempe::Integrator::RungeKutta4,
        "names of integrators");
  simulator = kempe::Simulator(model);

  const auto start = model.randomConfiguration(2);
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(model.nv(), 0.5);
  simulator.setState(start, v);
  check((simulator.q() - start).norm() < 1e-9 && (simulator.v() - v).norm() < 1e-9, "the state");
  const kempe::Snapshot before = simulator.snapshot();
  simulator.step(1e-3);
  const Eigen::VectorXd moved = simulator.q();
  check((moved - start).norm() > 1e-5 && simulator.time() == 1e-3, "a step");
  simulator.restore(before);
  simulator.stepTo(1e-3);
  check(simulator.q() == moved, "the same from a snapshot");
  kempe::Snapshot edited = before;
  edited.q = moved;
  edited.velocities.setZero();
  simulator.restore(edited);
  check(simulator.v().norm() == 0.0, "an edited snapshot");
  simulator.setSpanningState(moved, simulator.spanningVelocities());
  const std::string first = model.vNames()[0];
  simulator.setState({{first, {0.2}}}, {{first, {1.0}}});
  check(std::abs(simulator.v()[0] - 1.0) < 1e-9, "a state by name");
  kempe::Data data(model);
  Eigen::VectorXd named(model.nq()), rates(model.nv()), all(model.nvSpanning());
  kempe::configurationAt(model, data, {{first, {0.2}}}, named);
  kempe::velocitiesAt(model, data, named, {{first, {1.0}}}, rates, all);
  check((simulator.q() - named).norm() < 1e-12 && rates[0] == simulator.v()[0], "the same state");

  check(simulator.shortStepsWarning().empty() && simulator.energyExchanged() >= 0.0,
        "effort and energy exchanged");
  const std::string joint = model.vNames()[0];
  const std::string body = model.bodyNames()[0];
  check(simulator.addSpring(kempe::JointSpring{.joint = joint, .stiffness = 1.0}) == 0, "a spring");
  simulator.addSpring(
      kempe::PointSpring{.from = {.frame = model.frameNames()[0], .point = {1, 1, 1}},
                         .to = {.frame = body},
                         .stiffness = 1.0});
  simulator.addLimit({.joint = joint, .stiffness = 10.0, .lower = -9.0, .upper = 9.0});
  check(simulator.addLimits(10.0, 1.0) >= 0, "limits");
  simulator.addFriction({.joint = joint, .coulomb = 0.01});
  const int motor = simulator.addMotor({.joint = joint, .gear = 5.0, .rotorInertia = 1e-5});
  simulator.setMotorTorque(motor, 0.1);
  check(simulator.motorTorque(motor) == 0.1, "a motor");
  simulator.setMotorController(
      [](double, kempe::VectorIn, kempe::VectorIn now, kempe::VectorOut torques) {
        torques.setConstant(-0.01 * now[0]);
      });
  simulator.setForces(Eigen::VectorXd::Constant(model.nv(), 0.25));
  check((simulator.tau().array() == 0.25).all(), "constant forces");
  simulator.setController([](double, kempe::VectorIn q, kempe::VectorIn now, kempe::VectorOut tau) {
    const Eigen::VectorXd damping = 0.1 * now;  // allocated and freed in here
    tau = -damping + 0.01 * q.head(tau.size());
  });
  const int frame = simulator.model().frameIndex(body);
  simulator.setExternalForces({{frame, {0, 0, 1, 0, 0, 0}}});
  simulator.setExternalForces(
      [frame](double, kempe::VectorIn, kempe::VectorIn, std::vector<kempe::FrameForce>& forces) {
        forces.push_back({frame, {0, 0, 0.1, 0, 0, 0}});
      });
  Eigen::MatrixXd A(2 * model.nv(), 2 * model.nv()), B(2 * model.nv(), model.nv());
  kempe::Simulator linear(model, {.integrator = kempe::Integrator::RungeKutta4});
  linear.linearize(1e-3, A, B);
  check(A.allFinite() && B.norm() > 0.0, "the derivative of a step");
  linear.linearizeRates(A, B);
  check(A.topRightCorner(model.nv(), model.nv()).isIdentity(), "the derivative of rates");
  int observed = 0;
  simulator.setObserver([&](const kempe::Simulator&) { return ++observed < 1000; });

  const kempe::Recording run = simulator.run(0.05, 1e-3);
  check(run.samples.size() == 51 && observed == 50, "a run");
  check(run.samples.back().q == simulator.q() && run.samples.back().loopError < 1e-12, "samples");
  check(simulator.integratorInUse() == kempe::Integrator::Adaptive &&
            simulator.statistics().steps >= 50 &&
            simulator.statistics(kempe::Integrator::Radau).steps == 0,
        "statistics");
  check(simulator.loopError() < 1e-12 && simulator.coordinateChanges() >= 0 &&
            static_cast<int>(simulator.coordinates().size()) == model.nv(),
        "closed loops");
  check(std::abs(run.samples.back().kinetic - simulator.energy().kinetic) < 1e-9 &&
            std::abs(simulator.work().damping) < 10.0,
        "energy and work");
  check(run.energyDrift() < 1e-4 && run.warnings.empty() && simulator.warnings().empty() &&
            std::abs(simulator.energyError()) < 1e-6,
        "energy balance");
  check(simulator.a() == run.samples.back().a &&
            simulator.spanningAccelerations().size() == model.nvSpanning(),
        "accelerations");
  Eigen::MatrixXd bearings(6, model.jointNames().size()), recorded = bearings;
  Eigen::VectorXd carried(model.nLoopForces()), recordedLoops = carried;
  simulator.jointForces(bearings);
  simulator.loopForces(carried);
  check(bearings.allFinite() && carried.allFinite(), "forces in joints and loops");
  simulator.setInterruptCheck([] {});
  simulator.requireOutsideCallbacks();
  simulator.beginRun();
  check(simulator.sample().q == simulator.q(), "a sample");
  simulator.endRun();
  check(simulator.state().q == simulator.q(), "a copy of the state");

  const auto path = std::filesystem::temp_directory_path() / "kempe_outside_project.run";
  run.save(path);
  kempe::Recording loaded = kempe::Recording::load(path);
  std::filesystem::remove(path);
  check(loaded.samples.back().q == run.samples.back().q, "a recording from a file");
  simulator.restore(loaded.snapshot(10));
  check(simulator.q() == run.samples[10].q, "a moment of a recording");
  loaded.samples.push_back(loaded.samples.front());
  loaded.samples.back().time = 1.0;
  loaded.samples.resize(3);

  kempe::Replay replay(model, run), replaced(model, run);
  replaced = std::move(replay);
  kempe::Replay last(std::move(replaced));
  Eigen::VectorXd q(model.nq()), velocities(model.nvSpanning());
  last.state(run.samples[20].time, q, velocities);
  check((q - run.samples[20].q).norm() < 1e-12, "replay");
  kempe::Replay forces(simulator.model(), run);
  forces.jointForces(run.samples.size() - 1, recorded);
  forces.loopForces(run.samples.size() - 1, recordedLoops);
  check((recorded - bearings).norm() < 1e-9 * bearings.norm() &&
            (recordedLoops - carried).norm() <= 1e-9 * carried.norm(),
        "forces of a recording");

  check(simulator.constraints() == nullptr, "no constraints");
  kempe::Constraints constraints(model);
  const int locked = constraints.lock("locked", joint, simulator.q());
  simulator.setConstraints(constraints);
  simulator.step(1e-3);
  check(simulator.multipliers().size() == 1 && std::abs(simulator.v()[0]) < 1e-9, "a locked joint");
  simulator.enableConstraint(locked, false);
  simulator.enableConstraint("locked", false);
  check(!simulator.constraints()->enabled(locked), "switched off");

  const double end = simulator.time() + 2.5e-3;
  simulator.setController([end](double t, kempe::VectorIn, kempe::VectorIn, kempe::VectorOut tau) {
    if (t > end) {
      throw std::domain_error("of the controller");
    }
    tau.setZero();
  });
  bool caught = false;
  try {
    simulator.run(1.0, 1e-3);
  } catch (const kempe::SimulationError& error) {
    caught = error.recording().samples.size() == 3 && error.time() == simulator.time() &&
             throws<std::domain_error>([&] { std::rethrow_if_nested(error); });
  }
  check(caught, "SimulationError");
}
