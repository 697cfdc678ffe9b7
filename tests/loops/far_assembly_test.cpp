#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "loops/far_mechanisms.hpp"
#include "support/close_to.hpp"

/// Loading and drawing configurations of mechanisms that are drawn by other people's habits.
namespace kempe::test {
namespace {

double opening(const Model& model, const Eigen::VectorXd& q) {
  Data data(model);
  Eigen::VectorXd residual = poisoned(model.nLoopRows());
  loopResidual(model, data, q, residual);
  return residual.cwiseAbs().maxCoeff();
}

/// Seeds, of `count`, whose random configuration is that of neutral or of another seed.
int repeated(const Model& model, int count) {
  std::vector<Eigen::VectorXd> drawn{model.neutral()};
  int same = 0;
  for (int seed = 0; seed < count; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(static_cast<std::uint64_t>(seed));
    same += std::ranges::any_of(drawn, [&](const Eigen::VectorXd& other) {
      return (q - other).cwiseAbs().maxCoeff() < 1e-9;
    });
    drawn.push_back(q);
  }
  return same;
}

/// The mechanism with all lengths times `scale`, masses times its cube.
Mechanism scaled(Mechanism robot, double scale) {
  const auto grow = [&](Pose& pose) { pose.p = scale * pose.p; };
  for (Body& body : robot.bodies) {
    body.mass *= std::pow(scale, 3);
    body.centerOfMass = scale * body.centerOfMass;
    body.inertia = std::pow(scale, 5) * body.inertia;
  }
  for (Joint& joint : robot.joints) {
    grow(joint.origin);
    if (joint.type == JointType::Prismatic) {
      joint.limits.lower *= scale;
      joint.limits.upper *= scale;
    }
  }
  for (LoopJoint& loop : robot.loops) {
    grow(loop.predecessor.frame);
    grow(loop.successor.frame);
  }
  for (Rod& rod : robot.rods) {
    rod.predecessor.point = scale * rod.predecessor.point;
    rod.successor.point = scale * rod.successor.point;
    rod.length *= scale;
  }
  return robot;
}

TEST(FarAssembly, ParallelCranksHaveOneDegreeOfFreedom) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> spacing(0.1, 0.2), tilt(-1.5, 1.5);
  for (int i = 0; i < 100; ++i) {
    const double s = spacing(random), t = tilt(random);
    const Model model(locomotive(3 + i % 3, 0.3, s, t));
    EXPECT_EQ(model.nv(), 1) << s << " " << t;
    EXPECT_LE(opening(model, model.neutral()), 1e-12);
  }
}

TEST(FarAssembly, NeutralIsThePoseAsDrawnWhereThatIsClosedAndRegular) {
  for (const int stages : {1, 2, 4, 8, 12, 16}) {
    const Model model(scissor(stages, 1.0, 0.5));
    EXPECT_EQ(model.nv(), 1);
    EXPECT_LE(model.neutral().cwiseAbs().maxCoeff(), 1e-9) << stages;
  }
}

TEST(FarAssembly, PartsDrawnApartAreBroughtTogether) {
  for (const bool welded : {false, true}) {
    for (const double turn : {0.0, 1.0, 2.0, 3.1}) {
      for (const double scale : {1e-3, 1.0, 1e3}) {
        const auto begun = std::chrono::steady_clock::now();
        const Model model(hexapod(scale, true, welded, turn));
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        EXPECT_EQ(model.nv(), 6) << scale << " " << turn;
        EXPECT_LE(opening(model, model.neutral()), 1e-12 * std::max(1.0, scale));
        EXPECT_LE(seconds, 20.0);
      }
    }
  }
}

TEST(FarAssembly, RoundedFiguresDoNotAddRows) {
  for (const double unit : {0.0, 1e-9, 1e-6, 1e-5}) {
    const Model model(sphericalManipulator(unit));
    EXPECT_EQ(model.nv(), 3) << unit;
    EXPECT_EQ(model.clusters().front().redundantRows, 6);
    if (unit >= 1e-6) {
      const auto& warnings = model.warnings();
      EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& text) {
        return text.find("rounding of the numbers in the file") != std::string::npos;
      }));
    }
    EXPECT_EQ(repeated(model, 20), 0);
  }
}

