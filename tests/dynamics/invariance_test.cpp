#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <random>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/projected_oracle.hpp"
#include "support/random_mechanism.hpp"

/// What must not change the dynamics, and what the dynamics must not change: place, direction,
/// order of description, units of mass and time; energy and momentum.
namespace kempe::test {
namespace {

Eigen::Index indexOf(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  EXPECT_NE(found, names.end()) << name;
  return found - names.begin();
}

/// The root stays where it is and all that stands on it moves by T.
Mechanism moved(Mechanism robot, const Pose& T) {
  const auto isRoot = [&](const std::string& body) { return robot.jointAbove(body) == nullptr; };
  for (Joint& joint : robot.joints) {
    if (isRoot(joint.parent)) {
      joint.origin = T * joint.origin;
    }
  }
  for (LoopJoint& loop : robot.loops) {
    for (LoopJoint::End* end : {&loop.predecessor, &loop.successor}) {
      end->frame = isRoot(end->body) ? T * end->frame : end->frame;
    }
  }
  for (Rod& rod : robot.rods) {
    for (Rod::End* end : {&rod.predecessor, &rod.successor}) {
      end->point = isRoot(end->body) ? T.point(end->point) : end->point;
    }
  }
  return robot;
}

Mechanism reversed(Mechanism robot) {
  std::ranges::reverse(robot.bodies);
  std::ranges::reverse(robot.joints);
  std::ranges::reverse(robot.couplings);
  std::ranges::reverse(robot.loops);
  std::ranges::reverse(robot.rods);
  std::ranges::reverse(robot.functions);
  return robot;
}

Mechanism withoutResistance(Mechanism robot) {
  for (Joint& joint : robot.joints) {
    joint.withDamping(0).withFriction(0).withSpring(0);
  }
  return robot;
}

class Invariance : public ::testing::TestWithParam<MechanismCase> {
 protected:
  Invariance()
      : robot(randomMechanism(GetParam())), model(robot), data(model), engine_(GetParam().seed) {
    q = model.randomConfiguration(5);
    v = randomVector();
    a = randomVector();
    tau = poisoned(model.nv());
    for (std::size_t i = 0; i < robot.bodies.size(); i += 3) {
      forcedBodies.push_back(robot.bodies[i].name);
      wrenches.push_back({uniform(), uniform(), uniform(), uniform(), uniform(), uniform()});
    }
    inverseDynamics(model, data, q, v, a, tau, {.external = forces(model)});
  }

  double uniform() { return std::uniform_real_distribution<double>(-1.0, 1.0)(engine_); }
  Eigen::VectorXd randomVector() {
    return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(); });
  }

  [[nodiscard]] const std::vector<FrameForce>& forces(const Model& of, double scale = 1.0,
                                                      Reference reference = Reference::Local) {
    forces_.clear();
    for (std::size_t i = 0; i < forcedBodies.size(); ++i) {
      std::array<double, 6> wrench = wrenches[i];
      for (double& x : wrench) {
        x *= scale;
      }
      forces_.push_back({of.frameIndex(forcedBodies[i]), wrench, reference});
    }
    return forces_;
  }

