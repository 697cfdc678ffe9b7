#include <array>

#include "check.hpp"

namespace {

template <typename T>
void checkBatchesOf() {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr int kStates = 21;
  const kempe::Model model = kempe::robots::load("mini_cheetah");
  const int n = model.nv();
  const T tolerance = std::is_same_v<T, double> ? T(1e-9) : T(1e-1);
  kempe::BasicBatch<T> first(model, {.threads = 2}), batch(model);
  batch = std::move(first);
  kempe::BasicBatch<T> moved(std::move(batch));
  check(moved.threads() == 2 && moved.lanes() >= 1, "threads and lanes");

  Matrix q(kStates, model.nq()), v = Matrix::Random(kStates, n), a = Matrix::Random(kStates, n);
  for (int k = 0; k < kStates; ++k) {
    q.row(k) =
        model.randomConfiguration(static_cast<std::uint64_t>(k)).transpose().template cast<T>();
  }
  Matrix tau(kStates, n), back(kStates, n), H(kStates, n * n), result(kStates, model.nq());
  kempe::inverseDynamics(model, moved, q, v, a, tau);
  kempe::forwardDynamics(model, moved, q, v, tau, back);
  check((back - a).norm() < tolerance * a.norm(), "dynamics of many states");
  kempe::massMatrix(model, moved, q, H);
  kempe::integrate(model, moved, q, v, T(0.1), result);
  check((result - q).norm() > T(0.1), "integrated");
  const std::array<int, 1> frames{model.frameIndex(model.frameNames().back())};
  Matrix Omega(kStates, 36), placements(kStates, 12);
  kempe::inverseOperationalInertia(model, moved, q, frames, Omega);
  kempe::forwardKinematics(model, moved, q, frames, placements);
  Matrix six(kStates, 6), jacobians(kStates, 6 * n), vector(kStates, n), C(kStates, n * n);
  Matrix centers(kStates, 3), centerJacobians(kStates, 3 * n), energies(kStates, 2);
  kempe::frameVelocity(model, moved, q, v, frames, six);
  kempe::frameAcceleration(model, moved, q, v, a, frames, six);
  kempe::frameJacobianRate(model, moved, q, v, frames, six);
  kempe::frameJacobian(model, moved, q, frames, jacobians);
  kempe::gravityForces(model, moved, q, vector);
  kempe::biasForces(model, moved, q, v, vector);
  kempe::centerOfMass(model, moved, q, centers);
  kempe::centerOfMassJacobian(model, moved, q, centerJacobians);
  kempe::momentum(model, moved, q, v, six);
  kempe::centroidalMomentumMatrix(model, moved, q, jacobians);
  kempe::momentumRate(model, moved, q, v, a, six);
  kempe::centerOfMassVelocity(model, moved, q, v, centers);
  kempe::centerOfMassAcceleration(model, moved, q, v, a, centers);
  Matrix sixByQ = jacobians, sixByV = jacobians, centerByQ = centerJacobians,
         centerByV = centerJacobians;
  kempe::frameVelocityDerivatives(model, moved, q, v, frames, sixByQ, jacobians);
  kempe::frameAccelerationDerivatives(model, moved, q, v, a, frames, sixByQ, sixByV, jacobians);
  kempe::frameJacobianTimeDerivative(model, moved, q, v, frames, jacobians);
  kempe::momentumDerivatives(model, moved, q, v, sixByQ, jacobians);
  kempe::momentumRateDerivatives(model, moved, q, v, a, sixByQ, sixByV, jacobians);
  kempe::centerOfMassVelocityDerivatives(model, moved, q, v, centerByQ, centerJacobians);
  kempe::centerOfMassAccelerationDerivatives(model, moved, q, v, a, centerByQ, centerByV,
                                             centerJacobians);
  check(sixByV.allFinite() && centerByV.allFinite(), "derivatives of kinematics of many states");
  kempe::energy(model, moved, q, v, energies);
  kempe::coriolisMatrix(model, moved, q, v, C);
  Matrix byQ = C, byV = C, third = C;
  kempe::inverseDynamicsDerivatives(model, moved, q, v, a, byQ, byV, third);
  kempe::forwardDynamicsDerivatives(model, moved, q, v, tau, byQ, byV, third);
  check(byQ.allFinite() && byV.allFinite() && third.allFinite(), "derivatives of many states");
  kempe::gravityForcesDerivatives(model, moved, q, third);
  check(third.allFinite(), "derivatives of gravity forces of many states");
  kempe::BatchTerms<T> terms;
  terms.bias = back;
  kempe::allTerms(model, moved, q, v, frames, terms);
  check((back - vector).norm() < tolerance * vector.norm(), "terms of many states");
  Matrix joints(kStates, 6 * static_cast<Eigen::Index>(model.jointNames().size()));
  kempe::forwardDynamicsAndForces(model, moved, q, v, tau, back, joints, {});
  check((back - a).norm() < tolerance * a.norm(), "forces of many states");
  kempe::inverseDynamicsAndForces(model, moved, q, v, a, back, {}, {});
  check((back - tau).norm() < tolerance * tau.norm(), "forces of many motions");
  Matrix force = Matrix::Ones(kStates, 6);
  kempe::inverseDynamics(model, moved, q, v, a, back, {.frames = frames, .wrenches = force});
  check((back - tau).norm() > T(0.1), "external forces of many states");

  kempe::forEachState(model, moved, kStates, [&](kempe::BasicData<T>& data, Eigen::Index state) {
    const Eigen::Matrix<T, Eigen::Dynamic, 1> at = q.row(state);
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> one(n, n);
    kempe::massMatrix(model, data, at, one);
    const Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> same(
        H.row(state).data(), n, n);
    check((one - same).norm() <= T(1e-4) * one.norm(), "each state");
  });
  q(7, 0) = std::numeric_limits<T>::quiet_NaN();
  check(throws<std::invalid_argument>([&] { kempe::massMatrix(model, moved, q, H); }),
        "a state that is not finite");
}

}  // namespace

void checkBatches() {
  checkBatchesOf<double>();
  checkBatchesOf<float>();
}
