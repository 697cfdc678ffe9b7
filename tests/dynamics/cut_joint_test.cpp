#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/projected_oracle.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

/// Leaves every loop cut, or every second one, or (0) none.
Mechanism withCuts(Mechanism robot, int every) {
  int number = 0;
  const auto mark = [&](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = every > 0 && number++ % every == 0;
    }
  };
  mark(robot.couplings);
  mark(robot.loops);
  mark(robot.rods);
  mark(robot.functions);
  return robot;
}

bool hasLoops(const Mechanism& robot) {
  return !robot.couplings.empty() || !robot.loops.empty() || !robot.rods.empty() ||
         !robot.functions.empty();
}

class CutMechanism : public ::testing::TestWithParam<MechanismCase> {
 protected:
  CutMechanism()
      : robot(withCuts(randomMechanism(GetParam()), 0)),
        model(robot),
        data(model),
        engine_(GetParam().seed) {
    q = model.randomConfiguration(11);
    v = randomVector(model.nv());
    tau = randomVector(model.nv());
    a = poisoned(model.nv());
    forwardDynamics(model, data, q, v, tau, a);
  }

  Eigen::VectorXd randomVector(int size) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(size, [&] { return uniform(engine_); });
  }

  /// Positions or velocities of all joints of `from` in the order of `to`.
  static Eigen::VectorXd reordered(const Model& from, const Eigen::VectorXd& x, const Model& to,
                                   bool positions) {
    Eigen::VectorXd result = poisoned(static_cast<int>(x.size()));
    for (const std::string& joint : from.jointNames()) {
      const JointType type = from.mechanism().findJoint(joint)->type;
      const int size = positions ? positionSize(type) : velocitySize(type);
      const int first = positions ? from.jointPositionIndex(joint) : from.jointVelocityIndex(joint);
      const int place = positions ? to.jointPositionIndex(joint) : to.jointVelocityIndex(joint);
      result.segment(place, size) = x.segment(first, size);
    }
    return result;
  }

  /// Independent parts of spanning vectors of the model.
  static Eigen::VectorXd contracted(const Model& of, const Eigen::VectorXd& spanning,
                                    bool positions) {
    const std::vector<std::string>& all =
        positions ? of.spanningPositionNames() : of.spanningVelocityNames();
    const std::vector<std::string>& some = positions ? of.qNames() : of.vNames();
    Eigen::VectorXd result(static_cast<Eigen::Index>(some.size()));
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto at = std::ranges::find(all, some[i]) - all.begin();
      result[static_cast<Eigen::Index>(i)] = spanning[at];
    }
    return result;
  }

  /// The state of the embedded model, seen by one that leaves loops cut.
  void expectSameMotion(const Model& cut) {
    Eigen::VectorXd positions(model.nqSpanning()), rates(model.nvSpanning());
    Eigen::VectorXd bias(model.nvSpanning()), forces = Eigen::VectorXd::Zero(model.nvSpanning());
    Eigen::MatrixXd G(model.nvSpanning(), model.nv());
    spanning(model, data, q, v, positions, rates);
    constraintJacobian(model, data, q, G);
    constraintBias(model, data, q, v, bias);
    for (int i = 0; i < model.nv(); ++i) {
      const auto& names = model.spanningVelocityNames();
      forces[std::ranges::find(names, model.vNames()[static_cast<std::size_t>(i)]) -
             names.begin()] = tau[i];
    }
    const Eigen::VectorXd expected = G * a + bias;

    const Eigen::VectorXd cutQ = contracted(cut, reordered(model, positions, cut, true), true);
    const Eigen::VectorXd cutV = contracted(cut, reordered(model, rates, cut, false), false);
    Data cutData(cut);
    Eigen::VectorXd cutTau(cut.nv()), cutA = poisoned(cut.nv());
    generalizedForces(cut, cutData, cutQ, reordered(model, forces, cut, false), cutTau);
    forwardDynamics(cut, cutData, cutQ, cutV, cutTau, cutA);
    EXPECT_TRUE(
        closeTo(cutA, contracted(cut, reordered(model, expected, cut, false), false), 1e-7));

    expectSameForces(cut, cutQ, cutV, reordered(model, forces, cut, false));

    Eigen::VectorXd byCutJoint = poisoned(cut.nv());
    forwardDynamics(cut, cutData, cutQ, cutV, cutTau, byCutJoint, {.method = Method::CutJoint});
    EXPECT_TRUE(closeTo(byCutJoint, cutA, 1e-7));

    Eigen::VectorXd residual = poisoned(cut.nLoopRows());
    loopResidual(cut, cutData, cutQ, residual);
    EXPECT_LT(residual.lpNorm<Eigen::Infinity>(), 1e-10);
    EXPECT_EQ(cut.nLoopRows(), model.nLoopRows());

    const std::vector<int> frames{model.frameIndex(model.bodyNames().back()),
                                  model.frameIndex(model.bodyNames().front())};
    Eigen::MatrixXd Omega(12, 12), cutOmega = poisoned(12, 12);
    inverseOperationalInertia(model, data, q, frames, Omega);
    inverseOperationalInertia(cut, cutData, cutQ, frames, cutOmega);
    EXPECT_TRUE(closeTo(cutOmega, Omega, 1e-7));
  }

  /// The same forces in joints and loops, where the motion determines them.
  /// `applied` act at the same joints in both.
  void expectSameForces(const Model& cut, const Eigen::VectorXd& cutQ, const Eigen::VectorXd& cutV,
                        const Eigen::VectorXd& applied) {
    for (const Model* given : {&std::as_const(model), &cut}) {
      for (const LoopInfo& loop : given->loops()) {
        if (!loop.forceIsUnique) {
          return;
        }
      }
    }
    Data cutData(cut);
    const auto joints = static_cast<int>(model.jointNames().size());
    Eigen::MatrixXd forces = poisoned(6, joints), cutForces = poisoned(6, joints);
    Eigen::VectorXd loops = poisoned(model.nLoopForces()), cutLoops = poisoned(cut.nLoopForces());
    jointForces(model, data, q, v, tau, forces);
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(cut.nv());
    const ForceOptions how{.spanning = {applied.data(), static_cast<std::size_t>(applied.size())}};
    jointForces(cut, cutData, cutQ, cutV, none, cutForces, how);
    loopForces(model, data, q, v, tau, loops);
    loopForces(cut, cutData, cutQ, cutV, none, cutLoops, how);
    for (int j = 0; j < joints; ++j) {
      const std::string& name = model.jointNames()[static_cast<std::size_t>(j)];
      const auto at = std::ranges::find(cut.jointNames(), name) - cut.jointNames().begin();
      EXPECT_TRUE(closeTo(cutForces.col(at), forces.col(j), 1e-6)) << name;
    }
    for (const LoopInfo& loop : model.loops()) {
      const auto other = std::ranges::find(cut.loops(), loop.name, &LoopInfo::name);
      EXPECT_TRUE(closeTo(cutLoops.segment(other->firstForce, other->forces),
                          loops.segment(loop.firstForce, loop.forces), 1e-6))
          << loop.name;
    }
  }

  Mechanism robot;
  Model model;
  Data data;
  Eigen::VectorXd q, v, tau, a;

 private:
  std::mt19937_64 engine_;
};