  /// The same state as this model's gives the same forces, accelerations and mass matrix in
  /// another model of the same coordinates by name. Where the other has chosen other independent
  /// ones, v = P v_other and power is the same: τ_other = Pᵀ τ. `shift` moves free joints that
  /// stand on the root.
  void expectSameDynamics(const Mechanism& otherRobot, const Vector3& shift, double relative) {
    const Model other(otherRobot);
    Data otherData(other);
    Eigen::VectorXd positions = poisoned(model.nqSpanning()), rates = poisoned(model.nvSpanning());
    spanning(model, data, q, v, positions, rates);
    Eigen::MatrixXd G = poisoned(model.nvSpanning(), model.nv());
    constraintJacobian(model, data, q, G);
    Eigen::VectorXd g = poisoned(model.nvSpanning());
    constraintBias(model, data, q, v, g);
    const Eigen::VectorXd accelerations = G * a + g;
    for (const Joint& joint : robot.joints) {
      if (joint.type == JointType::Free && robot.jointAbove(joint.parent) == nullptr) {
        const Vector3 d = transposeTimes(joint.origin.R, shift);
        positions.segment<3>(model.jointPositionIndex(joint.name)) +=
            Eigen::Vector3d(d.x, d.y, d.z);
      }
    }

    ASSERT_EQ(other.nv(), model.nv());
    ASSERT_EQ(other.nq(), model.nq());
    Eigen::VectorXd otherQ(other.nq()), otherV(other.nv()), otherA(other.nv());
    for (int i = 0; i < other.nq(); ++i) {
      otherQ[i] = positions[indexOf(model.spanningPositionNames(),
                                    other.qNames()[static_cast<std::size_t>(i)])];
    }
    for (int i = 0; i < other.nv(); ++i) {
      const Eigen::Index from =
          indexOf(model.spanningVelocityNames(), other.vNames()[static_cast<std::size_t>(i)]);
      otherV[i] = rates[from];
      otherA[i] = accelerations[from];
    }
    Eigen::MatrixXd otherG = poisoned(other.nvSpanning(), other.nv());
    constraintJacobian(other, otherData, otherQ, otherG);
    Eigen::MatrixXd P(model.nv(), other.nv());
    for (int i = 0; i < model.nv(); ++i) {
      P.row(i) = otherG.row(
          indexOf(other.spanningVelocityNames(), model.vNames()[static_cast<std::size_t>(i)]));
    }

    Eigen::VectorXd x = poisoned(other.nv());
    inverseDynamics(other, otherData, otherQ, otherV, otherA, x, {.external = forces(other)});
    const Eigen::VectorXd otherTau = P.transpose() * tau;
    EXPECT_TRUE(closeTo(x, otherTau, relative));
    forwardDynamics(other, otherData, otherQ, otherV, otherTau, x, {.external = forces(other)});
    EXPECT_TRUE(closeTo(x, otherA, relative));
    Eigen::MatrixXd H = poisoned(model.nv(), model.nv()), otherH = poisoned(other.nv(), other.nv());
    massMatrix(model, data, q, H);
    massMatrix(other, otherData, otherQ, otherH);
    EXPECT_TRUE(closeTo(otherH, (P.transpose() * H * P).eval(), relative));
    const bool sameCoordinates = ((P.array() == 0.0) || (P.array() == 1.0)).all();
    if (sameCoordinates) {
      expectSameDerivatives(other, otherData, otherQ, otherV, otherA, otherTau, P, relative);
    }
  }

  /// Where P only changes the order of coordinates.
  void expectSameDerivatives(const Model& other, Data& otherData, const Eigen::VectorXd& otherQ,
                             const Eigen::VectorXd& otherV, const Eigen::VectorXd& otherA,
                             const Eigen::VectorXd& otherTau, const Eigen::MatrixXd& P,
                             double relative) {
    const int n = model.nv();
    using Three = std::array<Eigen::MatrixXd, 3>;
    Three expected{poisoned(n, n), poisoned(n, n), poisoned(n, n)}, found = expected;
    const auto expectSame = [&](const char* what) {
      for (std::size_t i = 0; i < 3; ++i) {
        const Eigen::MatrixXd own = P * found[i] * P.transpose();
        const double size = (expected[i].cwiseAbs() + expected[2].cwiseAbs()).maxCoeff();
        EXPECT_LE((own - expected[i]).cwiseAbs().maxCoeff(), relative * size) << what << ' ' << i;
      }
    };
    inverseDynamicsDerivatives(model, data, q, v, a, expected[0], expected[1], expected[2],
                               {.external = forces(model)});
    inverseDynamicsDerivatives(other, otherData, otherQ, otherV, otherA, found[0], found[1],
                               found[2], {.external = forces(other)});
    expectSame("inverse dynamics");
    forwardDynamicsDerivatives(model, data, q, v, tau, expected[0], expected[1], expected[2],
                               {.external = forces(model)});
    forwardDynamicsDerivatives(other, otherData, otherQ, otherV, otherTau, found[0], found[1],
                               found[2], {.external = forces(other)});
    expectSame("forward dynamics");
  }

