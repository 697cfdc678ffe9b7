#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>

#include "dynamics/flexible_state.hpp"
#include "support/differences.hpp"

/// Laws of mechanics for mechanisms with bodies that bend.
namespace kempe::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class FlexibleBodies : public ::testing::TestWithParam<Bending>, public FlexibleState {
 protected:
  FlexibleBodies() : FlexibleState(GetParam()) {}
};

TEST_P(FlexibleBodies, ForwardUndoesInverse) {
  const DynamicsOptions how{.external = external};
  const VectorXd tau = inverse(q, v, a, how);
  VectorXd found = VectorXd::Constant(n, kNaN);
  forwardDynamics(model, data, q, v, tau, found, how);
  expectClose(found, a, 1e-7);
}

TEST_P(FlexibleBodies, MassMatrixAndForcesAreThoseOfInverseDynamics) {
  const VectorXd zero = VectorXd::Zero(n), bias = inverse(q, v, zero);
  MatrixXd columns(n, n);
  for (int j = 0; j < n; ++j) {
    columns.col(j) = inverse(q, v, VectorXd::Unit(n, j)) - bias;
  }
  expectClose(massMatrixAt(q), columns, 1e-9);
  VectorXd found = VectorXd::Constant(n, kNaN);
  biasForces(model, data, q, v, found);
  expectClose(found, bias, 1e-12);
  gravityForces(model, data, q, found);
  expectClose(found, inverse(q, zero, zero), 1e-12);
  MatrixXd inverseH = MatrixXd::Constant(n, n, kNaN);
  inverseMassMatrix(model, data, q, inverseH);
  expectClose(massMatrixAt(q) * inverseH, MatrixXd::Identity(n, n), 1e-7);
}

TEST_P(FlexibleBodies, KineticEnergyIsThatOfTheMassMatrix) {
  EXPECT_NEAR(energy(model, data, q, v).kinetic, 0.5 * v.dot(massMatrixAt(q) * v),
              1e-12 * energy(model, data, q, v).kinetic);
}

TEST_P(FlexibleBodies, PowerBalances) {
  // Dampers take v² d.
  VectorXd undamped = inverse(q, v, a);
  double losses = 0.0;
  for (const Joint& joint : model.mechanism().joints) {
    if (joint.damping > 0.0) {
      const auto name = std::ranges::find(model.vNames(), joint.name);
      const double rate = v[name - model.vNames().begin()];
      losses += joint.damping * rate * rate;
    }
  }
  const VectorXd rate = differentiated(
      [&](double t) {
        const Energy e = energy(model, data, qAt(t), vAt(t));
        return VectorXd::Constant(1, e.kinetic + e.potential);
      },
      1e-4);
  EXPECT_NEAR(rate[0], undamped.dot(v) - losses, 1e-6 * (1.0 + std::abs(rate[0])));
}

TEST_P(FlexibleBodies, EquationsAreThoseOfLagrange) {
  // d/dt (H v) − ∂L/∂q along the tangent; of quaternions, whose velocities are no rates of
  // coordinates, the difference is v × (H v) (Boltzmann and Hamel), so that only scalar ones count.
  const DynamicsOptions none;
  const VectorXd tau = inverse(q, v, a, none);
  const VectorXd momentumRate =
      differentiated([&](double t) { return VectorXd(massMatrixAt(qAt(t)) * vAt(t)); }, 1e-4);
  const auto& names = model.vNames();
  for (int j = 0; j < n; ++j) {
    const Joint* joint = model.mechanism().findJoint(names[static_cast<std::size_t>(j)]);
    if (joint == nullptr || joint->type == JointType::Spherical || joint->type == JointType::Free) {
      continue;
    }
    const double h = joint->type == JointType::Mode ? 1e-4 : 1e-3;
    const VectorXd slope = differentiated(
        [&](double by) {
          const VectorXd at = moved(q, VectorXd::Unit(n, j), by);
          const Energy e = energy(model, data, at, v);
          return VectorXd::Constant(1, e.kinetic - e.potential);
        },
        h);
    const double damping = joint->damping * v[j];
    EXPECT_NEAR(tau[j], momentumRate[j] - slope[0] + damping, 1e-6 * (1.0 + tau.norm()))
        << names[static_cast<std::size_t>(j)];
  }
}

TEST_P(FlexibleBodies, FramesMoveAsTheyArePlaced) {
  for (int f = 0; f < static_cast<int>(model.frameNames().size()); ++f) {
    VectorXd velocity = VectorXd::Constant(6, kNaN), acceleration = velocity;
    frameVelocity(model, data, q, v, f, velocity);
    frameAcceleration(model, data, q, v, a, f, acceleration);
    const VectorXd ofPoint = differentiated(
        [&](double t) {
          const Vector3 p = framePlacement(model, data, qAt(t), f).p;
          return VectorXd(Eigen::Vector3d(p.x, p.y, p.z));
        },
        1e-4);
    expectClose(velocity.head(3), ofPoint, 1e-7);
    const VectorXd rate = differentiated(
        [&](double t) {
          VectorXd at(6);
          frameVelocity(model, data, qAt(t), vAt(t), f, at);
          return at;
        },
        1e-4);
    expectClose(acceleration, rate, 1e-6);
    MatrixXd J = MatrixXd::Constant(6, n, kNaN);
    frameJacobian(model, data, q, f, J);
    expectClose(J * v, velocity, 1e-11);
  }
}

