#include <gtest/gtest.h>

#include <random>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/dual_dynamics.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

/// Central differences of f along a line, extrapolated from three lengths.
template <typename F>
Eigen::VectorXd differentiated(const F& f, double h = 1e-3) {
  const auto central = [&](double x) -> Eigen::VectorXd { return (f(x) - f(-x)) / (2.0 * x); };
  const Eigen::VectorXd coarse = central(h), fine = central(h / 2), finest = central(h / 4);
  const Eigen::VectorXd first = (4.0 * fine - coarse) / 3.0, second = (4.0 * finest - fine) / 3.0;
  return (16.0 * second - first) / 15.0;
}

/// Of a state under constraints: derivatives with respect to q, v, tau of a above λ.
struct Derivatives {
  Eigen::MatrixXd byQ, byV, byTau;
  ConstraintReport report;
};

/// A model under constraints at a state, which may violate them.
class Constrained {
 public:
  Constrained(const Mechanism& mechanism, std::uint64_t seed)
      : robot(mechanism), model(robot), data(model), constraints(model), engine_(seed) {
    q = model.randomConfiguration(5);
    v = randomVector(model.nv());
    tau = randomVector(model.nv());
    for (std::size_t i = 0; i < robot.bodies.size(); i += 3) {
      FrameForce force;
      force.frame = model.frameIndex(robot.bodies[i].name);
      force.reference = static_cast<Reference>(external.size() % 3);
      for (double& x : force.wrench) {
        x = uniform(-1.0, 1.0);
      }
      external.push_back(force);
    }
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Eigen::VectorXd randomVector(int size) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return uniform(-1.0, 1.0); });
  }
  Vector3 randomPoint() { return {uniform(-0.5, 0.5), uniform(-0.5, 0.5), uniform(-0.5, 0.5)}; }
  Pose randomPose() { return at(randomPoint(), {uniform(-2, 2), uniform(-1, 1), uniform(-2, 2)}); }
  const std::string& bodyFromTheTip(std::size_t i) {
    const std::vector<std::string>& names = model.bodyNames();
    return names[names.size() - 1 - i % names.size()];
  }
  /// The `skip`-th joint with one DoF.
  std::string scalar(std::size_t skip) {
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
  }

  [[nodiscard]] DynamicsOptions how() const { return {.external = external}; }

  Eigen::VectorXd solve(const Eigen::VectorXd& position, const Eigen::VectorXd& velocity,
                        const Eigen::VectorXd& force) {
    Eigen::VectorXd a = poisoned(model.nv()), lambda = poisoned(constraints.rows());
    constrainedForwardDynamics(model, data, constraints, time, position, velocity, force, a, lambda,
                               how(), &report);
    Eigen::VectorXd both(a.size() + lambda.size());
    both << a, lambda;
    return both;
  }
  Eigen::VectorXd moved(const Eigen::VectorXd& along, double by) {
    Eigen::VectorXd to(model.nq());
    integrate(model, data, q, along, by, to);
    return to;
  }

  Derivatives differentiate() {
    const int nv = model.nv(), rows = constraints.rows();
    Eigen::MatrixXd a[3], lambda[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = poisoned(nv, nv);
      lambda[i] = poisoned(rows, nv);
    }
    Derivatives result;
    constrainedForwardDynamicsDerivatives(model, data, constraints, time, q, v, tau, a[0], a[1],
                                          a[2], lambda[0], lambda[1], lambda[2], how(),
                                          &result.report);
    const auto stacked = [&](int i) {
      Eigen::MatrixXd both(nv + rows, nv);
      both << a[i], lambda[i];
      return both;
    };
    result.byQ = stacked(0);
    result.byV = stacked(1);
    result.byTau = stacked(2);
    return result;
  }

  Eigen::MatrixXd rows(const Eigen::VectorXd& position) {
    Eigen::MatrixXd K = poisoned(constraints.rows(), model.nv());
    constraintRows(model, data, constraints, time, position, K);
    return K;
  }

  /// ∂K along a direction, from the dual derivatives of φ̇ at unit velocities.
  Eigen::MatrixXd rowsAlong(const Eigen::VectorXd& alongQ) const {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
    const auto at = [&](const Eigen::VectorXd& velocity) {
      return test::rowsAlong(model, constraints.table(), time,
                             {q, velocity, zero, alongQ, zero, zero})
          .rate;
    };
    Eigen::MatrixXd dK(constraints.rows(), model.nv());
    for (int j = 0; j < model.nv(); ++j) {
      dK.col(j) = at(Eigen::VectorXd::Unit(model.nv(), j)) - at(zero);
    }
    return dK;
  }

  /// Derivatives along a direction from dense algebra on dual numbers: those of a from the saddle-point
  /// system with independent rows, those of λ = (Kᵀ)⁺ (H a + h − τ) from those of the pseudo-inverse.
  Eigen::VectorXd expected(const Eigen::VectorXd& alongQ, const Eigen::VectorXd& alongV,
                           const Eigen::VectorXd& alongTau) {
    const int nv = model.nv(), n = constraints.rows();
    const Eigen::VectorXd both = solve(q, v, tau), zero = Eigen::VectorXd::Zero(nv);
    const Eigen::VectorXd a = both.head(nv), lambda = both.tail(n);
    Eigen::MatrixXd H(nv, nv);
    massMatrix(model, data, q, H);
    Eigen::MatrixXd K = rows(q);
    const VaryingState state{q, v, a, alongQ, alongV, zero};
    const RowSlopes slopes = test::rowsAlong(model, constraints.table(), time, state);
    const double rate = constraints.stabilization();
    Eigen::VectorXd e = slopes.second;
    for (int i = 0; rate > 0.0 && i < n; ++i) {
      e[i] += (holonomic(i) ? 2.0 * rate : rate) * slopes.rate[i] + rate * rate * slopes.value[i];
    }
    const Eigen::MatrixXd dK = rowsAlong(alongQ);
    const Eigen::VectorXd ofForces =
        alongTau - inverseDynamicsAlong(model, state, external) + dK.transpose() * lambda;
    // The least-norm solution of K δa + e = 0 with H δa − Kᵀ δλ = ofForces, by two projections.
    const Eigen::VectorXd free = solveDefinite(H, ofForces);
    const Eigen::MatrixXd L = choleskyFactorOf(H);
    // x = Lᵀ δa: the nearest to Lᵀ free that satisfies (K L⁻ᵀ) x = −e.
    const Eigen::MatrixXd scaled = solveRegular(L, K.transpose()).transpose();
    const Eigen::VectorXd x = L.transpose() * free + leastNorm(scaled, -e - K * free, 1e-8).X;
    const Eigen::VectorXd da = solveRegular(L.transpose(), x);
    const Eigen::MatrixXd B = K.transpose();
    const Eigen::MatrixXd inverse = leastNorm(B, Eigen::MatrixXd::Identity(nv, nv), 1e-8).X;  // B⁺
    const Eigen::VectorXd missing = H * da - ofForces;  // Kᵀ δλ
    const Eigen::MatrixXd null = Eigen::MatrixXd::Identity(n, n) - inverse * B;
    const Eigen::VectorXd dlambda =
        inverse * missing + null * (dK * (inverse.transpose() * lambda));
    Eigen::VectorXd result(nv + n);
    result << da, dlambda;
    return result;
  }
  [[nodiscard]] bool holonomic(int row) const {
    for (int i = 0; i < constraints.count(); ++i) {
      const int r = row - constraints.firstRow(i);
      if (r >= 0 && r < constraints.rows(i)) {
        return constraints.name(i) != "edge" && !(constraints.name(i) == "wheel" && r < 2);
      }
    }
    return true;
  }

  /// How much of a relative error of one bit is left in λ.
  double rounding() {
    Eigen::MatrixXd H(model.nv(), model.nv());
    massMatrix(model, data, q, H);
    const Eigen::VectorXd values =
        singularValues(solveRegular(choleskyFactorOf(H), rows(q).transpose()));
    double least = values.size() > 0 ? values[0] : 1.0;
    for (const double x : values) {
      least = x > 1e-7 * values[0] ? std::min(least, x) : least;
    }
    return values.size() > 0 ? 1e-16 * std::pow(values[0] / least, 2) : 0.0;
  }

  /// All derivatives against dual numbers and dense algebra.
  void expectDual(double tolerance) {
    tolerance = std::max(tolerance, 100.0 * rounding());
    const Derivatives actual = differentiate();
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
    Eigen::MatrixXd byQ(actual.byQ.rows(), model.nv()), byV = byQ, byTau = byQ;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(model.nv(), j);
      byQ.col(j) = expected(e, zero, zero);
      byV.col(j) = expected(zero, e, zero);
      byTau.col(j) = expected(zero, zero, e);
    }
    EXPECT_TRUE(closeParts(actual.byQ, byQ, tolerance));
    EXPECT_TRUE(closeParts(actual.byV, byV, tolerance));
    EXPECT_TRUE(closeParts(actual.byTau, byTau, tolerance));
  }
  /// The same against differences of the dynamics.
  void expectDifferences(double tolerance) {
    const Derivatives actual = differentiate();
    Eigen::MatrixXd byQ(actual.byQ.rows(), model.nv()), byV = byQ, byTau = byQ;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(model.nv(), j);
      byQ.col(j) = differentiated([&](double x) { return solve(moved(e, x), v, tau); });
      byV.col(j) = differentiated([&](double x) { return solve(q, v + x * e, tau); });
      byTau.col(j) = differentiated([&](double x) { return solve(q, v, tau + x * e); }, 0.1);
    }
    EXPECT_TRUE(closeParts(actual.byQ, byQ, tolerance));
    EXPECT_TRUE(closeParts(actual.byV, byV, tolerance));
    EXPECT_TRUE(closeParts(actual.byTau, byTau, tolerance));
  }
  /// Derivatives of v⁺ above Λ.
  struct Impulses {
    Eigen::MatrixXd byQ, byV;
  };
  Impulses differentiateImpulse() {
    const int nv = model.nv(), n = constraints.rows();
    Eigen::MatrixXd A = poisoned(nv, nv), B = poisoned(nv, nv), C = poisoned(n, nv),
                    D = poisoned(n, nv);
    projectVelocitiesDerivatives(model, data, constraints, time, q, v, A, B, C, D);
    Impulses result{Eigen::MatrixXd(nv + n, nv), Eigen::MatrixXd(nv + n, nv)};
    result.byQ << A, C;
    result.byV << B, D;
    return result;
  }
  Eigen::VectorXd projected(const Eigen::VectorXd& position, const Eigen::VectorXd& velocity) {
    Eigen::VectorXd after = poisoned(model.nv()), impulses = poisoned(constraints.rows());
    projectVelocities(model, data, constraints, time, position, velocity, after, impulses);
    Eigen::VectorXd both(after.size() + impulses.size());
    both << after, impulses;
    return both;
  }
  /// Λ = A⁺ b with b = −φ̇(q, v), differentiated as a product: dA from dual numbers.
  void expectImpulses(double tolerance) {
    const int nv = model.nv(), n = constraints.rows();
    const Impulses actual = differentiateImpulse();
    // A⁺ acts twice where rows contradict each other.
    const double bit = rounding();
    tolerance = std::max({tolerance, 100.0 * bit, 1e17 * bit * bit});
    const Eigen::VectorXd both = projected(q, v), zero = Eigen::VectorXd::Zero(nv);
    const Eigen::VectorXd impulse = both.tail(n);
    Eigen::MatrixXd H(nv, nv);
    massMatrix(model, data, q, H);
    const Eigen::MatrixXd K = rows(q), response = solveDefinite(H, K.transpose());
    // A = M Mᵀ with M = K L⁻ᵀ, whose pseudo-inverse is more accurate.
    const Eigen::MatrixXd M = solveRegular(choleskyFactorOf(H), K.transpose()).transpose();
    const Eigen::MatrixXd ofM = leastNorm(M, Eigen::MatrixXd::Identity(n, n), 1e-7).X;
    const Eigen::MatrixXd inverse = ofM.transpose() * ofM;
    const Eigen::MatrixXd null = Eigen::MatrixXd::Identity(n, n) - M * ofM;
    Eigen::VectorXd b = poisoned(n);
    constraintVelocityErrors(model, data, constraints, time, q, v, b);
    b = -b;
    Eigen::MatrixXd byQ(nv + n, nv), byV(nv + n, nv);
    for (int j = 0; j < nv; ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(nv, j);
      const Eigen::MatrixXd dK = rowsAlong(e);
      Eigen::MatrixXd dH(nv, nv);
      for (int k = 0; k < nv; ++k) {
        dH.col(k) =
            inverseDynamicsAlong(model, {q, zero, Eigen::VectorXd::Unit(nv, k), e, zero, zero}) -
            inverseDynamicsAlong(model, {q, zero, zero, e, zero, zero});
      }
      const Eigen::MatrixXd dResponse = solveDefinite(H, dK.transpose() - dH * response);
      const Eigen::MatrixXd dA = dK * response + K * dResponse;
      const Eigen::VectorXd db =
          -test::rowsAlong(model, constraints.table(), time, {q, v, zero, e, zero, zero}).rate;
      const Eigen::VectorXd change = inverse * (db - dA * impulse) +
                                     inverse * (inverse * (dA * (null * b))) +
                                     null * (dA * (inverse * impulse));
      byQ.col(j) << dResponse * impulse + response * change, change;
      const Eigen::VectorXd byRate = -inverse * K.col(j);
      byV.col(j) << e + response * byRate, byRate;
    }
    EXPECT_TRUE(closeParts(actual.byQ, byQ, tolerance));
    EXPECT_TRUE(closeParts(actual.byV, byV, tolerance));
  }

  /// Accelerations and multipliers, each by their own size.
  [[nodiscard]] ::testing::AssertionResult closeParts(const Eigen::MatrixXd& actual,
                                                      const Eigen::MatrixXd& wanted,
                                                      double tolerance) const {
    const int nv = model.nv();
    const auto motion = closeTo(actual.topRows(nv), wanted.topRows(nv), tolerance);
    return motion ? closeTo(actual.bottomRows(constraints.rows()),
                            wanted.bottomRows(constraints.rows()), tolerance)
                  : motion;
  }

  Mechanism robot;
  Model model;
  Data data;
  Constraints constraints;
  double time = 0.3;
  Eigen::VectorXd q, v, tau;
  std::vector<FrameForce> external;
  ConstraintReport report;

 private:
  std::mt19937_64 engine_;
};

