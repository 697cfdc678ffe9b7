#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "algorithms/varied_dynamics.hpp"
#include "dynamics/flexible_state.hpp"
#include "kempe/inverse_dynamics_second_derivatives.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"
#include "support/random_mechanism.hpp"

/// Derivatives of mechanisms with bodies that bend, against differences and against one another.
namespace kempe::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array kFrameReferences{Reference::LocalWorldAligned, Reference::Local,
                                      Reference::World};

class FlexibleDerivatives : public ::testing::TestWithParam<Bending>, public FlexibleState {
 protected:
  using Function = std::function<VectorXd(const VectorXd&)>;

  FlexibleDerivatives() : FlexibleState(GetParam()) {}

  /// By differences along each direction of the tangent of q.
  MatrixXd slopesByQ(const Function& ofQ) {
    return byColumns([&](const VectorXd& e) {
      return differentiated([&](double h) { return ofQ(moved(q, e, h)); }, 1e-4);
    });
  }
  /// By differences at x of a plain vector.
  MatrixXd slopesAt(const VectorXd& x, const Function& of) {
    return byColumns(
        [&](const VectorXd& e) { return differentiated([&](double h) { return of(x + h * e); }); });
  }
  MatrixXd byColumns(const std::function<VectorXd(const VectorXd&)>& column) const {
    MatrixXd all;
    for (int j = 0; j < n; ++j) {
      const VectorXd own = column(VectorXd::Unit(n, j));
      all.conservativeResize(own.size(), n);
      all.col(j) = own;
    }
    return all;
  }
  /// Nodes, and bodies on nodes and beside them.
  std::vector<int> framesOnBeams() const {
    std::vector<int> frames;
    for (const char* name :
         {"arm/4", "hand", "whip/end", "coupler/end", "load", "hung_rocker", "first/end"}) {
      if (std::ranges::find(model.frameNames(), name) != model.frameNames().end()) {
        frames.push_back(model.frameIndex(name));
      }
    }
    return frames;
  }
};

TEST_P(FlexibleDerivatives, OfFramesAreThoseOfDifferences) {
  std::size_t next = GetParam().seed;
  for (const int frame : framesOnBeams()) {
    const Reference reference = kFrameReferences[next++ % kFrameReferences.size()];
    SCOPED_TRACE(model.frameNames()[static_cast<std::size_t>(frame)] + " in reference " +
                 std::to_string(static_cast<int>(reference)));
    const auto velocity = [&](const VectorXd& at, const VectorXd& rates) {
      VectorXd x = poisoned(6);
      frameVelocity(model, data, at, rates, frame, x, reference);
      return x;
    };
    const auto acceleration = [&](const VectorXd& at, const VectorXd& rates) {
      VectorXd x = poisoned(6);
      frameAcceleration(model, data, at, rates, a, frame, x, reference);
      return x;
    };
    const auto jacobian = [&](const VectorXd& at) {
      MatrixXd J = poisoned(6, n);
      frameJacobian(model, data, at, frame, J, reference);
      return J;
    };
    MatrixXd byQ = poisoned(6, n), byV = byQ, J = byQ, rate = byQ;
    frameVelocityDerivatives(model, data, q, v, frame, byQ, J, reference);
    expectClose(byQ, slopesByQ([&](const VectorXd& at) { return velocity(at, v); }), 1e-7);
    EXPECT_TRUE(closeTo(J, jacobian(q), 0.0));
    byQ = byV = J = poisoned(6, n);
    frameAccelerationDerivatives(model, data, q, v, a, frame, byQ, byV, J, reference);
    expectClose(byQ, slopesByQ([&](const VectorXd& at) { return acceleration(at, v); }), 1e-6);
    expectClose(byV, slopesAt(v, [&](const VectorXd& x) { return acceleration(q, x); }), 1e-9);
    EXPECT_TRUE(closeTo(J, jacobian(q), 0.0));
    frameJacobianTimeDerivative(model, data, q, v, frame, rate, reference);
    const VectorXd found = differentiated(
        [&](double h) { return VectorXd(jacobian(moved(q, v, h)).reshaped()); }, 1e-4);
    expectClose(rate, found.reshaped(6, n), 1e-7);
    VectorXd bias = poisoned(6);
    frameJacobianRate(model, data, q, v, frame, bias, reference);
    expectClose(rate * v, bias, 1e-10);
  }
}

