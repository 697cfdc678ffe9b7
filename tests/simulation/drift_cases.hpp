#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulation/linkages.hpp"

// Long free motions, by which ways to hold loops are compared: the table of docs/drift.md and the
// test behind it.

namespace kempe::test {

struct DriftCase {
  std::string name;
  Mechanism mechanism;
  std::function<Eigen::VectorXd(const Model&)> q;
  double rate = 0.0;  ///< of every independent velocity at the start
};

/// Gravity of the same size, across the axis of the first joint that turns.
inline Mechanism withGravityAcross(Mechanism robot) {
  for (const Joint& joint : robot.joints) {
    if (joint.type == JointType::Revolute || joint.type == JointType::Continuous) {
      const Vector3 axis = normalized(joint.origin.R * joint.axis);
      Vector3 across = robot.gravity - dot(robot.gravity, axis) * axis;
      if (dot(across, across) < 1.0) {
        const Vector3 other = std::abs(axis.x) < 0.5 ? Vector3{1, 0, 0} : Vector3{0, 1, 0};
        across = other - dot(other, axis) * axis;
      }
      robot.gravity = (9.81 / std::sqrt(dot(across, across))) * across;
      return robot;
    }
  }
  return robot;
}

/// The robot held at its base.
inline Mechanism held(Mechanism robot) {
  for (Joint& joint : robot.joints) {
    if (joint.type == JointType::Free) {
      joint.type = JointType::Fixed;
    }
  }
  return robot;
}

inline std::vector<DriftCase> driftCases() {
  const auto neutral = [](const Model& model) { return model.neutral(); };
  const auto turned = [](double angle) {
    return [angle](const Model& model) { return configuration(model, {{"crank", angle}}); };
  };
  return {
      {"four_bar", withGravityAcross(robots::fourBar(robots::Placement::Published)), neutral, 2.0},
      {"planar_leg", withGravityAcross(robots::planarLeg(robots::Placement::Published)), neutral,
       0.5},
      {"tello", held(robots::tello()), neutral, 0.1},
      {"crank_rocker", fourBar(0.9, 0.3, 0.9, 0.75), turned(1.0), 4.0},
      {"crank_slider", crankSlider("crank"), turned(1.0), 12.0}};
}

/// The mechanism with all loops left cut; none where a body has no inertia without its loops.
inline std::optional<Model> leftCut(Mechanism robot) {
  const auto mark = [](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = true;
    }
  };
  mark(robot.couplings);
  mark(robot.loops);
  mark(robot.rods);
  mark(robot.functions);
  try {
    return Model(robot);
  } catch (const ModelError&) {
    return std::nullopt;
  }
}

/// The largest errors of a run, and where it stopped if it did.
struct Drift {
  double energy = 0.0;  ///< error relative to the energy on the move
  double loops = 0.0;   ///< metres, radians
  double until = 0.0;   ///< seconds
};

/// Fixed steps, which the methods are compared with.
inline SimulatorOptions rungeKutta(Stabilization stabilization = Stabilization::Projection) {
  return {.integrator = Integrator::RungeKutta4, .stabilization = stabilization};
}

/// Runs from the state of an embedded model; `model` may leave its loops cut.
inline Drift driftOf(const DriftCase& given, const Model& model, const SimulatorOptions& options,
                     double duration, double dt) {
  Mechanism embedded = given.mechanism;
  const auto mark = [](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = false;
    }
  };
  mark(embedded.couplings);
  mark(embedded.loops);
  mark(embedded.rods);
  mark(embedded.functions);
  const Model start(embedded);
  Data data(start);
  const Eigen::VectorXd q = given.q(start), v = Eigen::VectorXd::Constant(start.nv(), given.rate);
  Eigen::VectorXd positions(start.nqSpanning()), velocities(start.nvSpanning());
  spanning(start, data, q, v, positions, velocities);

  Eigen::VectorXd modelPositions(model.nqSpanning()), modelVelocities(model.nvSpanning());
  for (const std::string& joint : start.jointNames()) {
    const JointType type = given.mechanism.findJoint(joint)->type;
    modelPositions.segment(model.jointPositionIndex(joint), positionSize(type)) =
        positions.segment(start.jointPositionIndex(joint), positionSize(type));
    modelVelocities.segment(model.jointVelocityIndex(joint), velocitySize(type)) =
        velocities.segment(start.jointVelocityIndex(joint), velocitySize(type));
  }
  Eigen::VectorXd modelQ(model.nq());
  for (int i = 0; i < model.nq(); ++i) {
    const auto& names = model.spanningPositionNames();
    modelQ[i] =
        modelPositions[std::ranges::find(names, model.qNames()[static_cast<std::size_t>(i)]) -
                       names.begin()];
  }
  Simulator simulator(model, options);
  simulator.setSpanningState(modelQ, modelVelocities);
  const Energy first = simulator.energy();
  double kinetic = first.kinetic, low = first.potential, high = first.potential, error = 0.0;
  Drift drift;
  const auto steps = static_cast<long>(std::llround(duration / dt));
  try {
    for (long i = 1; i <= steps; ++i) {
      simulator.stepTo(static_cast<double>(i) * dt);
      if (i % 10 == 0) {
        const Energy now = simulator.energy();
        kinetic = std::max(kinetic, now.kinetic);
        low = std::min(low, now.potential);
        high = std::max(high, now.potential);
        error = std::max(error,
                         std::abs(now.kinetic + now.potential - first.kinetic - first.potential));
        drift.loops = std::max(drift.loops, simulator.loopError());
      }
    }
  } catch (const std::runtime_error&) {
    // The run ends here.
  }
  drift.until = simulator.time();
  drift.energy = error / std::max(kinetic, high - low);
  return drift;
}

}  // namespace kempe::test
