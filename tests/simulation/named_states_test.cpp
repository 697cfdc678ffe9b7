#include "kempe/named_states.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "linkages.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

double residualAt(const Model& model, const Eigen::VectorXd& q) {
  Data data(model);
  Eigen::VectorXd residual(model.nLoopRows());
  loopResidual(model, data, q, residual);
  return residual.size() == 0 ? 0.0 : residual.cwiseAbs().maxCoeff();
}

/// Spanning positions of the configuration, whose loops must be closed.
Eigen::VectorXd poseAt(const Model& model, const NamedValues& named) {
  Data data(model);
  Eigen::VectorXd q = Eigen::VectorXd::Constant(model.nq(), NAN);
  configurationAt(model, data, named, q);
  EXPECT_LT(residualAt(model, q), 1e-10);
  Eigen::VectorXd positions(model.nqSpanning());
  spanningPositions(model, data, q, positions);
  return positions;
}

/// The text of the AssemblyError.
std::string impossible(const Model& model, const NamedValues& named) {
  Data data(model);
  Eigen::VectorXd q(model.nq());
  try {
    configurationAt(model, data, named, q);
  } catch (const AssemblyError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Crank 0.2 m, ground and coupler 0.5 m, rocker 0.3 m: the crank turns, the rocker swings.
Mechanism crankRocker(std::string_view independent = "crank") {
  return fourBar(0.5, 0.2, 0.5, 0.3, independent);
}

/// Where all links lie on one line, branches meet, and loops close to second order only.
TEST(NamedStates, FlatPositionsAreExactAndOnTheBranchOfTheNeutralOne) {
  const Model parallelogram(fourBar(0.7, 0.3, 0.7, 0.3));
  const int knee = parallelogram.jointPositionIndex("knee");
  const int pivot = parallelogram.jointPositionIndex("pivot");
  Data data(parallelogram);
  Eigen::VectorXd neutral(parallelogram.nqSpanning());
  spanningPositions(parallelogram, data, parallelogram.neutral(), neutral);
  ASSERT_NEAR(neutral[pivot], neutral[parallelogram.jointPositionIndex("crank")], 1e-9);
  for (const double angle : {0.0, 1e-9, 1e-5, -1.0, 3.1, 3.1416, kPi, -kPi, 5.0}) {
    const Eigen::VectorXd pose = poseAt(parallelogram, {{"crank", {angle}}});
    EXPECT_NEAR(pose[pivot], angle, 1e-11);
    EXPECT_NEAR(pose[knee], -angle, 1e-11);
  }
  Eigen::VectorXd q(parallelogram.nq()), v(1), velocities(3);
  for (const double angle : {0.0, kPi}) {
    configurationAt(parallelogram, data, {{"crank", {angle}}}, q);
    velocitiesAt(parallelogram, data, q, {{"crank", {2.0}}}, v, velocities);
    EXPECT_NEAR(velocities[pivot], 2.0, 1e-9) << angle;
    EXPECT_NEAR(velocities[knee], -2.0, 1e-9) << angle;
  }

  // A kite is its mirror image after the flat position. Crank and coupler, of one length, could also
  // fold onto each other and turn while the rocker lies on the ground.
  const Model kite(fourBar(0.7, 0.3, 0.3, 0.7));
  const Eigen::VectorXd left = poseAt(kite, {{"crank", {-1.0}}});
  const Eigen::VectorXd right = poseAt(kite, {{"crank", {1.0}}});
  EXPECT_NEAR(std::remainder(left[2] + right[2], 2 * kPi), 0.0, 1e-12);
  EXPECT_GT(std::abs(std::sin(right[2])), 0.1);
}

TEST(NamedStates, SimulationsFromFlatPositionsStayOnTheBranch) {
  const Model model(fourBar(0.7, 0.3, 0.7, 0.3));
  const int crank = model.jointPositionIndex("crank"), pivot = model.jointPositionIndex("pivot");
  Data data(model);
  Eigen::VectorXd positions(model.nqSpanning());
  for (const double angle : {0.0, 1e-9, 1e-5}) {
    Simulator simulator(model);
    simulator.setState({{"crank", {angle}}}, {{"crank", {1.0}}});
    static_cast<void>(simulator.run(0.3, 0.05));
    spanningPositions(model, data, simulator.q(), positions);
    EXPECT_NEAR(positions[crank], positions[pivot], 1e-8) << angle;
  }
  Simulator simulator(model);
  simulator.setState({{"crank", {0.0}}});
  EXPECT_THROW(simulator.step(0.01), SingularityError);  // at rest, any branch could follow
}

TEST(NamedStates, DependentJointIsHeld) {
  const Model model(crankRocker());
  for (const double pivot : {1.3, 1.9, 2.2}) {
    const Eigen::VectorXd pose = poseAt(model, {{"pivot", {pivot}}});
    EXPECT_NEAR(pose[model.jointPositionIndex("pivot")], pivot, 1e-14);
  }
}

TEST(NamedStates, PoseStaysOnTheBranchOfTheNeutralOne) {
  // Ten turns of the crank lead back to where it started.
  const Model model(crankRocker());
  const Eigen::VectorXd start = poseAt(model, {});
  const int crank = model.jointPositionIndex("crank"), pivot = model.jointPositionIndex("pivot");
  const Eigen::VectorXd turned = poseAt(model, {{"crank", {start[crank] + 20 * kPi}}});
  EXPECT_NEAR(turned[pivot], start[pivot], 1e-9);
  EXPECT_EQ(turned[crank], start[crank] + 20 * kPi);
}

TEST(NamedStates, UnnamedIndependentJointsStay) {
  const Model model(fiveBar());
  const Eigen::VectorXd start = poseAt(model, {});
  const int left = model.jointPositionIndex("left"), right = model.jointPositionIndex("right");
  const Eigen::VectorXd pose = poseAt(model, {{"left", {start[left] + 0.2}}});
  EXPECT_NEAR(pose[left], start[left] + 0.2, 1e-14);
  EXPECT_EQ(pose[right], start[right]);
}

TEST(NamedStates, ErrorHasTheEndOfTheRockersRange) {
  // At the ends of its range the crank and the coupler are in line: distances 0.3 and 0.7 m.
  const double far = kPi - std::acos((0.25 + 0.09 - 0.49) / (2 * 0.5 * 0.3));
  const double near = kPi - std::acos((0.25 + 0.09 - 0.09) / (2 * 0.5 * 0.3));
  const Model model(crankRocker());
  const double start = std::abs(poseAt(model, {})[model.jointPositionIndex("pivot")]);
  ASSERT_GT(start, far);
  ASSERT_LT(start, near);
  const double sign = poseAt(model, {})[model.jointPositionIndex("pivot")] > 0 ? 1.0 : -1.0;
  const std::string text = impossible(model, {{"pivot", {3.1 * sign}}});
  EXPECT_NE(text.find("joint \"pivot\" cannot be at"), std::string::npos) << text;
  EXPECT_NE(text.find("\"closure\""), std::string::npos) << text;
  const std::string before = "nearest position found is ";
  const auto at = text.find(before);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NEAR(std::stod(text.substr(at + before.size())), near * sign, 2e-3) << text;
}

TEST(NamedStates, MoreJointsThanDoFsMustAgree) {
  const Model model(crankRocker());
  const Eigen::VectorXd pose = poseAt(model, {{"crank", {1.0}}});
  const double pivot = pose[model.jointPositionIndex("pivot")];
  const Eigen::VectorXd same = poseAt(model, {{"crank", {1.0}}, {"pivot", {pivot + 1e-8}}});
  EXPECT_TRUE(closeTo(same, pose, 1e-7));
  const std::string text = impossible(model, {{"crank", {1.0}}, {"pivot", {pivot + 0.01}}});
  EXPECT_NE(text.find("name fewer joints"), std::string::npos) << text;
}

TEST(NamedStates, RandomMechanismsReachTheirPoses) {
  for (const MechanismCase& choice : everyMechanism()) {
    SCOPED_TRACE(nameOf(choice));
    const Model model(randomMechanism(choice));
    Data data(model);
    const Eigen::VectorXd q = model.randomConfiguration(3);
    Eigen::VectorXd there(model.nqSpanning());
    spanningPositions(model, data, q, there);
    NamedValues named;
    const auto& joints = model.mechanism().joints;
    for (const std::string& name : model.jointNames()) {
      const auto joint = std::ranges::find(joints, name, &Joint::name);
      const int first = model.jointPositionIndex(name);
      named[name].assign(there.data() + first, there.data() + first + positionSize(joint->type));
    }
    EXPECT_TRUE(closeTo(poseAt(model, named), there, 1e-6));

    // v of all independent joints by name is v.
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1.0, 1.0);
    Eigen::VectorXd rates(model.nvSpanning()), found(model.nv()), all(model.nvSpanning());
    spanning(model, data, q, v, there, rates);
    NamedValues velocities;
    for (int i = 0; i < model.nv(); ++i) {
      velocities[model.vNames()[i]] = {v[i]};
    }
    velocitiesAt(model, data, q, velocities, found, all);
    EXPECT_TRUE(closeTo(found, v, 1e-8));
    EXPECT_TRUE(closeTo(all, rates, 1e-6));
  }
}

TEST(NamedStates, VelocityOfADependentJoint) {
  const Model model(crankRocker());
  Simulator simulator(model);
  simulator.setState(NamedValues{{"crank", {1.0}}}, {{"pivot", {0.7}}}, 2.0);
  EXPECT_EQ(simulator.time(), 2.0);
  EXPECT_NEAR(positionOf(simulator, "crank"), 1.0, 1e-14);
  EXPECT_NEAR(rateOf(simulator, "pivot"), 0.7, 1e-12);
  simulator.setState(NamedValues{{"crank", {1.0}}});
  EXPECT_EQ(simulator.v()[0], 0.0);
}

TEST(NamedStates, DeadPointOfTheModelsCoordinates) {
  // With the crank in line the slide cannot move, whatever is independent; the crank can.
  const Model model(crankSlider("slide"));
  Simulator simulator(model);
  simulator.setState({{"crank", {0.0}}}, {{"crank", {3.0}}});
  EXPECT_NEAR(rateOf(simulator, "crank"), 3.0, 1e-9);
  EXPECT_NEAR(rateOf(simulator, "slide"), 0.0, 1e-9);
  EXPECT_NEAR(rateOf(simulator, "swivel"), -3.0 * (1.0 + 0.1 / 0.3), 1e-9);
  const std::string text = refusal([&] {
    simulator.setState({{"crank", {0.0}}}, {{"slide", {1.0}}});
  });
  EXPECT_NE(text.find("velocity of \"slide\": the loops do not allow 1"), std::string::npos)
      << text;
}

TEST(NamedStates, LoopsThatAreLeftCut) {
  Mechanism robot = crankRocker();
  const Model embedded(robot);
  robot.loops.back().cut = true;
  const Model cut(robot);
  ASSERT_EQ(cut.cutLoops().size(), 1u);
  for (const double angle : {0.5, 1.5, 2.5}) {
    const Eigen::VectorXd pose = poseAt(cut, {{"crank", {angle}}});
    EXPECT_NEAR(pose[cut.jointPositionIndex("crank")], angle, 1e-10);
    Simulator simulator(cut);
    simulator.setState({{"crank", {angle}}}, {{"crank", {2.0}}});
    EXPECT_NEAR(rateOf(simulator, "crank"), 2.0, 1e-9);
    Simulator other(embedded);
    other.setState({{"crank", {angle}}, {"pivot", {positionOf(simulator, "pivot")}}},
                   {{"crank", {2.0}}});
    EXPECT_NEAR(rateOf(simulator, "pivot"), rateOf(other, "pivot"), 1e-6);
  }
}

TEST(NamedStates, JointsWithSeveralCoordinates) {
  Mechanism robot("crate");
  robot.addBody("world");
  robot.addBody("crate").withMass(1.0).withInertia(1, 1, 1);
  robot.addBody("lid").withMass(1.0).withInertia(1, 1, 1);
  robot.addJoint("base", JointType::Free).from("world").to("crate");
  robot.addJoint("sheet", JointType::Planar).from("crate").to("lid");
  const Model model(robot);
  const Eigen::VectorXd pose = poseAt(model, {{"base.z", {0.4}}, {"sheet", {1.0, 2.0, 3.0}}});
  const int base = model.jointPositionIndex("base"), sheet = model.jointPositionIndex("sheet");
  EXPECT_EQ(pose[base + 2], 0.4);
  EXPECT_EQ(pose[base + 6], 1.0);
  EXPECT_TRUE(closeTo(pose.segment(sheet, 3), Eigen::Vector3d(1, 2, 3), 1e-15));
  EXPECT_NEAR(poseAt(model, {{"base", {0, 0, 0, 0, 0, 2, 2}}})[base + 6], std::sqrt(0.5), 1e-15);

  const auto refused = [&](const NamedValues& named) {
    return refusal([&] { poseAt(model, named); });
  };
  EXPECT_NE(refused({{"base.qx", {0.1}}}).find("quaternion is needed whole"), std::string::npos);
  EXPECT_NE(refused({{"base", {0, 0, 0, 0, 0, 0, 0}}}).find("quaternion is zero"),
            std::string::npos);
  EXPECT_NE(refused({{"sheet", {1.0}}}).find("it has 3"), std::string::npos);
  EXPECT_NE(refused({{"sheet", {1.0, 2.0, 3.0}}, {"sheet.x", {1.0}}}).find("given twice"),
            std::string::npos);
  EXPECT_NE(refused({{"base.z", {std::numeric_limits<double>::infinity()}}}).find("not finite"),
            std::string::npos);
  EXPECT_NE(refused({{"shet", {1, 2, 3}}}).find("Did you mean \"sheet\"?"), std::string::npos);
  EXPECT_NE(refused({{"wheel", {1.0}}}).find("It has the joints base, sheet."), std::string::npos);
}

}  // namespace
}  // namespace kempe::test
