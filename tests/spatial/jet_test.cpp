#include "kempe/jet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

// As a user's generic function does: double takes these, jets are found by their namespace.
using std::abs;
using std::acos;
using std::asin;
using std::atan;
using std::atan2;
using std::cos;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sqrt;
using std::tan;

static_assert(std::is_trivially_copyable_v<Jet>);
static_assert((Jet(2, 1, 0) * Jet(2, 1, 0)).second == 2.0);  // (x²)″ = 2

/// A curve x(t) = x₀ + x₁ t + x₂ t²/2: what a jet at t = 0 stands for.
struct Curve {
  Jet at0;
  double operator()(double t) const { return at0.value + t * (at0.first + 0.5 * t * at0.second); }
};

Curve randomCurve(RandomSpatial<double>& random, double lower, double upper) {
  return {{random.number(lower, upper), random.number(), random.number()}};
}

/// Compares a jet with five-point differences of the function that it claims to differentiate.
template <typename Function>
void expectDerivatives(const Jet& jet, Function f) {
  const double h = 2e-3;
  const double f0 = f(0.0), f1 = f(h), f2 = f(2 * h), b1 = f(-h), b2 = f(-2 * h);
  const double first = (8.0 * (f1 - b1) - (f2 - b2)) / (12.0 * h);
  const double second = (16.0 * (f1 + b1) - (f2 + b2) - 30.0 * f0) / (12.0 * h * h);
  EXPECT_NEAR(jet.value, f0, 1e-14 * (1.0 + std::abs(f0)));
  EXPECT_NEAR(jet.first, first, 1e-8 * (1.0 + std::abs(first)));
  EXPECT_NEAR(jet.second, second, 1e-7 * (1.0 + std::abs(second)));
}

/// The law for a function of one number, along random curves that start in [lower, upper].
template <typename Function>
void expectDifferentiates(Function f, double lower, double upper) {
  forEachSeed<double>([&](auto& random) {
    const Curve x = randomCurve(random, lower, upper);
    expectDerivatives(f(x.at0), [&](double t) { return f(x(t)); });
  });
}

/// The law for a function of two numbers.
template <typename Function>
void expectDifferentiatesBoth(Function f, double lower, double upper) {
  forEachSeed<double>([&](auto& random) {
    const Curve x = randomCurve(random, lower, upper), y = randomCurve(random, lower, upper);
    expectDerivatives(f(x.at0, y.at0), [&](double t) { return f(x(t), y(t)); });
  });
}

TEST(JetTest, Sine) {
  expectDifferentiates([](auto x) { return sin(x); }, -4.0, 4.0);
}
TEST(JetTest, Cosine) {
  expectDifferentiates([](auto x) { return cos(x); }, -4.0, 4.0);
}
TEST(JetTest, Tangent) {
  expectDifferentiates([](auto x) { return tan(x); }, -1.0, 1.0);
  expectDifferentiates([](auto x) { return tan(x); }, 2.2, 4.0);
}
TEST(JetTest, SquareRoot) {
  expectDifferentiates([](auto x) { return sqrt(x); }, 0.5, 4.0);
}
TEST(JetTest, Exponential) {
  expectDifferentiates([](auto x) { return exp(x); }, -2.0, 2.0);
}
TEST(JetTest, Logarithm) {
  expectDifferentiates([](auto x) { return log(x); }, 0.5, 4.0);
}
TEST(JetTest, Power) {
  for (const double p : {-2.0, -0.5, 0.0, 0.5, 1.0, 1.7, 2.0, 3.0}) {
    SCOPED_TRACE(p);
    expectDifferentiates([p](auto x) { return pow(x, p); }, 0.5, 3.0);
  }
}
TEST(JetTest, WholePowersOfNegativeNumbersAndZero) {
  for (const double p : {0.0, 1.0, 2.0, 3.0}) {
    SCOPED_TRACE(p);
    expectDifferentiates([p](auto x) { return pow(x, p); }, -3.0, -0.5);
    const Curve zero{{0.0, 0.7, -0.4}};
    expectDerivatives(pow(zero.at0, p), [&](double t) { return std::pow(zero(t), p); });
  }
}
TEST(JetTest, ArcSine) {
  expectDifferentiates([](auto x) { return asin(x); }, -0.7, 0.7);
}
TEST(JetTest, ArcCosine) {
  expectDifferentiates([](auto x) { return acos(x); }, -0.7, 0.7);
}
TEST(JetTest, ArcTangent) {
  expectDifferentiates([](auto x) { return atan(x); }, -3.0, 3.0);
}
TEST(JetTest, AbsoluteValue) {
  expectDifferentiates([](auto x) { return abs(x); }, 0.2, 3.0);
  expectDifferentiates([](auto x) { return abs(x); }, -3.0, -0.2);
}