/// The mechanism with cuts, unless some body has no inertia without its loops.
std::optional<Model> cutModel(const Mechanism& robot, int every) {
  try {
    return Model(withCuts(robot, every));
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("inertia"), std::string::npos) << error.what();
    return std::nullopt;
  }
}

TEST_P(CutMechanism, CutJointEqualsCluster) {
  Eigen::VectorXd actual = poisoned(model.nv());
  forwardDynamics(model, data, q, v, tau, actual, {.method = Method::CutJoint});
  EXPECT_TRUE(closeTo(actual, a, 1e-8));
  const std::vector<FrameForce> force{
      {model.frameIndex(model.bodyNames().back()), {1.0, -2.0, 0.5, 0.3, 0.2, -0.7}}};
  Eigen::VectorXd expected = poisoned(model.nv());
  forwardDynamics(model, data, q, v, tau, expected, {.external = force});
  forwardDynamics(model, data, q, v, tau, actual, {.external = force, .method = Method::CutJoint});
  EXPECT_TRUE(closeTo(actual, expected, 1e-8));

  const std::vector<int> frames{force[0].frame};
  Eigen::MatrixXd Omega(6, 6), byCutJoint = poisoned(6, 6);
  inverseOperationalInertia(model, data, q, frames, Omega);
  inverseOperationalInertia(model, data, q, frames, byCutJoint, Reference::LocalWorldAligned,
                            Method::CutJoint);
  EXPECT_TRUE(closeTo(byCutJoint, Omega, 1e-8));
  EXPECT_EQ(allocationsOf([&] {
              forwardDynamics(model, data, q, v, tau, actual, {.method = Method::CutJoint});
            }),
            0);
}

