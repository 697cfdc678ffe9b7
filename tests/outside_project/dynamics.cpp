#include <array>
#include <type_traits>
#include <vector>

#include "check.hpp"

namespace {

template <typename T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <typename T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <typename T>
void checkDynamicsOf() {
  const kempe::Model model = kempe::robots::load("tello");
  const int n = model.nv();
  const T tolerance = std::is_same_v<T, double> ? T(1e-7) : T(1e-1);
  kempe::BasicData<T> first(model), second(std::move(first)), data(model);
  data = std::move(second);
  const VectorOf<T> q = model.randomConfiguration(3).cast<T>();
  const VectorOf<T> v = VectorOf<T>::LinSpaced(n, T(-1), T(1));
  const VectorOf<T> a = VectorOf<T>::LinSpaced(n, T(2), T(-1));
  const auto near = [&](const auto& x, const auto& y, const char* what) {
    check((x - y).norm() <= tolerance * (T(1) + y.norm()), what);
  };

  VectorOf<T> tau(n), h(n), gravity(n), result(n);
  kempe::inverseDynamics(model, data, q, v, a, tau);
  kempe::forwardDynamics(model, data, q, v, tau, result);
  near(result, a, "forward dynamics");
  kempe::biasForces(model, data, q, v, h);
  kempe::gravityForces(model, data, q, gravity);
  kempe::inverseDynamics(model, data, q, VectorOf<T>::Zero(n), VectorOf<T>::Zero(n), result);
  near(gravity, result, "gravity");
  kempe::generalizedForces(model, data, q, VectorOf<T>::Zero(model.nvSpanning()), result);
  check(result.norm() == T(0), "generalised forces");

  MatrixOf<T> H(n, n), inverse(n, n), C(n, n);
  kempe::massMatrix(model, data, q, H);
  near(H * a + h, tau, "mass matrix");
  kempe::inverseMassMatrix(model, data, q, inverse);
  kempe::applyInverseMassMatrix(model, data, q, tau, result);
  near(result, inverse * tau, "inverse mass matrix");
  kempe::coriolisMatrix(model, data, q, v, C);
  near(C * v + gravity, h, "Coriolis matrix");

  MatrixOf<T> byQ(n, n), byV(n, n), third(n, n);
  kempe::inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, third);
  near(third, H, "derivatives of inverse dynamics");
  kempe::forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, third);
  near(third, inverse, "derivatives of forward dynamics");
  kempe::gravityForcesDerivatives(model, data, q, byQ);
  kempe::inverseDynamicsDerivatives(model, data, q, VectorOf<T>::Zero(n), VectorOf<T>::Zero(n), C,
                                    byV, third);
  near(byQ, C, "derivatives of gravity forces");
  if constexpr (std::is_same_v<T, double>) {
    MatrixOf<T> qq(n, n), qv(n, n), vv(n, n), qa(n, n);
    kempe::inverseDynamicsSecondDerivatives(model, data, q, v, a, tau, qq, qv, vv, qa);
    VectorOf<T> ofQ(n), ofV(n), ofA(n);
    kempe::inverseDynamicsHessianProduct(model, data, q, v, a, tau, v, v, a, ofQ, ofV, ofA);
    near(ofQ, qq * v + qv * v + qa * a, "second derivatives of inverse dynamics");
  }

  MatrixOf<T> joints(6, static_cast<int>(model.jointNames().size())), sameJoints = joints;
  VectorOf<T> loops(model.nLoopForces()), sameLoops = loops;
  kempe::jointForces(model, data, q, v, tau, joints);
  kempe::loopForces(model, data, q, v, tau, loops);
  kempe::forwardDynamicsAndForces(model, data, q, v, tau, result, sameJoints, sameLoops);
  near(sameJoints, joints, "joint forces");
  kempe::inverseDynamicsAndForces(model, data, q, v, a, result, sameJoints, sameLoops);
  near(sameLoops, loops, "loop forces");

  const int foot = model.frameIndex(model.frameNames().back());
  std::vector<kempe::Transform<T>> placements(model.frameNames().size());
  MatrixOf<T> velocities(6, static_cast<int>(placements.size())), accelerations = velocities;
  kempe::forwardKinematics<T>(model, data, q, placements);
  const kempe::Transform<T> placement = kempe::framePlacement(model, data, q, foot);
  check(placements[static_cast<std::size_t>(foot)].p.x == placement.p.x, "placement");
  kempe::forwardKinematics<T>(model, data, q, v, a, placements, velocities, accelerations);
  VectorOf<T> velocity(6), acceleration(6), rate(6);
  MatrixOf<T> J(6, n);
  kempe::frameVelocity(model, data, q, v, foot, velocity);
  kempe::frameAcceleration(model, data, q, v, a, foot, acceleration);
  kempe::frameJacobian(model, data, q, foot, J);
  kempe::frameJacobianRate(model, data, q, v, foot, rate);
  near(velocity, J * v, "Jacobian");
  near(velocities.col(foot), velocity, "velocities of all frames");
  near(acceleration, J * a + rate, "rate of the Jacobian");
  MatrixOf<T> sixByQ(6, n), sixByV(6, n), sameJ(6, n), JRate(6, n);
  kempe::frameVelocityDerivatives(model, data, q, v, foot, sixByQ, sameJ);
  near(sameJ, J, "derivatives of a frame's velocity");
  kempe::frameAccelerationDerivatives(model, data, q, v, a, foot, sixByQ, sixByV, sameJ);
  near(sameJ, J, "derivatives of a frame's acceleration");
  kempe::frameJacobianTimeDerivative(model, data, q, v, foot, JRate);
  near(JRate * v, rate, "time derivative of the Jacobian");
  const std::array<int, 1> frames{foot};
  MatrixOf<T> Omega(6, 6);
  kempe::inverseOperationalInertia(model, data, q, frames, Omega);
  near(Omega, J * inverse * J.transpose(), "operational inertia");

  VectorOf<T> momentum(6);
  MatrixOf<T> A(6, n);
  kempe::momentum(model, data, q, v, momentum);
  kempe::centroidalMomentumMatrix(model, data, q, A);
  near(momentum, A * v, "momentum");
  check(kempe::centerOfMass(model, data, q).x == kempe::centerOfMass(model, data, q).x, "centre");
  check(kempe::energy(model, data, q, v).kinetic > 0.0, "energy");
  MatrixOf<T> centerJacobian(3, n);
  kempe::centerOfMassJacobian(model, data, q, centerJacobian);
  const kempe::AllTerms<T> terms = kempe::allTerms(model, data, q, v, frames);
  near(terms.momentum, momentum, "momentum among all terms");
  near(terms.centerOfMassJacobian, centerJacobian, "Jacobian of the centre of mass");
  near(terms.jacobian(0), J, "Jacobian among all terms");
  kempe::momentumDerivatives(model, data, q, v, sixByQ, sameJ);
  near(sameJ, A, "derivatives of the momentum");
  kempe::momentumRate(model, data, q, v, a, rate);
  kempe::momentumRateDerivatives(model, data, q, v, a, sixByQ, sixByV, sameJ);
  near(sameJ, A, "derivatives of the rate of the momentum");
  MatrixOf<T> centerByQ(3, n), centerByV(3, n), sameCenterJ(3, n);
  kempe::centerOfMassVelocityDerivatives(model, data, q, v, centerByQ, sameCenterJ);
  near(sameCenterJ, centerJacobian, "derivatives of the centre's velocity");
  kempe::centerOfMassAccelerationDerivatives(model, data, q, v, a, centerByQ, centerByV,
                                             sameCenterJ);
  near(sameCenterJ, centerJacobian, "derivatives of the centre's acceleration");
  const kempe::Vec3<T> center = kempe::centerOfMassVelocity(model, data, q, v);
  near(centerJacobian * v, VectorOf<T>(Eigen::Matrix<T, 3, 1>(center.x, center.y, center.z)),
       "velocity of the centre of mass");
  const kempe::Vec3<T> faster = kempe::centerOfMassAcceleration(model, data, q, v, a);
  const T mass = momentum.head(3).norm() / (centerJacobian * v).norm();
  near(mass * Eigen::Matrix<T, 3, 1>(faster.x, faster.y, faster.z), VectorOf<T>(rate.head(3)),
       "acceleration of the centre of mass");

  const kempe::FrameForce push{foot, {1, 2, 3, 0, 0, 0}};
  kempe::inverseDynamics(model, data, q, v, a, result, {.external = {&push, 1}});
  check((result - tau).norm() > T(0.1), "external forces");
  check(throws<std::invalid_argument>(
            [&] { kempe::inverseDynamics(model, data, q.head(1), v, a, result); }),
        "std::invalid_argument");
}

}  // namespace

