#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/projected_oracle.hpp"

/// Rotors that are not symmetric about their axis (src/kernels/uneven_rotors.hpp), against dense
/// projection by the oracle, which treats them as any other body.
namespace kempe::test {
namespace {

struct Rotors {
  bool floats = false;
  bool balanced = false;  ///< centre of mass on the axis, which is a principal one
  int perLink = 1;

  friend std::ostream& operator<<(std::ostream& out, const Rotors& r) {
    return out << (r.floats ? "floating, " : "") << (r.balanced ? "balanced, " : "") << r.perLink
               << " per link";
  }
};

/// A branched tree whose links turn or slide, each driven by rotors on its parent.
Mechanism gearedTree(const Rotors& choice, unsigned seed) {
  std::mt19937 engine(seed);
  const auto number = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(engine);
  };
  const auto vector = [&](double size) {
    return Vector3{number(-size, size), number(-size, size), number(-size, size)};
  };
  Mechanism robot("geared_tree");
  robot.addBody("base").withMass(4).centeredAt({0.1, -0.2, 0.1}).withInertia(0.5, 0.4, 0.6);
  if (choice.floats) {
    robot.addFloatingBase();
  }
  const std::string parents[] = {"base", "link0", "link1", "link1", "base", "link4"};
  for (int i = 0; i < 6; ++i) {
    const std::string link = "link" + std::to_string(i);
    robot.addBody(link)
        .withMass(number(0.5, 2))
        .centeredAt(vector(0.3))
        .withInertia(number(0.1, 0.15), number(0.1, 0.15), number(0.1, 0.15));
    robot.addJoint("to_" + link, i == 3 ? JointType::Prismatic : JointType::Revolute)
        .from(parents[i])
        .to(link)
        .at(vector(0.5), vector(1.0))
        .about(vector(1.0))
        .withDamping(i == 2 ? 0.1 : 0.0);
    for (int k = 0; k < choice.perLink; ++k) {
      const std::string rotor = "rotor" + std::to_string(i) + std::to_string(k);
      auto& body = robot.addBody(rotor).withMass(number(0.1, 0.4));
      if (choice.balanced) {
        body.centeredAt({0, 0, number(-0.1, 0.1)})
            .withInertia(number(0.01, 0.012), number(0.014, 0.016), number(0.01, 0.02));
      } else {
        body.centeredAt(vector(0.1))
            .withInertia({number(0.01, 0.012), number(-0.001, 0.001), number(-0.001, 0.001),
                          number(0.014, 0.016), number(-0.001, 0.001), number(0.01, 0.02)});
      }
      robot.addJoint("to_" + rotor, JointType::Continuous)
          .from(parents[i])
          .to(rotor)
          .at(vector(0.5), vector(1.0))
          .about(choice.balanced ? Vector3{0, 0, 1} : vector(1.0))
          .withArmature(k == 1 ? 0.01 : 0.0);
      robot.addGear("gear" + rotor, "to_" + rotor, number(2, 9), "to_" + link)
          .equals(i == 1 ? 0.7 : 0.0);
    }
  }
  return robot;
}

class UnevenRotors : public ::testing::TestWithParam<Rotors> {};

TEST_P(UnevenRotors, ForwardDynamicsEqualsProjectionByOracle) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Model model(gearedTree(GetParam(), seed));
    ASSERT_TRUE(model.foldedRotors().empty());
    Data data(model);
    ProjectedOracle oracle(model);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    const auto random = [&] {
      return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); }).eval();
    };
    const Eigen::VectorXd q = model.randomConfiguration(seed), v = random(), tau = random();
    oracle.set(q, v);
    const Eigen::VectorXd expected = solveDefinite(oracle.massMatrix(), tau - oracle.biasForces());
    Eigen::VectorXd actual = poisoned(model.nv());
    forwardDynamics(model, data, q, v, tau, actual);
    EXPECT_TRUE(closeTo(actual, expected, 1e-10)) << "seed " << seed;

    // On a link, and on a rotor, which is then a body as any other.
    for (const char* body : {"link2", "rotor20"}) {
      std::vector<FrameForce> forces(1);
      forces[0].frame = model.frameIndex(body);
      forces[0].wrench = {1, -2, 0.5, 0.3, 0.2, -1};
      Eigen::VectorXd force = poisoned(model.nv()), back = poisoned(model.nv());
      inverseDynamics(model, data, q, v, expected, force, {.external = forces});
      forwardDynamics(model, data, q, v, force, back, {.external = forces});
      EXPECT_TRUE(closeTo(back, expected, 1e-10)) << body;
    }
  }
}

/// C-RNEA treats such rotors as bodies, C-ABA does not.
TEST_P(UnevenRotors, ForwardAndInverseDynamicsGiveTheSameForces) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Model model(gearedTree(GetParam(), seed));
    Data data(model);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    const auto random = [&] {
      return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); }).eval();
    };
    const Eigen::VectorXd q = model.randomConfiguration(seed), v = random(), tau = random();
    std::vector<FrameForce> pull(1);
    pull[0].frame = model.frameIndex("rotor20");
    pull[0].wrench = {1, -2, 0.5, 0.3, 0.2, -1};
    const int onRotor = model.frameIndex("rotor30"), onLink = model.frameIndex("link3");
    for (const ForceOptions& how :
         {ForceOptions{}, ForceOptions{.external = pull}, ForceOptions{.frame = onRotor},
          ForceOptions{.frame = onLink}, ForceOptions{.reference = Reference::World},
          ForceOptions{.reference = Reference::Local},
          ForceOptions{.actuation = Actuation::Rotors}}) {
      const int count = static_cast<int>(model.jointNames().size());
      Eigen::VectorXd a = poisoned(model.nv()), loops = poisoned(model.nLoopForces());
      Eigen::MatrixXd joints = poisoned(6, count);
      forwardDynamicsAndForces(model, data, q, v, tau, a, joints, loops, how);
      Eigen::VectorXd back = poisoned(model.nv()), expectedLoops = poisoned(model.nLoopForces());
      Eigen::MatrixXd expected = poisoned(6, count);
      inverseDynamicsAndForces(model, data, q, v, a, back, expected, expectedLoops, how);
      EXPECT_TRUE(closeTo(joints, expected, 1e-10)) << "seed " << seed;
      EXPECT_TRUE(closeTo(loops, expectedLoops, 1e-10)) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, UnevenRotors,
                         ::testing::Values(Rotors{}, Rotors{.floats = true},
                                           Rotors{.balanced = true},
                                           Rotors{.floats = true, .balanced = true},
                                           Rotors{.floats = true, .perLink = 2}),
                         [](const auto& given) { return "Rotors" + std::to_string(given.index); });

}  // namespace
}  // namespace kempe::test