TEST_P(FlexibleDerivatives, OfMomentumAreThoseOfDifferences) {
  const auto of = [&](const auto& evaluate) {
    VectorXd x = poisoned(6);
    evaluate(x);
    return x;
  };
  const auto plain = [](const Vector3& x) { return VectorXd(Eigen::Vector3d(x.x, x.y, x.z)); };
  MatrixXd byQ = poisoned(6, n), byV = byQ, A = byQ, expectedA = byQ;
  centroidalMomentumMatrix(model, data, q, expectedA);
  momentumDerivatives(model, data, q, v, byQ, A);
  expectClose(byQ, slopesByQ([&](const VectorXd& at) {
                return of([&](VectorXd& x) { momentum(model, data, at, v, x); });
              }),
              1e-7);
  expectClose(A, expectedA, 1e-13);
  byQ = A = poisoned(6, n);
  momentumRateDerivatives(model, data, q, v, a, byQ, byV, A);
  const auto rate = [&](const VectorXd& at, const VectorXd& rates) {
    return of([&](VectorXd& x) { momentumRate(model, data, at, rates, a, x); });
  };
  expectClose(byQ, slopesByQ([&](const VectorXd& at) { return rate(at, v); }), 1e-6);
  expectClose(byV, slopesAt(v, [&](const VectorXd& x) { return rate(q, x); }), 1e-9);
  expectClose(A, expectedA, 1e-13);
  MatrixXd J = poisoned(3, n), expectedJ = J;
  byQ = byV = poisoned(3, n);
  centerOfMassJacobian(model, data, q, expectedJ);
  centerOfMassVelocityDerivatives(model, data, q, v, byQ, J);
  expectClose(byQ, slopesByQ([&](const VectorXd& at) {
                return plain(centerOfMassVelocity(model, data, at, v));
              }),
              1e-7);
  expectClose(J, expectedJ, 1e-13);
  byQ = J = poisoned(3, n);
  centerOfMassAccelerationDerivatives(model, data, q, v, a, byQ, byV, J);
  const auto acceleration = [&](const VectorXd& at, const VectorXd& rates) {
    return plain(centerOfMassAcceleration(model, data, at, rates, a));
  };
  expectClose(byQ, slopesByQ([&](const VectorXd& at) { return acceleration(at, v); }), 1e-6);
  expectClose(byV, slopesAt(v, [&](const VectorXd& x) { return acceleration(q, x); }), 1e-9);
  expectClose(J, expectedJ, 1e-13);
}

TEST_P(FlexibleDerivatives, RatiosOfLoopsHaveRates) {
  const auto ratios = [&](const VectorXd& at) {
    MatrixXd G = poisoned(model.nvSpanning(), n);
    constraintJacobian(model, data, at, G);
    return VectorXd(G.reshaped());
  };
  MatrixXd rate = poisoned(model.nvSpanning(), n);
  constraintJacobianRate(model, data, q, v, rate);
  const VectorXd found = differentiated([&](double h) { return ratios(moved(q, v, h)); }, 1e-4);
  expectClose(rate, found.reshaped(model.nvSpanning(), n), 1e-7);
  VectorXd g = poisoned(model.nvSpanning());
  constraintBias(model, data, q, v, g);
  expectClose(rate * v, g, 1e-11);
}

