#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "dynamics/gravity.hpp"
#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

/// Forces between bodies that can be written down by hand; what is refused.
namespace kempe::test {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;

Vector6 wrench(double fx, double fy, double fz, double nx, double ny, double nz) {
  Vector6 w;
  w << fx, fy, fz, nx, ny, nz;
  return w;
}

struct Forces {
  Eigen::VectorXd a, loops;
  Eigen::MatrixXd joints;
};

Forces forcesOf(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                const Eigen::VectorXd& tau, const ForceOptions& how = {}) {
  Data data(model);
  Forces forces{poisoned(model.nv()), poisoned(model.nLoopForces()),
                poisoned(6, static_cast<int>(model.jointNames().size()))};
  forwardDynamicsAndForces(model, data, q, v, tau, forces.a, forces.joints, forces.loops, how);
  return forces;
}

int jointNumber(const Model& model, const std::string& name) {
  const auto& names = model.jointNames();
  return static_cast<int>(std::ranges::find(names, name) - names.begin());
}

const LoopInfo& loopCalled(const Model& model, std::string_view name) {
  return *std::ranges::find(model.loops(), name, &LoopInfo::name);
}

Eigen::VectorXd one(double x) {
  return Eigen::VectorXd::Constant(1, x);
}

// --- a pendulum's pin --------------------------------------------------------------------------

TEST(JointForces, PinOfAPendulumAtTheBottomOfItsSwing) {
  Mechanism robot("pendulum");
  robot.addBody("ground");
  robot.addBody("bob").withMass(1.7).centeredAt({0, 0, -0.6}).withInertia(0.01, 0.02, 0.03);
  robot.addRevolute("pin").from("ground").to("bob").about({0, 1, 0});
  const Model model(robot);
  const double rate = 2.3;
  const Forces forces = forcesOf(model, one(0.0), one(rate), one(0.0));
  EXPECT_TRUE(closeTo(forces.joints.col(0),
                      wrench(0, 0, 1.7 * (kGravity + rate * rate * 0.6), 0, 0, 0), 1e-13));
}

// --- statics -----------------------------------------------------------------------------------

/// A horizontal boom on a pin, held by a rod from the wall above: a crane. The boom may turn, the
/// rod may not let it.
TEST(LoopForces, RodThatHoldsABoom) {
  const double mass = 4.0, length = 2.0, height = 1.5;
  Mechanism robot("crane");
  robot.addBody("wall");
  robot.addBody("boom").withMass(mass).centeredAt({length / 2, 0, 0}).withInertia(0.1, 0.2, 0.3);
  robot.addBody("carriage").withMass(0.2).withInertia(0.01, 0.02, 0.03);
  robot.addRevolute("pin").from("wall").to("boom").about({0, 1, 0});
  // The rod's upper end slides along the wall; what holds it is the carriage's motor.
  robot.addPrismatic("slide")
      .from("wall")
      .to("carriage")
      .at({0, 0, height})
      .along({0, 0, 1})
      .independent();
  const double reach = std::hypot(length, height);
  robot.addRod("tie").from("carriage", {0, 0, 0}).to("boom", {length, 0, 0}).ofLength(reach);
  const Model model(robot);
  ASSERT_EQ(model.nv(), 1);
  const Eigen::VectorXd q = Eigen::VectorXd::Zero(2);
  Data data(model);
  Eigen::VectorXd tau(1), loops = poisoned(6);
  Eigen::MatrixXd joints = poisoned(6, 2);
  inverseDynamicsAndForces(model, data, q, one(0), one(0), tau, joints, loops);
  // Moments about the pin: T sin(angle) length = m g length / 2.
  const double tension = mass * kGravity / 2 * reach / height;
  EXPECT_TRUE(closeTo(
      loops, wrench(-tension * length / reach, 0, tension * height / reach, 0, 0, 0), 1e-12));
  EXPECT_TRUE(closeTo(
      joints.col(jointNumber(model, "pin")),
      wrench(tension * length / reach, 0, mass * kGravity - tension * height / reach, 0, 0, 0),
      1e-12));
  EXPECT_NEAR(tau[0], 0.2 * kGravity + tension * height / reach, 1e-12);
  EXPECT_TRUE(loopCalled(model, "tie").forceIsUnique);
}

// --- a gear ------------------------------------------------------------------------------------

/// A rotor of inertia J behind a gear of ratio N drives a link about a vertical axis.
struct GearedLink {
  double rotor = 2e-4, link = 0.3, ratio = 9.0;

