#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "dynamics/derivative_checks.hpp"
#include "dynamics/named_mechanism.hpp"

/// What ran before with the same Data must not change results.
namespace kempe::test {
namespace {

/// Every algorithm as a function of the scratch memory alone.
struct Call {
  std::string name;
  std::function<Eigen::VectorXd(Data&)> run;
};

std::vector<Call> everyCall(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                            const Eigen::VectorXd& x, const std::vector<FrameForce>& external) {
  const auto vectorCall = [&model](auto call) {
    return [&model, call](Data& data) {
      Eigen::VectorXd out = poisoned(model.nv());
      call(data, out);
      return out;
    };
  };
  const auto matrixCall = [&model](auto call) {
    return [&model, call](Data& data) {
      Eigen::MatrixXd out = poisoned(model.nv(), model.nv());
      call(data, out);
      return Eigen::VectorXd(out.reshaped());
    };
  };
  const auto derivativesCall = [&model](auto call) {
    return [&model, call](Data& data) {
      const int n = model.nv();
      Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), third = poisoned(n, n);
      call(data, byQ, byV, third);
      Eigen::VectorXd all(3 * n * n);
      all << byQ.reshaped(), byV.reshaped(), third.reshaped();
      return all;
    };
  };
  const Eigen::VectorXd motors = Eigen::VectorXd::LinSpaced(model.nvSpanning(), -1, 2);
  return {
      {"inverseDynamics", vectorCall([=, &model](Data& d, Eigen::VectorXd& out) {
         inverseDynamics(model, d, q, v, x, out);
       })},
      {"inverseDynamics, external", vectorCall([=, &model](Data& d, Eigen::VectorXd& out) {
         inverseDynamics(model, d, q, v, x, out, {.external = external});
       })},
      {"forwardDynamics", vectorCall([=, &model](Data& d, Eigen::VectorXd& out) {
         forwardDynamics(model, d, q, v, x, out);
       })},
      {"forwardDynamics, external", vectorCall([=, &model](Data& d, Eigen::VectorXd& out) {
         forwardDynamics(model, d, q, v, x, out, {.external = external});
       })},
      {"biasForces",
       vectorCall([=, &model](Data& d, Eigen::VectorXd& out) { biasForces(model, d, q, v, out); })},
      {"gravityForces",
       vectorCall([=, &model](Data& d, Eigen::VectorXd& out) { gravityForces(model, d, q, out); })},
      {"generalizedForces", vectorCall([=, &model](Data& d, Eigen::VectorXd& out) {
         generalizedForces(model, d, q, motors, out);
       })},
      {"massMatrix",
       matrixCall([=, &model](Data& d, Eigen::MatrixXd& out) { massMatrix(model, d, q, out); })},
      {"inverseMassMatrix", matrixCall([=, &model](Data& d, Eigen::MatrixXd& out) {
         inverseMassMatrix(model, d, q, out);
       })},
      {"applyInverseMassMatrix", vectorCall([=, &model](Data& d, Eigen::VectorXd& out) {
         applyInverseMassMatrix(model, d, q, x, out);
       })},
      {"jointForces",
       [=, &model](Data& d) {
         Eigen::MatrixXd out = poisoned(6, static_cast<int>(model.jointNames().size()));
         jointForces(model, d, q, v, x, out);
         return Eigen::VectorXd(out.reshaped());
       }},
      {"inverseDynamicsDerivatives, external",
       derivativesCall([=, &model](Data& d, auto& byQ, auto& byV, auto& H) {
         inverseDynamicsDerivatives(model, d, q, v, x, byQ, byV, H, {.external = external});
       })},
      {"forwardDynamicsDerivatives",
       derivativesCall([=, &model](Data& d, auto& byQ, auto& byV, auto& inverse) {
         forwardDynamicsDerivatives(model, d, q, v, x, byQ, byV, inverse);
       })},
      {"forwardDynamicsDerivatives, external",
       derivativesCall([=, &model](Data& d, auto& byQ, auto& byV, auto& inverse) {
         forwardDynamicsDerivatives(model, d, q, v, x, byQ, byV, inverse, {.external = external});
       })},
      {"gravityForcesDerivatives", matrixCall([=, &model](Data& d, Eigen::MatrixXd& out) {
         gravityForcesDerivatives(model, d, q, out);
       })},
  };
}

/// Results to the last bit, with what spoils the scratch memory run before each call.
void expectIndependentOfScratch(const Model& model, const std::vector<Call>& calls,
                                const std::function<void(Data&)>& spoil) {
  Data used(model);
  const auto check = [&](const Call& call) {
    Data fresh(model);
    const Eigen::VectorXd expected = call.run(fresh);
    ASSERT_TRUE(expected.allFinite()) << call.name;
    EXPECT_TRUE(closeTo(call.run(used), expected, 0.0)) << call.name << ", after the one before";
    spoil(used);
    EXPECT_TRUE(closeTo(call.run(used), expected, 0.0)) << call.name << ", scratch spoiled";
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    check(calls[i]);
    check(calls[(3 * i + 5) % calls.size()]);
  }
}

class ScratchMemory : public ::testing::TestWithParam<NamedMechanism> {
 protected:
  ScratchMemory() : model(GetParam().make()), data(model) {
    RandomNumbers random(7);
    q = model.randomConfiguration(5);
    v = random.vector(model.nv());
    tau = random.vector(model.nv());
    forces = random.forces(model, 3);
  }