void checkConfigurations() {
  const kempe::Model model = kempe::robots::load("four_bar");
  kempe::Data data(model);
  const auto start = model.randomConfiguration(7);
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(model.nv(), 0.1);
  Eigen::VectorXd q = start, back(model.nv());
  kempe::integrate(model, data, q, v, 0.1, q);
  kempe::difference(model, data, start, q, back);
  check((back - 0.1 * v).norm() < 1e-9, "difference");

  Eigen::VectorXd residual(model.nLoopRows()), closed(model.nq());
  Eigen::VectorXd positions(model.nqSpanning()), same = positions;
  Eigen::VectorXd velocities(model.nvSpanning()), bias = velocities;
  kempe::loopResidual(model, data, q, residual);
  check(residual.norm() < 1e-12, "closed loops");
  kempe::project(model, data, q + Eigen::VectorXd::Constant(q.size(), 1e-3), closed);
  check((closed - q).norm() < 0.1, "projection");
  kempe::spanning(model, data, q, v, positions, velocities);
  kempe::spanningPositions(model, data, q, same);
  check(positions == same, "spanning positions");
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  kempe::constraintJacobian(model, data, q, G);
  kempe::constraintBias(model, data, q, v, bias);
  check((G * v - velocities).norm() < 1e-12, "G");
  Eigen::MatrixXd rate = G;
  kempe::constraintJacobianRate(model, data, q, v, rate);
  check((rate * v - bias).norm() < 1e-12, "rate of G");

  bool caught = false;
  try {
    kempe::constraintJacobian(model, data, Eigen::VectorXd::Zero(model.nq()), G);
  } catch (const kempe::SingularityError& error) {
    caught = !error.loop().empty() && error.condition() > 1e9;
  }
  check(caught, "SingularityError");

  // Both bars point away from each other: the rod between their ends is too short.
  kempe::Mechanism bars("bars");
  bars.addBody("base");
  bars.addBody("one").withMass(1.0).withInertia(1, 1, 1);
  bars.addBody("two").withMass(1.0).withInertia(1, 1, 1);
  bars.addRevolute("a").from("base").to("one").about({0, 0, 1});
  bars.addRevolute("b").from("base").to("two").at({3, 0, 0}).about({0, 0, 1});
  bars.addRod("rod").from("one", {1, 0, 0}).to("two", {-1, 0, 0}).ofLength(2.0);
  const kempe::Model linkage(bars);
  kempe::Data scratch(linkage);
  Eigen::VectorXd away(linkage.nq());
  caught = false;
  try {
    kempe::project(linkage, scratch, Eigen::VectorXd::Constant(linkage.nq(), 3.1), away);
  } catch (const kempe::AssemblyError& error) {
    caught = error.loop() == "rod" && error.gap() > 0.1;
  }
  check(caught, "AssemblyError");
}

void checkDynamics() {
  checkDynamicsOf<double>();
  checkDynamicsOf<float>();
}
