#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "dynamics/derivative_checks.hpp"

/// Mechanisms at or near the edge of what can be solved: every method gives the right answer or an
/// error, never a wrong number.
namespace kempe::test {
namespace {

constexpr std::array kExact{Method::Cluster, Method::Projection, Method::Lagrange};

/// A body on three hinges about x, y and z that meet in its centre; the two rings between them have
/// the inertia `ring`. Without it the mass matrix is singular where the outer axes coincide.
Mechanism gimbal(double ring, const Vector3& origin = {0.4, -0.3, 0.7}) {
  Mechanism robot("gimbal");
  robot.addBody("ground");
  robot.addBody("outer").withMass(ring).withInertia(ring, ring, ring);
  robot.addBody("inner").withMass(ring).withInertia(ring, ring, ring);
  robot.addBody("body").withMass(2).withInertia(0.3, 0.4, 0.5);
  robot.addRevolute("roll")
      .from("ground")
      .to("outer")
      .at(origin, {0.3, 0.5, -0.2})
      .about({1, 0, 0});
  robot.addRevolute("pitch").from("outer").to("inner").about({0, 1, 0});
  robot.addRevolute("yaw").from("inner").to("body").about({0, 0, 1});
  return robot;
}

std::string singularity(const std::function<void()>& action) {
  try {
    action();
  } catch (const SingularityError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

template <typename T>
class Singular : public ::testing::Test {
 protected:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  Singular() : robot(gimbal(0)), locked(3), regular(3), rates(3), forces(3) {
    regular << T(0.3), T(0.8), T(-0.4);
    locked << T(0.3), std::numbers::pi_v<T> / 2, T(-0.4);
    rates << T(0.2), T(-0.1), T(0.5);
    forces << T(1), T(2), T(3);
  }

  Model robot;
  Vector locked, regular, rates, forces;
};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Singular, Scalars);

/// The rings have no inertia: where the axes of roll and yaw coincide, their difference moves none.
TYPED_TEST(Singular, MassMatrixIsReportedByEveryFunctionThatInvertsIt) {
  using T = TypeParam;
  const Model& model = this->robot;
  const auto &v = this->rates, &tau = this->forces;
  BasicData<T> data(model);
  typename TestFixture::Vector x(3);
  typename TestFixture::Matrix M(3, 3), Omega(6, 6), wrenches(6, 3);
  const std::array frames{model.frameIndex("body")};
  const auto expectNamed = [&](const char* call, const auto& action) {
    const std::string text = singularity([&] { action(this->locked); });
    // Either of the two that turn about the same axis.
    EXPECT_TRUE(text.find("coordinate \"roll\" moves no inertia") == 0 ||
                text.find("coordinate \"yaw\" moves no inertia") == 0)
        << call << ": " << text;
    EXPECT_EQ(singularity([&] { action(this->regular); }), "nothing was thrown") << call;
  };
  for (const Method method : kExact) {
    SCOPED_TRACE(static_cast<int>(method));
    expectNamed("forwardDynamics", [&](const auto& q) {
      forwardDynamics<T>(model, data, q, v, tau, x, {.method = method});
    });
    expectNamed("inverseOperationalInertia", [&](const auto& q) {
      inverseOperationalInertia<T>(model, data, q, frames, Omega, Reference::LocalWorldAligned,
                                   method);
    });
  }
  expectNamed("inverseMassMatrix", [&](const auto& q) { inverseMassMatrix<T>(model, data, q, M); });
  expectNamed("applyInverseMassMatrix",
              [&](const auto& q) { applyInverseMassMatrix<T>(model, data, q, tau, x); });
  typename TestFixture::Matrix byQ(3, 3), byV(3, 3);
  expectNamed("forwardDynamicsDerivatives", [&](const auto& q) {
    forwardDynamicsDerivatives<T>(model, data, q, v, tau, byQ, byV, M);
  });
  expectNamed("jointForces",
              [&](const auto& q) { jointForces<T>(model, data, q, v, tau, wrenches); });
}

TYPED_TEST(Singular, MassMatrixIsReportedWithTheNumberOfTheState) {
  using T = TypeParam;
  constexpr int kStates = 11, kBad = 7;
  BasicBatch<T> batch(this->robot, {.threads = 1});
  typename TestFixture::Rows q = this->regular.transpose().replicate(kStates, 1), a(kStates, 3);
  const typename TestFixture::Rows v = this->rates.transpose().replicate(kStates, 1),
                                   tau = this->forces.transpose().replicate(kStates, 1);
  const auto evaluate = [&] { forwardDynamics<T>(this->robot, batch, q, v, tau, a); };
  EXPECT_EQ(singularity(evaluate), "nothing was thrown");
  q.row(kBad) = this->locked.transpose();
  typename TestFixture::Rows byQ(kStates, 9), byV(kStates, 9), byTau(kStates, 9);
  const auto differentiate = [&] {
    forwardDynamicsDerivatives<T>(this->robot, batch, q, v, tau, byQ, byV, byTau);
  };
  for (const std::string& text : {singularity(evaluate), singularity(differentiate)}) {
    EXPECT_NE(text.find("state 7: "), std::string::npos) << text;
    EXPECT_NE(text.find("\"roll\""), std::string::npos) << text;
  }
}

/// The bead of a geared arm, all else without mass, on the arm's axis.
TEST(SingularMassMatrix, NamesTheClusterOfALoop) {
  Mechanism robot("parallel");
  robot.addBody("ground");
  robot.addBody("arm");
  robot.addBody("rotor").withInertia(0, 0, 0);
  robot.addBody("bead").withMass(1);
  robot.addRevolute("hinge").from("ground").to("arm").about({0, 0, 1});
  robot.addRevolute("drive").from("ground").to("rotor").about({0, 0, 1}).dependent();
  robot.addGear("gear", "drive", 3, "hinge");
  robot.addPrismatic("slide").from("arm").to("bead").at({0.5, 0, 0}).along({1, 0, 0});
  const Model model(robot);
  Data data(model);
  Eigen::VectorXd q(2), v = Eigen::VectorXd::Zero(2), a(2);
  q << 0.3, -0.5;
  const std::string text = singularity([&] { forwardDynamics(model, data, q, v, v, a); });
  EXPECT_NE(text.find("coordinate \"hinge\" (cluster of joints "), std::string::npos) << text;
  EXPECT_NE(text.find("Give the bodies that it moves mass and inertia"), std::string::npos) << text;
}

/// Lengths from micrometres to thousands of kilometres, of the density of steel.
TEST(SingularMassMatrix, IsNotSeenInRobotsOfAnySize) {
  for (double scale = 1e-6; scale < 2e6; scale *= 10) {
    SCOPED_TRACE(scale);
    Mechanism robot("chain");
    robot.gravity = {0, 0, -9.81 * scale};
    robot.addBody("ground");
    std::string parent = "ground";
    for (int i = 0; i < 6; ++i) {
      const std::string name = "link" + std::to_string(i);
      const double mass = 8e3 * 0.001 * scale * scale * scale;
      const double inertia = mass * scale * scale;
      robot.addBody(name)
          .withMass(mass)
          .centeredAt({0.05 * scale, 0, 0})
          .withInertia(1e-4 * inertia, 1e-3 * inertia, 1e-3 * inertia);
      robot.addRevolute("joint" + std::to_string(i))
          .from(parent)
          .to(name)
          .at({0.1 * scale, 0, 0})
          .about(i % 2 == 0 ? Vector3{0, 1, 0} : Vector3{1, 0, 0});
      parent = name;
    }
    const Model model(robot);
    Data data(model);
    const Eigen::VectorXd q = Eigen::VectorXd::LinSpaced(6, -1, 1.3);
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(6, 0.4, -0.7);
    const Eigen::VectorXd a = Eigen::VectorXd::LinSpaced(6, 1, -2);
    Eigen::VectorXd tau = poisoned(6), x = poisoned(6);
    inverseDynamics(model, data, q, v, a, tau);
    for (const Method method : kExact) {
      forwardDynamics(model, data, q, v, tau, x, {.method = method});
      EXPECT_TRUE(closeTo(x, a, 1e-9)) << static_cast<int>(method);
    }
    expectEquationsOfMotion(model, data, q, v, tau);
  }
}

/// Rings of little inertia: refused where the result would be rounding, right where it is not.
TEST(SingularMassMatrix, NearlySingularIsRightOrRefused) {
  for (double ring = 1e-2; ring > 1e-18; ring *= 0.1) {
    SCOPED_TRACE(ring);
    const Model model(gimbal(ring));
    Data data(model);
    Eigen::VectorXd q(3), v = Eigen::VectorXd::Zero(3), a(3), tau = poisoned(3), x = poisoned(3);
    q << 0.3, std::numbers::pi / 2, -0.4;
    a << 1, 2, -3;
    inverseDynamics(model, data, q, v, a, tau);
    for (const Method method : kExact) {
      try {
        forwardDynamics(model, data, q, v, tau, x, {.method = method});
        EXPECT_TRUE(closeTo(x, a, 1e-2)) << static_cast<int>(method);
        EXPECT_GT(ring, 1e-14) << static_cast<int>(method);
      } catch (const SingularityError&) {
        EXPECT_LT(ring, 2e-9) << static_cast<int>(method);
      }
    }
    try {
      expectEquationsOfMotion(model, data, q, v, tau, {}, 1e-2);
      EXPECT_GT(ring, 1e-14);
    } catch (const SingularityError&) {
      EXPECT_LT(ring, 2e-9);
    }
  }
}

// --- bodies without inertia in loops -----------------------------------------------------------

/// A crank of mass `crank` drives a slider of one kilogram by a connecting rod of mass `rod`; the
/// slider carries a pendulum.
Mechanism crankSlider(double crank, double rod, bool cut = false) {
  Mechanism robot("engine");
  const auto link = [&](const char* name, double mass, double length) {
    robot.addBody(name)
        .withMass(mass)
        .centeredAt({length / 2, 0, 0})
        .withInertia(mass * 0.001, mass * length * length / 12, mass * length * length / 12);
  };
  robot.addBody("ground");
  link("crank", crank, 0.3);
  link("rod", rod, 0.8);
  robot.addBody("slider").withMass(1).withInertia(0.01, 0.01, 0.01);
  robot.addBody("bob").withMass(0.5).centeredAt({0, 0, -0.2}).withInertia(0.01, 0.01, 0.01);
  robot.addRevolute("turn")
      .from("ground")
      .to("crank")
      .at({0, 0, 0}, {0, -0.9, 0})
      .about({0, 1, 0})
      .independent();
  robot.addRevolute("pin").from("crank").to("rod").at({0.3, 0, 0}).about({0, 1, 0}).dependent();
  robot.addPrismatic("slide").from("ground").to("slider").along({1, 0, 0}).dependent();
  robot.addRevolute("swing").from("slider").to("bob").about({0, 1, 0});
  LoopJoint& loop = robot.addLoop("end", LoopType::Revolute)
                        .from("rod", at({0.8, 0, 0}))
                        .to("slider")
                        .about({0, 1, 0});
  if (cut) {
    loop.cut = true;
  }
  return robot;
}

/// Accelerations by the oracle's way: (Gᵀ H G) ÿ = τ − h from the cluster's own H and h, which lose
/// nothing.
Eigen::VectorXd projected(const Model& model, Data& data, const Eigen::VectorXd& q,
                          const Eigen::VectorXd& v, const Eigen::VectorXd& tau) {
  Eigen::MatrixXd H(model.nv(), model.nv());
  Eigen::VectorXd h(model.nv());
  massMatrix(model, data, q, H);
  biasForces(model, data, q, v, h);
  const double determinant = H(0, 0) * H(1, 1) - H(0, 1) * H(1, 0);
  const Eigen::VectorXd b = tau - h;
  return Eigen::Vector2d(H(1, 1) * b[0] - H(0, 1) * b[1], H(0, 0) * b[1] - H(1, 0) * b[0]) /
         determinant;
}

TEST(MasslessLinks, EveryExactMethodSolvesThem) {
  for (const double crank : {0.0, 1e-15, 1e-9, 1e-3, 0.4}) {
    for (const double rod : {0.0, 1e-15, 1e-12, 1e-6, 0.2}) {
      SCOPED_TRACE(::testing::Message() << "crank " << crank << ", rod " << rod);
      const Model model(crankSlider(crank, rod));
      Data data(model);
      ASSERT_EQ(model.nv(), 2);
      const std::array frames{model.frameIndex("rod"), model.frameIndex("bob")};
      for (int seed = 0; seed < 12; ++seed) {
        const Eigen::VectorXd q = model.randomConfiguration(static_cast<std::uint64_t>(seed));
        const Eigen::Vector2d v(0.7, -0.4), tau(0.9, 0.2);
        const Eigen::VectorXd expected = projected(model, data, q, v, tau);
        Eigen::MatrixXd Omega(12, 12), other(12, 12);
        inverseOperationalInertia<double>(model, data, q, frames, Omega);
        for (const Method method : kExact) {
          SCOPED_TRACE(static_cast<int>(method));
          Eigen::VectorXd a = poisoned(2);
          forwardDynamics(model, data, q, v, tau, a, {.method = method});
          EXPECT_TRUE(closeTo(a, expected, 1e-6));
          inverseOperationalInertia<double>(model, data, q, frames, other,
                                            Reference::LocalWorldAligned, method);
          EXPECT_TRUE(closeTo(other, Omega, 1e-6));
        }
        expectEquationsOfMotion(model, data, q, v, tau);
      }
    }
  }
}

// --- loops that are left cut -------------------------------------------------------------------

TEST(MassRatios, CutLoopsGiveTheAccelerationsOfClusters) {
  for (double ratio = 1.0; ratio > 1e-17; ratio *= 0.1) {
    for (const bool lightCrank : {true, false}) {
      SCOPED_TRACE(::testing::Message() << "ratio " << ratio << (lightCrank ? ", crank" : ""));
      const double crank = lightCrank ? ratio : 0.4;
      std::optional<Model> compiled;
      try {
        compiled.emplace(crankSlider(crank, ratio, true));
      } catch (const ModelError&) {
        EXPECT_LT(ratio, 2e-11);  // its loop is not closed
        continue;
      }
      const Model whole(crankSlider(crank, ratio)), &cut = *compiled;
      Data data(whole), cutData(cut);
      for (int seed = 0; seed < 6; ++seed) {
        const Eigen::VectorXd q = whole.randomConfiguration(static_cast<std::uint64_t>(seed));
        const Eigen::Vector2d v(0.7, -0.4), tau(0.9, 0.2);
        const Eigen::VectorXd expected = projected(whole, data, q, v, tau);
        Eigen::VectorXd positions(whole.nqSpanning()), rates(whole.nvSpanning());
        spanning(whole, data, q, v, positions, rates);
        Eigen::VectorXd cutQ(cut.nq()), cutV(cut.nv()), cutTau = Eigen::VectorXd::Zero(cut.nv());
        for (const std::string& joint : whole.jointNames()) {
          cutQ[cut.jointPositionIndex(joint)] = positions[whole.jointPositionIndex(joint)];
          cutV[cut.jointVelocityIndex(joint)] = rates[whole.jointVelocityIndex(joint)];
        }
        const int turn = cut.jointVelocityIndex("turn"), swing = cut.jointVelocityIndex("swing");
        cutTau[turn] = tau[whole.vNames()[0] == "turn" ? 0 : 1];
        cutTau[swing] = tau[whole.vNames()[0] == "turn" ? 1 : 0];
        Eigen::VectorXd a = poisoned(cut.nv());
        try {
          forwardDynamics(cut, cutData, cutQ, cutV, cutTau, a);
        } catch (const SingularityError&) {
          EXPECT_LT(ratio, 1e-11);  // refused, but not where it need not be
          continue;
        }
        const Eigen::Vector2d found = whole.vNames()[0] == "turn"
                                          ? Eigen::Vector2d(a[turn], a[swing])
                                          : Eigen::Vector2d(a[swing], a[turn]);
        EXPECT_TRUE(closeTo(found, expected, 1e-6));
      }
    }
  }
}

}  // namespace
}  // namespace kempe::test
