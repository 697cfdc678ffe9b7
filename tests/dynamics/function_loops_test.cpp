// Loops that functions close: as formulas, and as callbacks.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

namespace kempe::test {
namespace {

/// Three links, the last two of which follow the first by functions of all operations.
Mechanism follower() {
  Mechanism robot("follower");
  robot.addBody("ground");
  for (const char* name : {"a", "b", "c"}) {
    robot.addBody(name).withMass(1.1).centeredAt({0.3, 0.1, -0.05}).withInertia(0.02, 0.07, 0.08);
  }
  robot.addRevolute("to_a").from("ground").to("a").about({0, 1, 0}).independent();
  robot.addRevolute("to_b").from("a").to("b").at({0.5, 0, 0}).about({0, 1, 0.2}).dependent();
  robot.addRevolute("to_c").from("ground").to("c").at({0, 1, 0}).about({0.3, 1, 0}).dependent();
  return robot;
}

constexpr auto kAllOperations = [](const auto& q, auto& phi) {
  using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::exp, std::hypot;
  using std::log, std::max, std::min, std::pow, std::sin, std::sqrt, std::tan;
  const auto a = 0.4 * sin(q[0]);
  phi[0] = 2.0 * q[1] - tan(a) - asin(a) + 0.3 * atan2(a + 2.0, cos(q[0]) + 1.5) +
           0.2 * hypot(a, q[1] + 1.0) + 0.1 * pow(sin(q[1]), 3.0) + max(a, -1.0 * a) -
           pow(1.0 + a * a, a) - 1.0 / pow(2.0 + a, 2.0);
  phi[1] = 3.0 * q[2] - exp(a) + log(2.0 + a) - sqrt(2.0 + a) + acos(a) - atan(a) / 2.0 +
           0.1 * abs(a - 0.7) + min(q[2], 5.0 + a) + select(a < 10.0, 0.2 * q[0], a) +
           select(a >= 10.0, a, sin(q[0]) / 4.0);
};

/// The same as callbacks only.
Mechanism calledBack(Mechanism mechanism) {
  mechanism.functions.front().symbolic = nullptr;
  return mechanism;
}

/// The same, with the function left cut.
Mechanism leftCut(Mechanism mechanism) {
  mechanism.functions.front().cut = true;
  return mechanism;
}

Mechanism withAllOperations() {
  Mechanism robot = follower();
  robot.addFunction("cam", {"to_a", "to_b", "to_c"}, 2, kAllOperations).cut = false;
  return robot;
}

Eigen::VectorXd velocityOf(const Model& model) {
  return Eigen::VectorXd::LinSpaced(model.nv(), 1.3, -0.8);
}

template <typename T>
void expectEqualDynamics(const Model& one, const Model& other, double tolerance) {
  BasicData<T> dataOne(one), dataOther(other);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    using VectorT = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    using MatrixT = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const VectorT q = one.randomConfiguration(seed).template cast<T>();
    const VectorT v = velocityOf(one).cast<T>(), tau = -v;
    VectorT first = VectorT::Zero(one.nv()), second = first;
    forwardDynamics(one, dataOne, q, v, tau, first);
    forwardDynamics(other, dataOther, q, v, tau, second);
    EXPECT_TRUE(closeTo(first, second, tolerance));
    inverseDynamics(one, dataOne, q, v, tau, first);
    inverseDynamics(other, dataOther, q, v, tau, second);
    EXPECT_TRUE(closeTo(first, second, tolerance));
    if constexpr (std::is_same_v<T, double>) {  // uses the rates of the slopes
      MatrixT C = MatrixT::Zero(one.nv(), one.nv()), D = C;
      coriolisMatrix(one, dataOne, q, v, C);
      coriolisMatrix(other, dataOther, q, v, D);
      EXPECT_TRUE(closeTo(C, D, tolerance));
    }
  }
}

TEST(FunctionLoops, FormulasAndCallbacksGiveTheSameDynamics) {
  const Model traced(withAllOperations()), called(calledBack(withAllOperations()));
  ASSERT_EQ(traced.nv(), 1);
  EXPECT_EQ(traced.mechanism().functions.front().expression.results(), 2);
  EXPECT_EQ(called.mechanism().functions.front().expression.results(), 0);
  expectEqualDynamics<double>(traced, called, 1e-12);
  expectEqualDynamics<float>(traced, called, 2e-4);
}

TEST(FunctionLoops, FormulasAndCallbacksGiveTheSameDynamicsWhereTheyAreLeftCut) {
  const Model traced(leftCut(withAllOperations()));
  const Model called(leftCut(calledBack(withAllOperations())));
  ASSERT_EQ(traced.cutLoops().size(), 1U);
  Data dataOne(traced), dataOther(called);
  const Eigen::VectorXd q = traced.neutral(), v = Eigen::VectorXd::Zero(3);
  const Eigen::VectorXd tau = velocityOf(traced);
  Eigen::VectorXd first(3), second(3);
  forwardDynamics(traced, dataOne, q, v, tau, first);
  forwardDynamics(called, dataOther, q, v, tau, second);
  EXPECT_TRUE(closeTo(first, second, 1e-12));
}

TEST(FunctionLoops, FormulasAndCallbacksGiveTheSameInPacks) {
  const auto inScalar = []<typename T>(T tolerance) {
    const Model traced(withAllOperations()), called(calledBack(withAllOperations()));
    using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    constexpr Eigen::Index kStates = 37;
    Rows q(kStates, traced.nq()), v(kStates, 1), tau(kStates, 1);
    for (Eigen::Index k = 0; k < kStates; ++k) {
      q.row(k) =
          traced.randomConfiguration(static_cast<std::uint64_t>(k)).transpose().template cast<T>();
      v(k, 0) = T(0.1) * static_cast<T>(k - 10);
      tau(k, 0) = T(0.3) * static_cast<T>(15 - k);
    }
    BasicBatch<T> batchOne(traced, {.threads = 1}), batchOther(called, {.threads = 1});
    Rows first = Rows::Zero(kStates, 1), second = first;
    forwardDynamics(traced, batchOne, q, v, tau, first);
    forwardDynamics(called, batchOther, q, v, tau, second);
    for (Eigen::Index k = 0; k < kStates; ++k) {
      EXPECT_NEAR(first(k, 0), second(k, 0), tolerance * (1 + std::abs(second(k, 0)))) << k;
    }
  };
  inScalar(1e-11);
  inScalar(1e-3F);
}

TEST(FunctionLoops, AFunctionThatBranchesIsCalledBackWithAWarning) {
  Mechanism robot = follower();
  robot.addFunction("cam", {"to_a", "to_b", "to_c"}, 2, [](const auto& q, auto& phi) {
    phi[0] = q[1] < 0.0 ? 2.0 * q[1] - q[0] : q[1] - 0.5 * q[0];
    phi[1] = q[2] - q[0];
  });
  const Model model(robot);
  ASSERT_EQ(model.warnings().size(), 1U);
  const std::string& warning = model.warnings().front();
  EXPECT_TRUE(warning.starts_with("function \"cam\" is not a formula: the function branches"))
      << warning;
  EXPECT_NE(warning.find("Use select()"), std::string::npos) << warning;
  EXPECT_EQ(model.mechanism().functions.front().expression.results(), 0);
  EXPECT_TRUE(Model(withAllOperations()).warnings().empty());
}

TEST(FunctionLoops, AFunctionThatDependsOnTheTypeOfItsArgumentsIsCalledBack) {
  Mechanism robot = follower();
  robot.addFunction("cam", {"to_a", "to_b", "to_c"}, 2, []<typename T>(const T& q, auto& phi) {
    constexpr bool symbolic = std::is_same_v<std::remove_cvref_t<decltype(q[0])>, Symbol>;
    phi[0] = q[1] - (symbolic ? 2.0 : 1.0) * q[0];
    phi[1] = q[2] - q[0];
  });
  const Model model(robot);
  ASSERT_EQ(model.warnings().size(), 1U);
  EXPECT_NE(model.warnings().front().find("something else with symbols than with numbers"),
            std::string::npos);
}

TEST(FunctionLoops, AFormulaIsEnough) {
  Mechanism robot = follower();
  const std::vector<std::string> names{"a", "b", "c"};
  robot.addFunction("cam", {"to_a", "to_b", "to_c"},
                    Expression::parse("b - sin(a) / 2, c - a", names));
  Mechanism written = follower();
  written.addFunction("cam", {"to_a", "to_b", "to_c"}, 2, [](const auto& q, auto& phi) {
    using std::sin;
    phi[0] = q[1] - sin(q[0]) / 2.0;
    phi[1] = q[2] - q[0];
  });
  EXPECT_EQ(Model(robot).mechanism().functions.front().expression,
            Model(written).mechanism().functions.front().expression);
  expectEqualDynamics<double>(Model(robot), Model(written), 1e-14);
  robot.functions.front().coordinates.pop_back();
  EXPECT_THROW(Model{robot}, ModelError);
}

TEST(FunctionLoops, FormulasWhoseDerivativesAreTooLargeAreRefused) {
  Mechanism robot = follower();
  robot.addFunction("cam", {"to_a", "to_b", "to_c"}, 2, [](const auto& q, auto& phi) {
    using std::sin;
    phi[0] = q[1] - q[0];
    phi[1] = q[2] - q[0];
    for (int i = 0; i < 200'000; ++i) {
      phi[1] = sin(phi[1] + 1.0);
    }
  });
  EXPECT_THROW(Model{robot}, ModelError);
}

TEST(FunctionConstraints, FormulasAndCallbacksOfTimeGiveTheSame) {
  Mechanism robot = follower();
  const Model model(robot);
  const auto phi = [](const auto& q, const auto& t, auto& out) {
    using std::cos, std::sin;
    out[0] = q[0] * sin(q[1]) + cos(2.0 * t) * q[1] - t * t / 2.0;
    out[1] = q[1] * q[1] - 0.3 * q[0] + sin(t);
  };
  Constraints traced(model), called(model);
  traced.addFunction("path", {"to_a", "to_b"}, 2, phi);
  TimedFunction callbacks;
  callbacks.name = "path";
  callbacks.coordinates = {"to_a", "to_b"};
  callbacks.rows = 2;
  callbacks.jet = [phi](std::span<const Jet> q, const Jet& t, std::span<Jet> out) {
    phi(q, t, out);
  };
  EXPECT_THROW(std::ignore = callbacks.traced(), TracingError);
  called.add(callbacks);
  Data data(model);
  const Eigen::Vector3d q(0.4, 0.9, -0.2), v(1.0, -0.5, 0.7), tau(0.1, 0.2, 0.3);
  for (const double t : {0.0, 0.7, 2.5}) {
    Eigen::VectorXd a(3), b(3), lambda(2), mu(2);
    constrainedForwardDynamics(model, data, traced, t, q, v, tau, a, lambda);
    constrainedForwardDynamics(model, data, called, t, q, v, tau, b, mu);
    EXPECT_TRUE(closeTo(a, b, 1e-12));
    EXPECT_TRUE(closeTo(lambda, mu, 1e-12));
  }
}

/// A formula that is short enough itself, but not its derivatives.
constexpr auto kLong = [](const auto& q, auto& phi) {
  using std::sin;
  auto x = q[0] + q[1];
  for (int i = 0; i < 150'000; ++i) {
    x = sin(x + q[i % 2]);
  }
  phi[0] = x - q[1];
};

std::string reasonOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// They are refused wherever they stand, rather than called back at a hundredth of the speed.
TEST(Functions, ThatAreTooLongToDifferentiateAreNamed) {
  const std::string reason =
      ": its derivatives are too large: an expression has more than 1000000 operations. Check that "
      "its function ends.";
  for (const bool cut : {false, true}) {
    SCOPED_TRACE(cut);
    Mechanism robot = follower();
    robot.source = "robot.urdf";
    Function& function = robot.addFunction("long", {"to_a", "to_b"}, 1, kLong);
    function.cut = cut;
    function.line = 7;
    EXPECT_THROW(Model{robot}, ModelError);
    EXPECT_EQ(reasonOf([&] { Model{robot}; }), "robot.urdf:7: function \"long\"" + reason);
  }
  const Model model(follower());
  Constraints constraints(model);
  const auto add = [&] {
    constraints.addFunction("long", {"to_a", "to_b"}, 1,
                            [](const auto& q, const auto& /*t*/, auto& phi) { kLong(q, phi); });
  };
  EXPECT_THROW(add(), std::invalid_argument);
  EXPECT_EQ(reasonOf(add), "constraint \"long\"" + reason);
  EXPECT_EQ(constraints.count(), 0);
}

}  // namespace
}  // namespace kempe::test
