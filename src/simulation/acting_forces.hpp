#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "kempe/momentum.hpp"
#include "kempe/simulator.hpp"
#include "simulation/coordinate_choices.hpp"
#include "simulation/forces.hpp"
#include "simulation/rates.hpp"

namespace kempe::detail {

/// Everything that acts on a robot beside gravity, the dampers of its joints and its constraints.
class ActingForces {
 public:
  /// Adds the friction of a model's joints, as elements (SimulatorOptions::frictionSlipSpeed).
  void addFriction(const Model& model, double slipSpeed);
  /// Allocates memory for a model in any coordinates.
  void resize(const Model& model);
  /// Allocates memory for elements that have been added.
  void resizeForElements();

  /// Forces at a state, with `rates.G` there, into `rates`; and their sum along the current
  /// coordinates, but for those on bodies and those that hold joints, into `tau`.
  void gather(double t, VectorIn q, VectorIn v, CoordinateChoices& choices, Rates& rates,
              Eigen::VectorXd& tau);
  /// The sum along the current coordinates of such forces at joints.
  void sumAlong(CoordinateChoices& choices, const double* G, const Rates& rates,
                Eigen::VectorXd& tau);
  /// Adds the energy in springs and end stops, at a configuration that was placed.
  void addPotential(Coordinates& coordinates, VectorIn q, Energy& energy) const;
  /// How to keep a motion from growing beyond all bounds.
  [[nodiscard]] std::string divergenceRemedy() const;

  ForceElements elements;
  Simulator::Controller controller;
  Simulator::ExternalForces externalFunction;
  Simulator::MotorController motorController;
  std::vector<FrameForce> external;  ///< constant
  Eigen::VectorXd forces;            ///< constant tau
  Eigen::VectorXd commands;          ///< of motors

 private:
  bool dissipates_ = false;  // some joint has a damper
  Eigen::VectorXd atJoints_;
};

}  // namespace kempe::detail
