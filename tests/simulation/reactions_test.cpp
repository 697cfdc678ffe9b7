#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <filesystem>
#include <random>

#include "linkages.hpp"
#include "support/close_to.hpp"
#include "support/force_oracle.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

/// Forces in joints and loops during a simulation.
namespace kempe::test {
namespace {

using Wrench = Eigen::Matrix<double, 6, 1>;

Eigen::Vector3d eigen(const Vector3& a) {
  return {a.x, a.y, a.z};
}

Joint& jointOf(Mechanism& robot, std::string_view name) {
  return *std::ranges::find(robot.joints, name, &Joint::name);
}

Eigen::MatrixXd jointForcesOf(const Simulator& simulator, const ForceOptions& how = {}) {
  Eigen::MatrixXd forces(6, simulator.model().jointNames().size());
  simulator.jointForces(forces, how);
  return forces;
}

Eigen::VectorXd loopForcesOf(const Simulator& simulator, const ForceOptions& how = {}) {
  Eigen::VectorXd forces(simulator.model().nLoopForces());
  simulator.loopForces(forces, how);
  return forces;
}

/// [Momentum; angular momentum about the world's origin] of the bodies that a joint carries, from
/// the definitions; and the wrench of gravity on them.
struct Motion {
  Eigen::MatrixXd momentum, weight;  ///< 6 × joints
};

Motion motionOf(const Simulator& simulator) {
  const Model& model = simulator.model();
  const Mechanism& robot = model.mechanism();
  const ForceOracle bodies(model);
  Data data(model);
  const auto joints = static_cast<Eigen::Index>(model.jointNames().size());
  Motion motion{Eigen::MatrixXd::Zero(6, joints), Eigen::MatrixXd::Zero(6, joints)};
  for (const Body& body : robot.bodies) {
    const auto& names = model.jointNames();
    const auto j = std::ranges::find(names, bodies.carrierOf(body.name)) - names.begin();
    if (j == joints) {
      continue;  // on the ground
    }
    const int frame = model.frameIndex(body.name);
    const Pose X = framePlacement(model, data, simulator.q(), frame);
    Eigen::VectorXd velocity(6);
    frameVelocity(model, data, simulator.q(), simulator.v(), frame, velocity);
    const SymMat3<double>& I = body.inertia;
    Eigen::Matrix3d R, inertia;
    inertia << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        R(i, k) = X.R(i, k);
      }
    }
    const Eigen::Vector3d arm = R * eigen(body.centerOfMass), at = eigen(X.p) + arm;
    const Eigen::Vector3d omega = velocity.tail<3>();
    const Eigen::Vector3d p = body.mass * (velocity.head<3>() + omega.cross(arm));
    motion.momentum.col(j).head<3>() += p;
    motion.momentum.col(j).tail<3>() += at.cross(p) + R * inertia * R.transpose() * omega;
    const Eigen::Vector3d weight = body.mass * eigen(robot.gravity);
    motion.weight.col(j).head<3>() += weight;
    motion.weight.col(j).tail<3>() += at.cross(weight);
  }
  return motion;
}

