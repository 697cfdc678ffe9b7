#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "dynamics/derivative_checks.hpp"
#include "support/random_mechanism.hpp"

/// Derivatives in other units of length, mass and time: those of robots from millimetres to kilometres.
namespace kempe::test {
namespace {

/// How many units of another system are one of this.
struct Units {
  double length = 1.0, mass = 1.0, time = 1.0;
};

/// Whether a coordinate of a joint is a length; otherwise it is an angle.
bool isLength(JointType type, int velocity) {
  switch (type) {
    case JointType::Prismatic:
      return true;
    case JointType::Cylindrical:
      return velocity == 1;
    case JointType::Planar:
      return velocity < 2;
    case JointType::Free:
      return velocity < 3;
    default:
      return false;
  }
}

/// Without what joints with angles and lengths cannot have in one number; the coordinates of `model` are
/// marked as independent, as other units could favour others.
Mechanism prepared(Mechanism robot, const Model& model) {
  for (Joint& joint : robot.joints) {
    if (velocitySize(joint.type) > 1) {
      joint.withDamping(0).withFriction(0).withArmature(0);
    } else if (velocitySize(joint.type) == 1) {
      joint.independence = std::ranges::count(model.vNames(), joint.name) > 0;
    }
    if (joint.type == JointType::Prismatic && robot.frictionSlipSpeed > 0.0) {
      joint.withFriction(0);  // the slip speed is a rate of angles
    }
  }
  return robot;
}

Mechanism inUnits(Mechanism robot, const Units& u) {
  const double inertia = u.mass * u.length * u.length, torque = inertia / (u.time * u.time);
  const auto lengthOf = [&](const Coordinate& c) {
    return isLength(robot.findJoint(c.joint)->type, c.component) ? u.length : 1.0;
  };
  robot.gravity = (u.length / (u.time * u.time)) * robot.gravity;
  robot.frictionSlipSpeed /= u.time;
  for (Body& body : robot.bodies) {
    body.mass *= u.mass;
    body.centerOfMass = u.length * body.centerOfMass;
    body.inertia = inertia * body.inertia;
  }
  for (Joint& joint : robot.joints) {
    const double unit = joint.type == JointType::Prismatic ? u.length : 1.0, square = unit * unit;
    joint.origin.p = u.length * joint.origin.p;
    joint.pitch *= u.length;
    joint.damping *= torque * u.time / square;
    joint.friction *= torque / unit;
    joint.armature *= inertia / square;
    joint.stiffness *= torque / square;
    joint.springReference *= unit;
    joint.limits.lower *= unit;
    joint.limits.upper *= unit;
  }
  for (auto& [name, position] : robot.startPose) {
    const JointType type = robot.findJoint(name)->type;
    for (std::size_t i = 0; i < position.size(); ++i) {
      position[i] *= isLength(type, static_cast<int>(i)) ? u.length : 1.0;
    }
  }
  for (Coupling& coupling : robot.couplings) {
    for (Coupling::Term& term : coupling.terms) {
      term.coefficient /= lengthOf(term.coordinate);
    }
  }
  for (LoopJoint& loop : robot.loops) {
    loop.predecessor.frame.p = u.length * loop.predecessor.frame.p;
    loop.successor.frame.p = u.length * loop.successor.frame.p;
  }
  for (Rod& rod : robot.rods) {
    rod.predecessor.point = u.length * rod.predecessor.point;
    rod.successor.point = u.length * rod.successor.point;
    rod.length *= u.length;
  }
  for (Function& function : robot.functions) {
    std::vector<double> units;
    for (const Coordinate& c : function.coordinates) {
      units.push_back(lengthOf(c));
    }
    const auto ofOwnUnits =
        [&units]<typename T>(std::function<void(std::span<const T>, std::span<T>)>& phi) {
          phi = [original = phi, units](std::span<const T> q, std::span<T> out) {
            std::vector<T> own;
            for (std::size_t i = 0; i < q.size(); ++i) {
              own.push_back(q[i] * T(1.0 / units[i]));
            }
            original(own, out);
          };
        };
    ofOwnUnits(function.symbolic);
    ofOwnUnits(function.value);
    ofOwnUnits(function.jet);
  }
  return robot;
}

class DerivativeUnits : public ::testing::TestWithParam<MechanismCase> {
 protected:
  DerivativeUnits()
      : robot(randomMechanism(GetParam())), model(prepared(robot, Model(robot))), data(model) {
    robot = prepared(robot, Model(robot));
    RandomNumbers random(GetParam().seed);
    q = model.randomConfiguration(7);
    v = random.vector(model.nv());
    a = random.vector(model.nv());
    forces = random.forces(model, 3);
  }