TEST_P(FlexibleDerivatives, CoriolisMatrixIsHalfTheRateOfTheMassMatrixButForASkewPart) {
  MatrixXd C = poisoned(n, n);
  coriolisMatrix(model, data, q, v, C);
  const VectorXd rate = differentiated(
      [&](double h) { return VectorXd(massMatrixAt(moved(q, v, h)).reshaped()); }, 1e-4);
  expectClose(C + C.transpose(), rate.reshaped(n, n), 1e-7);
  // Of the bias forces the part that is even in v, without gravity: dampers are odd.
  VectorXd ahead = poisoned(n), back = ahead, rest = ahead;
  biasForces(model, data, q, v, ahead);
  biasForces(model, data, q, -v, back);
  gravityForces(model, data, q, rest);
  const VectorXd expected = 0.5 * (ahead + back) - rest;
  EXPECT_LT((C * v - expected).norm(), 1e-10 * (1.0 + expected.norm() + rest.norm()));
}

TEST_P(FlexibleDerivatives, SecondDerivativesAreThoseOfFirstOnes) {
  const DynamicsOptions how{.external = external};
  std::mt19937 engine(GetParam().seed);
  std::normal_distribution<double> normal;
  const auto draw = [&] {
    return VectorXd(VectorXd::NullaryExpr(n, [&] { return normal(engine); }));
  };
  const VectorXd lambda = draw(), dq = draw(), dv = draw(), da = draw();
  const VectorXd gradient = differentiated(
      [&](double h) {
        MatrixXd byQ(n, n), byV(n, n), H(n, n);
        inverseDynamicsDerivatives(model, data, moved(q, dq, h), v + h * dv, a + h * da, byQ, byV,
                                   H, how);
        VectorXd all(3 * n);
        all << byQ.transpose() * lambda, byV.transpose() * lambda, H * lambda;
        return all;
      },
      1e-4);
  VectorXd ofQ = poisoned(n), ofV = ofQ, ofA = ofQ;
  inverseDynamicsHessianProduct(model, data, q, v, a, lambda, dq, dv, da, ofQ, ofV, ofA, how);
  expectClose(ofQ, gradient.head(n), 1e-6);
  expectClose(ofV, gradient.segment(n, n), 1e-6);
  expectClose(ofA, gradient.tail(n), 1e-6);
  MatrixXd qq = poisoned(n, n), qv = qq, vv = qq, qa = qq;
  inverseDynamicsSecondDerivatives(model, data, q, v, a, lambda, qq, qv, vv, qa, how);
  expectClose(qq * dq + qv * dv + qa * da, ofQ, 1e-10);
  expectClose(qv.transpose() * dq + vv * dv, ofV, 1e-10);
  expectClose(qa.transpose() * dq, ofA, 1e-10);
}

TEST_P(FlexibleDerivatives, AllocateNothingAfterTheFirstCall) {
  MatrixXd six(6, n), six2(6, n), six3(6, n), three(3, n), three2(3, n), three3(3, n);
  MatrixXd rate(model.nvSpanning(), n), C(n, n);
  VectorXd byQ(n), byV(n), byA(n);
  const int frame = model.frameIndex("arm/end");
  const auto all = [&] {
    frameVelocityDerivatives(model, data, q, v, frame, six, six2);
    frameAccelerationDerivatives(model, data, q, v, a, frame, six, six2, six3);
    frameJacobianTimeDerivative(model, data, q, v, frame, six);
    momentumDerivatives(model, data, q, v, six, six2);
    momentumRateDerivatives(model, data, q, v, a, six, six2, six3);
    centerOfMassVelocityDerivatives(model, data, q, v, three, three2);
    centerOfMassAccelerationDerivatives(model, data, q, v, a, three, three2, three3);
    constraintJacobianRate(model, data, q, v, rate);
    coriolisMatrix(model, data, q, v, C);
    inverseDynamicsHessianProduct(model, data, q, v, a, v, v, a, a, byQ, byV, byA,
                                  {.external = external});
  };
  all();
  EXPECT_EQ(allocationsOf(all), 0);
}