/// Newton and Euler for each body, with momenta differentiated along the simulated motion: joints,
/// loops, weight and `external` (on the body of a joint, about the world's origin) change them.
void expectBalance(Simulator& simulator,
                   const std::vector<std::pair<std::string, Wrench>>& external = {}) {
  const Model& model = simulator.model();
  const ForceOracle bodies(model);
  const double h = 2e-5;
  const Motion before = motionOf(simulator);
  simulator.step(h);
  const Motion now = motionOf(simulator);
  const ForceOptions world{.reference = Reference::World};
  const Eigen::MatrixXd joints = jointForcesOf(simulator, world);
  const Eigen::VectorXd loops = loopForcesOf(simulator, world);
  simulator.step(h);
  const Motion after = motionOf(simulator);
  for (Eigen::Index j = 0; j < joints.cols(); ++j) {
    const std::string& name = model.jointNames()[static_cast<std::size_t>(j)];
    Wrench sum = joints.col(j) + now.weight.col(j);
    for (Eigen::Index k = 0; k < joints.cols(); ++k) {
      const std::string& child = model.jointNames()[static_cast<std::size_t>(k)];
      if (bodies.carrierOf(model.mechanism().findJoint(child)->parent) == name) {
        sum -= joints.col(k);
      }
    }
    for (const LoopInfo& loop : model.loops()) {
      if (loop.kind == LoopKind::Joint || loop.kind == LoopKind::Rod) {
        const Wrench w = loops.segment<6>(loop.firstForce);
        sum += (bodies.carrierOf(loop.bodies[1]) == name ? 1.0 : 0.0) * w;
        sum -= (bodies.carrierOf(loop.bodies[0]) == name ? 1.0 : 0.0) * w;
      }
    }
    for (const auto& [carrier, wrench] : external) {
      sum += (carrier == name ? 1.0 : 0.0) * wrench;
    }
    const Wrench rate = (after.momentum.col(j) - before.momentum.col(j)) / (2.0 * h);
    const double scale = std::max(1.0, joints.cwiseAbs().maxCoeff());
    EXPECT_LE((sum - rate).norm(), 2e-6 * scale) << name << "\n"
                                                 << sum.transpose() << "\n"
                                                 << rate.transpose();
  }
}

TEST(Reactions, BalanceEveryBodyOfRandomRobots) {
  for (const MechanismCase& choice : everyMechanism()) {
    if (choice.bodies > 12) {
      continue;
    }
    SCOPED_TRACE(nameOf(choice));
    const Model model(randomMechanism(choice));
    Simulator simulator(model);
    Eigen::VectorXd v(model.nv());
    for (int i = 0; i < model.nv(); ++i) {
      v[i] = 0.3 * std::cos(3.0 * i);
    }
    simulator.setForces(-2.0 * v);
    simulator.setState(model.randomConfiguration(4), v);
    expectBalance(simulator);
  }
}

/// A four-bar linkage under all elements at once, with its loop embedded and left cut.
TEST(Reactions, BalanceUnderAllElements) {
  for (const bool cut : {false, true}) {
    SCOPED_TRACE(cut);
    Mechanism robot = fourBar(0.5, 0.2, 0.45, 0.35);
    jointOf(robot, "pivot").damping = 0.2;
    jointOf(robot, "knee").friction = 0.1;
    if (cut) {
      robot.loops.front().leftCut();
    }
    const Model whole(fourBar(0.5, 0.2, 0.45, 0.35)), model(robot);
    Simulator simulator(model);
    simulator.addSpring(
        JointSpring{.joint = "knee", .stiffness = 3.0, .rest = 0.4, .damping = 0.1});
    simulator.addFriction(JointFriction{.joint = "crank", .coulomb = 0.3, .viscous = 0.05});
    simulator.addMotor(Motor{.joint = "pivot", .gear = 5.0});
    simulator.setMotorTorque(0, 0.2);
    const Eigen::Vector3d force(1, 2, 0.5), moment(0.1, -0.2, 0.3);
    simulator.setExternalForces({FrameForce{.frame = model.frameIndex("coupler"),
                                            .wrench = {1, 2, 0.5, 0.1, -0.2, 0.3},
                                            .reference = Reference::World}});
    const Eigen::VectorXd q = configuration(whole, {{"crank", 1.2}, {"knee", -0.5}});
    Data data(whole);
    Eigen::VectorXd positions(whole.nqSpanning()), velocities(whole.nvSpanning());
    spanning(whole, data, q, Eigen::VectorXd::Constant(1, 1.5), positions, velocities);
    Eigen::VectorXd start(model.nq()), rates(model.nvSpanning());
    for (const std::string joint : {"crank", "knee", "pivot"}) {
      const auto index = [&](const Model& of) {
        return std::ranges::find(of.qNames(), joint) - of.qNames().begin();
      };
      start[index(model)] = q[index(whole)];
      rates[model.jointVelocityIndex(joint)] = velocities[whole.jointVelocityIndex(joint)];
    }
    simulator.setSpanningState(start, rates);
    Wrench external;
    external << force, moment;
    expectBalance(simulator, {{"knee", external}});
  }
}