TEST(JetTest, ArcTangentOfTwoInAllDirections) {
  forEachSeed<double>([](auto& random) {
    // All quadrants, the axes (also where x or y is zero) and the diagonals.
    for (int eighth = -4; eighth < 4; ++eighth) {
      const double angle = M_PI / 4.0 * eighth, radius = random.number(0.5, 2.0);
      const double rounded = random.seed() % 2 == 0 ? angle : angle + 0.1;
      const Curve x{{radius * std::cos(rounded), random.number(), random.number()}};
      const Curve y{{radius * std::sin(rounded), random.number(), random.number()}};
      const Jet jet = atan2(y.at0, x.at0);
      EXPECT_EQ(jet.value, std::atan2(y(0.0), x(0.0)));
      // The difference to the angle at t = 0, which does not jump on the negative x axis.
      expectDerivatives(jet, [&](double t) {
        const double cosine = x(0.0) * x(t) + y(0.0) * y(t);
        const double sine = x(0.0) * y(t) - y(0.0) * x(t);
        return std::atan2(y(0.0), x(0.0)) + std::atan2(sine, cosine);
      });
    }
  });
}

TEST(JetTest, ArcTangentOfTwoExactlyOnTheAxes) {
  const double half = M_PI / 2.0;
  EXPECT_EQ(atan2(Jet(0.0, 1.0, 0.0), Jet(2.0)).value, 0.0);
  EXPECT_EQ(atan2(Jet(0.0, 1.0, 0.0), Jet(2.0)).first, 0.5);
  EXPECT_EQ(atan2(Jet(0.0, 1.0, 0.0), Jet(-2.0)).value, 2.0 * half);
  EXPECT_EQ(atan2(Jet(0.0, 1.0, 0.0), Jet(-2.0)).first, -0.5);
  EXPECT_EQ(atan2(Jet(2.0), Jet(0.0, 1.0, 0.0)).value, half);
  EXPECT_EQ(atan2(Jet(2.0), Jet(0.0, 1.0, 0.0)).first, -0.5);
  EXPECT_EQ(atan2(Jet(-2.0), Jet(0.0, 1.0, 0.0)).value, -half);
  EXPECT_EQ(atan2(Jet(-2.0), Jet(0.0, 1.0, 0.0)).first, 0.5);
}

TEST(JetTest, FieldOperations) {
  expectDifferentiatesBoth([](auto x, auto y) { return x + y; }, -2.0, 2.0);
  expectDifferentiatesBoth([](auto x, auto y) { return x - y; }, -2.0, 2.0);
  expectDifferentiatesBoth([](auto x, auto y) { return x * y; }, -2.0, 2.0);
  expectDifferentiatesBoth([](auto x, auto y) { return x / y; }, 0.5, 2.0);
  expectDifferentiatesBoth([](auto x, auto y) { return x / y; }, -2.0, -0.5);
  expectDifferentiates([](auto x) { return -x; }, -2.0, 2.0);
  expectDifferentiates([](auto x) { return +x; }, -2.0, 2.0);
}

TEST(JetTest, CompoundAssignment) {
  const auto f = [](auto x, auto y) {
    auto sum = x;
    sum += y;
    sum *= x;
    sum -= 3.0 * y;
    sum /= y;
    return sum;
  };
  expectDifferentiatesBoth(f, 0.5, 2.0);
  // A jet may be combined with itself.
  const auto self = [](auto x) {
    x *= x;
    x += x;
    return x;
  };
  expectDifferentiates(self, -2.0, 2.0);
}

TEST(JetTest, ConstantsMixFreely) {
  const auto f = [](auto x) { return (2.0 * x + 1) / (3 - x) - x * 0.5 + (x - 4) * 2 + 1.0 / x; };
  expectDifferentiates(f, 0.5, 2.0);
  const Jet constant = 3.5;
  EXPECT_EQ(constant.first, 0.0);
  EXPECT_EQ(constant.second, 0.0);
  EXPECT_EQ(Jet().value, 0.0);
}

TEST(JetTest, CompositeExpression) {
  // The closure of a four-bar written with every function that such constraints use.
  const auto f = [](auto x, auto y) {
    const auto u = 0.3 * cos(x) - 0.7 * sin(x + 2.0 * y);
    const auto v = exp(-0.5 * x) + log(2.0 + y * y) * tan(0.3 * y);
    const auto rod = sqrt(u * u + v * v + 1.0);
    return atan2(v, u + 3.0) * asin(u / 3.0) + acos(u / 4.0) * pow(rod, 1.5) - atan(rod) + abs(rod);
  };
  expectDifferentiatesBoth(f, -1.5, 1.5);
}

TEST(JetTest, ComparisonLooksAtTheValue) {
  const Jet small(1.0, 5.0, 5.0), same(1.0, -5.0, 0.0), large(2.0, 0.0, 0.0);
  EXPECT_TRUE(small == same);
  EXPECT_TRUE(small != large);
  EXPECT_TRUE(small < large);
  EXPECT_TRUE(small <= same);
  EXPECT_TRUE(large > small);
  EXPECT_TRUE(same >= small);
  EXPECT_TRUE(small < 1.5);
  EXPECT_TRUE(0.5 < small);
  EXPECT_TRUE(small == 1.0);
  EXPECT_FALSE(Jet(NAN) < small);
  EXPECT_FALSE(Jet(NAN) >= small);
  // The choice carries its derivatives with it.
  EXPECT_EQ(std::min(small, large).first, 5.0);
}

}  // namespace
}  // namespace kempe::test
