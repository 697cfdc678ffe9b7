#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "batch/batch_testing.hpp"

/// Functions of formulas where they are not regular: zeros, infinities, results that overflow.
namespace kempe::test {
namespace {

/// A crank and a slider, whose position x is a function of the crank's angle a.
Model sliderAt(const std::string& formula) {
  return Model(readUrdfText(R"(<robot name="engine">
    <link name="block"/>
    <link name="crank"><inertial><mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="slider"><inertial><mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="a" type="continuous" independent="true"><parent link="block"/>
      <child link="crank"/><axis xyz="0 1 0"/></joint>
    <joint name="x" type="prismatic" independent="false"><parent link="block"/>
      <child link="slider"/><axis xyz="1 0 0"/></joint>
    <function name="cam"><joint name="a" symbol="a"/><joint name="x" symbol="x"/>
      <formula value="x - )" +
                            formula + R"("/></function></robot>)"));
}

/// The number that `compute` writes; NaN if it is refused.
double outcome(const std::function<void(double&)>& compute) {
  double number = std::numeric_limits<double>::quiet_NaN();
  try {
    compute(number);
  } catch (const SingularityError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return number;
}

bool isSame(double a, double b) {
  return (!std::isfinite(a) && !std::isfinite(b)) || a == b ||
         std::abs(a - b) <= 1e-11 * std::max(std::abs(a), std::abs(b));
}

TEST(SpecialValues, OfFunctionsAreThoseOfOneState) {
  for (const char* formula :
       {"(a + 1)^0.5", "abs(a)^1.5", "a * a^a", "a * (a + 1)^(a - 1)", "a * (a - 2)^4",
        "a * (a - 2)^3", "a * (a + 3)^(2 * a)", "a * 2^(-1100 + a)", "a * 0^(a^2)",
        "hypot(1e-200 * a, 1e-200) * 1e200", "hypot(1e200 * a, 1e200) * 1e-200",
        "a * hypot(1e-310, 1e-310 * a) * 1e300", "a * atan2(0 * a, a - 1)",
        "a * atan2(a - 1, 0 * a)", "a * atan2(0 * a, 0 * a - 1)", "a * exp(-720 + a) * 1e300",
        "a * exp(709 + a) * 1e-300", "a * log(1e-310 * (abs(a) + 1))", "a * log(abs(a - 1))"}) {
    SCOPED_TRACE(formula);
    const Model model = sliderAt(formula);
    Batch batch(model, {.threads = 1});
    Data data(model);
    const Eigen::VectorXd v = Eigen::VectorXd::Ones(1);
    for (const double angle : {-1.0, 0.0, 1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 0.25}) {
      const Eigen::Vector2d q(angle, 0.0);
      const Rows<double> qs = q.transpose(), vs = v.transpose();
      const double H = outcome([&](double& x) {
        Rows<double> many(1, 1);
        massMatrix(model, batch, qs, many);
        x = many(0, 0);
      });
      const double expectedH = outcome([&](double& x) {
        Eigen::MatrixXd one(1, 1);
        massMatrix(model, data, q, one);
        x = one(0, 0);
      });
      EXPECT_TRUE(isSame(H, expectedH)) << "a = " << angle << ": " << H << ", alone " << expectedH;
      const double h = outcome([&](double& x) {
        Rows<double> many(1, 1);
        biasForces(model, batch, qs, vs, many);
        x = many(0, 0);
      });
      const double expected = outcome([&](double& x) {
        Eigen::VectorXd one(1);
        biasForces(model, data, q, v, one);
        x = one[0];
      });
      EXPECT_TRUE(isSame(h, expected)) << "a = " << angle << ": " << h << ", alone " << expected;
    }
  }
}

}  // namespace
}  // namespace kempe::test
