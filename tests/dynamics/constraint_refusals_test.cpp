// What constraints refuse and how they say it, and that they allocate nothing once they are set up.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

Mechanism arm() {
  Mechanism robot("arm");
  robot.addBody("ground");
  for (const char* name : {"upper", "lower", "ball", "plate"}) {
    robot.addBody(name).withMass(1.0).withInertia(0.1, 0.1, 0.1).centeredAt({0.2, 0, 0.1});
  }
  robot.addRevolute("shoulder").from("ground").to("upper").about({0, 1, 0});
  robot.addRevolute("elbow").from("upper").to("lower").at({0.5, 0, 0}).about({0, 1, 0});
  robot.addJoint("wrist", JointType::Spherical).from("lower").to("ball").at({0.5, 0, 0});
  robot.addFixed("bolts").from("ball").to("plate");
  return robot;
}

class RefusedConstraints : public ::testing::Test {
 protected:
  template <typename Description>
  std::string adding(Description description) {
    return refusal([&] { constraints.add(std::move(description)); });
  }

  Model model{arm()};
  Data data{model};
  Constraints constraints{model};
  Eigen::VectorXd q = model.neutral();
};

TEST_F(RefusedConstraints, Names) {
  EXPECT_EQ(adding(KnifeEdge{.body = "lower"}), "a constraint needs a name");
  constraints.add(KnifeEdge{.name = "edge", .body = "lower"});
  EXPECT_EQ(adding(KnifeEdge{.name = "edge", .body = "upper"}),
            "constraint \"edge\": another one has this name already; give each a unique name");
  EXPECT_EQ(adding(KnifeEdge{.name = "other", .body = "leg"}),
            "constraint \"other\": there is no body \"leg\"");
  EXPECT_EQ(adding(KnifeEdge{.name = "other", .body = "ground"}),
            "constraint \"other\": its body does not move");
  EXPECT_EQ(constraints.count(), 1);
  EXPECT_EQ(constraints.find("other"), -1);
}

TEST_F(RefusedConstraints, JointsBetweenBodies) {
  LoopJoint joint{.name = "joint", .type = LoopType::Universal};
  joint.from("ground").to("ball");
  LoopJoint wrong = joint;
  EXPECT_EQ(adding(wrong.about({})),
            "constraint \"joint\": the axis must be a nonzero, finite vector");
  wrong = joint;
  EXPECT_EQ(adding(wrong.thenAbout({0, kNotFinite, 0})),
            "constraint \"joint\": the second axis must be a nonzero, finite vector");
  wrong = joint;
  wrong.from("plate");
  EXPECT_EQ(adding(wrong), "constraint \"joint\": its two ends are on the same rigid body");
  wrong = joint;
  wrong.successor.frame.p.x = kNotFinite;
  const std::string frame =
      "constraint \"joint\": a frame must have finite numbers and axes of unit length";
  EXPECT_EQ(adding(wrong), frame);
  wrong = joint;
  wrong.successor.frame.R = {};
  EXPECT_EQ(adding(wrong), frame);
}

TEST_F(RefusedConstraints, Rods) {
  const Rod rod{.name = "rod", .predecessor = {"", {}}, .successor = {"ball", {}}, .length = 1.0};
  Rod wrong = rod;
  wrong.length = 0.0;
  EXPECT_EQ(adding(wrong), "constraint \"rod\": the length must be positive");
  wrong = rod;
  wrong.successor.point.z = kNotFinite;
  EXPECT_EQ(adding(wrong), "constraint \"rod\": a point is not finite");
  wrong = rod;
  wrong.predecessor.body = "plate";
  EXPECT_EQ(adding(wrong), "constraint \"rod\": its two ends are on the same rigid body");
}

TEST_F(RefusedConstraints, Coordinates) {
  Coupling coupling{.name = "gear"};
  EXPECT_EQ(adding(coupling), "constraint \"gear\": it has no terms");
  EXPECT_EQ(adding(Coupling{coupling}.plus(1, "knee")),
            "constraint \"gear\": there is no moving joint \"knee\"");
  EXPECT_EQ(adding(Coupling{coupling}.plus(1, "bolts")),
            "constraint \"gear\": there is no moving joint \"bolts\"");
  EXPECT_EQ(adding(Coupling{coupling}.plus(1, "wrist")),
            "constraint \"gear\": joint \"wrist\" is spherical, whose position is not a scalar");
  EXPECT_EQ(adding(Coupling{coupling}.plus(1, {"elbow", 1})),
            "constraint \"gear\": joint \"elbow\" has 1 coordinates, there is no component 1");
  EXPECT_EQ(adding(Coupling{coupling}.plus(kNotFinite, "elbow")),
            "constraint \"gear\": a coefficient is not finite");
  EXPECT_EQ(adding(Coupling{coupling}.plus(1, "elbow").equals(kNotFinite)),
            "constraint \"gear\": the offset is not finite");
}

