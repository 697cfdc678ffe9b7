#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

namespace kempe::test {
namespace {

/// A planar chain of uniform bars, each `length` long along x, turning about z.
std::string addBars(Mechanism& robot, const std::string& parent, const std::string& stem, int count,
                    double length, const Vector3& start) {
  std::string last = parent;
  for (int i = 1; i <= count; ++i) {
    const std::string bar = stem + std::to_string(i);
    robot.addBody(bar).withMass(1).centeredAt({length / 2, 0, 0}).withInertia(0.001, 0.01, 0.01);
    robot.addRevolute(bar + "_pivot")
        .from(last)
        .to(bar)
        .at(i == 1 ? start : Vector3{length, 0, 0})
        .about({0, 0, 1});
    last = bar;
  }
  return last;
}

/// Crank and rocker on the ground, joined by a coupler: pivots at 0 and (1, 0).
Mechanism crankRocker() {
  Mechanism robot("crank_rocker");
  robot.addBody("ground");
  addBars(robot, "ground", "crank", 1, 0.3, {0, 0, 0});
  addBars(robot, "crank1", "coupler", 1, 0.9, {0.3, 0, 0});
  addBars(robot, "ground", "rocker", 1, 0.6, {1, 0, 0});
  robot.addLoop("knee", LoopType::Revolute)
      .from("coupler1", at({0.9, 0, 0}))
      .to("rocker1", at({0.6, 0, 0}))
      .about({0, 0, 1});
  robot.joints[0].independent();
  return robot;
}

/// A configuration of an implicit cluster from joint positions by name.
Eigen::VectorXd configuration(const Model& model,
                              const std::vector<std::pair<std::string, double>>& positions) {
  Eigen::VectorXd q(model.nq());
  for (const auto& [joint, position] : positions) {
    q[model.jointPositionIndex(joint)] = position;
  }
  return q;
}

double opening(const Model& model, Data& data, const Eigen::VectorXd& q) {
  Eigen::VectorXd residual = poisoned(model.nLoopRows());
  loopResidual(model, data, q, residual);
  return residual.cwiseAbs().maxCoeff();
}

TEST(Assembly, KeepsTheBranchOfTheGuess) {
  const Model model(crankRocker());
  Data data(model);
  const int crank = model.jointPositionIndex("crank1_pivot");
  const int rocker = model.jointPositionIndex("rocker1_pivot");
  // The two solutions mirror each other in the line from the crank's tip to the rocker's pivot.
  Eigen::VectorXd up = configuration(
      model, {{"crank1_pivot", 0.5}, {"coupler1_pivot", 0.0}, {"rocker1_pivot", 2.0}});
  Eigen::VectorXd down = configuration(
      model, {{"crank1_pivot", 0.5}, {"coupler1_pivot", -1.3}, {"rocker1_pivot", -2.0}});
  project(model, data, up, up);
  project(model, data, down, down);
  EXPECT_LE(opening(model, data, up), 1e-12);
  EXPECT_LE(opening(model, data, down), 1e-12);
  EXPECT_EQ(up[crank], 0.5);
  EXPECT_EQ(down[crank], 0.5);
  EXPECT_GT(std::sin(up[rocker]), 0.1);
  EXPECT_LT(std::sin(down[rocker]), -0.1);
}

TEST(Assembly, FindsTheLoopFromAFarGuess) {
  const Model model(crankRocker());
  Data data(model);
  for (double coupler = -3.0; coupler <= 3.0; coupler += 0.5) {
    for (double rocker = -3.0; rocker <= 3.0; rocker += 0.5) {
      Eigen::VectorXd q = configuration(
          model, {{"crank1_pivot", 1.0}, {"coupler1_pivot", coupler}, {"rocker1_pivot", rocker}});
      project(model, data, q, q);
      EXPECT_LE(opening(model, data, q), 1e-12);
      EXPECT_EQ(q[model.jointPositionIndex("crank1_pivot")], 1.0);
    }
  }
}

TEST(Assembly, SaysWhichLoopStaysOpenHowFarAndWhere) {
  // Too short a rocker: the crank cannot turn round.
  Mechanism robot = crankRocker();
  robot.loops[0].predecessor.frame = at({0.5, 0, 0});
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd q = model.neutral();
  // Crank tip at −0.3: 1.3 away from the rocker's pivot, 0.5 + 0.6 reach.
  q[model.jointPositionIndex("crank1_pivot")] = 3.14159;
  const Eigen::VectorXd before = q;
  try {
    project(model, data, q, q);
    FAIL() << "closed to " << opening(model, data, q);
  } catch (const AssemblyError& error) {
    EXPECT_EQ(error.loop(), "knee");
    EXPECT_GT(error.gap(), 0.05);
    EXPECT_LT(error.gap(), 0.5);
    const std::string text = error.what();
    EXPECT_NE(text.find("loop \"knee\" cannot be closed"), std::string::npos) << text;
    EXPECT_NE(text.find("crank1_pivot = 3.14"), std::string::npos) << text;
  }
  EXPECT_EQ(q, before) << "the output is untouched where it fails";
}

TEST(Assembly, IntegrateStopsWhereTheLoopEnds) {
  Mechanism robot = crankRocker();
  robot.loops[0].predecessor.frame = at({0.5, 0, 0});
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd q = model.neutral();
  EXPECT_ANY_THROW({
    for (int step = 0; step < 400; ++step) {
      integrate(model, data, q, Eigen::VectorXd::Ones(1), 0.02, q);
    }
  });
  EXPECT_LE(opening(model, data, q), 1e-12);
}

TEST(Assembly, LongStepsStayOnTheBranch) {
  const Model model(crankRocker());
  Data data(model);
  // One whole turn of the crank in one step and in many: the same place.
  const Eigen::VectorXd turn = Eigen::VectorXd::Constant(1, 2 * M_PI);
  Eigen::VectorXd once(3), often = model.neutral();
  integrate(model, data, model.neutral(), turn, 1.0, once);
  for (int step = 0; step < 1000; ++step) {
    integrate(model, data, often, turn, 1e-3, often);
  }
  EXPECT_TRUE(closeTo(once, often, 1e-9));
  const int rocker = model.jointPositionIndex("rocker1_pivot");
  EXPECT_NEAR(std::cos(once[rocker]), std::cos(model.neutral()[rocker]), 1e-9);
}

TEST(Assembly, LargeLoopsClose) {
  Mechanism robot("necklace");
  robot.addBody("ground");
  const std::string last = addBars(robot, "ground", "bead", 40, 0.1, {0, 0, 0});
  robot.addLoop("clasp", LoopType::Revolute)
      .from(last, at({0.1, 0, 0}))
      .to("ground", at({0.7, 0.2, 0}))
      .about({0, 0, 1})
      .leftCut(false);
  const Model model(robot);
  Data data(model);
  EXPECT_EQ(model.nv(), 38);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_LE(opening(model, data, model.randomConfiguration(seed)), 1e-12);
  }
}

TEST(Assembly, FreeJointsInLoopsKeepUnitQuaternions) {
  // A platform that floats, held by six rods: a Stewart platform whose legs have fixed lengths but
  // for one, which a slider moves.
  Mechanism robot("platform");
  robot.addBody("ground");
  robot.addBody("plate").withMass(2).withInertia(0.1, 0.1, 0.2);
  robot.addJoint("plate_free", JointType::Free).from("ground").to("plate").at({0, 0, 0.5});
  robot.addBody("slider").withMass(0.5).withInertia(0.01, 0.01, 0.01);
  robot.addPrismatic("slide").from("ground").to("slider").along({0, 0, 1}).independent();
  for (int leg = 0; leg < 6; ++leg) {
    const int corner = (leg + 1) / 2;  // legs meet in pairs on the ground
    const double low = 2 * M_PI * corner / 3.0 + (leg % 2 == 0 ? 0.2 : -0.2);
    const double high = 2 * M_PI * leg / 6.0;
    const Vector3 foot{std::cos(low), std::sin(low), 0},
        head{0.4 * std::cos(high), 0.4 * std::sin(high), 0};
    const Vector3 way = head + Vector3{0, 0, 0.5} - foot;
    robot.addRod("leg" + std::to_string(leg))
        .from(leg == 0 ? "slider" : "ground", foot)
        .to("plate", head)
        .ofLength(norm(way));
  }
  const Model model(robot);
  Data data(model);
  ASSERT_EQ(model.nv(), 1);
  EXPECT_EQ(model.vNames().front(), "slide");
  Eigen::VectorXd q = model.neutral();
  const Eigen::VectorXd start = q;
  for (int step = 0; step < 200; ++step) {
    integrate(model, data, q, Eigen::VectorXd::Constant(1, 0.3 * std::cos(step * 0.05)), 0.01, q);
    ASSERT_LE(opening(model, data, q), 1e-12);
    Eigen::VectorXd positions(model.nqSpanning());
    spanningPositions(model, data, q, positions);
    const int at = model.jointPositionIndex("plate_free");
    ASSERT_NEAR(positions.segment<4>(at + 3).norm(), 1.0, 1e-14);
  }
  EXPECT_GT((q - start).cwiseAbs().maxCoeff(), 0.01);
}

TEST(Assembly, RandomConfigurationsKeepTheLimitsOfDependentJointsToo) {
  Mechanism robot = crankRocker();
  robot.joints[2].limitedTo(1.5, 2.5);
  const Model model(robot);
  const int crank = model.jointPositionIndex("crank1_pivot");
  const int rocker = model.jointPositionIndex("rocker1_pivot");
  double lowest = 10, highest = -10;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    EXPECT_GE(q[rocker], 1.5);
    EXPECT_LE(q[rocker], 2.5);
    EXPECT_EQ(q, model.randomConfiguration(seed));
    lowest = std::min(lowest, q[crank]);
    highest = std::max(highest, q[crank]);
  }
  EXPECT_GT(highest - lowest, 0.3) << "they differ";
}