TEST_P(CutMechanism, AbsoluteCoordinatesMoveAlike) {
  const std::vector<FrameForce> force{
      {model.frameIndex(model.bodyNames().back()), {1.0, -2.0, 0.5, 0.3, 0.2, -0.7}}};
  Eigen::VectorXd expected = poisoned(model.nv()), actual = poisoned(model.nv());
  forwardDynamics(model, data, q, v, tau, expected, {.external = force});
  try {
    forwardDynamics(model, data, q, v, tau, actual,
                    {.external = force, .method = Method::Absolute});
    EXPECT_TRUE(closeTo(actual, expected, 1e-7));
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("has no inertia of its own"), std::string::npos);
  }
}

TEST_P(CutMechanism, AllLoopsCutMoveAlike) {
  const std::optional<Model> cut = cutModel(robot, 1);
  if (cut) {
    EXPECT_EQ(cut->cutLoops().empty(), !hasLoops(robot));
    expectSameMotion(*cut);
  }
}

TEST_P(CutMechanism, SomeLoopsCutMoveAlike) {
  const std::optional<Model> cut = cutModel(robot, 2);
  if (cut) {
    expectSameMotion(*cut);
  }
}

TEST_P(CutMechanism, ConfigurationsOfCutModelsAreClosed) {
  const std::optional<Model> cut = cutModel(robot, 1);
  if (!cut || cut->nLoopRows() == 0) {
    return;
  }
  Data cutData(*cut);
  Eigen::VectorXd residual = poisoned(cut->nLoopRows());
  for (const kempe::Vector& given :
       {cut->neutral(), cut->randomConfiguration(1), cut->randomConfiguration(2)}) {
    loopResidual(*cut, cutData, given, residual);
    EXPECT_LT(residual.lpNorm<Eigen::Infinity>(), 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, CutMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

class CutRobot : public ::testing::TestWithParam<const char*> {};

TEST_P(CutRobot, CutJointEqualsCluster) {
  const Model model = robots::load(GetParam());
  Data data(model);
  const Eigen::VectorXd q = model.randomConfiguration(3);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1.0, 1.0);
  Eigen::VectorXd expected(model.nv()), actual = poisoned(model.nv());
  forwardDynamics(model, data, q, v, v, expected);
  forwardDynamics(model, data, q, v, v, actual, {.method = Method::CutJoint});
  EXPECT_TRUE(closeTo(actual, expected, 1e-7));
}

INSTANTIATE_TEST_SUITE_P(Bundled, CutRobot,
                         ::testing::Values("mini_cheetah", "mit_humanoid", "tello", "jvrc1",
                                           "four_bar", "six_bar", "five_bar", "planar_leg"));

/// A ring of n bodies on the ground, closed by a joint about its axes.
Mechanism ring(int n) {
  Mechanism robot("ring");
  robot.gravity = {0, -9.81, 0};
  robot.addBody("ground");
  const double step = 2.0 * 3.14159265358979 / (n + 1);
  const double length = 2.0 * std::sin(0.5 * step);
  std::string parent = "ground";
  for (int i = 0; i < n; ++i) {
    const std::string body = "link" + std::to_string(i);
    robot.addBody(body).withMass(1.0).centeredAt({0.5 * length, 0, 0}).withInertia(0.01, 0.1, 0.1);
    robot.addRevolute("joint" + std::to_string(i))
        .from(parent)
        .to(body)
        .at(i == 0 ? Vector3{} : Vector3{length, 0, 0}, {0, 0, i == 0 ? 0.0 : step});
    parent = body;
  }
  robot.addLoop("closing", LoopType::Revolute)
      .from(parent, at({length, 0, 0}))
      .to("ground", at({-length * std::cos(step), length * std::sin(step), 0}));
  return robot;
}

TEST(LoopForm, LargeLoopsAreCutAndSmallOnesEmbedded) {
  EXPECT_TRUE(Model(ring(3)).cutLoops().empty());
  EXPECT_TRUE(Model(ring(40)).cutLoops().empty());
  EXPECT_EQ(Model(ring(100)).cutLoops(), std::vector<std::string>{"closing"});
  Mechanism carrier = ring(40);  // no open chain any more
  carrier.addBody("arm").withMass(1.0).withInertia(0.1, 0.1, 0.1);
  carrier.addRevolute("shoulder").from("link20").to("arm");
  EXPECT_EQ(Model(carrier).cutLoops(), std::vector<std::string>{"closing"});
  Mechanism wanted = ring(100);
  wanted.loops[0].cut = false;
  EXPECT_TRUE(Model(wanted).cutLoops().empty());
  Mechanism small = ring(3);
  small.loops[0].leftCut();
  EXPECT_EQ(Model(small).nv(), 3);
}

TEST(LoopForm, CutJointsAreNotClosedWithTheirAxisTurnedRound) {
  // A ball joint could turn the axis either way.
  Mechanism robot("door");
  robot.addBody("ground");
  robot.addBody("door").withMass(1.0).withInertia(0.1, 0.2, 0.3);
  robot.addJoint("ball", JointType::Spherical).from("ground").to("door");
  robot.addLoop("hinge", LoopType::Revolute).from("ground").to("door").leftCut();
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd q(4), closed = poisoned(4);
  q << 0.0, std::sin(0.2), 0.0, std::cos(0.2);  // 0.4 rad off
  project(model, data, q, closed);
  EXPECT_NEAR(closed[0], 0.0, 1e-12);
  EXPECT_NEAR(closed[1], 0.0, 1e-12);
  q << std::sin(1.5), 0.0, 0.0,
      std::cos(1.5);  // nearly upside down, where the axes are parallel too
  project(model, data, q, closed);
  EXPECT_NEAR(closed[0], 0.0, 1e-12);
  EXPECT_NEAR(closed[1], 0.0, 1e-12);
}

TEST(LoopForm, MethodsThatDoNotKnowCutsSaySo) {
  Mechanism robot = ring(3);
  robot.loops[0].leftCut();
  const Model model(robot);
  Data data(model);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3);
  Eigen::VectorXd a(3);
  EXPECT_EQ(refusal([&] {
              forwardDynamics(model, data, model.neutral(), zero, zero, a,
                              {.method = Method::Lagrange});
            }),
            "method: loop \"closing\" is left cut, which only Method::Cluster and Method::CutJoint "
            "support. Use one of them, or embed the loop.");
}

}  // namespace
}  // namespace kempe::test