class ConstrainedDerivatives : public ::testing::TestWithParam<MechanismCase>, public Constrained {
 protected:
  ConstrainedDerivatives() : Constrained(randomMechanism(GetParam()), GetParam().seed) {}

  LoopJoint joint(LoopType type) {
    return LoopJoint{.name = "joint", .type = type}
        .from(GetParam().seed % 3 == 0 || model.bodyNames().size() == 1 ? ""
                                                                        : model.bodyNames().front(),
              randomPose())
        .to(bodyFromTheTip(0), randomPose())
        .about({0.3, -0.5, 0.8})
        .thenAbout({0.1, 0.9, 0.2});
  }
  /// `check(name)` with each kind of constraint that is not a joint.
  template <typename Check>
  void forOthers(const Check& check) {
    const auto with = [&](const char* name, const auto& add) {
      constraints = Constraints(model);
      constraints.stabilize(4.0);
      add();
      SCOPED_TRACE(name);
      check();
    };
    with("rod", [&] {
      constraints.add(Rod{.name = "rod"}
                          .from("", randomPoint())
                          .to(bodyFromTheTip(1), randomPoint())
                          .ofLength(1.1));
    });
    with("edge", [&] {
      constraints.add(KnifeEdge{.name = "edge", .body = bodyFromTheTip(0), .frame = randomPose()});
    });
    for (const bool ball : {true, false}) {
      with(ball ? "ball" : "disc", [&] {
        constraints.add(Rolling{.name = "wheel",
                                .body = bodyFromTheTip(0),
                                .center = randomPoint(),
                                .axle = {0.2, 0.9, -0.3},
                                .radius = 0.2,
                                .ball = ball,
                                .ground = model.bodyNames().front(),
                                .plane = randomPose()});
      });
    }
    with("functions of time", [&] {
      constraints.prescribe("prescribed", scalar(1), [](double t) {
        return PrescribedMotion{std::sin(3 * t), 3 * std::cos(3 * t), -9 * std::sin(3 * t)};
      });
      constraints.addFunction(
          "curve", {scalar(0), scalar(2)}, 1, [](const auto& x, const auto& t, auto& phi) {
            using std::cos;
            using std::sin;
            phi[0] = sin(x[0]) * x[1] + cos(2.0 * t) * x[0] * x[0] - 0.3 * t * t;
          });
    });
    with("coupling", [&] {
      constraints.add(Coupling{.name = "coupling"}.plus(2.0, scalar(0)).minus(0.7, scalar(3)));
    });
  }
};

