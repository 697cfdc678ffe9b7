#include <gtest/gtest.h>

#include "constrained_state.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

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

/// All robots, held by their feet, or by a rod where they have none, with one joint locked.
TEST(ConstrainedDerivativesOfRobots, ThatAreHeldAreThoseOfDualNumbers) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    Constrained state(robots::mechanism(name), 9);
    int rows = 0;
    for (const Body& body : state.robot.bodies) {
      if (body.name == "foot" || body.name.ends_with("_foot")) {
        const Pose foot =
            framePlacement(state.model, state.data, state.q, state.model.frameIndex(body.name));
        state.constraints.add(LoopJoint{.name = body.name, .type = LoopType::Spherical}
                                  .from("", at(foot.p))
                                  .to(body.name));
        rows += 3;
      }
    }
    if (rows == 0 && state.model.nv() > 1) {
      state.constraints.add(Rod{.name = "rod"}
                                .from("", {0.3, -2.0, 0.4})
                                .to(state.bodyFromTheTip(0), {0.1, 0.02, 0.05})
                                .ofLength(1.2));
      ++rows;
    }
    if (state.model.nv() > rows) {
      state.constraints.lock("locked", state.scalar(state.model.nv() > 6 ? 4 : 0), state.q);
      ++rows;
    }
    state.expectDual(1e-10);
    EXPECT_GE(state.report.rank, std::min(rows, state.model.nv()));
    EXPECT_LT(state.report.inconsistency, 1e-9);
  }
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
