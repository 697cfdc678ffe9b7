// Clusters with equal couplings and functions, which evaluations of one state solve together.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "kempe/kempe.hpp"
#include "kempe/robots.hpp"
#include "model/model_impl.hpp"
#include "support/close_to.hpp"

namespace kempe::test {
namespace {

/// Legs on a floating trunk: a motor turns the thigh by a gear and the shin by a function. Legs of
/// the same gain have equal loops.
Mechanism legs(const std::vector<double>& gains) {
  Mechanism robot("legs");
  robot.addBody("ground");
  robot.addBody("trunk").withMass(3).centeredAt({0.1, 0, 0.2}).withInertia(0.2, 0.3, 0.25);
  robot.addJoint("float", JointType::Free).from("ground").to("trunk");
  double side = -0.3;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    const std::string leg = "leg" + std::to_string(i), thigh = leg + "thigh", shin = leg + "shin",
                      motor = leg + "motor";
    robot.addBody(motor).withMass(0.2).withInertia(2e-4, 3e-4, 2e-4);
    robot.addBody(thigh).withMass(1.1).centeredAt({0.02, 0.1, -0.2}).withInertia(0.02, 0.03, 0.01);
    robot.addBody(shin).withMass(0.4).centeredAt({0, 0, -0.15}).withInertia(0.01, 0.01, 0.002);
    robot.addRevolute(motor).from("trunk").to(motor).at({0, side, 0.1}).about({0, 1, 0});
    robot.joints.back().independent();
    robot.addRevolute(thigh).from("trunk").to(thigh).at({0, side, 0}).about({0, 1, 0}).dependent();
    robot.addRevolute(shin).from(thigh).to(shin).at({0, 0, -0.4}).about({0, 1, 0.1}).dependent();
    robot.addGear(leg + "gear", motor, 6.0, thigh);
    const double gain = gains[i];
    robot
        .addFunction(leg + "rod", {motor, shin}, 1,
                     [gain](const auto& q, auto& phi) {
                       using std::atan, std::sin;
                       phi[0] = sin(q[1]) - gain * q[0] - 0.05 * atan(q[0] * q[0]) * sin(q[0]);
                     })
        .cut = false;
    side += 0.25;
  }
  return robot;
}

/// The same with functions that are called back, which have no twins.
Mechanism withCallbacks(Mechanism robot) {
  for (Function& function : robot.functions) {
    function.symbolic = nullptr;
  }
  return robot;
}

int twinsOf(const Model& model) {
  int count = 0;
  const auto& clusters = model.impl().tables.clusters;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    if (clusters[c].twin >= 0) {
      EXPECT_EQ(clusters[static_cast<std::size_t>(clusters[c].twin)].twin, static_cast<int>(c));
      ++count;
    }
  }
  return count;
}

TEST(TwinLoops, AreThoseOfEqualLegs) {
  EXPECT_EQ(twinsOf(Model(legs({0.1, 0.1}))), 2);
  EXPECT_EQ(twinsOf(Model(legs({0.1, 0.11}))), 0);
  EXPECT_EQ(twinsOf(Model(legs({0.1, 0.11, 0.1}))), 2);
  EXPECT_EQ(twinsOf(Model(legs({0.1, 0.1, 0.1}))), 2);
  EXPECT_EQ(twinsOf(Model(legs({0.1, 0.11, 0.1, 0.11}))), 4);
  EXPECT_EQ(twinsOf(Model(withCallbacks(legs({0.1, 0.1})))), 0);
  EXPECT_EQ(twinsOf(Model(robots::mechanism("tello"))), 2);  // hips have rods
}

template <typename T>
void expectEqualForces(const Model& one, const Model& other, double tolerance) {
  using VectorT = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using MatrixT = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  BasicData<T> dataOne(one), dataOther(other);
  const int n = one.nv();
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    const VectorT q = one.randomConfiguration(seed).template cast<T>();
    const VectorT v = Eigen::VectorXd::LinSpaced(n, 1.3, -0.8).cast<T>(), tau = -v;
    const auto empty = static_cast<T>(NAN);
    VectorT first = VectorT::Constant(n, empty), second = first;
    VectorT loops = VectorT::Constant(one.nLoopForces(), empty), otherLoops = loops;
    const auto joints = static_cast<Eigen::Index>(one.jointNames().size());
    MatrixT forces = MatrixT::Constant(6, joints, empty), otherForces = forces;
    forwardDynamicsAndForces<T>(one, dataOne, q, v, tau, first, forces, loops);
    forwardDynamicsAndForces<T>(other, dataOther, q, v, tau, second, otherForces, otherLoops);
    EXPECT_TRUE(closeTo(first, second, tolerance));
    EXPECT_TRUE(closeTo(forces, otherForces, tolerance));
    EXPECT_TRUE(closeTo(loops, otherLoops, tolerance));
    inverseDynamicsAndForces<T>(one, dataOne, q, v, tau, first, forces, loops);
    inverseDynamicsAndForces<T>(other, dataOther, q, v, tau, second, otherForces, otherLoops);
    EXPECT_TRUE(closeTo(first, second, tolerance));
    EXPECT_TRUE(closeTo(forces, otherForces, tolerance));
    EXPECT_TRUE(closeTo(loops, otherLoops, tolerance));
  }
}

TEST(TwinLoops, HaveTheDynamicsOfLoopsThatAreSolvedOneByOne) {
  for (const std::vector<double>& gains :
       {std::vector{0.1, 0.1}, std::vector{0.1, 0.1, 0.1}, std::vector{0.1, 0.11, 0.1, 0.11}}) {
    const Model twins(legs(gains)), called(withCallbacks(legs(gains)));
    ASSERT_GT(twinsOf(twins), 0);
    expectEqualForces<double>(twins, called, 1e-11);
    expectEqualForces<float>(twins, called, 1e-3);
  }
}

TEST(TwinLoops, ReportTheOneThatIsSingular) {
  const Model model(legs({0.1, 0.1}));
  Data data(model);
  const int n = model.nv();
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(n);
  const Eigen::VectorXd regular = model.randomConfiguration(1);
  Eigen::VectorXd expected(n), a(n);
  forwardDynamics(model, data, regular, v, v, expected);
  for (const std::string leg : {"leg0", "leg1"}) {
    Eigen::VectorXd q = regular;
    for (std::size_t i = 0; i < model.qNames().size(); ++i) {
      if (model.qNames()[i] == leg + "shin") {
        q[static_cast<Eigen::Index>(i)] = std::numbers::pi / 2;  // ∂φ/∂q = 0
      }
    }
    try {
      forwardDynamics(model, data, q, v, v, a);
      ADD_FAILURE() << leg << " is singular";
    } catch (const SingularityError& error) {
      EXPECT_NE(std::string(error.what()).find(leg), std::string::npos) << error.what();
    }
    EXPECT_THROW(inverseDynamics(model, data, q, v, v, a), SingularityError);
    forwardDynamics(model, data, regular, v, v, a);
    EXPECT_TRUE(closeTo(a, expected, 0.0));
  }
}

}  // namespace
}  // namespace kempe::test
