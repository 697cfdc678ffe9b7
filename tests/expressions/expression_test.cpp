#include "kempe/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "random_expression.hpp"
#include "support/allocations.hpp"

namespace kempe {
namespace {

using test::randomExpression;

Expression traceOne(int arguments, auto f) {
  return trace(arguments, 1, [&](const auto& x, auto& y) { y[0] = f(x); });
}

double valueOf(const Expression& expression, std::vector<double> arguments) {
  return expression(arguments).at(0);
}

int count(const Expression& expression, Operation operation) {
  return static_cast<int>(
      std::ranges::count(expression.steps(), operation, &Expression::Step::operation));
}

std::vector<double> randomPoint(std::mt19937& random, int size) {
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<double> point(static_cast<std::size_t>(size));
  std::ranges::generate(point, [&] { return between(random); });
  return point;
}

TEST(Expression, ComputesWhatTheTracedFunctionComputes) {
  const auto function = [](const auto& x, auto& y) {
    using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::exp, std::hypot;
    using std::log, std::max, std::min, std::pow, std::sin, std::sqrt, std::tan;
    const auto s = x[0] + 2.0 * x[1];
    y[0] = sin(s) * cos(s) - tan(x[0]) / (x[1] + 3.0);
    y[1] = asin(x[0]) + acos(x[1]) + atan(s) + atan2(x[0], x[1]);
    y[2] = exp(x[0]) - log(2.0 + x[1]) + pow(2.0 + x[0], x[1]) + hypot(x[0], x[1]);
    y[3] = abs(x[0]) + min(x[0], x[1]) - max(x[0], x[1]) + sqrt(4.0 + s);
    y[4] = select(x[0] < x[1], x[0], -x[1]) + select(x[0] >= 0.5, x[1], x[0]);
    y[5] = pow(x[0], 3.0);
  };
  const Expression expression = trace(2, 6, function);
  EXPECT_EQ(expression.arguments(), 2);
  EXPECT_EQ(expression.results(), 6);
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> x = randomPoint(random, 2);
    std::vector<double> y(6);
    function(x, y);
    EXPECT_EQ(expression(x), y);  // the same operations, therefore the same numbers
  }
}

TEST(Expression, ComputesEqualSubexpressionsOnce) {
  const Expression expression = traceOne(
      2, [](const auto& x) { return sin(x[0] + x[1]) * sin(x[1] + x[0]) + sin(x[0] + x[1]); });
  EXPECT_EQ(count(expression, Operation::Sin), 1);
  EXPECT_EQ(count(expression, Operation::Add), 2);
}

TEST(Expression, ComputesWithConstantsBeforehand) {
  const Expression expression = traceOne(1, [](const auto& x) {
    const Symbol two(2.0);
    return (sqrt(two) * sqrt(two) + 1.0) * x[0] + 0.0 * two - (x[0] - x[0] * 1.0) * 0.0;
  });
  EXPECT_EQ(count(expression, Operation::Sqrt), 0);
  EXPECT_DOUBLE_EQ(valueOf(expression, {2.0}), 6.0);
  const Expression same = traceOne(1, [](const auto& x) { return 1.0 * (-(-x[0]) + 0.0) / 1.0; });
  EXPECT_EQ(same, traceOne(1, [](const auto& x) { return x[0]; }));
}

TEST(Expression, LeavesOutWhatNoResultNeeds) {
  const Expression expression = traceOne(2, [](const auto& x) {
    [[maybe_unused]] const Symbol unused = exp(x[1]);
    return x[0] * x[0];
  });
  EXPECT_EQ(expression.steps().size(), 2U);
}

TEST(Expression, EvaluatesInOtherTypes) {
  const Expression expression = randomExpression(5, 3, 2, 30, true);
  std::mt19937 random(5);
  const std::vector<double> x = randomPoint(random, 3);
  const auto inType = [&]<typename T>(T) {
    const std::vector<T> in(x.begin(), x.end());
    std::vector<T> values(expression.steps().size()), out(2);
    expression.evaluate<T>(in, values, out);
    return out;
  };
  const std::vector<double> expected = expression(x);
  EXPECT_NEAR(inType(1.0F)[0], expected[0], 1e-4 * (1 + std::abs(expected[0])));
  EXPECT_NEAR(static_cast<double>(inType(1.0L)[1]), expected[1],
              1e-12 * (1 + std::abs(expected[1])));
}

TEST(Expression, EvaluatesWithoutAllocating) {
  const Expression expression = randomExpression(6, 3, 2, 30, true);
  const std::vector<double> x(3, 0.5);
  std::vector<double> values(expression.steps().size()), y(2);
  EXPECT_EQ(test::allocationsOf([&] { expression.evaluate<double>(x, values, y); }), 0);
}

// --- derivatives -------------------------------------------------------------------------------

/// Central difference of result r along argument i, in extended precision.
double difference(const Expression& expression, const std::vector<double>& at, std::size_t i,
                  int r) {
  const auto value = [&](long double step) {
    std::vector<long double> x(at.begin(), at.end());
    x[i] += step;
    std::vector<long double> values(expression.steps().size());
    std::vector<long double> y(static_cast<std::size_t>(expression.results()));
    expression.evaluate<long double>(x, values, y);
    return y[static_cast<std::size_t>(r)];
  };
  constexpr long double h = 1e-6L;
  return static_cast<double>((value(h) - value(-h)) / (2 * h));
}

class RandomExpressions : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomExpressions, DerivativesEqualDifferencesToThirdOrder) {
  const int n = 3;
  const Expression f = randomExpression(GetParam(), n, 2, 15, false);
  std::mt19937 random(GetParam());
  const std::vector<double> x = randomPoint(random, n);
  Expression derivative = f;
  for (int order = 1; order <= 3; ++order) {
    const Expression jacobian = derivative.jacobian();
    ASSERT_EQ(jacobian.results(), derivative.results() * n);
    const std::vector<double> slopes = jacobian(x);
    for (int r = 0; r < derivative.results(); ++r) {
      for (int i = 0; i < n; ++i) {
        const double slope = slopes[static_cast<std::size_t>(r * n + i)];
        const double expected = difference(derivative, x, static_cast<std::size_t>(i), r);
        EXPECT_NEAR(slope, expected, 1e-6 * (1 + std::abs(expected)))
            << "seed " << GetParam() << ", order " << order << "\n"
            << f.text();
      }
    }
    derivative = derivative.derivative(order % n);
  }
}