TEST_P(FlexibleDerivatives, InFloatAreNearThoseInDouble) {
  DataF single(model);
  const Eigen::VectorXf q1 = q.cast<float>(), v1 = v.cast<float>(), a1 = a.cast<float>();
  const int frame = model.frameIndex("whip/end");
  MatrixXd byQ(6, n), byV(6, n), J(6, n);
  Eigen::MatrixXf byQ1(6, n), byV1(6, n), J1(6, n);
  frameAccelerationDerivatives(model, data, q, v, a, frame, byQ, byV, J);
  frameAccelerationDerivatives<float>(model, single, q1, v1, a1, frame, byQ1, byV1, J1);
  EXPECT_TRUE(closeTo(byQ1.cast<double>(), byQ, 1e-3));
  EXPECT_TRUE(closeTo(byV1.cast<double>(), byV, 1e-3));
  momentumRateDerivatives(model, data, q, v, a, byQ, byV, J);
  momentumRateDerivatives<float>(model, single, q1, v1, a1, byQ1, byV1, J1);
  EXPECT_TRUE(closeTo(byQ1.cast<double>(), byQ, 1e-3));
  EXPECT_TRUE(closeTo(byV1.cast<double>(), byV, 1e-3));
}

TEST_P(FlexibleDerivatives, BatchesEqualSingles) {
  Batch batch(model);
  constexpr int kStates = 5;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows qs(kStates, model.nq()), vs(kStates, n), as(kStates, n);
  for (int i = 0; i < kStates; ++i) {
    qs.row(i) = model.randomConfiguration(static_cast<unsigned>(i)).transpose();
    vs.row(i) = (1.0 + 0.1 * i) * v.transpose();
    as.row(i) = (1.0 - 0.1 * i) * a.transpose();
  }
  const auto block = [&](const Rows& all, int i, Eigen::Index first) {
    return MatrixXd(Eigen::Map<const Rows>(all.row(i).data() + first * 6 * n, 6, n));
  };
  const std::vector<int> frames{model.frameIndex("arm/4"), model.frameIndex("tip")};
  Rows byQ(kStates, 12 * n), byV(kStates, 12 * n), J(kStates, 12 * n);
  byQ.setConstant(kNaN);
  byV = J = byQ;
  frameAccelerationDerivatives(model, batch, qs, vs, as, frames, byQ, byV, J);
  Rows rateByQ(kStates, 6 * n), rateByV(kStates, 6 * n), A(kStates, 6 * n);
  rateByQ.setConstant(kNaN);
  rateByV = A = rateByQ;
  momentumRateDerivatives(model, batch, qs, vs, as, rateByQ, rateByV, A);
  Rows coriolis(kStates, n * n);
  coriolis.setConstant(kNaN);
  coriolisMatrix(model, batch, qs, vs, coriolis);
  for (int i = 0; i < kStates; ++i) {
    const VectorXd q1 = qs.row(i), v1 = vs.row(i), a1 = as.row(i);
    MatrixXd C(n, n);
    coriolisMatrix(model, data, q1, v1, C);
    EXPECT_TRUE(closeTo(MatrixXd(Eigen::Map<const Rows>(coriolis.row(i).data(), n, n)), C, 1e-13));
    MatrixXd first(6, n), second(6, n), third(6, n);
    for (const Eigen::Index f : {0, 1}) {
      frameAccelerationDerivatives(model, data, q1, v1, a1, frames[static_cast<std::size_t>(f)],
                                   first, second, third);
      EXPECT_TRUE(closeTo(block(byQ, i, f), first, 1e-13));
      EXPECT_TRUE(closeTo(block(byV, i, f), second, 1e-13));
      EXPECT_TRUE(closeTo(block(J, i, f), third, 1e-13));
    }
    momentumRateDerivatives(model, data, q1, v1, a1, first, second, third);
    EXPECT_TRUE(closeTo(block(rateByQ, i, 0), first, 1e-13));
    EXPECT_TRUE(closeTo(block(rateByV, i, 0), second, 1e-13));
    EXPECT_TRUE(closeTo(block(A, i, 0), third, 1e-13));
  }
}