TEST_P(ConstrainedDerivatives, OfJointsAreThoseOfDualNumbers) {
  for (const LoopType type :
       {LoopType::Revolute, LoopType::Prismatic, LoopType::Cylindrical, LoopType::Universal,
        LoopType::Spherical, LoopType::Planar, LoopType::Fixed}) {
    constraints = Constraints(model);
    constraints.stabilize(GetParam().seed % 2 == 0 ? 0.0 : 5.0);
    constraints.add(joint(type));
    SCOPED_TRACE(std::string(toString(type)));
    const Eigen::VectorXd here = solve(q, v, tau);
    if (report.inconsistency < 1e-10) {
      expectDual(1e-10);
    }
  }
}

TEST_P(ConstrainedDerivatives, OfOtherConstraintsAreThoseOfDualNumbers) {
  forOthers([&] {
    const Eigen::VectorXd here = solve(q, v, tau);
    if (report.inconsistency < 1e-10) {
      expectDual(1e-10);
    }
  });
}

TEST_P(ConstrainedDerivatives, AreThoseOfDifferences) {
  constraints.stabilize(2.0);
  constraints.add(joint(LoopType::Spherical));
  constraints.lock("locked", model.jointNames().back(), q);
  q = moved(v, 0.02);
  const Eigen::VectorXd here = solve(q, v, tau);
  if (report.rank == report.rows) {
    expectDifferences(2e-6);
  }
}