TEST_P(FlexibleBodies, MomentumChangesByExternalForces) {
  if (!GetParam().floats) {
    return;  // the base would transmit forces
  }
  // Without forces at joints the momentum of what floats changes by gravity alone.
  const VectorXd tau = inverse(q, v, a);
  VectorXd h = VectorXd::Constant(6, kNaN), rate = h;
  momentum(model, data, q, v, h);
  kempe::momentumRate(model, data, q, v, a, rate);
  const VectorXd found = differentiated(
      [&](double t) {
        VectorXd at(6);
        momentum(model, data, qAt(t), vAt(t), at);
        return at;
      },
      1e-4);
  expectClose(rate, found, 1e-6);
  MatrixXd A = MatrixXd::Constant(6, n, kNaN);
  centroidalMomentumMatrix(model, data, q, A);
  expectClose(A * v, h, 1e-10);
}

TEST_P(FlexibleBodies, OperationalInertiaIsThatOfTheMassMatrix) {
  const std::vector<int> frames{model.frameIndex("arm/end"), model.frameIndex("whip/end"),
                                model.frameIndex("wheel")};
  MatrixXd omega = MatrixXd::Constant(18, 18, kNaN), J(18, n);
  inverseOperationalInertia(model, data, q, frames, omega);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    MatrixXd block(6, n);
    frameJacobian(model, data, q, frames[f], block);
    J.middleRows(static_cast<Eigen::Index>(6 * f), 6) = block;
  }
  expectClose(omega, J * massMatrixAt(q).lu().solve(J.transpose()), 1e-7);
}

TEST_P(FlexibleBodies, DerivativesAreThoseOfDifferences) {
  const DynamicsOptions how{.external = external};
  MatrixXd byQ = MatrixXd::Constant(n, n, kNaN), byV = byQ, third = byQ;
  inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, third, how);
  expectClose(third, massMatrixAt(q), 1e-12);
  for (int j = 0; j < n; ++j) {
    const VectorXd unit = VectorXd::Unit(n, j);
    expectClose(
        byQ.col(j),
        differentiated([&](double h) { return inverse(moved(q, unit, h), v, a, how); }, 1e-4),
        1e-5);
    expectClose(byV.col(j),
                differentiated([&](double h) { return inverse(q, v + h * unit, a, how); }), 1e-6);
  }
  const VectorXd tau = inverse(q, v, a, how);
  MatrixXd ofA = MatrixXd::Constant(n, n, kNaN), ofV = ofA, ofTau = ofA;
  forwardDynamicsDerivatives(model, data, q, v, tau, ofA, ofV, ofTau, how);
  expectClose(massMatrixAt(q) * ofA, -byQ, 1e-6);
  expectClose(massMatrixAt(q) * ofV, -byV, 1e-6);
}

TEST_P(FlexibleBodies, BatchesEqualSingles) {
  Batch batch(model);
  constexpr int kStates = 11;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto statesOf = [](Rows& rows) {
    return States<double>(rows.data(), rows.rows(), rows.cols());
  };
  Rows qs(kStates, model.nq()), vs(kStates, n), taus(kStates, n), as(kStates, n), found(kStates, n);
  for (int i = 0; i < kStates; ++i) {
    qs.row(i) = Eigen::VectorXd(model.randomConfiguration(static_cast<unsigned>(i))).transpose();
    vs.row(i) = (1.0 + 0.1 * i) * v.transpose();
    as.row(i) = (1.0 - 0.1 * i) * a.transpose();
    taus.row(i) = inverse(qs.row(i).transpose(), vs.row(i).transpose(), as.row(i).transpose());
  }
  found.setConstant(kNaN);
  inverseDynamics(model, batch, statesOf(qs), statesOf(vs), statesOf(as), statesOf(found));
  expectClose(found, taus, 1e-11);
  found.setConstant(kNaN);
  forwardDynamics(model, batch, statesOf(qs), statesOf(vs), statesOf(taus), statesOf(found));
  // In forces: accelerations of fast modes have few digits.
  for (int i = 0; i < kStates; ++i) {
    const VectorXd given = taus.row(i).transpose();
    expectClose(inverse(qs.row(i).transpose(), vs.row(i).transpose(), found.row(i).transpose()),
                given, 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FlexibleBodies, ::testing::ValuesIn(kEveryBending));

}  // namespace
}  // namespace kempe::test