TEST_F(RefusedConstraints, FunctionsAndMotions) {
  EXPECT_EQ(adding(TimedFunction{.name = "f", .coordinates = {"elbow"}, .rows = 0}),
            "constraint \"f\": it must have at least one row");
  EXPECT_EQ(adding(TimedFunction{.name = "f"}), "constraint \"f\": it uses no coordinate");
  EXPECT_EQ(adding(TimedFunction{.name = "f", .coordinates = {"elbow"}}),
            "constraint \"f\": it has no function for jets");
  EXPECT_EQ(refusal([&] { constraints.prescribe("p", "elbow", nullptr); }),
            "constraint \"p\": it has no motion");
  EXPECT_EQ(refusal([&] { constraints.lock("l", "bolts", q); }),
            "constraint \"l\": there is no moving joint \"bolts\"");
  EXPECT_EQ(refusal([&] { constraints.lock("l", "elbow", Eigen::VectorXd::Zero(2)); }),
            "q has 2 entries, but model.nq is 6");
}

TEST_F(RefusedConstraints, Wheels) {
  const Rolling wheel{.name = "wheel", .body = "lower", .radius = 0.2};
  Rolling wrong = wheel;
  wrong.radius = -1.0;
  EXPECT_EQ(adding(wrong), "constraint \"wheel\": the radius must be positive");
  wrong = wheel;
  wrong.axle = {};
  EXPECT_EQ(adding(wrong), "constraint \"wheel\": the axle must be a nonzero, finite vector");
  wrong = wheel;
  wrong.center.y = kNotFinite;
  EXPECT_EQ(adding(wrong), "constraint \"wheel\": the centre is not finite");
  wrong = wheel;
  wrong.ground = "lower";
  EXPECT_EQ(adding(wrong), "constraint \"wheel\": the wheel and its ground are one rigid body");
  wrong = wheel;
  wrong.plane.p.x = kNotFinite;
  EXPECT_EQ(adding(wrong),
            "constraint \"wheel\": a frame must have finite numbers and axes of unit length");
}

TEST_F(RefusedConstraints, NumbersRatesAndTimes) {
  constraints.add(KnifeEdge{.name = "edge", .body = "lower"});
  EXPECT_EQ(refusal([&] { constraints.enable(1); }), "constraint 1: there are 1, counted from 0");
  EXPECT_EQ(refusal([&] { constraints.stabilize(-1.0); }),
            "rate: stabilisation needs a finite rate that is not negative");
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd a(model.nv()), lambda(1), two(2);
  const auto solve = [&](const Constraints& of, double time, VectorOut multipliers,
                         const DynamicsOptions& how = {}) {
    return refusal([&] {
      constrainedForwardDynamics(model, data, of, time, q, zero, zero, a, multipliers, how);
    });
  };
  EXPECT_EQ(solve(constraints, kNotFinite, lambda), "time is not finite");
  EXPECT_EQ(solve(constraints, 0.0, two), "multipliers has 2 entries, but constraints.rows is 1");
  EXPECT_EQ(solve(constraints, 0.0, lambda, {.method = Method::Projection}),
            "method: constraints require Method::Cluster");
  const Model other(arm());
  Constraints elsewhere(other);
  elsewhere.add(KnifeEdge{.name = "edge", .body = "lower"});
  EXPECT_EQ(solve(elsewhere, 0.0, lambda), "constraints were made for another model");
  constraints.add(Coupling{.name = "gear"}.plus(1, "elbow"));
  EXPECT_EQ(refusal([&] { constraintWrench(model, data, constraints, 1, 0.0, q, two.setZero()); }),
            "constraint \"gear\" acts on coordinates: its multipliers are its forces");
}

