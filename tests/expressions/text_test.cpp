#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "kempe/expression.hpp"
#include "random_expression.hpp"

namespace kempe {
namespace {

using test::randomExpression;

const std::vector<std::string> kNames{"a", "b", "c"};

double parsed(std::string_view formula, double a = 2, double b = 3, double c = 5) {
  return Expression::parse(formula, kNames)(std::vector{a, b, c}).at(0);
}

std::string refusal(std::string_view formula) {
  try {
    std::ignore = Expression::parse(formula, kNames);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

/// The text that a formula is printed as.
std::string printed(std::string_view formula) {
  return Expression::parse(formula, kNames).text(kNames);
}

TEST(Parse, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(parsed("a + b * c"), 17);
  EXPECT_EQ(parsed("(a + b) * c"), 25);
  EXPECT_EQ(parsed("a - b - c"), -6);
  EXPECT_EQ(parsed("a / b / c"), 2.0 / 3.0 / 5.0);
  EXPECT_EQ(parsed("-a^2"), -4);
  EXPECT_EQ(parsed("a^b^a"), std::pow(2, 9));
  EXPECT_EQ(parsed("a^-1"), 0.5);
  EXPECT_EQ(parsed("2*-a"), -4);
  EXPECT_EQ(parsed("--a"), 2);
  EXPECT_EQ(parsed("+a"), 2);
  EXPECT_EQ(parsed(" 1.5e1 \n+\t.5 "), 15.5);
  EXPECT_EQ(parsed("2 * pi"), 2 * std::numbers::pi);
}

TEST(Parse, KnowsTheFunctions) {
  EXPECT_EQ(parsed("sqrt(a) + sin(a) + cos(a) + tan(a)"),
            std::sqrt(2.0) + std::sin(2.0) + std::cos(2.0) + std::tan(2.0));
  EXPECT_EQ(parsed("asin(a) + acos(a) + atan(a) + atan2(b, a)", 0.3),
            std::asin(0.3) + std::acos(0.3) + std::atan(0.3) + std::atan2(3, 0.3));
  EXPECT_EQ(parsed("exp(a) + log(b) + pow(a, b) + hypot(a, b)"),
            std::exp(2) + std::log(3) + std::pow(2, 3) + std::hypot(2, 3));
  EXPECT_EQ(parsed("abs(-a) + min(a, b) * max(a, b)"), 8);
  EXPECT_EQ(parsed("select(a < b, 1, 2)"), 1);
  EXPECT_EQ(parsed("select(a > b, 1, 2)"), 2);
  EXPECT_EQ(parsed("select(a <= 2, 1, 2)"), 1);
  EXPECT_EQ(parsed("select(a >= b, 1, 2)"), 2);
}

TEST(Parse, ReadsDefinitionsAndSeveralResults) {
  const Expression f = Expression::parse("s = a + b; d = s * s; d, d - c", kNames);
  EXPECT_EQ(f(std::vector{1.0, 2.0, 4.0}), (std::vector{9.0, 5.0}));
}

TEST(Parse, ErrorsNameTheColumn) {
  EXPECT_EQ(refusal("a +"),
            "column 4 of the formula: expected a number, a name or \"(\", found the end.");
  EXPECT_EQ(refusal("a + knee"),
            "column 5 of the formula: unknown name \"knee\". Known are a, b, c and the functions "
            "sqrt, sin, ….");
  EXPECT_EQ(refusal("(a + b"), "column 7 of the formula: expected \")\", found the end.");
  EXPECT_EQ(refusal("a b"),
            "column 3 of the formula: expected an operator, a comma or the end, found \"b\".");
  EXPECT_EQ(refusal("atan2(a)"),
            "column 8 of the formula: atan2 takes 2 numbers; expected \",\", found \")\".");
  EXPECT_EQ(refusal("sin a"), "column 5 of the formula: expected \"(\" after sin, found \"a\".");
  EXPECT_EQ(refusal("a + 1e-400 * b + 0.000001e-330"), "accepted");
  EXPECT_EQ(refusal("1e999"),
            "column 1 of the formula: the number is too large for double precision.");
  EXPECT_EQ(refusal("a = 3; a"),
            "column 1 of the formula: \"a\" has a meaning already. Choose another name for the "
            "definition.");
  EXPECT_NE(refusal("select(a, b, c)").find("column 9 of the formula: select takes a comparison"),
            std::string::npos);
  EXPECT_NE(refusal("s = a s").find("expected \";\" after the definition of \"s\""),
            std::string::npos);
  EXPECT_NE(refusal(""), "accepted");
  EXPECT_NE(refusal("a;"), "accepted");
  EXPECT_NE(refusal("a = "), "accepted");
  EXPECT_NE(refusal("\xff"), "accepted");
  EXPECT_NE(refusal(std::string_view("a\0b", 3)), "accepted");
}

TEST(Parse, RefusesWhatWouldOverflowTheStackOrMemory) {
  const std::string deep = std::string(40'000, '(') + "a" + std::string(40'000, ')');
  EXPECT_NE(refusal(deep).find("nested more than 200 levels deep"), std::string::npos);
  EXPECT_NE(refusal(std::string(90'000, '-') + "a").find("nested more"), std::string::npos);
  std::string powers = "a";
  for (int i = 0; i < 1000; ++i) powers += "^a";
  EXPECT_NE(refusal(powers).find("nested more"), std::string::npos);
  EXPECT_NE(refusal(std::string(2'000'000, ' ')).find("more than 100000 characters"),
            std::string::npos);
}

TEST(Parse, ReadsLongSums) {
  std::string sum = "a";
  for (int i = 0; i < 20'000; ++i) sum += " + b";
  EXPECT_EQ(parsed(sum, 1, 1), 20'001);
}

TEST(Parse, RefusesNamesThatAreNone) {
  for (const std::string name : {"", "1a", "left-knee", "sin", "pi", "select", "a b", "\xc3\xa4"}) {
    const std::vector<std::string> names{name};
    EXPECT_THROW(std::ignore = Expression::parse("1", names), std::invalid_argument) << name;
    EXPECT_THROW(std::ignore = randomExpression(1, 1, 1, 3, false).text(names),
                 std::invalid_argument);
  }
  EXPECT_THROW(std::ignore = Expression::parse("1", std::vector<std::string>{"a", "a"}),
               std::invalid_argument);
  EXPECT_THROW(std::ignore = randomExpression(1, 2, 1, 3, false).text(kNames),
               std::invalid_argument);
}

TEST(Print, WritesAsFewParenthesesAsPossible) {
  for (const std::string formula : {"a - (b - c)",
                                    "a - b - c",
                                    "a / (b / c)",
                                    "(a + b) * c",
                                    "-a^2",
                                    "(-a)^2",
                                    "a^-b",
                                    "-(a * b)",
                                    "-a * b",
                                    "a - 2",
                                    "-2 * a",
                                    "a * -2",
                                    "(-2)^a",
                                    "2^a^b",
                                    "(2^a)^b",
                                    "sin(a + b)",
                                    "select(a < b, a, b)",
                                    "select(a + 1 <= b, -a, b^2)",
                                    "atan2(a, b) * hypot(a, 0.1)",
                                    "1e-300 * a",
                                    "0.1 + a"}) {
    EXPECT_EQ(printed(formula), formula);
  }
}

TEST(Print, DefinesSubexpressionsThatOccurMoreThanOnce) {
  EXPECT_EQ(printed("sin(a + b) * sin(a + b), a + b"), "t1 = a + b; t2 = sin(t1); t2 * t2, t1");
  // Definitions keep clear of the arguments' names.
  const std::vector<std::string> names{"t1", "t"};
  EXPECT_EQ(Expression::parse("(t1 + t) * (t1 + t)", names).text(names), "t_1 = t1 + t; t_1 * t_1");
}

class RandomText : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomText, ReadsBackAsTheSameExpression) {
  const Expression f =
      randomExpression(GetParam(), 3, 1 + static_cast<int>(GetParam() % 3), 40, true);
  const std::string text = f.text(kNames);
  EXPECT_EQ(Expression::parse(text, kNames), f) << text;
  const Expression derivative = f.jacobian();
  EXPECT_EQ(Expression::parse(derivative.text(kNames), kNames), derivative) << text;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomText, ::testing::Range(0U, 200U));

TEST(Print, DeepExpressionsCanBeReadBack) {
  const Expression f = trace(1, 1, [](const auto& x, auto& y) {
    Symbol value = x[0];
    for (int i = 0; i < 5'000; ++i) {
      value = sin(1.0 - value);
    }
    y[0] = value;
  });
  const std::vector<std::string> names{"a"};
  EXPECT_EQ(Expression::parse(f.text(names), names), f);
}

}  // namespace
}  // namespace kempe
