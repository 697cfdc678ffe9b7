#include <gtest/gtest.h>

#include <map>

#include "constrained_state.hpp"
#include "support/allocations.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

class ConstrainedDerivatives : public ::testing::TestWithParam<MechanismCase>, public Constrained {
 protected:
  ConstrainedDerivatives() : Constrained(randomMechanism(GetParam()), GetParam().seed) {}

  /// Many positions are regular, and many rows agree: not in mechanisms with few DoFs.
  static void TearDownTestSuite() {
    for (const auto& [what, count] : counts()) {
      if (count.all >= 15) {  // of all mechanisms, not of a few
        EXPECT_GE(count.checked, count.all / 4) << what << " of " << count.all;
      }
    }
    counts().clear();
  }
  /// Counts those cases of a test in which derivatives can be compared.
  static bool counted(const std::string& what, bool comparable) {
    Count& count = counts()[what];
    ++count.all;
    count.checked += comparable ? 1 : 0;
    return comparable;
  }

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
    for (const std::string& joint : model.vNames()) {
      if (robot.findJoint(joint) != nullptr) {  // one DoF, which is independent
        with("lock", [&] {
          constraints.stabilize(0.0);  // dual numbers have no error of a lock
          constraints.lock("locked", joint, q);
        });
        break;
      }
    }
  }

 private:
  struct Count {
    int all = 0, checked = 0;
  };
  static std::map<std::string, Count>& counts() {
    static std::map<std::string, Count> all;
    return all;
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
    if (counted("joints: " + std::string(toString(type)), report.inconsistency < 1e-10)) {
      expectDual(1e-10);
    }
  }
}

TEST_P(ConstrainedDerivatives, OfOtherConstraintsAreThoseOfDualNumbers) {
  forOthers([&] {
    const Eigen::VectorXd here = solve(q, v, tau);
    if (counted("others: " + constraints.name(0), report.inconsistency < 1e-10)) {
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
  if (counted("differences", report.rank == report.rows)) {
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
  if (counted("rows that repeat others", report.inconsistency < 1e-10)) {
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
  if (!counted("differences of impulses", rounding() <= 1e-12)) {
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

}  // namespace
}  // namespace kempe::test