TEST(FarAssembly, LargeRatiosDoNotHideRows) {
  // A four-bar whose crank is turned by a motor through a gear.
  for (const double ratio : {1.0, 100.0, 1e4, 314159.0, 1e6}) {
    Mechanism robot = locomotive(2, 0.3, 1.0, 0.7);
    robot.addBody("rotor").withMass(0.1).withInertia(1e-5, 1e-5, 1e-5);
    robot.joints[0].dependent();
    robot.addRevolute("motor").from("frame").to("rotor").about({0, 1, 0}).independent();
    robot.addGear("gear", "motor", ratio, "axle0");
    const Model geared(robot);
    EXPECT_EQ(geared.nv(), 1) << ratio;
    EXPECT_EQ(geared.vNames().front(), "motor");
  }
  // A spindle drives a slider-crank: radians per metre of stroke.
  Mechanism robot = scissor(1, 1.0, 0.5);
  robot.joints[0].dependent();
  robot.addBody("screw").withMass(1).withInertia(1e-3, 1e-3, 1e-3);
  robot.addRevolute("motor").from("ground").to("screw").about({1, 0, 0}).independent();
  robot.addGear("spindle", "motor", 314159.0, "slide");
  EXPECT_EQ(Model(robot).nv(), 1);
}

TEST(FarAssembly, RingsWithAMasslessLinkLoad) {
  Mechanism robot("ring");
  robot.addBody("ground");
  std::string last = "ground";
  const int count = 25;
  for (int i = 0; i < count; ++i) {
    const std::string link = "link" + std::to_string(i);
    robot.addBody(link);
    if (i != count - 1) {
      robot.bodies.back().withMass(1).centeredAt({0.05, 0, 0}).withInertia(1e-3, 1e-3, 1e-3);
    }
    robot.addRevolute("pin" + std::to_string(i))
        .from(last)
        .to(link)
        .at({i == 0 ? 0.0 : 0.1, 0, 0}, {0, 0, i == 0 ? 0.0 : 2 * M_PI / (count + 1)})
        .about({0, 0, 1});
    last = link;
  }
  robot.addLoop("clasp", LoopType::Revolute)
      .from(last, at({0.1, 0, 0}))
      .to("ground", at({0.05, 0.08, 0}))
      .about({0, 0, 1});
  const Model model(robot);
  EXPECT_LE(opening(model, model.neutral()), 1e-12);
}

TEST(FarAssembly, RandomConfigurationsDiffer) {
  for (const double scale : {1e-3, 0.1, 1.0, 100.0}) {
    EXPECT_LE(repeated(Model(hexapod(scale, false, false)), 100), 1) << "hexapod " << scale;
    EXPECT_LE(repeated(Model(delta(scale)), 100), 1) << "delta " << scale;
    EXPECT_LE(repeated(Model(scaled(locomotive(3, 0.3, 0.15, 0.7), scale)), 100), 1);
    EXPECT_LE(repeated(Model(scaled(scissor(3, 1.0, 0.5), scale)), 100), 1);
  }
  for (const char* robot : {"tello", "planar_leg", "five_bar", "six_bar", "four_bar"}) {
    EXPECT_LE(repeated(robots::load(robot), 100), 1) << robot;
  }
}

TEST(FarAssembly, RandomConfigurationsOfShortStrokesDifferAndStayWithin) {
  Mechanism robot = hexapod(1.0, false, false);
  for (Joint& joint : robot.joints) {
    if (joint.type == JointType::Prismatic) {
      joint.limitedTo(-1e-4, 1e-4);
    }
  }
  const Model model(robot);
  EXPECT_LE(repeated(model, 100), 1);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    for (int leg = 0; leg < 6; ++leg) {
      const double x = q[model.jointPositionIndex("leg" + std::to_string(leg))];
      EXPECT_LE(std::abs(x), 1e-4);
    }
  }
}

TEST(FarAssembly, RandomConfigurationsStayOnTheBranch) {
  const Model model(delta(1.0));
  Data data(model);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rotation R;
    Vector3 p;
    const Pose pose =
        framePlacement(model, data, model.randomConfiguration(seed), model.frameIndex("platform"));
    R = pose.R;
    p = pose.p;
    EXPECT_LT(p.z, -0.2) << "the platform hangs below the base, seed " << seed;
    EXPECT_GT(R.r2.z, 0.99) << "and is level, seed " << seed;
  }
}

