#include "batch/term_call.hpp"
#include "kempe/all_terms.hpp"

/// Kinematics of many states, and the terms that follow from them.
namespace kempe {
namespace detail {
namespace {

// Outputs that more than one function has.

template <typename T>
void addPlacements(TermCall<T>& call, const States<T>& placements) {
  call.outputOfFrames("placements", placements, 12, "12 for each frame",
                      [](auto& r, T* x, int) { r.placements = x; });
}
template <typename T>
void addVelocities(TermCall<T>& call, const States<T>& velocities) {
  call.outputOfFrames("velocities", velocities, 6, "6 for each frame",
                      [](auto& r, T* x, int) { r.velocities = x; });
}
template <typename T>
void addAccelerations(TermCall<T>& call, const char* name, const States<T>& accelerations) {
  call.outputOfFrames(name, accelerations, 6, "6 for each frame",
                      [](auto& r, T* x, int) { r.accelerations = x; });
}
template <typename T>
void addMassMatrix(TermCall<T>& call, const States<T>& H) {
  call.output("H", H, Eigen::Index{call.nv()} * call.nv(), "model.nv squared",
              [](auto& r, T* x, int n) {
                r.H = x;
                r.stride = n;
              });
}
template <typename T>
void addBias(TermCall<T>& call, const States<T>& h) {
  call.output("h", h, call.nv(), "model.nv", [](auto& r, T* x, int) { r.bias = x; });
}
template <typename T>
void addGravity(TermCall<T>& call, const States<T>& tau) {
  call.output("tau", tau, call.nv(), "model.nv", [](auto& r, T* x, int) { r.gravity = x; });
}
template <typename T>
void addCenterOfMass(TermCall<T>& call, const States<T>& centers) {
  call.output("centers", centers, 3, "the size of a point",
              [](auto& r, T* x, int) { r.centerOfMass = x; });
}
template <typename T>
void addMomentum(TermCall<T>& call, const States<T>& h) {
  call.output("h", h, 6, "the size of a spatial vector",
              [](auto& r, T* x, int) { r.momentum = x; });
}
template <typename T>
void addEnergy(TermCall<T>& call, const States<T>& energies) {
  call.output("energies", energies, 2, "kinetic and potential energy",
              [](auto& r, T* x, int) { r.energy = x; });
}

}  // namespace
}  // namespace detail

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void massMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> H) {
  TermCall<T> call(model, batch, q);
  addMassMatrix<T>(call, H);
  call.run();
}

template <typename T>
void forwardKinematics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                       std::span<const int> frames, StatesOut<T> placements) {
  TermCall<T> call(model, batch, q);
  call.takeFrames(frames, Reference::Local);
  addPlacements<T>(call, placements);
  call.run();
}

template <typename T>
void frameVelocity(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                   std::span<const int> frames, StatesOut<T> velocities, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  addVelocities<T>(call, velocities);
  call.run();
}

template <typename T>
void frameAcceleration(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                       StatesIn<T> a, std::span<const int> frames, StatesOut<T> accelerations,
                       Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a).takeFrames(frames, reference);
  addAccelerations<T>(call, "accelerations", accelerations);
  call.run();
}

template <typename T>
void frameJacobian(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                   std::span<const int> frames, StatesOut<T> J, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeFrames(frames, reference);
  addJacobians<T>(call, J);
  call.run();
}

template <typename T>
void frameJacobianRate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                       std::span<const int> frames, StatesOut<T> rates, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  addAccelerations<T>(call, "rates", rates);
  call.run();
}

template <typename T>
void biasForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                StatesOut<T> h) {
  TermCall<T> call(model, batch, q);
  call.takeV(v);
  addBias<T>(call, h);
  call.run();
}

template <typename T>
void gravityForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> tau) {
  TermCall<T> call(model, batch, q);
  addGravity<T>(call, tau);
  call.run();
}

template <typename T>
void centerOfMass(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> centers) {
  TermCall<T> call(model, batch, q);
  addCenterOfMass<T>(call, centers);
  call.run();
}

template <typename T>
void centerOfMassJacobian(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> J) {
  TermCall<T> call(model, batch, q);
  addCenterJacobian<T>(call, J);
  call.run();
}

