// Every word of the builder does what it says.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <ostream>

#include "kempe/configuration.hpp"
#include "mechanism/small_robots.hpp"
#include "model/model_impl.hpp"

namespace kempe {
namespace {

using test::addBar;
using test::addBarOn;
using test::contains;
using test::twoLinkArm;

// --- what each word sets -----------------------------------------------------------------------

TEST(BodyBuilder, SetsFigures) {
  Mechanism robot;
  robot.addBody("bar")
      .withMass(2)
      .centeredAt({1, 2, 3})
      .withInertia({1, 0.1, 0.2, 2, 0.3, 3})
      .drawnAs({.kind = Shape::Kind::Sphere, .radius = 0.5});
  const Body& bar = robot.bodies.front();
  EXPECT_EQ(bar.name, "bar");
  EXPECT_EQ(bar.mass, 2);
  EXPECT_EQ(bar.centerOfMass, (Vector3{1, 2, 3}));
  EXPECT_EQ(bar.inertia, (SymMat3<double>{1, 0.1, 0.2, 2, 0.3, 3}));
  ASSERT_EQ(bar.visuals.size(), 1u);
  EXPECT_EQ(bar.visuals[0].radius, 0.5);
}

TEST(BodyBuilder, TakesPrincipalMoments) {
  Mechanism robot;
  EXPECT_EQ(robot.addBody("bar").withInertia(1, 2, 3).inertia, (SymMat3<double>{1, 0, 0, 2, 0, 3}));
}

TEST(JointBuilder, SetsPlaceAndAxes) {
  Joint joint;
  joint.from("a").to("b").at({1, 2, 3}, {0, 0, M_PI / 2}).about({0, 2, 0}).thenAbout({3, 0, 0});
  EXPECT_EQ(joint.parent, "a");
  EXPECT_EQ(joint.child, "b");
  EXPECT_EQ(joint.origin.p, (Vector3{1, 2, 3}));
  EXPECT_NEAR(norm(joint.origin.R * Vector3{1, 0, 0} - Vector3{0, 1, 0}), 0, 1e-15);
  EXPECT_EQ(joint.axis, (Vector3{0, 2, 0}));
  EXPECT_EQ(joint.axis2, (Vector3{3, 0, 0}));
  EXPECT_EQ(joint.along({0, 0, 4}).axis, (Vector3{0, 0, 4}));
  EXPECT_EQ(joint.at(at({7, 8, 9})).origin.p, (Vector3{7, 8, 9}));
}

TEST(JointBuilder, SetsLimitsAndLosses) {
  Joint joint;
  joint.limitedTo(-1, 2).withEffort(3).withSpeed(4).withDamping(5).withFriction(6).withArmature(7);
  joint.withSpring(8, 9);
  EXPECT_EQ(joint.stiffness, 8);
  EXPECT_EQ(joint.springReference, 9);
  EXPECT_EQ(joint.withSpring(10).springReference, 0);
  EXPECT_EQ(joint.limits, (Limits{.lower = -1, .upper = 2, .velocity = 4, .effort = 3}));
  EXPECT_EQ(joint.damping, 5);
  EXPECT_EQ(joint.friction, 6);
  EXPECT_EQ(joint.armature, 7);
  EXPECT_EQ(joint.withPitch(8).pitch, 8);
}

TEST(JointBuilder, SetsIndependence) {
  Joint joint;
  EXPECT_FALSE(joint.independence.has_value());
  EXPECT_EQ(joint.independent().independence, true);
  EXPECT_EQ(joint.dependent().independence, false);
}

TEST(JointBuilder, NamesItsTypes) {
  Mechanism robot;
  EXPECT_EQ(robot.addFixed("f").type, JointType::Fixed);
  EXPECT_EQ(robot.addRevolute("r").type, JointType::Revolute);
  EXPECT_EQ(robot.addPrismatic("p").type, JointType::Prismatic);
  EXPECT_EQ(robot.addJoint("h", JointType::Helical).type, JointType::Helical);
}

TEST(LoopBuilder, SetsEnds) {
  Mechanism robot;
  const LoopJoint& loop = robot.addLoop("l", LoopType::Universal)
                              .from("a", at({1, 0, 0}))
                              .to("b", at({2, 0, 0}))
                              .about({1, 0, 0})
                              .thenAbout({0, 0, 1});
  EXPECT_EQ(loop.name, "l");
  EXPECT_EQ(loop.type, LoopType::Universal);
  EXPECT_EQ(loop.predecessor.body, "a");
  EXPECT_EQ(loop.predecessor.frame.p.x, 1);
  EXPECT_EQ(loop.successor.body, "b");
  EXPECT_EQ(loop.successor.frame.p.x, 2);
  EXPECT_EQ(loop.axis, (Vector3{1, 0, 0}));
  EXPECT_EQ(loop.axis2, (Vector3{0, 0, 1}));
}

TEST(RodBuilder, SetsPointsAndLength) {
  Mechanism robot;
  const Rod& rod = robot.addRod("r").from("a", {1, 0, 0}).to("b", {2, 0, 0}).ofLength(3);
  EXPECT_EQ(rod.predecessor.body, "a");
  EXPECT_EQ(rod.predecessor.point, (Vector3{1, 0, 0}));
  EXPECT_EQ(rod.successor.body, "b");
  EXPECT_EQ(rod.successor.point, (Vector3{2, 0, 0}));
  EXPECT_EQ(rod.length, 3);
}

TEST(FunctionBuilder, CallsOneFormulaForValuesAndJets) {
  Mechanism robot = twoLinkArm();
  const Function& cam =
      robot.addFunction("cam", {"shoulder", "elbow"}, 1,
                        [](const auto& q, auto& phi) { phi[0] = q[0] * q[0] - q[1]; });
  const std::vector<double> q{3, 4};
  std::vector<double> phi(1);
  cam.value(q, phi);
  EXPECT_EQ(phi[0], 5);
  const std::vector<Jet> jets{Jet(3), Jet(4)};
  std::vector<Jet> jet(1);
  cam.jet(jets, jet);
  EXPECT_EQ(jet[0].value, 5);
}

// --- axes --------------------------------------------------------------------------------------

const std::vector<JointType> withAxis{
    JointType::Revolute,    JointType::Continuous, JointType::Prismatic, JointType::Helical,
    JointType::Cylindrical, JointType::Universal,  JointType::Planar};

Mechanism onOneJoint(JointType type) {
  Mechanism robot;
  robot.addBody("ground");
  addBar(robot, "bar");
  robot.addJoint("joint", type).from("ground").to("bar").at({0.1, 0.2, 0.3}, {0.4, 0.5, 0.6});
  return robot;
}

class EveryAxis : public ::testing::TestWithParam<JointType> {};

TEST_P(EveryAxis, MayHaveAnyLength) {
  Mechanism unit = onOneJoint(GetParam());
  unit.joints[0].about(normalized(Vector3{1, -2, 3})).thenAbout(normalized(Vector3{-3, 1, 1}));
  unit.joints[0].withPitch(0.1);
  Mechanism scaled = unit;
  scaled.joints[0].about({100, -200, 300}).thenAbout({-3e-3, 1e-3, 1e-3});
  const Model unitModel(unit), scaledModel(scaled);
  const auto& a = unitModel.impl().tables.bodies[0];
  const auto& b = scaledModel.impl().tables.bodies[0];
  EXPECT_NEAR(norm(a.placement.R.r0 - b.placement.R.r0), 0, 1e-15);
  EXPECT_NEAR(norm(a.placement.R.r1 - b.placement.R.r1), 0, 1e-15);
  EXPECT_NEAR(norm(a.placement.R.r2 - b.placement.R.r2), 0, 1e-15);
  EXPECT_NEAR(norm(a.middle.r0 - b.middle.r0), 0, 1e-15);
  EXPECT_NEAR(norm(a.inertia.moment - b.inertia.moment), 0, 1e-15);
  EXPECT_EQ(a.pitch, b.pitch);
}

INSTANTIATE_TEST_SUITE_P(Joints, EveryAxis, ::testing::ValuesIn(withAxis),
                         [](const auto& test) { return std::string(toString(test.param)); });

/// The loop residual of a crank "crank" whose end is held to a point, at the crank's position q.
Eigen::VectorXd residualAt(double q, JointType type, const Vector3& axis) {
  Mechanism robot;
  robot.addBody("ground");
  addBar(robot, "crank");
  addBar(robot, "arm");
  robot.addJoint("joint", type).from("ground").to("crank").at({0, 0, 0}, {0.3, 0.2, 0.1});
  robot.joints[0].about(axis).withPitch(0.2);
  robot.addJoint("float", JointType::Free).from("ground").to("arm");
  robot.addLoop("hold", LoopType::Fixed).from("crank", at({1, 0.5, 0})).to("arm");
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd positions = Eigen::VectorXd::Zero(model.nq());
  positions[model.jointPositionIndex("joint")] = q;
  positions[model.jointPositionIndex("float") + 6] = 1.0;
  Eigen::VectorXd residual(model.nLoopRows());
  loopResidual(model, data, positions, residual);
  return residual;
}

TEST(Axes, OppositeOnesMoveTheOtherWay) {
  for (const JointType type : {JointType::Revolute, JointType::Prismatic}) {
    const Eigen::VectorXd forward = residualAt(0.7, type, {1, 2, -2});
    const Eigen::VectorXd backward = residualAt(-0.7, type, {-2, -4, 4});
    EXPECT_LT((forward - backward).norm(), 1e-14) << toString(type);
    EXPECT_GT((forward - residualAt(-0.7, type, {1, 2, -2})).norm(), 0.1) << toString(type);
  }
  // A screw reversed turns and advances the other way: both signs of the position change.
  const Eigen::VectorXd forward = residualAt(0.7, JointType::Helical, {1, 2, -2});
  EXPECT_LT((forward - residualAt(-0.7, JointType::Helical, {-1, -2, 2})).norm(), 1e-14);
}

// --- couplings ---------------------------------------------------------------------------------

TEST(Gear, TurnsTheDrivenJointByTheRatio) {
  Mechanism robot = twoLinkArm();
  robot.joints[1].dependent();
  robot.addGear("gear", "elbow", -3, "shoulder").equals(0.5);
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd q(1), v(1), positions(2), velocities(2);
  q << 0.2;
  v << 1.5;
  spanning(model, data, q, v, positions, velocities);
  EXPECT_NEAR(positions[model.jointPositionIndex("elbow")], -3 * 0.2 + 0.5, 1e-15);
  EXPECT_NEAR(velocities[model.jointVelocityIndex("elbow")], -3 * 1.5, 1e-15);
}

TEST(Coupling, AddsAndSubtractsTerms) {
  Mechanism robot;
  const Coupling& c = robot.addCoupling("c").plus(2, "a").minus(3, Coordinate("b", 1)).equals(0.25);
  ASSERT_EQ(c.terms.size(), 2u);
  EXPECT_EQ(c.terms[0], (Coupling::Term{"a", 2}));
  EXPECT_EQ(c.terms[1], (Coupling::Term{Coordinate("b", 1), -3}));
  EXPECT_EQ(c.offset, 0.25);
}

std::map<std::string, double> coefficients(const Coupling& coupling) {
  std::map<std::string, double> result;
  for (const Coupling::Term& term : coupling.terms) {
    result[term.coordinate.joint] += term.coefficient;
  }
  return result;
}

/// Two branches on "hip": thigh, (fixed) plate, shank; and motor, pulley.
Mechanism branches() {
  Mechanism robot;
  robot.addBody("ground");
  addBarOn(robot, "ground", "hip", {});
  addBarOn(robot, "hip", "thigh", {1, 0, 0});
  addBar(robot, "plate");
  robot.addFixed("mount").from("thigh").to("plate");
  addBarOn(robot, "plate", "shank", {1, 0, 0});
  addBarOn(robot, "hip", "motor", {0, 0, 0});
  addBarOn(robot, "motor", "pulley", {0, 0, 0});
  return robot;
}

TEST(Belt, SumsJointsOfBothBranchesUpToTheCommonAncestor) {
  Mechanism robot = branches();
  using Map = std::map<std::string, double>;
  EXPECT_EQ(coefficients(robot.addBelt("belt", "pulley", 2, "shank")),
            (Map{{"to_shank", 1}, {"to_thigh", 1}, {"to_pulley", -2}, {"to_motor", -2}}));
  EXPECT_EQ(coefficients(robot.addBelt("gear", "motor", 6, "thigh")),
            (Map{{"to_thigh", 1}, {"to_motor", -6}}));
  EXPECT_EQ(coefficients(robot.addBelt("down", "hip", 6, "shank")),
            (Map{{"to_thigh", 1}, {"to_shank", 1}}));
  EXPECT_TRUE(robot.addBelt("through_fixed", "thigh", 2, "plate").terms.empty());
}

std::string beltError(Mechanism& robot, const char* predecessor, const char* successor) {
  try {
    robot.addBelt("belt", predecessor, 2, successor);
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

TEST(Belt, AndGearNeedARatio) {
  Mechanism robot = branches();
  EXPECT_THROW(robot.addBelt("belt", "pulley", 0, "shank"), ModelError);
  try {
    robot.addGear("gear", "to_shank", -0.0, "to_thigh");
    FAIL() << "was not refused";
  } catch (const ModelError& error) {
    EXPECT_EQ(std::string(error.what()),
              "coupling \"gear\": its ratio is zero, so it couples nothing. Give a nonzero ratio.");
  }
  EXPECT_TRUE(robot.couplings.empty());
}

TEST(Belt, SaysWhatItCannotFollow) {
  Mechanism robot = branches();
  EXPECT_EQ(beltError(robot, "pully", "shank"),
            "coupling \"belt\": there is no body \"pully\". Check the name.");
  addBar(robot, "stray");
  EXPECT_EQ(beltError(robot, "stray", "shank"),
            "coupling \"belt\": bodies \"stray\" and \"shank\" have no common ancestor. Connect "
            "both to the tree first.");
  robot.joints[1].type = JointType::Spherical;
  const std::string error = beltError(robot, "motor", "shank");
  EXPECT_TRUE(contains(error, "coupling \"belt\": joint \"to_thigh\" on the way is spherical"))
      << error;
  EXPECT_TRUE(contains(error, "Couple the joints by name instead.")) << error;
  EXPECT_TRUE(robot.couplings.empty());
}

// --- the whole ---------------------------------------------------------------------------------

TEST(FloatingBase, SetsTheRootFree) {
  Mechanism robot = twoLinkArm();
  robot.bodies[0].withMass(5).withInertia(1, 1, 1);
  const Joint& base = robot.addFloatingBase();
  EXPECT_EQ(base.name, "floating_base");
  EXPECT_EQ(base.type, JointType::Free);
  EXPECT_EQ(base.parent, "world");
  EXPECT_EQ(base.child, "ground");
  const Model model(robot);
  EXPECT_EQ(model.nv(), 8);
  EXPECT_EQ(model.nq(), 9);
  EXPECT_EQ(model.bodyNames().front(), "ground");
}

TEST(FloatingBase, TakesNames) {
  Mechanism robot = twoLinkArm();
  EXPECT_EQ(robot.addFloatingBase("earth", "drift").name, "drift");
  EXPECT_NE(robot.findBody("earth"), nullptr);
}

TEST(FloatingBase, NeedsOneRoot) {
  Mechanism robot = twoLinkArm();
  addBar(robot, "stray");
  try {
    robot.addFloatingBase();
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_TRUE(contains(error.what(), "needs exactly one root body, and there are 2. Connect"))
        << error.what();
  }
}

TEST(Mechanism, KeepsReferencesValidWhileItGrows) {
  Mechanism robot;
  Body& body = robot.addBody("first");
  Joint& joint = robot.addRevolute("first");
  Coupling& coupling = robot.addCoupling("first");
  LoopJoint& loop = robot.addLoop("first", LoopType::Fixed);
  Rod& rod = robot.addRod("first");
  Function& function = robot.addFunction("first", {"first"}, 1, [](const auto&, auto&) {});
  for (int i = 0; i < 5000; ++i) {
    robot.addBody("more");
    robot.addRevolute("more");
    robot.addCoupling("more");
    robot.addLoop("more", LoopType::Fixed);
    robot.addRod("more");
    robot.addFunction("more", {"first"}, 1, [](const auto&, auto&) {});
  }
  EXPECT_EQ(&body, &robot.bodies.front());
  EXPECT_EQ(&joint, &robot.joints.front());
  EXPECT_EQ(&coupling, &robot.couplings.front());
  EXPECT_EQ(&loop, &robot.loops.front());
  EXPECT_EQ(&rod, &robot.rods.front());
  EXPECT_EQ(&function, &robot.functions.front());
  EXPECT_EQ(body.name + joint.name + coupling.name, "firstfirstfirst");
}

TEST(Mechanism, FindsByName) {
  const Mechanism robot = twoLinkArm();
  EXPECT_EQ(robot.findBody("lower"), &robot.bodies[2]);
  EXPECT_EQ(robot.findBody("nobody"), nullptr);
  EXPECT_EQ(robot.findJoint("elbow"), &robot.joints[1]);
  EXPECT_EQ(robot.findJoint("knee"), nullptr);
  EXPECT_EQ(robot.jointAbove("lower"), &robot.joints[1]);
  EXPECT_EQ(robot.jointAbove("ground"), nullptr);
}

// --- coordinates -------------------------------------------------------------------------------

struct Coordinates {
  JointType type;
  std::vector<std::string> q, v;

  friend std::ostream& operator<<(std::ostream& out, const Coordinates& test) {
    return out << toString(test.type);
  }
};

class EveryJoint : public ::testing::TestWithParam<Coordinates> {};

TEST_P(EveryJoint, NamesItsCoordinates) {
  const auto& [type, q, v] = GetParam();
  const Model model(onOneJoint(type));
  EXPECT_EQ(model.qNames(), q);
  EXPECT_EQ(model.vNames(), v);
  EXPECT_EQ(positionSize(type), static_cast<int>(q.size()));
  EXPECT_EQ(velocitySize(type), static_cast<int>(v.size()));
  EXPECT_EQ(hasScalarCoordinates(type), q.size() == v.size());
}

const std::vector<std::string> single{"joint"};
INSTANTIATE_TEST_SUITE_P(Coordinates, EveryJoint,
                         ::testing::Values(Coordinates{JointType::Revolute, single, single},
                                           Coordinates{JointType::Continuous, single, single},
                                           Coordinates{JointType::Prismatic, single, single},
                                           Coordinates{JointType::Helical, single, single},
                                           Coordinates{JointType::Cylindrical,
                                                       {"joint.angle", "joint.distance"},
                                                       {"joint.angle", "joint.distance"}},
                                           Coordinates{JointType::Universal,
                                                       {"joint.first", "joint.second"},
                                                       {"joint.first", "joint.second"}},
                                           Coordinates{JointType::Planar,
                                                       {"joint.x", "joint.y", "joint.angle"},
                                                       {"joint.x", "joint.y", "joint.angle"}},
                                           Coordinates{
                                               JointType::Spherical,
                                               {"joint.qx", "joint.qy", "joint.qz", "joint.qw"},
                                               {"joint.wx", "joint.wy", "joint.wz"}},
                                           Coordinates{JointType::Free,
                                                       {"joint.x", "joint.y", "joint.z", "joint.qx",
                                                        "joint.qy", "joint.qz", "joint.qw"},
                                                       {"joint.vx", "joint.vy", "joint.vz",
                                                        "joint.wx", "joint.wy", "joint.wz"}}),
                         [](const auto& test) { return std::string(toString(test.param.type)); });

}  // namespace
}  // namespace kempe