  [[nodiscard]] Mechanism mechanism() const {
    Mechanism robot("geared link");
    robot.addBody("ground");
    robot.addBody("link").withMass(1.0).withInertia(link / 2, link / 2, link);
    robot.addBody("rotor").withMass(0.1).withInertia(rotor / 2, rotor / 2, rotor);
    robot.addRevolute("joint").from("ground").to("link").about({0, 0, 1}).independent();
    robot.addRevolute("motor").from("ground").to("rotor").about({0, 0, 1});
    robot.addGear("gear", "motor", ratio, "joint");
    return robot;
  }
};

TEST(LoopForces, TeethOfAGear) {
  const GearedLink g;
  const double tau = 1.4;
  for (const bool fold : {true, false}) {
    // The link is an axis-symmetric leaf itself; a mass off the axis says which of the two drives.
    Mechanism robot = g.mechanism();
    robot.bodies[1].centeredAt({0.1, 0, 0});
    const double link = g.link + 1.0 * 0.1 * 0.1;
    const Model model(robot, {.foldRotors = fold});
    const LoopInfo& gear = loopCalled(model, "gear");
    ASSERT_EQ(gear.forces, 2);
    const auto at = [&](const char* coordinate) {
      return gear.firstForce + static_cast<int>(std::ranges::find(gear.coordinates, coordinate) -
                                                gear.coordinates.begin());
    };
    const double acceleration = tau / (link + g.ratio * g.ratio * g.rotor);
    // At the joint: the gear drags the rotor along.
    Forces forces = forcesOf(model, one(0.4), one(0), one(tau));
    EXPECT_NEAR(forces.a[0], acceleration, 1e-12);
    EXPECT_NEAR(forces.loops[at("motor")], g.rotor * g.ratio * acceleration, 1e-12);
    EXPECT_NEAR(forces.loops[at("joint")], -g.rotor * g.ratio * g.ratio * acceleration, 1e-12);
    EXPECT_NEAR(forces.joints(5, jointNumber(model, "motor")), g.rotor * g.ratio * acceleration,
                1e-12);
    // At the motor: the gear moves the link.
    ASSERT_EQ(model.clusters()[0].rotorJoints, std::vector<std::string>{"motor"});
    forces = forcesOf(model, one(0.4), one(0), one(tau), {.actuation = Actuation::Rotors});
    EXPECT_NEAR(forces.loops[at("joint")], link * acceleration, 1e-12);
    EXPECT_NEAR(forces.loops[at("motor")], -link * acceleration / g.ratio, 1e-12);
    EXPECT_NEAR(forces.joints(5, jointNumber(model, "joint")), link * acceleration, 1e-12);
    // The same said by hand.
    std::vector<double> spanning(2);
    spanning[model.jointVelocityIndex("motor")] = tau / g.ratio;
    const Forces byHand = forcesOf(model, one(0.4), one(0), one(0.0), {.spanning = spanning});
    EXPECT_TRUE(closeTo(byHand.loops, forces.loops, 1e-12));
    EXPECT_TRUE(closeTo(byHand.joints, forces.joints, 1e-12));
  }
}

// --- which forces are unique -------------------------------------------------------------------

Mechanism fourBarClosedBy(LoopType type) {
  Mechanism robot("four-bar");
  robot.addBody("ground");
  const auto add = [&](const char* name, const char* parent, const Vector3& origin) {
    robot.addBody(name).withMass(1.0).centeredAt({0.2, 0, 0}).withInertia(0.01, 0.03, 0.02);
    robot.addRevolute(std::string(name) + "_joint")
        .from(parent)
        .to(name)
        .at(origin)
        .about({0, 1, 0});
  };
  add("crank", "ground", {0, 0, 0});
  add("coupler", "crank", {0.3, 0, 0});
  add("rocker", "ground", {0.75, 0, 0});
  robot.addLoop("closure", type)
      .from("coupler", at({0.8, 0, 0}))
      .to("rocker", at({0.6, 0, 0}))
      .about({0, 1, 0});
  return robot;
}

TEST(LoopForces, APlanarLoopClosedInSpaceIsRedundant) {
  for (const LoopType type : {LoopType::Revolute, LoopType::Spherical, LoopType::Cylindrical}) {
    const Model model(fourBarClosedBy(type));
    // Forces along the axis, and moments across it, are not determined.
    EXPECT_FALSE(loopCalled(model, "closure").forceIsUnique);
    // The least there are: none, as nothing asks for them.
    const Forces forces = forcesOf(model, model.neutral(), one(0.7), one(0.3));
    EXPECT_GT(forces.loops.norm(), 1.0);
    EXPECT_NEAR(forces.loops[1], 0.0, 1e-9);
    EXPECT_LE(forces.loops.tail<3>().norm(), 1e-9);
  }
}

TEST(LoopForces, ARodInThePlaneIsNotRedundant) {
  Mechanism robot = fourBarClosedBy(LoopType::Revolute);
  robot.loops.clear();
  robot.addRod("tie").from("coupler", {0.8, 0.05, 0}).to("rocker", {0.3, 0, 0}).ofLength(0.4);
  const Model model(robot);
  EXPECT_TRUE(loopCalled(model, "tie").forceIsUnique);
}

/// Two equal gears side by side share the load; a third loop elsewhere is not their business.
TEST(LoopForces, TwinGearsShareTheLoad) {
  Mechanism robot = GearedLink{}.mechanism();
  robot.addGear("twin", "motor", 9.0, "joint");
  robot.addBody("second").withMass(0.1).withInertia(1e-4, 1e-4, 2e-4);
  robot.addRevolute("second_motor").from("ground").to("second").about({0, 0, 1});
  robot.addGear("other", "second_motor", 5.0, "joint");
  const Model model(robot);
  EXPECT_FALSE(loopCalled(model, "gear").forceIsUnique);
  EXPECT_FALSE(loopCalled(model, "twin").forceIsUnique);
  EXPECT_TRUE(loopCalled(model, "other").forceIsUnique);
  const Forces forces = forcesOf(model, one(0), one(0), one(1.0));
  const LoopInfo &gear = loopCalled(model, "gear"), &twin = loopCalled(model, "twin");
  EXPECT_TRUE(closeTo(forces.loops.segment(gear.firstForce, 2),
                      forces.loops.segment(twin.firstForce, 2), 1e-12));
  EXPECT_GT(forces.loops.segment(gear.firstForce, 2).norm(), 1e-3);
  // Scaling an equation does not change what it stands for.
  Mechanism scaled = robot;
  for (Coupling::Term& term : scaled.couplings[1].terms) {
    term.coefficient *= 7.0;
  }
  EXPECT_TRUE(
      closeTo(forcesOf(Model(scaled), one(0), one(0), one(1.0)).loops, forces.loops, 1e-12));
}

/// Random mechanisms cover what the laws are tested for.
TEST(LoopForces, TestedMechanismsAreRedundantAndDrivenByRotors) {
  int redundant = 0, unique = 0, driven = 0;
  for (const MechanismCase& choice : everyMechanism()) {
    const Model model(randomMechanism(choice));
    for (const LoopInfo& loop : model.loops()) {
      (loop.forceIsUnique ? unique : redundant) += 1;
    }
    for (const ClusterInfo& cluster : model.clusters()) {
      driven += cluster.rotorJoints.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(redundant, 10);
  EXPECT_GT(unique, 10);
  EXPECT_GT(driven, 10);
}

// --- arguments ---------------------------------------------------------------------------------

class JointForcesArguments : public ::testing::Test {
 protected:
  JointForcesArguments() : model(robots::load("tello")), data(model) {
    q = model.neutral();
    v = tau = Eigen::VectorXd::Ones(model.nv());
    joints.resize(6, static_cast<int>(model.jointNames().size()));
    loops.resize(model.nLoopForces());
  }
  std::string refusalOf(const ForceOptions& how = {}) {
    return refusal([&] { jointForces(model, data, q, v, tau, joints, how); });
  }

  Model model;
  Data data;
  Eigen::VectorXd q, v, tau, loops;
  Eigen::MatrixXd joints;
};

TEST_F(JointForcesArguments, WrongSizesAndNumbersAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  v[3] = nan;
  EXPECT_EQ(refusalOf(), "v is not finite at entry 3");
  v.setOnes(2);
  EXPECT_TRUE(refusalOf().starts_with("v has 2 entries, but model.nv is"));
  v.setOnes(model.nv());
  tau[0] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusalOf(), "tau is not finite at entry 0");
  tau[0] = 1;
  joints.resize(6, 3);
  EXPECT_TRUE(refusalOf().starts_with("forces is 6×3, but must be 6×"));
  joints.resize(6, static_cast<int>(model.jointNames().size()));
  loops.resize(loops.size() + 1);
  EXPECT_TRUE(refusal([&] { loopForces(model, data, q, v, tau, loops); })
                  .starts_with("forces has " + std::to_string(loops.size()) +
                               " entries, but model.nLoopForces is"));
  std::vector<double> spanning(3);
  EXPECT_TRUE(refusalOf({.spanning = spanning})
                  .starts_with("spanning has 3 entries, but model.nvSpanning is"));
  spanning.resize(static_cast<std::size_t>(model.nvSpanning()));
  spanning[5] = nan;
  EXPECT_EQ(refusalOf({.spanning = spanning}), "spanning is not finite at entry 5");
  EXPECT_TRUE(refusalOf({.frame = 100000}).starts_with("frame 100000: the model has frames"));
  EXPECT_TRUE(refusalOf({.reference = Reference::Local, .frame = 0})
                  .starts_with("reference and frame are both given"));
  Data other{Model(robots::load("four_bar"))};
  EXPECT_EQ(refusal([&] { jointForces(model, other, q, v, tau, joints); }),
            "data was made for another model");
}

TEST_F(JointForcesArguments, ResultsMayOverwriteInputs) {
  Eigen::VectorXd a = poisoned(model.nv());
  forwardDynamicsAndForces(model, data, q, v, tau, a, joints, loops);
  Eigen::MatrixXd again = joints;
  Eigen::VectorXd loopsAgain = loops;
  for (Eigen::VectorXd* input : {&v, &tau}) {
    const Eigen::VectorXd before = *input;
    again.setZero();
    loopsAgain.setZero();
    forwardDynamicsAndForces(model, data, q, v, tau, *input, again, loopsAgain);
    EXPECT_TRUE(closeTo(*input, a, 0.0));
    EXPECT_TRUE(closeTo(again, joints, 0.0));
    EXPECT_TRUE(closeTo(loopsAgain, loops, 0.0));
    *input = before;
  }
}

/// A crank whose rod stands across the way of the piston does not feel the piston move.
TEST(JointForces, RotorsThatCannotMoveTheirClusterAreReported) {
  Mechanism robot("slider crank");
  robot.addBody("ground");
  robot.addBody("disc").withMass(1.0).withInertia(0.01, 0.01, 0.02);
  robot.addBody("piston").withMass(0.5).withInertia(0.01, 0.02, 0.03);
  robot.addRevolute("crank").from("ground").to("disc").about({0, 0, 1});
  robot.addPrismatic("stroke")
      .from("ground")
      .to("piston")
      .at({0, 0.45, 0})
      .along({1, 0, 0})
      .independent();
  robot.addRod("rod").from("disc", {0.1, 0, 0}).to("piston", {0, 0, 0}).ofLength(0.4);
  const Model model(robot);
  ASSERT_EQ(model.clusters()[0].rotorJoints, std::vector<std::string>{"crank"});
  Data data(model);
  Eigen::MatrixXd joints(6, 2);
  const ForceOptions how{.actuation = Actuation::Rotors};
  Eigen::VectorXd q(2);
  const auto placeAt = [&](double crank) {
    q[model.jointPositionIndex("crank")] = crank;
    const double rise = 0.45 - 0.1 * std::sin(crank);
    q[model.jointPositionIndex("stroke")] =
        0.1 * std::cos(crank) + std::sqrt(std::max(0.0, 0.16 - rise * rise));
  };
  placeAt(1.0);
  EXPECT_NO_THROW(jointForces(model, data, q, one(0.1), one(1), joints, how));
  placeAt(std::numbers::pi / 6);
  EXPECT_NO_THROW(jointForces(model, data, q, one(0.1), one(1), joints));
  try {
    jointForces(model, data, q, one(0.1), one(1), joints, how);
    FAIL() << "nothing was thrown";
  } catch (const SingularityError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("the rotors (crank) of the cluster of loop \"rod\" cannot move"))
        << error.what();
  }
}

}  // namespace
}  // namespace kempe::test