TEST(Reactions, AreThoseOfTheModelWithForcesGivenByHand) {
  Mechanism robot = fourBar(0.5, 0.2, 0.45, 0.35);
  const Model model(robot);
  Simulator simulator(model);
  simulator.addSpring(JointSpring{.joint = "knee", .stiffness = 3.0, .rest = 0.4});
  simulator.addSpring(PointSpring{{"ground", {0, 0.6, 0}}, {"coupler", {0.1, 0, 0}}, 40.0, 0.1, 0});
  simulator.setForces(Eigen::VectorXd::Constant(1, 0.7));
  simulator.setState(configuration(model, {{"crank", 1.2}, {"knee", -0.5}}),
                     Eigen::VectorXd::Constant(1, 2.0));
  simulator.step(0.01);
  Eigen::VectorXd byHand = Eigen::VectorXd::Zero(model.nvSpanning());
  byHand[model.jointVelocityIndex("knee")] = -3.0 * (positionOf(simulator, "knee") - 0.4);
  Data data(model);
  const Pose X = framePlacement(model, data, simulator.q(), model.frameIndex("coupler"));
  const Eigen::Vector3d end = eigen(X.R * Vector3{0.1, 0, 0} + X.p),
                        line = Eigen::Vector3d(0, 0.6, 0) - end;
  const Eigen::Vector3d pull = 40.0 * (line.norm() - 0.1) * line.normalized();
  FrameForce force{.frame = model.frameIndex("coupler"), .reference = Reference::World};
  Wrench wrench;
  wrench << pull, end.cross(pull);
  std::copy_n(wrench.data(), 6, force.wrench.begin());
  const std::vector<FrameForce> external{force};
  ForceOptions how{.external = external};
  how.spanning = {byHand.data(), static_cast<std::size_t>(byHand.size())};
  Eigen::MatrixXd joints(6, model.jointNames().size());
  Eigen::VectorXd loops(model.nLoopForces());
  jointForces(model, data, simulator.q(), simulator.v(), Eigen::VectorXd::Constant(1, 0.7), joints,
              how);
  loopForces(model, data, simulator.q(), simulator.v(), Eigen::VectorXd::Constant(1, 0.7), loops,
             how);
  EXPECT_TRUE(closeTo(jointForcesOf(simulator), joints, 1e-10));
  EXPECT_TRUE(closeTo(loopForcesOf(simulator), loops, 1e-10));
  EXPECT_NE(refusal([&] { jointForcesOf(simulator, how); }).find("external"), std::string::npos);
}

/// A bar of 2 kg and 1 m that friction holds still: 2 kg · 9.81 m/s² on the bearing, and half a
/// metre of it about the axis.
TEST(Reactions, FrictionThatHoldsIsInTheBearing) {
  Mechanism robot = planar("bar");
  addLink(robot, "link", 1.0, 2.0);
  robot.addRevolute("hinge").from("ground").to("link").withFriction(15.0);
  const Model model(robot);
  Simulator simulator(model);
  const Recording run = simulator.run(0.01, 1e-3);
  Wrench expected;
  expected << 0, 2 * 9.81, 0, 0, 0, 9.81;
  EXPECT_TRUE(closeTo(jointForcesOf(simulator), expected, 1e-12));
  EXPECT_NEAR(run.samples.back().forces[0], 9.81, 1e-12);
  Replay replay(model, run);  // with friction in its model, which must not act twice
  Eigen::MatrixXd forces(6, 1);
  replay.jointForces(10, forces);
  EXPECT_TRUE(closeTo(forces, expected, 1e-12));
  // The same where a stop holds it.
  Mechanism free = robot;
  jointOf(free, "hinge").friction = 0.0;
  Simulator stopped{Model(free)};
  stopped.addLimit(JointLimit{.joint = "hinge", .lower = 0.0, .upper = 1.0});
  stopped.step(1e-3);
  EXPECT_TRUE(closeTo(jointForcesOf(stopped), expected, 1e-12));
}

