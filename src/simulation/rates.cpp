#include "simulation/rates.hpp"

#include <algorithm>

namespace kempe::detail {

void Rates::resize(const Coordinates& coordinates, const ForceElements& elements) {
  const Model& model = coordinates.model();
  a.setZero(model.nv());
  velocities.setZero(model.nvSpanning());
  v.setZero(model.nv());
  tau.setZero(model.nv());
  resizeForElements(elements);
  forces.setZero(model.nvSpanning());
  external.clear();
  external.reserve(model.impl().frames.size());
  power = {};
  G.assign(static_cast<std::size_t>(coordinates.ratios()), 0.0);
  coordinates.writeConstantRatios(G.data());
  regularity = coordinates.regularity();
  displacement.setZero(model.nvSpanning());
  rowDisplacement.setZero(model.nv());
  rowVelocities.setZero(model.nv());
}

void Rates::resizeForElements(const ForceElements& elements) {
  torques.setZero(elements.motors());
  readings.resize(elements.switches.count());
}

void Rates::setZero() {
  a.setZero();
  velocities.setZero();
  v.setZero();
  tau.setZero();
  torques.setZero();
  readings.setZero();
  forces.setZero();
  external.clear();
  power = {};
  std::ranges::fill(G, 0.0);
  displacement.setZero();
  rowDisplacement.setZero();
  rowVelocities.setZero();
}

void Rates::add(double weight, const Rates& other) {
  a += weight * other.a;
  velocities += weight * other.velocities;
  v += weight * other.v;
  tau += weight * other.tau;
  torques += weight * other.torques;
  readings.add(weight, other.readings);
  forces += weight * other.forces;
  // Forces act on the same frames at all positions, unless a function of the user chooses others.
  for (std::size_t i = 0; i < other.external.size(); ++i) {
    const FrameForce& force = other.external[i];
    const bool known = i < external.size() && external[i].frame == force.frame &&
                       external[i].reference == force.reference;
    if (!known) {
      external.push_back({force.frame, {}, force.reference});
    }
    FrameForce& sum = known ? external[i] : external.back();
    for (std::size_t k = 0; k < sum.wrench.size(); ++k) {
      sum.wrench[k] += weight * force.wrench[k];
    }
  }
  for (int i = 0; i < kFlows; ++i) {
    power[i] += weight * other.power[i];
  }
  for (std::size_t i = 0; i < G.size(); ++i) {
    G[i] += weight * other.G[i];
  }
}

}  // namespace kempe::detail