TEST(Singularity, FourBarZeroIsADeadPointAndNeutralIsNot) {
  const Model model = robots::load("four_bar");
  Data data(model);
  Eigen::MatrixXd G = poisoned(model.nvSpanning(), model.nv());
  EXPECT_NO_THROW(constraintJacobian(model, data, model.neutral(), G));
  EXPECT_LT(G.cwiseAbs().maxCoeff(), 100.0);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nq());
  EXPECT_LE(opening(model, data, zero), 1e-12);
  try {
    constraintJacobian(model, data, zero, G);
    FAIL();
  } catch (const SingularityError& error) {
    EXPECT_EQ(error.loop(), model.clusters().front().loops.front());
    EXPECT_GT(error.condition(), 1e9);
    const std::string text = error.what();
    EXPECT_NE(text.find("\"" + error.loop() + "\" is in a singular configuration"),
              std::string::npos);
    const bool exactly = text.find("exactly singular") != std::string::npos;
    EXPECT_TRUE(exactly || text.find("condition number") != std::string::npos) << text;
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  }
  Eigen::VectorXd g(model.nvSpanning()), positions(model.nqSpanning());
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(model.nv());
  EXPECT_THROW(constraintBias(model, data, zero, v, g), SingularityError);
  EXPECT_THROW(constraintJacobianRate(model, data, zero, v, G), SingularityError);
  EXPECT_THROW(spanning(model, data, zero, v, positions, g), SingularityError);
  EXPECT_THROW(integrate(model, data, zero, v, 0.01, positions), SingularityError);
  EXPECT_NO_THROW(spanningPositions(model, data, zero, positions));
}