template <typename T>
void momentum(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
              StatesOut<T> h) {
  TermCall<T> call(model, batch, q);
  call.takeV(v);
  addMomentum<T>(call, h);
  call.run();
}

template <typename T>
void centerOfMassVelocity(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                          StatesOut<T> velocities) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).output("velocities", velocities, 3, "the size of a vector",
                       [](auto& r, T* x, int) { r.centerVelocity = x; });
  call.run();
}

template <typename T>
void centerOfMassAcceleration(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesIn<T> v, StatesIn<T> a, StatesOut<T> accelerations) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a).output("accelerations", accelerations, 3, "the size of a vector",
                                [](auto& r, T* x, int) { r.centerAcceleration = x; });
  call.run();
}

template <typename T>
void momentumRate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                  StatesIn<T> a, StatesOut<T> rate) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a).output("rate", rate, 6, "the size of a spatial vector",
                                [](auto& r, T* x, int) { r.momentumRate = x; });
  call.run();
}

template <typename T>
void centroidalMomentumMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesOut<T> A) {
  TermCall<T> call(model, batch, q);
  addMomentumMatrix<T>(call, A);
  call.run();
}

template <typename T>
void energy(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
            StatesOut<T> energies) {
  TermCall<T> call(model, batch, q);
  call.takeV(v);
  addEnergy<T>(call, energies);
  call.run();
}

template <typename T>
void coriolisMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                    StatesOut<T> C) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).outputCoriolis(C);
  call.run();
}

template <typename T>
void allTerms(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
              std::span<const int> frames, const BatchTerms<std::type_identity_t<T>>& terms,
              Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  const auto add = [&](const States<T>& states, const auto& addIt) {
    if (states.data != nullptr) {
      addIt(call, states);
    }
  };
  add(terms.H, &addMassMatrix<T>);
  add(terms.bias, &addBias<T>);
  add(terms.gravity, &addGravity<T>);
  add(terms.centerOfMass, &addCenterOfMass<T>);
  add(terms.centerOfMassJacobian, &addCenterJacobian<T>);
  add(terms.momentum, &addMomentum<T>);
  add(terms.centroidalMomentumMatrix, &addMomentumMatrix<T>);
  add(terms.energy, &addEnergy<T>);
  add(terms.placements, &addPlacements<T>);
  add(terms.velocities, &addVelocities<T>);
  add(terms.jacobians, &addJacobians<T>);
  add(terms.jacobianRates, [](TermCall<T>& c, const States<T>& rates) {
    addAccelerations<T>(c, "jacobianRates", rates);
  });
  call.run();
}

#define KEMPE_INSTANTIATE(T)                                                                       \
  template void massMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);            \
  template void forwardKinematics<T>(const Model&, BasicBatch<T>&, StatesIn<T>,                    \
                                     std::span<const int>, StatesOut<T>);                          \
  template void frameVelocity<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,           \
                                 std::span<const int>, StatesOut<T>, Reference);                   \
  template void frameAcceleration<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,       \
                                     StatesIn<T>, std::span<const int>, StatesOut<T>, Reference);  \
  template void frameJacobian<T>(const Model&, BasicBatch<T>&, StatesIn<T>, std::span<const int>,  \
                                 StatesOut<T>, Reference);                                         \
  template void frameJacobianRate<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,       \
                                     std::span<const int>, StatesOut<T>, Reference);               \
  template void biasForces<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,              \
                              StatesOut<T>);                                                       \
  template void gravityForces<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);         \
  template void centerOfMass<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);          \
  template void centerOfMassJacobian<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);  \
  template void momentum<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, StatesOut<T>); \
  template void centerOfMassVelocity<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,    \
                                        StatesOut<T>);                                             \
  template void centerOfMassAcceleration<T>(const Model&, BasicBatch<T>&, StatesIn<T>,             \
                                            StatesIn<T>, StatesIn<T>, StatesOut<T>);               \
  template void momentumRate<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,            \
                                StatesIn<T>, StatesOut<T>);                                        \
  template void centroidalMomentumMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>,             \
                                            StatesOut<T>);                                         \
  template void energy<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, StatesOut<T>);   \
  template void coriolisMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,          \
                                  StatesOut<T>);                                                   \
  template void allTerms<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,                \
                            std::span<const int>, const BatchTerms<T>&, Reference);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