TEST_P(RandomExpressions, RateIsTheJacobianTimesTheVelocity) {
  const int n = 3;
  const Expression f = randomExpression(GetParam(), n, 2, 25, true);
  std::mt19937 random(GetParam());
  const std::vector<double> x = randomPoint(random, 2 * n);
  const std::vector<double> rates = f.rate()(x);
  const std::vector<double> slopes = f.jacobian()(std::span(x).first(n));
  for (std::size_t r = 0; r < 2; ++r) {
    double expected = 0.0, size = 1.0;
    for (std::size_t i = 0; i < n; ++i) {
      expected += slopes[r * n + i] * x[n + i];
      size += std::abs(slopes[r * n + i] * x[n + i]);
    }
    EXPECT_NEAR(rates[r], expected, 1e-12 * size) << "seed " << GetParam() << "\n" << f.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomExpressions, ::testing::Range(0U, 100U));

TEST(Derivatives, OfKinksAreThoseOfTheSideTaken) {
  const Expression f = traceOne(2, [](const auto& x) {
    return abs(x[0]) + 3.0 * min(x[0], x[1]) + 5.0 * max(x[0], x[1]) +
           select(x[0] <= 0.25, 7.0 * x[0], 11.0 * x[1]);
  });
  EXPECT_EQ(f.jacobian()(std::vector{-0.5, 1.0}), (std::vector{-1.0 + 3.0 + 7.0, 5.0}));
  EXPECT_EQ(f.jacobian()(std::vector{0.5, -1.0}), (std::vector{1.0 + 5.0, 3.0 + 11.0}));
}

TEST(Derivatives, OfAPowerAtZeroAreFinite) {
  const Expression f = traceOne(1, [](const auto& x) { return pow(x[0], 2.0) + pow(x[0], 1.0); });
  const Expression first = f.derivative(0);
  EXPECT_EQ(valueOf(first, {0.0}), 1.0);
  EXPECT_EQ(valueOf(first.derivative(0), {0.0}), 2.0);
  EXPECT_EQ(valueOf(first.derivative(0).derivative(0), {0.0}), 0.0);
}

TEST(Derivatives, OfALengthNeitherOverflowNorUnderflow) {
  for (const double size : {1e-200, 1e200}) {
    const Expression f =
        traceOne(2, [&](const auto& x) { return hypot(size * x[0], size * x[1]) / size; });
    const std::vector<double> slopes = f.jacobian()(std::vector{3.0, 4.0});
    EXPECT_NEAR(slopes[0], 0.6, 1e-15);
    EXPECT_NEAR(slopes[1], 0.8, 1e-15);
    EXPECT_NEAR(valueOf(f.derivative(0).derivative(0), {3.0, 4.0}), 0.128, 1e-15);
  }
}

TEST(Derivatives, OfAPowerOfAFunctionAtZeroAreFinite) {
  const Expression f =
      traceOne(2, [](const auto& x) { return pow(x[0], x[1]) + pow(Symbol(0.0), x[1]); });
  EXPECT_EQ(f.jacobian()(std::vector{0.0, 3.0}), (std::vector{0.0, 0.0}));
  for (const int first : {0, 1}) {
    EXPECT_EQ(f.derivative(first).jacobian()(std::vector{0.0, 3.0}), (std::vector{0.0, 0.0}));
    EXPECT_EQ(f.derivative(first).derivative(1).jacobian()(std::vector{0.0, 4.0}),
              (std::vector{0.0, 0.0}));
  }
  EXPECT_EQ(f.jacobian()(std::vector{0.0, 1.0}), (std::vector{1.0, 0.0}));
  EXPECT_EQ(valueOf(f.derivative(1), {2.0, 3.0}), 8.0 * std::log(2.0));
  EXPECT_TRUE(std::isnan(valueOf(f.derivative(1), {-2.0, 3.0})));
}

TEST(Derivatives, DoNotGrowWithoutBound) {
  // Horner's scheme: without sharing, derivatives would double with each level.
  const Expression f = traceOne(1, [](const auto& x) {
    Symbol y = x[0];
    for (int i = 0; i < 60; ++i) {
      y = sin(y * x[0]);
    }
    return y;
  });
  EXPECT_LT(f.derivative(0).steps().size(), 10 * f.steps().size());
}

TEST(Derivatives, RefuseAnArgumentThatIsNotThere) {
  const Expression f = traceOne(1, [](const auto& x) { return x[0]; });
  EXPECT_THROW(std::ignore = f.derivative(1), std::invalid_argument);
  EXPECT_THROW(std::ignore = f.derivative(-1), std::invalid_argument);
  EXPECT_THROW(std::ignore = f(std::vector{1.0, 2.0}), std::invalid_argument);
}

// --- tracing -----------------------------------------------------------------------------------

TEST(Trace, RefusesBranches) {
  const auto branching = [](const auto& x) { return x[0] < 0.0 ? -x[0] : x[0]; };
  EXPECT_THROW(traceOne(1, branching), TracingError);
  const auto equal = [](const auto& x) { return x[0] == x[1] ? x[0] : x[1]; };
  EXPECT_THROW(traceOne(2, equal), TracingError);
}

TEST(Trace, FollowsBranchesOnConstants) {
  const Expression f = traceOne(1, [](const auto& x) {
    Symbol factor(2.0);
    return factor < 3.0 ? factor * x[0] : x[0];
  });
  EXPECT_EQ(valueOf(f, {4.0}), 8.0);
}

TEST(Trace, RefusesNumbersThatAreNotFinite) {
  EXPECT_THROW(traceOne(1, [](const auto& x) { return x[0] * std::nan(""); }), TracingError);
  EXPECT_THROW(traceOne(1, [](const auto&) { return Symbol(1.0) / Symbol(0.0); }), TracingError);
}

TEST(Trace, RefusesSymbolsOfAnotherTrace) {
  Symbol kept;
  std::ignore = traceOne(1, [&](const auto& x) { return kept = x[0]; });
  EXPECT_THROW(traceOne(1, [&](const auto& x) { return x[0] + kept; }), TracingError);
}

TEST(Trace, ResultsCanBeConstants) {
  const Expression f = trace(0, 2, [](const auto&, auto& y) { y[0] = 3.0; });
  EXPECT_EQ(f(std::vector<double>{}), (std::vector{3.0, 0.0}));
}

}  // namespace
}  // namespace kempe