  Mechanism robot;
  Model model;
  Data data;
  Eigen::VectorXd q, v, a, tau;  ///< tau causes a, with the forces on `forcedBodies`
  std::vector<std::string> forcedBodies;
  std::vector<std::array<double, 6>> wrenches;

 private:
  std::mt19937_64 engine_;
  std::vector<FrameForce> forces_;
};

TEST_P(Invariance, AKilometreAwayNothingChanges) {
  const Vector3 shift{600, -700, 400};
  Mechanism away = moved(robot, {Rotation::identity(), shift});
  for (Joint& joint : away.joints) {
    if (joint.type == JointType::Free && robot.jointAbove(joint.parent) == nullptr) {
      joint.origin = robot.findJoint(joint.name)->origin;  // these move by their position instead
    }
  }
  expectSameDynamics(away, shift, 1e-9);
}

TEST_P(Invariance, TurnedTogetherWithGravityNothingChanges) {
  const Pose T = at({0.3, -0.2, 0.5}, {0.7, -1.1, 2.3});
  Mechanism turned = moved(robot, T);
  turned.gravity = T.R * robot.gravity;
  expectSameDynamics(turned, {}, 1e-9);
}

TEST_P(Invariance, OrderOfDescriptionDoesNotMatter) {
  expectSameDynamics(reversed(robot), {}, 1e-9);
}

TEST_P(Invariance, ForcesScaleWithMass) {
  const double k = 7.5;
  Mechanism heavy = robot;
  for (Body& body : heavy.bodies) {
    body.mass *= k;
    body.inertia = k * body.inertia;
  }
  for (Joint& joint : heavy.joints) {
    joint.armature *= k;
    joint.damping *= k;
    joint.friction *= k;
    joint.stiffness *= k;
  }
  const Model other(heavy);
  ASSERT_EQ(other.vNames(), model.vNames());
  Data otherData(other);
  Eigen::VectorXd x = poisoned(model.nv());
  inverseDynamics(other, otherData, q, v, a, x, {.external = forces(other, k)});
  EXPECT_TRUE(closeTo((x / k).eval(), tau, 1e-12));
  forwardDynamics(other, otherData, q, v, k * tau, x, {.external = forces(other, k)});
  EXPECT_TRUE(closeTo(x, a, 1e-9));
}

TEST_P(Invariance, ForcesScaleWithTheSquareOfTheRate) {
  const double k = 1.7;
  const Mechanism slow = withoutResistance(robot);
  Mechanism fast = slow;
  fast.gravity = (k * k) * slow.gravity;
  const Model slowModel(slow), fastModel(fast);
  ASSERT_EQ(slowModel.vNames(), model.vNames());
  ASSERT_EQ(fastModel.vNames(), model.vNames());
  Data slowData(slowModel), fastData(fastModel);
  Eigen::VectorXd x = poisoned(model.nv()), y = poisoned(model.nv());
  inverseDynamics(slowModel, slowData, q, v, a, x);
  inverseDynamics(fastModel, fastData, q, k * v, k * k * a, y);
  EXPECT_TRUE(closeTo(y, (k * k * x).eval(), 1e-12));
}

/// dE/dt = τ·v + power of external forces − power of resistance.
TEST_P(Invariance, PowerBalance) {
  const std::vector<FrameForce> external = forces(model, 1.0, Reference::LocalWorldAligned);
  inverseDynamics(model, data, q, v, a, tau, {.external = external});
  Eigen::VectorXd acceleration = poisoned(model.nv());
  forwardDynamics(model, data, q, v, tau, acceleration, {.external = external});
  ProjectedOracle oracle(model);
  oracle.set(q, v);
  double power = tau.dot(v) - oracle.resistance.dot(oracle.rates);
  for (std::size_t i = 0; i < external.size(); ++i) {
    const Eigen::Map<const Eigen::Matrix<double, 6, 1>> wrench(external[i].wrench.data());
    power += wrench.dot(oracle.jacobian(forcedBodies[i]) * v);
  }

  const auto energyAt = [&](double t) {
    Eigen::VectorXd there = poisoned(model.nq()), positions = poisoned(model.nqSpanning());
    Eigen::VectorXd rates = poisoned(model.nvSpanning());
    integrate(model, data, q, v, t, there);
    spanning(model, data, there, v + t * acceleration, positions, rates);
    return oracle.oracle.kineticEnergy(positions, rates) + oracle.oracle.potentialEnergy(positions);
  };
  const auto slope = [&](double h) { return (energyAt(h) - energyAt(-h)) / (2 * h); };
  const double h = 1e-3;
  const double rate = (4 * slope(h / 2) - slope(h)) / 3;  // Richardson: the error is of order h⁴
  EXPECT_NEAR(rate, power, 1e-6 * std::max(1.0, std::abs(tau.dot(v)) + std::abs(power)));
}