TEST_F(RefusedConstraints, PositionsAtWhichThereIsNoRow) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd a(model.nv()), lambda(1), rolling(3);
  const auto report = [&](const Constraints& of, VectorOut multipliers) {
    try {
      constrainedForwardDynamics(model, data, of, 0.0, q, zero, zero, a, multipliers);
    } catch (const SingularityError& error) {
      return error.loop() + ": " + error.what();
    }
    return std::string("nothing was thrown");
  };
  // A disc that lies flat touches everywhere.
  constraints.add(Rolling{.name = "wheel", .body = "lower", .axle = {0, 0, 1}, .radius = 0.2});
  EXPECT_EQ(report(constraints, rolling),
            "wheel: constraint \"wheel\" is not defined here: a disc lies flat on its plane, or a "
            "function or a motion is not finite. Move away from there, or switch it off.");
  constraints.enable(0, false);
  EXPECT_EQ(report(constraints, rolling), "nothing was thrown");
  Constraints function(model);
  function.addFunction("root", {"elbow"}, 1, [](const auto& x, const auto&, auto& phi) {
    using std::sqrt;
    phi[0] = sqrt(x[0] - 1.0);
  });
  EXPECT_TRUE(
      report(function, lambda).starts_with("root: constraint \"root\" is not defined here:"));
  Constraints motion(model);
  motion.prescribe("drive", "elbow", [](double) { return PrescribedMotion{0.0, kNotFinite, 0.0}; });
  EXPECT_TRUE(
      report(motion, lambda).starts_with("drive: constraint \"drive\" is not defined here:"));
}

TEST_F(RefusedConstraints, CopiesAreSeparate) {
  constraints.add(KnifeEdge{.name = "edge", .body = "lower"});
  Constraints copy = constraints;
  copy.enable(0, false);
  copy.stabilize(2.0);
  copy.add(KnifeEdge{.name = "second", .body = "upper"});
  EXPECT_TRUE(constraints.enabled(0));
  EXPECT_FALSE(copy.enabled(0));
  EXPECT_EQ(constraints.stabilization(), 0.0);
  EXPECT_EQ(constraints.rows(), 1);
  EXPECT_EQ(copy.rows(), 2);
  EXPECT_EQ(copy.firstRow(1), 1);
  EXPECT_EQ(copy.name(1), "second");
}

TEST_F(RefusedConstraints, NothingIsAllocatedAfterTheFirstCall) {
  constraints.add(LoopJoint{.name = "ball", .type = LoopType::Spherical}.to("ball"));
  constraints.add(Rod{.name = "rod"}.from("", {0, 0, 1}).to("upper", {}).ofLength(1.0));
  constraints.add(KnifeEdge{.name = "edge", .body = "lower"});
  constraints.add(Rolling{.name = "wheel", .body = "lower", .radius = 0.2});
  constraints.add(Coupling{.name = "gear"}.plus(1, "elbow").minus(2, "shoulder"));
  constraints.lock("brake", "wrist", q);
  constraints.prescribe("drive", "elbow", [](double t) { return PrescribedMotion{t, 1.0, 0.0}; });
  constraints.addFunction(
      "curve", {"elbow", "shoulder"}, 1,
      [](const auto& x, const auto& t, auto& phi) { phi[0] = x[0] * x[1] + t; });
  const int rows = constraints.rows();
  Eigen::VectorXd v = Eigen::VectorXd::Constant(model.nv(), 0.1), a(model.nv()), lambda(rows);
  Eigen::MatrixXd K(rows, model.nv());
  const auto all = [&] {
    constrainedForwardDynamics(model, data, constraints, 0.1, q, v, v, a, lambda);
    constraintErrors(model, data, constraints, 0.1, q, lambda);
    constraintVelocityErrors(model, data, constraints, 0.1, q, v, lambda);
    constraintRows(model, data, constraints, 0.1, q, K);
    projectVelocities(model, data, constraints, 0.1, q, v, a, lambda);
    constraintWrench(model, data, constraints, 0, 0.1, q, lambda);
  };
  all();
  EXPECT_EQ(allocationsOf(all), 0);
  constraints.enable(0, false);
  EXPECT_EQ(allocationsOf(all), 0);
  constraints.enable(0);
  EXPECT_EQ(allocationsOf(all), 0);

  Constraints one(model);
  one.add(Rod{.name = "rod"}.from("", {0.2, 0, 0.4}).to("lower", {}).ofLength(0.5));
  Eigen::VectorXd closed(model.nq());
  const auto project = [&] { projectPositions(model, data, one, 0.0, q, closed); };
  project();
  EXPECT_EQ(allocationsOf(project), 0);
}

}  // namespace
}  // namespace kempe::test
