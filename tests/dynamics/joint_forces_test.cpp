#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <functional>
#include <random>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/force_oracle.hpp"
#include "support/long_loops.hpp"
#include "support/random_mechanism.hpp"

/// Forces between bodies against Newton, Euler and dense least squares.
namespace kempe::test {
namespace {

struct Case {
  std::string name;
  std::function<Mechanism()> make;
};

std::vector<Case> everyCase() {
  std::vector<Case> cases;
  for (const MechanismCase& choice : everyMechanism()) {
    cases.push_back({nameOf(choice), [choice] { return randomMechanism(choice); }});
  }
  for (const std::string& robot : robots::names()) {
    cases.push_back({"robot_" + robot, [robot] {
                       const bool chain = robot.ends_with("_chain");
                       return robots::mechanism(robot, chain ? 4 : 0);
                     }});
  }
  cases.push_back({"long_loops", longLoops});
  return cases;
}

class EveryCase : public ::testing::TestWithParam<Case> {
 protected:
  EveryCase() : robot(GetParam().make()), model(robot), data(model), oracle(model), engine_(7) {
    q = model.randomConfiguration(5);
    v = randomVector(model.nv());
    load.tau = randomVector(model.nv());
  }

  Eigen::VectorXd randomVector(int size) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(size, [&] { return uniform(engine_); });
  }

  /// Forces on some bodies, rotors among them, in all references.
  std::vector<FrameForce> randomForces() {
    std::vector<FrameForce> forces;
    for (std::size_t i = 0; i < robot.bodies.size(); i += i % 2 == 0 ? 1 : 2) {
      const Eigen::VectorXd w = 2.0 * randomVector(6);
      FrameForce force{.frame = model.frameIndex(robot.bodies[i].name),
                       .reference = static_cast<Reference>(i % 3)};
      std::copy_n(w.data(), 6, force.wrench.begin());
      forces.push_back(force);
    }
    return forces;
  }

  ForceOptions options(std::optional<Reference> reference = {}) const {
    ForceOptions how{.external = load.external, .reference = reference};
    how.actuation = load.atRotors ? Actuation::Rotors : Actuation::Independent;
    how.spanning = {load.spanning.data(), static_cast<std::size_t>(load.spanning.size())};
    return how;
  }

  int joints() const { return static_cast<int>(model.jointNames().size()); }

  Eigen::MatrixXd jointForcesOf(const ForceOptions& how) {
    Eigen::MatrixXd forces = poisoned(6, joints());
    jointForces(model, data, q, v, load.tau, forces, how);
    return forces;
  }
  Eigen::VectorXd loopForcesOf(const ForceOptions& how) {
    Eigen::VectorXd forces = poisoned(model.nLoopForces());
    loopForces(model, data, q, v, load.tau, forces, how);
    return forces;
  }

  /// Newton and Euler for each body: all reported wrenches, about the world's origin, add up to
  /// what the oracle says that the body needs.
  void expectBalance(const Eigen::MatrixXd& jointWrenches, const Eigen::VectorXd& loopNumbers) {
    for (int j = 0; j < joints(); ++j) {
      const std::string& name = model.jointNames()[static_cast<std::size_t>(j)];
      ForceOracle::Wrench sum = jointWrenches.col(j);
      double scale = std::max(1.0, sum.norm());
      const auto add = [&](const ForceOracle::Wrench& w) {
        sum += w;
        scale = std::max(scale, w.norm());
      };
      for (int k = 0; k < joints(); ++k) {
        const Joint& child = *robot.findJoint(model.jointNames()[static_cast<std::size_t>(k)]);
        if (oracle.carrierOf(child.parent) == name) {
          add(-jointWrenches.col(k));
        }
      }
      for (const LoopInfo& loop : model.loops()) {
        if (loop.kind == LoopKind::Joint || loop.kind == LoopKind::Rod) {
          const ForceOracle::Wrench w = loopNumbers.segment<6>(loop.firstForce);
          if (oracle.carrierOf(loop.bodies[0]) == name) {
            add(-w);
          }
          if (oracle.carrierOf(loop.bodies[1]) == name) {
            add(w);
          }
        }
      }
      const ForceOracle::Wrench demand = oracle.demand(name);
      EXPECT_LE((sum - demand).norm(), 1e-9 * std::max(scale, demand.norm()))
          << "joint " << name << "\n"
          << sum.transpose() << "\n"
          << demand.transpose();
    }
  }