INSTANTIATE_TEST_SUITE_P(Random, Invariance, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

// --- momentum ----------------------------------------------------------------------------------

/// Mechanisms that touch the world only through their floating base.
std::vector<MechanismCase> floatingCases() {
  std::vector<MechanismCase> cases;
  for (const MechanismCase& choice : everyMechanism()) {
    const Mechanism robot = randomMechanism(choice);
    const auto onWorld = [](const auto& loop) {
      return loop.predecessor.body == "world" || loop.successor.body == "world";
    };
    if (robot.findJoint("floating_base") != nullptr &&
        std::ranges::count(robot.joints, "world", &Joint::parent) == 1 &&
        std::ranges::none_of(robot.loops, onWorld) && std::ranges::none_of(robot.rods, onWorld)) {
      cases.push_back(choice);
    }
  }
  return cases;
}

class Floating : public Invariance {};

/// Joints, motors, resistance and loops act between bodies: the momentum of all bodies, linear and
/// about the world's origin, changes by gravity and external forces alone.
TEST_P(Floating, MomentumChangesByExternalForcesAlone) {
  ProjectedOracle oracle(model);
  oracle.set(q, v);
  Eigen::VectorXd motors = randomVector();
  motors.segment<6>(indexOf(model.vNames(), "floating_base.vx")).setZero();
  const std::vector<FrameForce> external = forces(model, 3.0, Reference::LocalWorldAligned);
  Eigen::VectorXd acceleration = poisoned(model.nv());
  forwardDynamics(model, data, q, v, motors, acceleration, {.external = external});
  const Eigen::VectorXd accelerations = oracle.G * acceleration + oracle.g;

  Eigen::Matrix<double, 6, 1> missing = Eigen::Matrix<double, 6, 1>::Zero();
  double size = 1.0;
  const auto add = [&](const Eigen::Vector3d& point, const Eigen::Vector3d& force,
                       const Eigen::Vector3d& moment) {
    missing.head<3>() += force;
    missing.tail<3>() += point.cross(force) + moment;
    size += force.norm() * (1 + point.norm()) + moment.norm();
  };
  const Eigen::Vector3d gravity(robot.gravity.x, robot.gravity.y, robot.gravity.z);
  for (const Body& body : robot.bodies) {
    const Oracle::Motion m = oracle.oracle.motion(
        body.name, {body.centerOfMass.x, body.centerOfMass.y, body.centerOfMass.z},
        oracle.positions, oracle.rates);
    const SymMat3<double>& I = body.inertia;
    Eigen::Matrix3d inertia;
    inertia << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
    inertia = m.R * inertia * m.R.transpose();
    const Eigen::Vector3d moment = inertia * (m.angularAcceleration + m.angular * accelerations) +
                                   m.angularVelocity.cross(inertia * m.angularVelocity);
    add(m.p, body.mass * (m.acceleration + m.linear * accelerations - gravity), moment);
  }
  for (std::size_t i = 0; i < external.size(); ++i) {
    const std::array<double, 6>& w = external[i].wrench;
    const Eigen::Vector3d point =
        oracle.oracle.motion(forcedBodies[i], {0, 0, 0}, oracle.positions, oracle.rates).p;
    if (forcedBodies[i] != "world") {
      add(point, -Eigen::Vector3d(w[0], w[1], w[2]), -Eigen::Vector3d(w[3], w[4], w[5]));
    }
  }
  EXPECT_LT(missing.norm(), 1e-9 * size) << missing.transpose();
}

INSTANTIATE_TEST_SUITE_P(Random, Floating, ::testing::ValuesIn(floatingCases()),
                         [](const auto& given) { return nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