TEST_P(ConstrainedDerivatives, OfRowsThatRepeatOthersShareThoseOfLeastNorm) {
  LoopJoint once = joint(LoopType::Spherical);
  constraints.add(once);
  once.name = "again";
  constraints.add(once);
  Rod rod{.name = "rod"};
  rod.from("", randomPoint()).to(bodyFromTheTip(1), randomPoint()).ofLength(1.1);
  constraints.add(rod);
  rod.name = "twin";
  constraints.add(rod);
  constraints.stabilize(1.0);
  const Eigen::VectorXd here = solve(q, v, tau);
  EXPECT_LT(report.rank, report.rows);
  if (report.inconsistency < 1e-10) {
    expectDual(1e-9);
  }
}

TEST_P(ConstrainedDerivatives, OfImpulsesAreThoseOfDualNumbers) {
  constraints.add(joint(LoopType::Spherical));
  constraints.add(
      KnifeEdge{.name = "edge", .body = model.bodyNames().front(), .frame = randomPose()});
  constraints.addFunction("curve", {scalar(0), scalar(2)}, 1,
                          [](const auto& x, const auto& t, auto& phi) {
                            using std::sin;
                            phi[0] = sin(x[0]) * x[1] + t * x[0] * x[0] - 0.3 * t * t;
                          });
  expectImpulses(1e-10);
  LoopJoint again = joint(LoopType::Cylindrical);
  again.name = "one";
  constraints.add(again);
  again.name = "two";
  constraints.add(again);
  expectImpulses(1e-9);
}

