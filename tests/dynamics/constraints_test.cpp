#include "kempe/constraints.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "dynamics/constrained_robot.hpp"
#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

/// Dense multipliers from the model's mass matrix and bias, with K and φ̈ by differences of φ̇ along
/// motions: shares nothing with the recursion but those.
struct DenseSolution {
  Eigen::VectorXd a, lambda;
  int rank = 0;
};

class ConstrainedMechanism : public ::testing::TestWithParam<MechanismCase>,
                             public ConstrainedRobot {
 protected:
  ConstrainedMechanism() : ConstrainedRobot(randomMechanism(GetParam()), GetParam().seed) {}

  Eigen::VectorXd rates(const Eigen::VectorXd& at, const Eigen::VectorXd& velocity, double time) {
    Eigen::VectorXd result = poisoned(constraints.rows());
    constraintVelocityErrors(model, data, constraints, time, at, velocity, result);
    return result;
  }

  /// φ̈ along the motion with acceleration `a`, by differences of φ̇.
  Eigen::VectorXd secondRates(const Eigen::VectorXd& a, double time) {
    const double h = 1e-3;
    const auto at = [&](double dt) {
      // q(dt) to second order: half the step with the velocity at its middle.
      Eigen::VectorXd there(model.nq());
      integrate(model, data, q, v + 0.5 * dt * a, dt, there);
      return rates(there, v + dt * a, time + dt);
    };
    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
  }

  DenseSolution dense(double time) {
    const int nv = model.nv();
    Eigen::MatrixXd H(nv, nv), K = poisoned(constraints.rows(), nv);
    massMatrix(model, data, q, H);
    Eigen::VectorXd h(nv);
    biasForces(model, data, q, v, h);
    constraintRows(model, data, constraints, time, q, K);
    K = (K.array().abs() < 1e-13).select(0.0, K);  // rows that move nothing, but for rounding
    const Eigen::VectorXd free = solveDefinite(H, tau - h);
    const Eigen::VectorXd bias = secondRates(free, time);
    const Eigen::MatrixXd A = K * solveDefinite(H, K.transpose());
    const LeastNorm multipliers = leastNorm(A, -bias, 1e-10);
    DenseSolution solution;
    solution.lambda = multipliers.X;
    solution.a = free + solveDefinite(H, K.transpose() * solution.lambda);
    solution.rank = multipliers.rank;
    return solution;
  }

  void expectDense(double time, double tolerance) {
    const DenseSolution expected = dense(time);
    Eigen::VectorXd a = poisoned(model.nv()), lambda = poisoned(constraints.rows());
    ConstraintReport report;
    constrainedForwardDynamics(model, data, constraints, time, q, v, tau, a, lambda, {}, &report);
    EXPECT_EQ(report.rows, constraints.rows());
    EXPECT_EQ(report.rank, expected.rank);
    if (report.rank == expected.rank) {
      EXPECT_TRUE(closeTo(a, expected.a, tolerance));
      EXPECT_TRUE(closeTo(lambda, expected.lambda, tolerance));
    }
  }
};

TEST_P(ConstrainedMechanism, RowsAreDerivativesOfErrors) {
  constraints.add(
      LoopJoint{.name = "universal", .type = LoopType::Universal}
          .from(model.bodyNames().size() > 1 ? model.bodyNames().front() : "", randomPose())
          .to(bodyFromTheTip(0), randomPose())
          .thenAbout(randomPoint()));
  constraints.add(LoopJoint{.name = "weld", .type = LoopType::Fixed}
                      .from("", randomPose())
                      .to(bodyFromTheTip(0), randomPose()));
  constraints.add(Rod{.name = "rod"}
                      .from("", randomPoint())
                      .to(bodyFromTheTip(1), randomPoint())
                      .ofLength(0.7));
  constraints.add(Rolling{.name = "ball",
                          .body = bodyFromTheTip(0),
                          .center = randomPoint(),
                          .radius = 0.1,
                          .ball = true,
                          .plane = randomPose()});
  Eigen::MatrixXd K = poisoned(constraints.rows(), model.nv());
  constraintRows(model, data, constraints, 0.0, q, K);
  const double h = 1e-6;
  const auto errorsAt = [&](double dt) {
    Eigen::VectorXd there(model.nq()), errors = poisoned(constraints.rows());
    integrate(model, data, q, v, dt, there);
    constraintErrors(model, data, constraints, 0.0, there, errors);
    return errors;
  };
  Eigen::VectorXd differences = (errorsAt(h) - errorsAt(-h)) / (2 * h), analytic = K * v;
  EXPECT_TRUE(closeTo(rates(q, v, 0.0), analytic, 1e-12));
  const int ball = constraints.firstRow(constraints.find("ball"));
  differences.segment(ball, 2) = analytic.segment(ball, 2);  // rows without a φ
  EXPECT_TRUE(closeTo(differences, analytic, 1e-7));
}