/// Two halves of the weight of a bar: one in its hinge, one in the constraint that holds its end.
TEST(Reactions, ConstraintsCarryTheirPart) {
  Mechanism robot = planar("bar");
  addLink(robot, "link", 1.0, 2.0);
  robot.addRevolute("hinge").from("ground").to("link");
  const Model model(robot);
  Wrench hinge;
  hinge << 0, 9.81, 0, 0, 0, 0;
  Constraints rod(model);
  Rod hanger;
  hanger.name = "hanger";
  hanger.predecessor = {"ground", {1, 1, 0}};
  hanger.successor = {"link", {1, 0, 0}};
  hanger.length = 1.0;
  rod.add(hanger);
  Simulator hanging(model);
  hanging.setConstraints(rod);
  hanging.step(1e-3);
  EXPECT_TRUE(closeTo(jointForcesOf(hanging), hinge, 1e-9));
  // A lock acts along the joint, and is in its bearing.
  Constraints lock(model);
  lock.lock("locked", "hinge", model.neutral());
  Simulator locked(model);
  locked.setConstraints(lock);
  locked.step(1e-3);
  hinge << 0, 2 * 9.81, 0, 0, 0, 9.81;
  EXPECT_TRUE(closeTo(jointForcesOf(locked), hinge, 1e-9));
}

TEST(Reactions, OfARecordingAreThoseOfTheSimulation) {
  // The slider passes its dead points, where it does not determine the crank.
  const Model model(crankSlider("slide"));
  Simulator simulator(model);
  simulator.addSpring(PointSpring{{"ground", {0, 0.5, 0}}, {"piston", {}}, 40.0, 0.2, 0.0});
  const Model crank(crankSlider("crank"));
  const Eigen::VectorXd q = configuration(crank, {{"crank", 0.5}, {"slide", 0.4}});
  Data data(crank);
  Eigen::VectorXd positions(crank.nqSpanning()), velocities(crank.nvSpanning());
  spanning(crank, data, q, Eigen::VectorXd::Constant(1, 20.0), positions, velocities);
  simulator.setSpanningState(q, velocities);
  std::vector<Eigen::MatrixXd> joints;
  std::vector<Eigen::VectorXd> loops;
  simulator.setObserver([&](const Simulator& now) {
    joints.push_back(jointForcesOf(now));
    loops.push_back(loopForcesOf(now));
    return true;
  });
  const Recording run = simulator.run(0.5, 0.005);
  EXPECT_GE(simulator.coordinateChanges(), 1);
  const auto path = std::filesystem::temp_directory_path() / "kempe_reactions_test.run";
  run.save(path);
  const Recording loaded = Recording::load(path);
  std::filesystem::remove(path);
  Replay replay(model, loaded);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    Eigen::MatrixXd found(6, 3);
    Eigen::VectorXd pin(6);
    replay.jointForces(i + 1, found);
    replay.loopForces(i + 1, pin);
    EXPECT_TRUE(closeTo(found, joints[i], 1e-12));
    EXPECT_TRUE(closeTo(pin, loops[i], 1e-12));
  }
  Recording earlier = run;
  earlier.samples[1].forces.resize(0);
  Replay without(model, earlier);
  Eigen::VectorXd pin(6);
  EXPECT_NE(refusal([&] { without.loopForces(1, pin); }).find("earlier version"),
            std::string::npos);
  EXPECT_NE(refusal([&] { without.loopForces(1000, pin); }).find("1000"), std::string::npos);
}