TEST_P(ConstrainedDerivatives, OfImpulsesAreThoseOfDifferences) {
  constraints.add(joint(LoopType::Universal));
  constraints.add(Rod{.name = "rod"}
                      .from("", randomPoint())
                      .to(bodyFromTheTip(1), randomPoint())
                      .ofLength(1.1));
  const Impulses actual = differentiateImpulse();
  if (rounding() > 1e-12) {
    return;
  }
  const int nv = model.nv();
  Eigen::MatrixXd byQ(actual.byQ.rows(), nv), byV = byQ;
  for (int j = 0; j < nv; ++j) {
    const Eigen::VectorXd e = Eigen::VectorXd::Unit(nv, j);
    byQ.col(j) = differentiated([&](double x) { return projected(moved(e, x), v); });
    byV.col(j) = differentiated([&](double x) { return projected(q, v + x * e); }, 0.1);
  }
  EXPECT_TRUE(closeParts(actual.byQ, byQ, 1e-6));
  EXPECT_TRUE(closeParts(actual.byV, byV, 1e-8));
}

TEST_P(ConstrainedDerivatives, AllocateNothingAfterTheFirstCall) {
  LoopJoint twice = joint(LoopType::Spherical);
  constraints.add(twice);
  twice.name = "again";
  constraints.add(twice);
  constraints.addFunction("curve", {scalar(0)}, 1, [](const auto& x, const auto& t, auto& phi) {
    phi[0] = x[0] * x[0] - t;
  });
  const int nv = model.nv(), rows = constraints.rows();
  Eigen::MatrixXd A(nv, nv), B(nv, nv), C(nv, nv), D(rows, nv), E(rows, nv), F(rows, nv);
  const auto all = [&] {
    constrainedForwardDynamicsDerivatives(model, data, constraints, time, q, v, tau, A, B, C, D, E,
                                          F, how());
    projectVelocitiesDerivatives(model, data, constraints, time, q, v, A, B, D, E);
  };
  all();
  EXPECT_EQ(allocationsOf(all), 0);
}

TEST_P(ConstrainedDerivatives, InFloatAreNearThoseInDouble) {
  constraints.add(Rod{.name = "rod"}
                      .from("", randomPoint())
                      .to(bodyFromTheTip(0), randomPoint())
                      .ofLength(1.3));
  const Derivatives expected = differentiate();
  const int nv = model.nv();
  DataF dataF(model);
  Eigen::MatrixXf A(nv, nv), B(nv, nv), C(nv, nv), D(1, nv), E(1, nv), F(1, nv);
  constrainedForwardDynamicsDerivatives(model, dataF, constraints, time, q.cast<float>(),
                                        v.cast<float>(), tau.cast<float>(), A, B, C, D, E, F,
                                        how());
  EXPECT_TRUE(closeTo(A.cast<double>(), expected.byQ.topRows(nv), 5e-2));
  EXPECT_TRUE(closeTo(F.cast<double>(), expected.byTau.bottomRows(1), 5e-2));
}