TEST(FarAssembly, MarkedCoordinatesChooseTheBranchOfAKite) {
  // Ground and crank 1, coupler and rocker 0.6: at zero the crank lies on the ground link, and the
  // other two can turn together without it.
  Mechanism robot = locomotive(2, 1.0, 1.0, 0.0);
  robot.loops[0].predecessor.frame = at({0.6, 0, 0});
  robot.loops[0].successor.frame = at({0.6, 0, 0});
  const Model model(robot);
  ASSERT_EQ(model.nv(), 1);
  EXPECT_EQ(model.vNames().front(), "axle0");
  EXPECT_GT(std::abs(model.neutral()[model.jointPositionIndex("axle0")]), 0.01);
  EXPECT_LE(repeated(model, 50), 1);
}

TEST(FarAssembly, AStartPoseChoosesTheBranch) {
  for (const double side : {1.0, -1.0}) {
    Mechanism robot = locomotive(2, 0.3, 1.0, 0.0);
    // The rod is longer than the distance of the cranks, so that they are never parallel.
    robot.loops[0].successor.frame = at({1.05, 0, 0});
    robot.startPose = {{"axle0", {side}}, {"axle1", {1.2 * side}}, {"pin0", {-side}}};
    const Model model(robot);
    EXPECT_EQ(model.neutral()[model.jointPositionIndex("axle0")], side);
    EXPECT_LE(opening(model, model.neutral()), 1e-12);
  }
}

TEST(FarAssembly, AStartPoseOfDependentJointsIsHeld) {
  for (const char* joint : {"axle0", "axle1", "pin0"}) {
    Mechanism robot = locomotive(2, 0.3, 1.0, 0.0);
    robot.loops[0].successor.frame = at({1.05, 0, 0});
    robot.startPose = {{joint, {0.9}}};
    const Model model(robot);
    EXPECT_NEAR(model.neutral()[model.jointPositionIndex(joint)], 0.9, 1e-9) << joint;
    EXPECT_LE(opening(model, model.neutral()), 1e-12);
  }
}

TEST(FarAssembly, AStartPoseThatCannotBeReachedIsReported) {
  Mechanism robot = scissor(1, 1.0, 0.5);
  robot.startPose = {{"slide", {3.0}}};
  const Model model(robot);
  EXPECT_TRUE(std::ranges::any_of(model.warnings(), [](const std::string& text) {
    return text.find("cannot be closed at the start pose") != std::string::npos &&
           text.find("slide = ") != std::string::npos &&
           text.find("instead of 3") != std::string::npos;
  }));
}

TEST(FarAssembly, ALoopThatCannotCloseIsNamedWithItsGap) {
  Mechanism robot = hexapod(1.0, false, false);
  robot.addBody("weight").withMass(1).withInertia(1e-3, 1e-3, 1e-3);
  robot.addRevolute("hinge").from("platform").to("weight").about({0, 0, 1});
  // A loop of the same cluster that is 0.2 m too short.
  robot.addRod("strut").from("weight", {0.1, 0, 0}).to("platform", {0.5, 0, 0}).ofLength(0.2);
  const auto begun = std::chrono::steady_clock::now();
  try {
    const Model model(robot);
    FAIL() << "closed";
  } catch (const ModelError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("rod \"strut\""), std::string::npos) << text;
    EXPECT_NE(text.find("cannot be closed"), std::string::npos) << text;
  }
  EXPECT_LE(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(), 30.0);
}

TEST(FarAssembly, ScaledRobotsLoadAsTheyDoUnscaled) {
  for (const double scale : {1e-3, 1e3, 1e4}) {
    const Model model(scaled(sphericalManipulator(0.0), scale));
    EXPECT_EQ(model.nv(), 3);
    EXPECT_EQ(Model(scaled(locomotive(4, 0.3, 0.15, 0.7), scale)).nv(), 1);
    EXPECT_EQ(Model(scaled(scissor(5, 1.0, 0.5), scale)).nv(), 1);
    EXPECT_EQ(Model(delta(scale)).nv(), 3);
  }
}

}  // namespace
}  // namespace kempe::test