/// Every sample of a recording must give its accelerations, which Replay checks.
void expectReplayed(const Model& model, const Recording& run) {
  Replay replay(model, run);
  Eigen::MatrixXd forces(6, static_cast<Eigen::Index>(model.jointNames().size()));
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    EXPECT_NO_THROW(replay.jointForces(i, forces)) << i;
  }
}

/// A mass with friction falls onto its stop, whichever of the two was added first.
TEST(Reactions, FrictionAndAStopHoldTogether) {
  for (const bool stopFirst : {false, true}) {
    Mechanism robot = block(1.0, 9.81);
    robot.joints.back().limitedTo(0.0, 1.0);
    if (!stopFirst) {
      robot.joints.back().withFriction(1.0);
    }
    const Model model(robot);
    Simulator simulator(model);
    simulator.addLimits();
    if (stopFirst) {
      simulator.addFriction({.joint = "slide", .coulomb = 1.0});
    }
    simulator.setState(one(0.5), one(0.0));
    const Recording run = simulator.run(2.0, 0.1);
    ASSERT_EQ(simulator.v()[0], 0.0);
    EXPECT_NEAR(jointForcesOf(simulator)(0, 0), 9.81, 1e-11) << stopFirst;
    EXPECT_NEAR(run.samples.back().forces[0], 9.81, 1e-11) << stopFirst;
    expectReplayed(model, run);
  }
}

/// Friction in several joints of a loop, of which any one may hold all: Newton and Euler for each
/// body at rest, and no friction above its bound.
TEST(Reactions, FrictionOfALoopHoldsTogether) {
  const Model model(fourBar(0.6, 0.2, 0.5, 0.4));
  std::mt19937 random(5);
  std::uniform_real_distribution<double> bound(0.1, 0.9);
  int resting = 0;
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    Simulator simulator(model);
    simulator.setState(configuration(model, {{"crank", 0.7}}), one(i % 2 == 0 ? 0.0 : 0.8));
    std::vector<double> bounds(3);
    for (std::size_t j = 0; j < 3; ++j) {
      if (j != static_cast<std::size_t>(i) % 4) {
        bounds[j] = bound(random);
        simulator.addFriction({.joint = model.jointNames()[j], .coulomb = bounds[j]});
      }
    }
    const Recording run = simulator.run(2.0, 0.05);
    expectReplayed(model, run);
    if (simulator.spanningVelocities().cwiseAbs().maxCoeff() < 1e-12) {
      ++resting;
      for (std::size_t j = 0; j < 3; ++j) {
        const int at = model.jointVelocityIndex(model.jointNames()[j]);
        EXPECT_LE(std::abs(run.samples.back().forces[at]), bounds[j] * (1 + 1e-9));
      }
      expectBalance(simulator);
    }
  }
  EXPECT_GE(resting, 10);
}

/// The same with stops, and with a constraint that holds what friction and a stop hold, too.
TEST(Reactions, StopsFrictionAndConstraintsHoldTogether) {
  const Model model(fiveBar());
  for (const bool locked : {false, true}) {
    Simulator simulator(model);
    for (const char* joint : {"left", "right", "left_elbow", "right_elbow"}) {
      simulator.addFriction({.joint = joint, .coulomb = 0.05});
    }
    simulator.addLimit({.joint = "left", .lower = 1.8, .upper = 2.4});
    simulator.addLimit({.joint = "right", .lower = 0.5, .upper = 1.2});
    const Eigen::VectorXd q = configuration(model, {{"left", 2.2}, {"right", 0.9}});
    simulator.setState(q, Eigen::Vector2d(0.0, 0.0));
    simulator.run(3.0, 0.01);
    ASSERT_LT(simulator.spanningVelocities().cwiseAbs().maxCoeff(), 1e-12);
    if (locked) {
      Constraints lock(simulator.model());
      lock.lock("lock", "left", simulator.q());
      simulator.setConstraints(lock);
    }
    const Recording run = simulator.run(0.1, 0.01);
    expectReplayed(model, run);
    expectBalance(simulator);
  }
}

}  // namespace
}  // namespace kempe::test