INSTANTIATE_TEST_SUITE_P(Random, ConstrainedDerivatives, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

// --- closed examples -----------------------------------------------------------------------------

/// Links of 0.5 m that turn about z.
Mechanism planarChain(int links) {
  Mechanism robot("chain");
  robot.addBody("ground");
  std::string parent = "ground";
  for (int i = 0; i < links; ++i) {
    const std::string name = "link" + std::to_string(i);
    robot.addBody(name)
        .withMass(1.0 + i)
        .centeredAt({0.2, 0.05, 0.0})
        .withInertia(0.02, 0.03, 0.04);
    robot.addRevolute("joint" + std::to_string(i))
        .from(parent)
        .to(name)
        .at({i == 0 ? 0.0 : 0.5, 0.0, 0.0})
        .about({0.0, 0.0, 1.0});
    parent = name;
  }
  return robot;
}

TEST(ConstrainedDerivativesOfLinkages, ClosedByRedundantRowsAreThoseOfDifferences) {
  // A planar chain whose end is held by 5 or 6 rows, of which the plane leaves 2 or 3, and 1 DoF.
  for (const LoopType type : {LoopType::Revolute, LoopType::Fixed}) {
    Constrained state(planarChain(4), 3);
    const std::string& parent = state.bodyFromTheTip(0);
    state.q = Eigen::Vector4d(0.3, 0.9, -1.2, 0.7);
    const Pose tip =
        framePlacement(state.model, state.data, state.q, state.model.frameIndex(parent));
    state.constraints.add(
        LoopJoint{.name = "closing", .type = type}.from("", tip).to(parent).about({0.0, 0.0, 1.0}));
    state.constraints.stabilize(3.0);
    state.expectDual(1e-10);
    state.expectDifferences(1e-7);
    EXPECT_EQ(state.differentiate().report.rank, type == LoopType::Fixed ? 3 : 2);
  }
}

TEST(ConstrainedDerivativesOfLinkages, OfRowsThatContradictAreThoseOfTheCompromise) {
  // Two motions prescribed for one joint, with different accelerations.
  Mechanism robot = robots::mechanism("geared_chain");
  Constrained state(robot, 5);
  const std::string joint = state.scalar(1);
  state.constraints.prescribe("one", joint, [](double) { return PrescribedMotion{0, 0, 1.0}; });
  state.constraints.addFunction("two", {joint, state.scalar(0)}, 1,
                                [](const auto& x, const auto& t, auto& phi) {
                                  phi[0] = 2.0 * x[0] * x[0] - t * t + 0.0 * x[1];
                                });
  state.constraints.add(
      Rod{.name = "rod"}.from("", {0.1, 0.2, 0.3}).to(state.bodyFromTheTip(0), {}).ofLength(0.7));
  const Derivatives derivatives = state.differentiate();
  EXPECT_GT(derivatives.report.inconsistency, 0.1);
  EXPECT_LT(derivatives.report.rank, derivatives.report.rows);
  state.expectDifferences(1e-6);
}

TEST(ConstrainedDerivativesOfLinkages, OfAQuadrupedThatStandsAreThoseOfDualNumbers) {
  Constrained state(robots::mechanism("mini_cheetah"), 7);
  state.q = state.model.neutral();
  int feet = 0;
  for (const std::string& body : state.model.bodyNames()) {
    if (body.find("shank") != std::string::npos || body.find("knee_link") != std::string::npos) {
      const Pose foot =
          framePlacement(state.model, state.data, state.q, state.model.frameIndex(body));
      state.constraints.add(
          LoopJoint{.name = "foot" + std::to_string(feet++), .type = LoopType::Spherical}
              .from("", at(foot.p))
              .to(body, at({0.0, 0.0, -0.2})));
    }
  }
  ASSERT_EQ(feet, 4);
  state.constraints.stabilize(10.0);
  state.expectDual(1e-10);
  state.expectDifferences(1e-6);
}

TEST(ConstrainedDerivativesOfLinkages, OfLocksFollowTheirErrors) {
  // Free and spherical joints: their errors are not plain numbers.
  for (const JointType type : {JointType::Free, JointType::Spherical}) {
    Mechanism robot("ball");
    robot.addBody("ground");
    robot.addBody("ball").withMass(2.0).centeredAt({0.1, 0.2, -0.1}).withInertia(0.1, 0.2, 0.25);
    robot.addJoint("joint", type).from("ground").to("ball");
    Constrained state(robot, 11);
    state.constraints.lock("locked", "joint", state.q);
    state.constraints.stabilize(6.0);
    state.q = state.moved(state.v, 0.7);
    state.expectDifferences(1e-8);
  }
}

TEST(ConstrainedDerivativesOfLinkages, SwitchedOffAreZero) {
  Constrained state(robots::mechanism("mini_cheetah"), 2);
  state.constraints.add(
      LoopJoint{.name = "off", .type = LoopType::Fixed}.to(state.bodyFromTheTip(0)));
  state.constraints.add(Rod{.name = "rod"}.to(state.bodyFromTheTip(1), {}).ofLength(0.4));
  state.constraints.enable(0, false);
  const Derivatives derivatives = state.differentiate();
  EXPECT_EQ(derivatives.byQ.middleRows(state.model.nv(), 6).cwiseAbs().maxCoeff(), 0.0);
  EXPECT_GT(derivatives.byQ.bottomRows(1).cwiseAbs().maxCoeff(), 0.0);
  state.expectDifferences(1e-6);
}

TEST(ConstrainedDerivativesOfLinkages, ThrowWhereTheyAreNotDefined) {
  // A stretched two-link arm whose tip is held: K loses rank there only.
  Constrained state(planarChain(2), 1);
  state.constraints.add(LoopJoint{.name = "held", .type = LoopType::Spherical}
                            .from("", at({1.0, 0.0, 0.0}))
                            .to("link1", at({0.5, 0.0, 0.0})));
  state.q.setZero();
  EXPECT_THROW(state.differentiate(), SingularityError);
  state.q << 0.4, -0.9;
  EXPECT_NO_THROW(state.differentiate());
  // Arguments
  const int nv = state.model.nv();
  Eigen::MatrixXd A(nv, nv), D(3, nv), wrong(2, nv);
  const auto call = [&](const Eigen::VectorXd& q, Eigen::MatrixXd& last) {
    constrainedForwardDynamicsDerivatives(state.model, state.data, state.constraints, 0.0, q,
                                          state.v, state.tau, A, A, A, D, D, last);
  };
  EXPECT_THROW(call(Eigen::VectorXd::Constant(nv, NAN), D), std::invalid_argument);
  EXPECT_THROW(call(state.q, wrong), std::invalid_argument);
  EXPECT_THROW(projectVelocitiesDerivatives(state.model, state.data, state.constraints, NAN,
                                            state.q, state.v, A, A, D, D),
               std::invalid_argument);
  TimedFunction callback;
  callback.name = "opaque";
  callback.coordinates = {"joint1"};
  callback.value = [](std::span<const double> x, double, std::span<double> phi) {
    phi[0] = x[0] > 0.0 ? x[0] : 2.0 * x[0];
  };
  callback.jet = [](std::span<const Jet> x, const Jet&, std::span<Jet> phi) { phi[0] = x[0]; };
  state.constraints = Constraints(state.model);
  state.constraints.add(callback);
  EXPECT_EQ(refusal([&] { state.differentiate(); }).find("function \"opaque\" is a callback"), 0U);
}

// --- loops that are left cut ---------------------------------------------------------------------

Mechanism withLoopsCut(Mechanism robot, bool cut) {
  const auto mark = [&](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = cut;
    }
  };
  mark(robot.couplings);
  mark(robot.loops);
  mark(robot.rods);
  mark(robot.functions);
  return robot;
}