  /// Along the DoFs of a joint act what is applied there and what couplings and functions do,
  /// less resistance and springs.
  void expectFreedomsBearTheirLoad(const Eigen::MatrixXd& aligned,
                                   const Eigen::VectorXd& loopNumbers) {
    Eigen::VectorXd expected =
        oracle.applied - oracle.projected.resistance - oracle.projected.springs;
    for (const LoopInfo& loop : model.loops()) {
      for (std::size_t i = 0; i < loop.coordinates.size(); ++i) {
        const auto& names = model.spanningVelocityNames();
        const auto at = std::ranges::find(names, loop.coordinates[i]) - names.begin();
        expected[at] += loopNumbers[loop.firstForce + static_cast<int>(i)];
      }
    }
    Eigen::VectorXd actual = poisoned(model.nvSpanning());
    for (int j = 0; j < joints(); ++j) {
      const std::string& name = model.jointNames()[static_cast<std::size_t>(j)];
      const Eigen::MatrixXd s = oracle.directions(name);
      const int first = model.jointVelocityIndex(name);
      const auto count = s.cols();
      actual.segment(first, count) = s.transpose() * aligned.col(j);
      expected.segment(first, count) -=
          robot.findJoint(name)->armature * oracle.accelerations.segment(first, count);
    }
    const double scale = std::max(1.0, aligned.cwiseAbs().maxCoeff());
    EXPECT_TRUE(closeTo((actual / scale).eval(), (expected / scale).eval(), 1e-9));
  }

  void expectLawsOfMechanics() {
    oracle.set(q, v, load);
    const Eigen::VectorXd aligned = loopForcesOf(options());
    EXPECT_TRUE(closeTo(aligned, oracle.loopForces, 1e-8));
    expectBalance(jointForcesOf(options(Reference::World)),
                  loopForcesOf(options(Reference::World)));
    expectFreedomsBearTheirLoad(jointForcesOf(options()), aligned);
  }

  Mechanism robot;
  Model model;
  Data data;
  ForceOracle oracle;
  Eigen::VectorXd q, v;
  Load load;