  Model model;
  Data data;
  Eigen::VectorXd q, v, tau;
  std::vector<FrameForce> forces;
};

TEST_P(ScratchMemory, WhatRanBeforeDoesNotMatter) {
  const std::vector<Call> calls = everyCall(model, q, v, tau, forces);
  std::vector<FrameForce> great = forces;
  for (FrameForce& force : great) {
    for (double& x : force.wrench) {
      x *= 1e300;
    }
  }
  // Finite input whose products are not: leaves infinities and NaN all over the scratch memory.
  const std::vector<Call> overflowing =
      everyCall(model, 1e200 * Eigen::VectorXd::Ones(model.nq()), 1e200 * v, 1e200 * v, great);
  expectIndependentOfScratch(model, calls, [&](Data& used) {
    for (const Call& call : overflowing) {
      try {
        call.run(used);
      } catch (const SingularityError&) {  // NOLINT(bugprone-empty-catch): refused, as it may be
      }
    }
  });
}

/// Folded bodies without inertia, which the dynamics leave out, in loops that run along coordinates, on
/// a body that turns by 100 times an angle: where that overflows, its directions are NaN.
TEST(ScratchMemoryOfWeightlessBodies, WhatRanBeforeDoesNotMatter) {
  Mechanism robot("follower");
  robot.addBody("ground");
  const auto link = [&](const char* name) {
    robot.addBody(name).withMass(0.8).centeredAt({0.3, 0.1, -0.05}).withInertia(0.02, 0.07, 0.08);
  };
  link("crank");
  link("wheel");
  link("arm");
  link("load");
  robot.addRevolute("drive").from("ground").to("crank").about({0, 0.2, 1}).independent();
  robot.addRevolute("spin").from("crank").to("wheel").at({0.3, 0, 0}).about({1, 0, 0}).dependent();
  robot.addGear("gear", "spin", 100, "drive");
  robot.addRevolute("swing").from("wheel").to("arm").about({0, 1, 0}).independent();
  robot.addRevolute("turn").from("arm").to("load").at({0.5, 0, 0}).about({0, 0.3, 1}).dependent();
  for (const char* parent : {"wheel", "arm"}) {
    const std::string dial = std::string("dial_on_") + parent;
    robot.addBody(dial);
    robot.addRevolute("to_" + dial).from(parent).to(dial).about({0.2, 1, 0}).dependent();
  }
  robot.addFunction("cam", {"swing", "turn", "to_dial_on_wheel", "to_dial_on_arm"}, 3,
                    [](const auto& q, auto& phi) {
                      using std::sin;
                      phi[0] = q[1] - sin(q[0]);
                      phi[1] = q[2] - q[0] * q[0];
                      phi[2] = q[3] - 0.3 * sin(2.0 * q[0]);
                    });
  const Model model(robot);
  ASSERT_EQ(model.nv(), 2);
  const Eigen::VectorXd q = model.randomConfiguration(3), v = Eigen::Vector2d(0.7, -0.4);
  const std::vector<FrameForce> external{
      {model.frameIndex("load"), {1, 2, 3, 4, 5, 6}, Reference::World}};
  const std::vector<Call> overflowing =
      everyCall(model, 1e307 * Eigen::VectorXd::Ones(model.nq()), v, v, external);
  expectIndependentOfScratch(model, everyCall(model, q, v, v, external), [&](Data& used) {
    for (const Call& call : overflowing) {
      try {
        call.run(used);
      } catch (const SingularityError&) {  // NOLINT(bugprone-empty-catch): refused, as it may be
      }
    }
  });
}

TEST_P(ScratchMemory, ThreadsShareAModel) {
  const std::vector<Call> calls = everyCall(model, q, v, tau, forces);
  std::vector<Eigen::VectorXd> expected;
  expected.reserve(calls.size());
  for (const Call& call : calls) {
    expected.push_back(call.run(data));
  }
  std::vector<int> wrong(2, 0);
  const auto work = [&](std::size_t thread) {
    Data own(model);
    for (std::size_t i = 0; i < 5 * calls.size(); ++i) {
      const std::size_t which = (i + thread) % calls.size();
      wrong[thread] += calls[which].run(own) == expected[which] ? 0 : 1;
    }
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(wrong, std::vector<int>(2, 0));
}

INSTANTIATE_TEST_SUITE_P(Random, ScratchMemory, ::testing::ValuesIn(rigidAndBendingMechanisms()),
                         [](const auto& given) { return given.param.name; });

/// A four-bar with a geared arm on its crank and another arm beside it, the four-bar at its dead
/// point: evaluations stop in the middle of the mechanism.
TEST(ScratchMemoryAfterErrors, HasNoTraceOfASingularPosition) {
  Mechanism robot = robots::fourBar();
  const auto addArm = [&](const std::string& name, const std::string& parent) {
    robot.addBody(name).withMass(1).centeredAt({0.1, 0, 0.2}).withInertia(0.02, 0.03, 0.02);
    robot.addRevolute("to_" + name).from(parent).to(name).at({0.1, 0.2, 0}).about({0, 1, 0});
  };
  addArm("first", "base_link");
  addArm("second", "link1");
  robot.addBody("rotor").withMass(0.1).withInertia(1e-4, 1e-4, 2e-4);
  robot.addRevolute("to_rotor").from("link1").to("rotor").about({0, 0, 1}).dependent();
  robot.addGear("gear", "to_rotor", 6, "to_second");
  const Model model(robot);
  const Eigen::VectorXd q = model.randomConfiguration(3);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1);
  const std::vector<FrameForce> external{
      {model.frameIndex("rotor"), {1, 2, 3, 4, 5, 6}, Reference::Local}};
  const std::vector<Call> dead =
      everyCall(model, Eigen::VectorXd::Zero(model.nq()), v, v, external);
  expectIndependentOfScratch(model, everyCall(model, q, v, v, external), [&](Data& used) {
    for (const Call& call : dead) {
      EXPECT_THROW(call.run(used), SingularityError) << call.name;
    }
  });
}

}  // namespace
}  // namespace kempe::test