/// Numbers of all joints of `from` in the order of `to`.
Eigen::VectorXd reordered(const std::vector<std::string>& from, const Eigen::VectorXd& x,
                          const std::vector<std::string>& to) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(to.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto place = std::ranges::find(to, from[i]) - to.begin();
    if (place < result.size()) {
      result[place] = x[static_cast<Eigen::Index>(i)];
    }
  }
  return result;
}

/// Derivatives of a robot with its loops cut, along motions that keep them closed, against those with
/// the loops embedded.
void expectThoseOfEmbeddedLoops(const Mechanism& robot, double tolerance) {
  const Model embedded(withLoopsCut(robot, false));
  const Model cut(withLoopsCut(robot, true));
  Data data(embedded), dataOfCut(cut);
  const int nv = embedded.nv(), all = cut.nv();
  const Eigen::VectorXd q = embedded.randomConfiguration(3);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(nv, 0.5, -0.8);
  const Eigen::VectorXd tau = Eigen::VectorXd::LinSpaced(nv, -1.0, 2.0);
  const auto spanned = [&](const Eigen::VectorXd& position, const Eigen::VectorXd& velocity) {
    Eigen::VectorXd positions(embedded.nqSpanning()), rates(embedded.nvSpanning());
    spanning(embedded, data, position, velocity, positions, rates);
    return std::pair{positions, rates};
  };
  const auto rates = [&](const Eigen::VectorXd& position, const Eigen::VectorXd& velocity) {
    return reordered(embedded.spanningVelocityNames(), spanned(position, velocity).second,
                     cut.vNames());
  };
  const auto [positions, speeds] = spanned(q, v);
  const Eigen::VectorXd qOfCut =
      reordered(embedded.spanningPositionNames(), positions, cut.qNames());
  const Eigen::VectorXd vOfCut = rates(q, v);
  const Eigen::VectorXd tauOfCut = reordered(embedded.vNames(), tau, cut.vNames());
  Eigen::MatrixXd A = poisoned(nv, nv), B = poisoned(nv, nv), C = poisoned(nv, nv);
  forwardDynamicsDerivatives(embedded, data, q, v, tau, A, B, C);
  Eigen::MatrixXd AOfCut = poisoned(all, all), BOfCut = poisoned(all, all),
                  COfCut = poisoned(all, all);
  forwardDynamicsDerivatives(cut, dataOfCut, qOfCut, vOfCut, tauOfCut, AOfCut, BOfCut, COfCut);
  for (int j = 0; j < nv; ++j) {
    const Eigen::VectorXd e = Eigen::VectorXd::Unit(nv, j), direction = rates(q, e);
    const Eigen::VectorXd change = differentiated([&](double x) {
      Eigen::VectorXd there(embedded.nq());
      integrate(embedded, data, q, e, x, there);
      return rates(there, v);
    });
    const auto independent = [&](const Eigen::VectorXd& x) {
      return reordered(cut.vNames(), x, embedded.vNames());
    };
    EXPECT_TRUE(
        closeTo(independent(AOfCut * direction + BOfCut * change), A.col(j), 10.0 * tolerance));
    EXPECT_TRUE(closeTo(independent(BOfCut * direction), B.col(j), tolerance));
    EXPECT_TRUE(closeTo(independent(COfCut * reordered(embedded.vNames(), e, cut.vNames())),
                        C.col(j), tolerance));
  }
}