/// Dual numbers against the recursions for rigid bodies, which share no code with them.
class DerivativesByDualNumbers : public ::testing::TestWithParam<MechanismCase> {};

TEST_P(DerivativesByDualNumbers, AreThoseOfTheRecursions) {
  Mechanism robot = randomMechanism(GetParam());
  for (Joint& joint : robot.joints) {
    if (positionSize(joint.type) != velocitySize(joint.type)) {
      joint.armature = 0.0;  // its Coriolis terms are skew-symmetric, and a matter of choice
    }
  }
  const Model model(robot);
  Data data(model);
  const int n = model.nv(), frame = model.frameIndex(model.bodyNames().back());
  const VectorXd q = model.randomConfiguration(3), v = VectorXd::LinSpaced(n, -1.0, 1.2),
                 a = VectorXd::LinSpaced(n, 0.7, -0.5);
  const auto evaluate = [&](const auto& compute) {
    detail::Evaluation<double> e(model, data);
    compute(e);
  };
  MatrixXd C = poisoned(n, n), expectedC = C;
  coriolisMatrix(model, data, q, v, expectedC);
  evaluate([&](auto& e) {
    detail::variedCoriolis<double>(e, q, v.data(), detail::MatrixAt<double>{C.data(), 1, n});
  });
  EXPECT_TRUE(closeTo(C, expectedC, 1e-10));
  MatrixXd byQ = poisoned(n, n), byV = byQ, expectedByQ = byQ, expectedByV = byQ, H = byQ;
  inverseDynamicsDerivatives(model, data, q, v, a, expectedByQ, expectedByV, H);
  evaluate([&](auto& e) {
    Eigen::Ref<MatrixXd> ofQ(byQ), ofV(byV);
    detail::variedInverseDynamics<double>(e, q, v.data(), a.data(), {}, &ofQ, &ofV);
  });
  EXPECT_TRUE(closeTo(byQ, expectedByQ, 1e-10));
  EXPECT_TRUE(closeTo(byV, expectedByV, 1e-10));
  byQ = byV = expectedByQ = expectedByV = poisoned(6, n);
  MatrixXd J(6, n), rate = byQ, expectedRate = byQ;
  frameAccelerationDerivatives(model, data, q, v, a, frame, expectedByQ, expectedByV, J);
  frameJacobianTimeDerivative(model, data, q, v, frame, expectedRate);
  const detail::FrameEntry& entry = detail::frameAt(model.impl(), frame);
  const detail::BodyFrame<double> on{entry.body, entry.inBody.cast<double>(),
                                     Reference::LocalWorldAligned};
  evaluate([&](auto& e) {
    e.work->wholeRotors = true;
    detail::MotionDerivativeRequest<double, double> request;
    request.frames = &on;
    request.frameCount = 1;
    request.accelerationByQ = {byQ.data(), 1, 6};
    request.accelerationByV = {byV.data(), 1, 6};
    request.jacobianRate = {rate.data(), 1, 6};
    detail::variedMotion<double>(e, q, v.data(), a.data(), request);
  });
  EXPECT_TRUE(closeTo(byQ, expectedByQ, 1e-10));
  EXPECT_TRUE(closeTo(byV, expectedByV, 1e-10));
  EXPECT_TRUE(closeTo(rate, expectedRate, 1e-10));
}

INSTANTIATE_TEST_SUITE_P(Random, DerivativesByDualNumbers, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

INSTANTIATE_TEST_SUITE_P(Random, FlexibleDerivatives, ::testing::ValuesIn(kEveryBending));

}  // namespace
}  // namespace kempe::test