TEST_P(ConstrainedMechanism, EqualsDenseMultipliersForJointsBetweenBodies) {
  for (const LoopType type :
       {LoopType::Revolute, LoopType::Prismatic, LoopType::Cylindrical, LoopType::Universal,
        LoopType::Spherical, LoopType::Planar, LoopType::Fixed}) {
    constraints = Constraints(model);
    constraints.add(LoopJoint{.name = "joint", .type = type}
                        .from(GetParam().seed % 3 == 0 || model.bodyNames().size() == 1
                                  ? ""
                                  : model.bodyNames().front(),
                              randomPose())
                        .to(bodyFromTheTip(0), randomPose())
                        .about({0.3, -0.5, 0.8})
                        .thenAbout({0.1, 0.9, 0.2}));
    SCOPED_TRACE(std::string(toString(type)));
    expectDense(0.3, 2e-6);
  }
}

TEST_P(ConstrainedMechanism, EqualsDenseMultipliersForAllOthers) {
  const auto scalar = [&](std::size_t skip) {
    std::string found;
    for (const std::string& name : model.jointNames()) {
      if (velocitySize(robot.findJoint(name)->type) == 1) {
        found = name;
        if (skip-- == 0) {
          break;
        }
      }
    }
    return found;
  };
  constraints.add(Rod{.name = "rod"}
                      .from("", randomPoint())
                      .to(bodyFromTheTip(1), randomPoint())
                      .ofLength(1.1));
  expectDense(0.3, 2e-6);
  constraints = Constraints(model);
  constraints.add(KnifeEdge{.name = "edge", .body = bodyFromTheTip(0), .frame = randomPose()});
  expectDense(0.3, 2e-6);
  for (const bool ball : {true, false}) {
    constraints = Constraints(model);
    constraints.add(Rolling{.name = "wheel",
                            .body = bodyFromTheTip(0),
                            .center = randomPoint(),
                            .axle = {0.2, 0.9, -0.3},
                            .radius = 0.2,
                            .ball = ball,
                            .ground = model.bodyNames().front(),
                            .plane = randomPose()});
    expectDense(0.3, 5e-6);
  }
  constraints = Constraints(model);
  constraints.prescribe("prescribed", scalar(1), [](double t) {
    return PrescribedMotion{std::sin(3 * t), 3 * std::cos(3 * t), -9 * std::sin(3 * t)};
  });
  constraints.addFunction("curve", {scalar(0), scalar(2)}, 1,
                          [](const auto& x, const auto& t, auto& phi) {
                            using std::cos;
                            using std::sin;
                            phi[0] = sin(x[0]) * x[1] + cos(2.0 * t) * x[0] - 0.3 * t * t;
                          });
  expectDense(0.3, 2e-6);
  constraints = Constraints(model);
  constraints.lock("locked", model.jointNames().back(), q);
  constraints.add(Coupling{.name = "coupling"}.plus(2.0, scalar(0)).minus(0.7, scalar(3)));
  expectDense(0.3, 2e-6);
}

TEST_P(ConstrainedMechanism, RowsThatRepeatOthersShareTheirForce) {
  LoopJoint joint{.name = "ball", .type = LoopType::Spherical};
  joint.from("", randomPose()).to(bodyFromTheTip(0), randomPose());
  constraints.add(joint);
  Eigen::VectorXd once = poisoned(model.nv()), lambda = poisoned(3);
  ConstraintReport first, second;
  constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, once, lambda, {}, &first);
  joint.name = "again";
  constraints.add(joint);
  Eigen::VectorXd twice = poisoned(model.nv()), shared = poisoned(6);
  constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, twice, shared, {}, &second);
  EXPECT_EQ(second.rows, 6);
  EXPECT_EQ(second.rank, first.rank);
  EXPECT_TRUE(closeTo(twice, once, 1e-8));
  EXPECT_TRUE(closeTo(shared.head(3), (0.5 * lambda).eval(), 1e-7));
  EXPECT_TRUE(closeTo(shared.tail(3), (0.5 * lambda).eval(), 1e-7));

  constraints.enable(1, false);
  constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, twice, shared);
  EXPECT_TRUE(closeTo(twice, once, 0.0));
  EXPECT_EQ(shared.tail(3), Eigen::Vector3d::Zero());
}