TEST(DerivativesWithCutLoops, AreThoseOfTheEmbeddedLoops) {
  for (const char* name :
       {"four_bar", "six_bar", "five_bar", "planar_leg", "geared_chain", "belt_chain"}) {
    SCOPED_TRACE(name);
    expectThoseOfEmbeddedLoops(robots::mechanism(name), 1e-8);
  }
}

TEST(DerivativesWithCutLoops, AreThoseOfTheEmbeddedLoopsBetweenLightBodies) {
  for (const double ratio : {1e-4, 1e-7, 1e-9}) {
    SCOPED_TRACE(ratio);
    Mechanism robot = robots::mechanism("four_bar");
    for (Body& body : robot.bodies) {
      if (body.name.find("coupler") != std::string::npos || &body == &robot.bodies[2]) {
        body.mass *= ratio;
        body.inertia = ratio * body.inertia;
      }
    }
    expectThoseOfEmbeddedLoops(robot, 1e-6);
  }
}

class CutDerivatives : public ::testing::TestWithParam<MechanismCase> {};

TEST_P(CutDerivatives, AreThoseOfDifferences) {
  const Mechanism robot = withLoopsCut(randomMechanism(GetParam()), true);
  const Model model(robot);
  Data data(model);
  const int nv = model.nv();
  const Eigen::VectorXd q = model.randomConfiguration(7);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(nv, -0.3, -0.1);  // friction is smooth
  const Eigen::VectorXd tau = Eigen::VectorXd::LinSpaced(nv, 2.0, -1.0);
  const auto accelerations = [&](const Eigen::VectorXd& position, const Eigen::VectorXd& velocity) {
    Eigen::VectorXd a = poisoned(nv);
    forwardDynamics(model, data, position, velocity, tau, a);
    return a;
  };
  Eigen::MatrixXd A = poisoned(nv, nv), B = poisoned(nv, nv), C = poisoned(nv, nv);
  forwardDynamicsDerivatives(model, data, q, v, tau, A, B, C);
  Eigen::MatrixXd byQ(nv, nv), byV(nv, nv);
  for (int j = 0; j < nv; ++j) {
    const Eigen::VectorXd e = Eigen::VectorXd::Unit(nv, j);
    byQ.col(j) = differentiated([&](double x) {
      Eigen::VectorXd there(model.nq());
      integrate(model, data, q, e, x, there);
      return accelerations(there, v);
    });
    byV.col(j) = differentiated([&](double x) { return accelerations(q, v + x * e); });
  }
  EXPECT_TRUE(closeTo(B, byV, 1e-6));
  EXPECT_TRUE(closeTo(A, byQ, 1e-5));
  // Inverse dynamics does not mind cut loops.
  Eigen::VectorXd zero = Eigen::VectorXd::Zero(nv);
  inverseDynamicsDerivatives(model, data, q, v, tau, A, B, C);
  for (int j = 0; j < nv; ++j) {
    byQ.col(j) = inverseDynamicsAlong(model, {q, v, tau, Eigen::VectorXd::Unit(nv, j), zero, zero});
  }
  EXPECT_TRUE(closeTo(A, byQ, 1e-11));
}

INSTANTIATE_TEST_SUITE_P(Random, CutDerivatives, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

}  // namespace
}  // namespace kempe::test