/// A slider-crank with the slider as independent coordinate, so that it is singular at its dead
/// centres.
Mechanism slidingCrank() {
  Mechanism robot("slider_crank");
  robot.addBody("ground");
  addBars(robot, "ground", "crank", 1, 0.2, {0, 0, 0});
  addBars(robot, "crank1", "rod", 1, 0.5, {0.2, 0, 0});
  robot.addBody("piston").withMass(1).withInertia(0.01, 0.01, 0.01);
  robot.addPrismatic("bore").from("ground").to("piston").along({1, 0, 0}).independent();
  robot.addLoop("pin", LoopType::Revolute)
      .from("rod1", at({0.5, 0, 0}))
      .to("piston")
      .about({0, 0, 1});
  return robot;
}

/// Its configuration with the crank `angle` before the dead centre.
Eigen::VectorXd beforeDeadCentre(const Model& model, double angle) {
  const double rod = std::asin(0.2 * std::sin(angle) / 0.5);
  const double bore = 0.2 * std::cos(angle) + 0.5 * std::cos(rod);
  return configuration(model,
                       {{"crank1_pivot", angle}, {"rod1_pivot", -angle - rod}, {"bore", bore}});
}

TEST(Singularity, NearADeadPointNumbersStayRight) {
  const Model model(slidingCrank());
  Data data(model);
  ASSERT_EQ(model.vNames().front(), "bore");
  for (const double angle : {1e-1, 1e-2, 1e-3, 1e-4}) {
    const double rod = std::asin(0.2 * std::sin(angle) / 0.5);
    const Eigen::VectorXd q = beforeDeadCentre(model, angle);
    Eigen::MatrixXd G(3, 1);
    constraintJacobian(model, data, q, G);
    // dx/dθ of the textbook slider-crank
    const double slope = -0.2 * std::sin(angle) - 0.2 * std::cos(angle) * std::tan(rod);
    EXPECT_NEAR(G(model.jointVelocityIndex("crank1_pivot"), 0) * slope, 1.0, 1e-9 / angle);
  }
}