 private:
  std::mt19937_64 engine_;
};

TEST_P(EveryCase, ObeysNewtonAndEuler) {
  expectLawsOfMechanics();
}

TEST_P(EveryCase, ObeysNewtonAndEulerUnderExternalForces) {
  load.external = randomForces();
  expectLawsOfMechanics();
}

TEST_P(EveryCase, ObeysNewtonAndEulerWhereRotorsDrive) {
  load.atRotors = true;
  load.external = randomForces();
  expectLawsOfMechanics();
}

TEST_P(EveryCase, ObeysNewtonAndEulerUnderForcesAtAllJoints) {
  load.spanning = randomVector(model.nvSpanning());
  expectLawsOfMechanics();
  load.atRotors = true;
  expectLawsOfMechanics();
}

TEST_P(EveryCase, ObeysNewtonAndEulerWithoutFolding) {
  model = Model(robot, {.foldRotors = false});
  data = Data(model);
  load.external = randomForces();
  load.atRotors = true;
  expectLawsOfMechanics();
}

TEST_P(EveryCase, InverseDynamicsGivesTheSameForces) {
  load.external = randomForces();
  load.spanning = randomVector(model.nvSpanning());
  load.atRotors = true;
  for (const std::optional<Reference> reference :
       {std::optional<Reference>(), std::optional(Reference::Local)}) {
    const ForceOptions how = options(reference);
    Eigen::VectorXd a = poisoned(model.nv()), tau = poisoned(model.nv());
    Eigen::MatrixXd forward = poisoned(6, joints()), inverse = poisoned(6, joints());
    Eigen::VectorXd loops = poisoned(model.nLoopForces()), back = loops;
    forwardDynamicsAndForces(model, data, q, v, load.tau, a, forward, loops, how);
    inverseDynamicsAndForces(model, data, q, v, a, tau, inverse, back, how);
    const double scale = std::max(1.0, forward.cwiseAbs().maxCoeff());
    EXPECT_TRUE(closeTo((tau / scale).eval(), (load.tau / scale).eval(), 1e-9));
    EXPECT_TRUE(closeTo(inverse, forward, 1e-9));
    EXPECT_TRUE(closeTo(back, loops, 1e-8));
    EXPECT_TRUE(closeTo(forward, jointForcesOf(how), 0.0));
    EXPECT_TRUE(closeTo(loops, loopForcesOf(how), 0.0));
    oracle.set(q, v, load);
    EXPECT_TRUE(closeTo(a, oracle.a, 1e-8));
  }
}

/// A wrench at another point and in other axes.
ForceOracle::Wrench seenFrom(const ForceOracle::Wrench& atOrigin, const Eigen::Matrix3d& R,
                             const Eigen::Vector3d& p) {
  ForceOracle::Wrench w = ForceOracle::shifted(atOrigin, Eigen::Vector3d::Zero(), p);
  w << R.transpose() * w.head<3>().eval(), R.transpose() * w.tail<3>().eval();
  return w;
}

TEST_P(EveryCase, FramesAreSeenFromTheirPlaces) {
  oracle.set(q, v, load);
  const Eigen::MatrixXd world = jointForcesOf(options(Reference::World));
  const Eigen::MatrixXd local = jointForcesOf(options(Reference::Local));
  const Eigen::MatrixXd aligned = jointForcesOf(options(Reference::LocalWorldAligned));
  const Eigen::VectorXd loopWorld = loopForcesOf(options(Reference::World));
  const Eigen::VectorXd loopLocal = loopForcesOf(options(Reference::Local));
  const Eigen::VectorXd loopAligned = loopForcesOf(options());
  for (int j = 0; j < joints(); ++j) {
    const Joint& joint = *robot.findJoint(model.jointNames()[static_cast<std::size_t>(j)]);
    const Oracle::Motion child = oracle.at(joint.child);
    const double scale = std::max(1.0, world.col(j).norm());
    EXPECT_TRUE(closeTo((local.col(j) / scale).eval(),
                        (seenFrom(world.col(j), child.R, child.p) / scale).eval(), 1e-10));
    EXPECT_TRUE(closeTo(
        (aligned.col(j) / scale).eval(),
        (seenFrom(world.col(j), Eigen::Matrix3d::Identity(), child.p) / scale).eval(), 1e-10));
  }
  const auto matrixOf = [](const Rotation& R) {
    Eigen::Matrix3d m;
    m << R.r0.x, R.r0.y, R.r0.z, R.r1.x, R.r1.y, R.r1.z, R.r2.x, R.r2.y, R.r2.z;
    return m;
  };
  for (const LoopInfo& loop : model.loops()) {
    if (!loop.coordinates.empty()) {
      EXPECT_TRUE(closeTo(loopLocal.segment(loop.firstForce, loop.forces),
                          loopWorld.segment(loop.firstForce, loop.forces), 1e-9));
      continue;
    }
    Pose end;
    for (const LoopJoint& candidate : robot.loops) {
      end = candidate.name == loop.name ? candidate.successor.frame : end;
    }
    for (const Rod& candidate : robot.rods) {
      end.p = candidate.name == loop.name ? candidate.successor.point : end.p;
    }
    const Oracle::Motion m = oracle.at(loop.bodies[1], {end.p.x, end.p.y, end.p.z});
    const ForceOracle::Wrench w = loopWorld.segment<6>(loop.firstForce);
    const double scale = std::max(1.0, w.norm());
    EXPECT_TRUE(closeTo((loopLocal.segment<6>(loop.firstForce) / scale).eval(),
                        (seenFrom(w, m.R * matrixOf(end.R), m.p) / scale).eval(), 1e-9));
    EXPECT_TRUE(closeTo((loopAligned.segment<6>(loop.firstForce) / scale).eval(),
                        (seenFrom(w, Eigen::Matrix3d::Identity(), m.p) / scale).eval(), 1e-9));
  }
  // Any frame: the first body, the last body, and a rotor where there is one.
  std::vector<std::string> frames{robot.bodies.front().name, robot.bodies.back().name};
  if (!model.foldedRotors().empty()) {
    frames.push_back(model.foldedRotors().front());
  }
  for (const std::string& frame : frames) {
    const Oracle::Motion m = oracle.at(frame);
    ForceOptions how = options();
    how.frame = model.frameIndex(frame);
    const Eigen::MatrixXd seen = jointForcesOf(how);
    const Eigen::VectorXd loops = loopForcesOf(how);
    const double scale = std::max(1.0, world.cwiseAbs().maxCoeff());
    for (int j = 0; j < joints(); ++j) {
      EXPECT_TRUE(closeTo((seen.col(j) / scale).eval(),
                          (seenFrom(world.col(j), m.R, m.p) / scale).eval(), 1e-9));
    }
    for (const LoopInfo& loop : model.loops()) {
      if (loop.coordinates.empty()) {
        EXPECT_TRUE(closeTo(
            (loops.segment<6>(loop.firstForce) / scale).eval(),
            (seenFrom(loopWorld.segment<6>(loop.firstForce), m.R, m.p) / scale).eval(), 1e-9));
      }
    }
  }
}

/// Forces that balance each other can be added to those of redundant loops without a change to the
/// motion, and make the numbers larger; loops whose force is unique have no part in them.
TEST_P(EveryCase, OfRedundantForcesTheLeastAreGiven) {
  oracle.set(q, v, load);
  if (oracle.bearable.cols() == 0) {
    GTEST_SKIP() << "no loops";
  }
  const Eigen::VectorXd y = loopForcesOf(options());
  const Eigen::MatrixXd effect = oracle.felt * oracle.bearable;
  const auto [values, V] = rightSingularVectors(effect);
  const auto rank = (values.array() > 1e-7 * values.maxCoeff()).count();
  const Eigen::MatrixXd balanced = oracle.bearable * V.rightCols(effect.cols() - rank);
  int redundant = 0;
  for (const ClusterInfo& cluster : model.clusters()) {
    redundant += cluster.redundantRows;
  }
  EXPECT_EQ(balanced.cols(), redundant);
  const double scale = std::max(1.0, y.norm());
  EXPECT_LE((balanced.transpose() * y).norm(), 1e-8 * scale);
  for (const LoopInfo& loop : model.loops()) {
    const double share =
        balanced.cols() == 0
            ? 0.0
            : balanced.middleRows(loop.firstForce, loop.forces).cwiseAbs().maxCoeff();
    EXPECT_EQ(loop.forceIsUnique, share < 1e-5) << loop.name << " takes part by " << share;
  }
}

TEST_P(EveryCase, FloatAgreesToItsPrecision) {
  DataF single(model);
  Eigen::VectorXd a = poisoned(model.nv()), tau = poisoned(model.nv());
  Eigen::MatrixXd expected = poisoned(6, joints());
  Eigen::VectorXd loops = poisoned(model.nLoopForces());
  a = randomVector(model.nv());
  inverseDynamicsAndForces(model, data, q, v, a, tau, expected, loops);
  Eigen::VectorXf tauF(model.nv()), loopsF(model.nLoopForces());
  Eigen::MatrixXf forces(6, joints());
  inverseDynamicsAndForces(model, single, q.cast<float>(), v.cast<float>(), a.cast<float>(), tauF,
                           forces, loopsF);
  EXPECT_TRUE(closeTo(forces.cast<double>(), expected, 1e-3));
  EXPECT_TRUE(closeTo(loopsF.cast<double>(), loops, 1e-2));
}

TEST_P(EveryCase, AllocatesNothing) {
  load.external = randomForces();
  load.spanning = randomVector(model.nvSpanning());
  Eigen::MatrixXd forces(6, joints());
  Eigen::VectorXd loops(model.nLoopForces()), a(model.nv());
  const ForceOptions plain = options(), local = options(Reference::Local);
  const auto evaluate = [&] {
    jointForces(model, data, q, v, load.tau, forces, plain);
    loopForces(model, data, q, v, load.tau, loops, local);
    forwardDynamicsAndForces(model, data, q, v, load.tau, a, forces, loops, local);
    inverseDynamicsAndForces(model, data, q, v, load.tau, a, forces, loops, plain);
  };
  evaluate();  // first calls allocate
  EXPECT_EQ(allocationsOf(evaluate), 0);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, EveryCase, ::testing::ValuesIn(everyCase()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace kempe::test
