#include "simulation/acting_forces.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/evaluation.hpp"
#include "model/arguments.hpp"
#include "text/messages.hpp"

namespace kempe::detail {

void ActingForces::addFriction(const Model& model, double slipSpeed) {
  if (std::isinf(slipSpeed)) {
    return;
  }
  const ModelTables<double>& tables = model.impl().tables;
  const double slip = slipSpeed > 0.0 ? slipSpeed : tables.frictionSlipSpeed;
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    for (int i = 0; i < velocitySize(body.type); ++i) {
      const double friction = tables.friction[body.firstVelocity + i];
      if (friction > 0.0) {
        const int position = hasScalarCoordinates(body.type) ? body.firstPosition + i : -1;
        elements.place(model, model.impl().jointNames[b], {position, body.firstVelocity + i},
                       {.coulomb = friction, .slipSpeed = slip});
      }
    }
  }
}

void ActingForces::resize(const Model& model) {
  forces.conservativeResizeLike(Eigen::VectorXd::Zero(model.nv()));
  atJoints_.setZero(model.nvSpanning());
  dissipates_ = std::ranges::any_of(model.impl().tables.damping, [](double x) { return x != 0.0; });
}

void ActingForces::resizeForElements() {
  commands.conservativeResizeLike(Eigen::VectorXd::Zero(elements.motors()));
}

void ActingForces::gather(double t, VectorIn q, VectorIn v, CoordinateChoices& choices,
                          Rates& rates, Eigen::VectorXd& tau) {
  Coordinates& chosen = choices.current();
  rates.power = {};
  chosen.spread(rates.G.data(), v, rates.velocities);
  choices.pickUsers(rates.velocities, rates.v);
  if (controller) {
    rates.tau.setZero();
    controller(t, q, rates.v, rates.tau);
    if (!rates.tau.allFinite()) {
      Eigen::Index wrong = 0;
      while (std::isfinite(rates.tau[wrong])) {
        ++wrong;
      }
      throw ForceNotFinite("the controller's force along " +
                           kempe::quoted(choices.user().vNames()[static_cast<std::size_t>(wrong)]) +
                           " is not finite");
    }
  } else {
    rates.tau = forces;
  }
  rates.power[kController] = rates.tau.dot(rates.v);

  rates.external.clear();
  rates.external.insert(rates.external.end(), external.begin(), external.end());
  if (externalFunction) {
    externalFunction(t, q, rates.v, rates.external);
  }
  for (const FrameForce& force : rates.external) {
    frameAt(chosen.impl(), force.frame);
  }
  if (motorController) {
    commands.setZero();
    motorController(t, q, rates.v, commands);
    if (!commands.allFinite()) {
      throw ForceNotFinite("the motor controller's torques are not finite");
    }
  }

  rates.forces.setZero();
  const ForceState state{chosen.positions(), rates.velocities, rates.forces, rates.external,
                         rates.power};
  if (elements.actOnJoints()) {
    elements.applyToJoints(state, commands, rates.torques);
    elements.switches.read(chosen.positions(), rates.velocities, rates.readings);
  }
  if (dissipates_) {
    const ModelTables<double>& tables = chosen.impl().tables;
    for (int i = 0; i < tables.velocities; ++i) {
      const double rate = rates.velocities[i];
      rates.power[kDamping] += tables.damping[i] * rate * rate;
    }
  }
  // The user's forces are exact where the user's coordinates are at work.
  if (choices.index() == 0 && !elements.actOnJoints()) {
    tau = rates.tau;
  } else {
    sumAlong(choices, rates.G.data(), rates, tau);
  }
  if (!rates.external.empty() || elements.actBetweenPoints()) {
    PlacedEvaluation<double> placed(chosen.model(), chosen.data(), q);
    placed.move(v.data(), nullptr);
    rates.power[kExternal] += externalPower(chosen.impl(), *placed.work, rates.external);
    elements.applyBetweenPoints(*placed.work, state);
  }
}

void ActingForces::sumAlong(CoordinateChoices& choices, const double* G, const Rates& rates,
                            Eigen::VectorXd& tau) {
  atJoints_ = rates.forces;
  choices.addUsers(rates.tau, atJoints_);
  choices.current().gather(G, atJoints_, tau);
}

void ActingForces::addPotential(Coordinates& coordinates, VectorIn q, Energy& energy) const {
  energy.potential += elements.potential(coordinates.positions());
  if (elements.actBetweenPoints()) {
    const PlacedEvaluation<double> placed(coordinates.model(), coordinates.data(), q);
    energy.potential += elements.pointPotential(*placed.work);
  }
}

std::string ActingForces::divergenceRemedy() const {
  if (controller || motorController) {
    return "Use a controller with lower gains, or a smaller dt";
  }
  if (externalFunction || !external.empty() || !forces.isZero(0.0)) {
    return "Use smaller forces, or a smaller dt";
  }
  if (elements.actOnJoints() || elements.actBetweenPoints()) {
    return "Use softer springs and stops, or a smaller dt";
  }
  return "Give the bodies that move larger masses and inertias, or a joint an armature";
}

}  // namespace kempe::detail