TEST_P(ConstrainedMechanism, RowsThatContradictEachOtherCompromise) {
  // Three points of each of two bodies: six of nine rows are independent at most, and at velocities
  // that do not satisfy them they contradict each other.
  for (int i = 0; i < 6; ++i) {
    constraints.add(LoopJoint{.name = "ball" + std::to_string(i), .type = LoopType::Spherical}
                        .from("", randomPose())
                        .to(bodyFromTheTip(i % 2 == 0 ? 0 : 2), randomPose()));
  }
  expectDense(0.0, 2e-6);
}

TEST_P(ConstrainedMechanism, VelocitiesAfterTheImpulseSatisfyTheConstraints) {
  constraints.add(LoopJoint{.name = "ball", .type = LoopType::Spherical}
                      .from("", randomPose())
                      .to(bodyFromTheTip(0), randomPose()));
  constraints.add(
      KnifeEdge{.name = "edge", .body = model.bodyNames().front(), .frame = randomPose()});
  ConstraintReport report;
  Eigen::VectorXd after = poisoned(model.nv()), impulses = poisoned(constraints.rows());
  constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, after, impulses, {},
                             &report);
  projectVelocities(model, data, constraints, 0.0, q, v, after, impulses);
  if (report.rank == report.rows) {
    EXPECT_TRUE(closeTo(rates(q, after, 0.0), Eigen::VectorXd::Zero(constraints.rows()), 1e-9));
  }
  // H (v⁺ − v) = Kᵀ Λ
  Eigen::MatrixXd H(model.nv(), model.nv()), K = poisoned(constraints.rows(), model.nv());
  massMatrix(model, data, q, H);
  constraintRows(model, data, constraints, 0.0, q, K);
  EXPECT_TRUE(closeTo(H * (after - v), K.transpose() * impulses, 1e-8));
}

TEST_P(ConstrainedMechanism, ProjectedPositionsMeetTheConstraints) {
  // Where the tip is a little later, so that it can be reached.
  Eigen::VectorXd there(model.nq()), closed = poisoned(model.nq());
  integrate(model, data, q, v, 0.01, there);
  const Pose tip = framePlacement(model, data, there, model.frameIndex(bodyFromTheTip(0)));
  constraints.add(LoopJoint{.name = "ball", .type = LoopType::Spherical}
                      .from("", at(tip.p))
                      .to(bodyFromTheTip(0)));
  projectPositions(model, data, constraints, 0.0, q, closed);
  Eigen::VectorXd errors = poisoned(3), residual(model.nLoopRows());
  constraintErrors(model, data, constraints, 0.0, closed, errors);
  EXPECT_LT(errors.cwiseAbs().maxCoeff(), 1e-11);
  if (model.nLoopRows() > 0) {
    loopResidual(model, data, closed, residual);
    EXPECT_LT(residual.cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST_P(ConstrainedMechanism, FloatIsNearDouble) {
  constraints.add(Rod{.name = "rod"}
                      .from("", randomPoint())
                      .to(bodyFromTheTip(0), randomPoint())
                      .ofLength(1.3));
  Eigen::VectorXd a = poisoned(model.nv()), lambda = poisoned(1);
  constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, a, lambda);
  DataF dataF(model);
  Eigen::VectorXf aF(model.nv()), lambdaF(1);
  constrainedForwardDynamics(model, dataF, constraints, 0.0, q.cast<float>(), v.cast<float>(),
                             tau.cast<float>(), aF, lambdaF);
  EXPECT_TRUE(closeTo(aF.cast<double>(), a, 3e-2));
}

INSTANTIATE_TEST_SUITE_P(Random, ConstrainedMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& test) { return nameOf(test.param); });

}  // namespace
}  // namespace kempe::test