  /// Units of positions, and of velocities times time.
  std::pair<Eigen::VectorXd, Eigen::VectorXd> unitsOf(const Units& u) const {
    Eigen::VectorXd positions(model.nq()), velocities(model.nv());
    const auto fill = [&](Eigen::VectorXd& units, const std::vector<std::string>& names,
                          const std::vector<std::string>& spanning, bool ofVelocities) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const auto at = static_cast<int>(std::ranges::find(spanning, names[i]) - spanning.begin());
        units[static_cast<Eigen::Index>(i)] = 1.0;
        for (const Joint& joint : robot.joints) {
          const int size = ofVelocities ? velocitySize(joint.type) : positionSize(joint.type);
          const int first = size == 0      ? at + 1
                            : ofVelocities ? model.jointVelocityIndex(joint.name)
                                           : model.jointPositionIndex(joint.name);
          if (at >= first && at < first + size && isLength(joint.type, at - first)) {
            units[static_cast<Eigen::Index>(i)] = u.length;
          }
        }
      }
    };
    fill(positions, model.qNames(), model.spanningPositionNames(), false);
    fill(velocities, model.vNames(), model.spanningVelocityNames(), true);
    return {positions, velocities};
  }

  using Three = std::array<Eigen::MatrixXd, 3>;
  template <typename Function>
  Three derivatives(const Function& function) const {
    const int n = model.nv();
    Three result{poisoned(n, n), poisoned(n, n), poisoned(n, n)};
    function(result[0], result[1], result[2]);
    return result;
  }

  Mechanism robot;
  Model model;
  Data data;
  Eigen::VectorXd q, v, a;
  std::vector<FrameForce> forces;
};

TEST_P(DerivativeUnits, OfLengthMassAndTimeScaleThem) {
  const int n = model.nv();
  Eigen::VectorXd tau = poisoned(n);
  inverseDynamics(model, data, q, v, a, tau, {.external = forces});
  const Three inverse = derivatives([&](auto& byQ, auto& byV, auto& H) {
    inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H, {.external = forces});
  });
  const Three forward = derivatives([&](auto& byQ, auto& byV, auto& byTau) {
    forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, byTau, {.external = forces});
  });
  // Powers of two, so that only what is not to scale rounds otherwise.
  for (const Units& u :
       {Units{.time = 0x1p6}, Units{0x1p-10, 0x1p-30, 0x1p-5}, Units{0x1p10, 0x1p30, 0x1p5},
        Units{.mass = 0x1p-30}, Units{0x1p3, 0x1p-4, 0x1p-5}}) {
    SCOPED_TRACE(::testing::Message()
                 << "length " << u.length << ", mass " << u.mass << ", time " << u.time);
    const Model other(inUnits(robot, u));
    ASSERT_EQ(other.vNames(), model.vNames());
    Data otherData(other);
    const auto [positions, units] = unitsOf(u);
    const double energy = u.mass * u.length * u.length / (u.time * u.time);
    const Eigen::VectorXd otherQ = q.cwiseProduct(positions),
                          otherV = v.cwiseProduct(units) / u.time,
                          otherA = a.cwiseProduct(units) / (u.time * u.time),
                          otherTau = energy * tau.cwiseQuotient(units);
    std::vector<FrameForce> otherForces = forces;
    for (FrameForce& force : otherForces) {
      for (std::size_t i = 0; i < 6; ++i) {
        force.wrench[i] *= energy / (i < 3 ? u.length : 1.0);
      }
    }
    const DynamicsOptions how{.external = otherForces};
    Three ofInverse = derivatives([&](auto& byQ, auto& byV, auto& H) {
      inverseDynamicsDerivatives(other, otherData, otherQ, otherV, otherA, byQ, byV, H, how);
    });
    Three ofForward = derivatives([&](auto& byQ, auto& byV, auto& byTau) {
      forwardDynamicsDerivatives(other, otherData, otherQ, otherV, otherTau, byQ, byV, byTau, how);
    });
    const Eigen::VectorXd inverses = units.cwiseInverse();
    const auto whole = units.asDiagonal(), part = inverses.asDiagonal();
    double ofX = 1.0;  // the unit of x beside those of coordinates
    for (std::size_t i = 0; i < 3; ++i, ofX /= u.time) {
      const Eigen::MatrixXd again = (whole * ofInverse[i] * whole) * (ofX / energy);
      EXPECT_TRUE(
          vanishesBeside(again - inverse[i], inverse[i].cwiseAbs() + inverse[2].cwiseAbs(), 1e-10))
          << "inverse dynamics " << i;
    }
    const double square = u.time * u.time;
    const std::array<Eigen::MatrixXd, 3> again{square * (part * ofForward[0] * whole),
                                               u.time * (part * ofForward[1] * whole),
                                               energy * square * (part * ofForward[2] * part)};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(vanishesBeside(again[i] - forward[i],
                                 forward[i].cwiseAbs() + forward[2].cwiseAbs(), 1e-9))
          << "forward dynamics " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, DerivativeUnits, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