// The rows of the loop shrink in proportion to the angle before the dead centre: by 1e-9 of their
// size they count as singular in double, by 1e-5 in float.
TEST(Singularity, HasAThreshold) {
  const Model model(slidingCrank());
  Data data(model);
  BasicData<float> small(model);
  Eigen::MatrixXd G(3, 1);
  for (const double angle : {1e-6, 1e-8}) {
    EXPECT_NO_THROW(constraintJacobian(model, data, beforeDeadCentre(model, angle), G)) << angle;
  }
  for (const double angle : {1e-10, 1e-12}) {
    EXPECT_THROW(constraintJacobian(model, data, beforeDeadCentre(model, angle), G),
                 SingularityError)
        << angle;
  }
  const auto inFloat = [&](double angle) {
    const Eigen::VectorXf q = beforeDeadCentre(model, angle).cast<float>();
    const Eigen::VectorXf zero = Eigen::VectorXf::Zero(1);
    Eigen::VectorXf a(1);
    forwardDynamics(model, small, q, zero, zero, a);
  };
  EXPECT_NO_THROW(inFloat(1e-3));
  EXPECT_THROW(inFloat(1e-6), SingularityError);
}

/// N + 1 rockers of 1 m, hinged 1 m apart, and couplers between them: drawn flat, where 2^N branches
/// of its motion meet.
Mechanism flatLadder(int loops) {
  Mechanism robot("ladder");
  robot.addBody("ground");
  for (int i = 0; i <= loops; ++i) {
    addBars(robot, "ground", "rocker" + std::to_string(i) + "_", 1, 1.0, {1.0 * i, 0, 0});
  }
  for (int i = 0; i < loops; ++i) {
    const std::string number = std::to_string(i), coupler = "coupler" + number + "_";
    addBars(robot, "rocker" + number + "_1", coupler, 1, 1.0, {1, 0, 0});
    robot.addLoop("pin" + number, LoopType::Revolute)
        .from(coupler + "1", at({1, 0, 0}))
        .to("rocker" + std::to_string(i + 1) + "_1", at({1, 0, 0}));
  }
  return robot;
}

TEST(Mobility, IsThatOfRegularPositions) {
  for (const int loops : {1, 2, 5, 10, 20, 30}) {
    EXPECT_EQ(Model(flatLadder(loops)).nv(), 1) << loops << " loops";
  }
}

TEST(Mobility, IsWarnedAboutWhereNoRegularPositionIsFound) {
  for (const int loops : {40, 60}) {
    const Model model(flatLadder(loops));
    const bool warned = std::ranges::any_of(model.warnings(), [](const std::string& text) {
      return text.find("may be too many") != std::string::npos;
    });
    EXPECT_TRUE(model.nv() == 1 || warned) << loops << " loops";
  }
}

}  // namespace
}  // namespace kempe::test
