#include "expressions/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "expressions/graph.hpp"
#include "loops/run_program.hpp"
#include "random_expression.hpp"
#if defined(__x86_64__)
#include "lanes/packs.hpp"
#endif

namespace kempe::test {
namespace {

using detail::appendProgram;
using detail::ProgramEntry;
using detail::ProgramStep;
using detail::runProgram;

struct Program {
  explicit Program(const Expression& expression) { entry = appendProgram(expression, steps); }

  std::vector<ProgramStep<double>> steps{};
  ProgramEntry entry{};
};

std::vector<double> run(const Program& program, const std::vector<double>& arguments) {
  std::vector<double> registers(static_cast<std::size_t>(program.entry.registers()), std::nan(""));
  std::ranges::copy(arguments, registers.begin());
  const double* results = runProgram(program.steps.data(), program.entry, registers.data());
  return {results, results + program.entry.results};
}

class RandomPrograms : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomPrograms, ComputeTheExpression) {
  const Expression f = randomExpression(GetParam(), 3, 2, 40, true).jacobian();
  const Program program(f);
  std::mt19937 random(GetParam());
  std::uniform_real_distribution<double> between(-1, 1);
  const std::vector<double> x{between(random), between(random), between(random)};
  const std::vector<double> expected = f(x), found = run(program, x);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-12 * (1 + std::abs(expected[i])))
        << "seed " << GetParam() << "\n"
        << f.text();
  }
}

TEST_P(RandomPrograms, ContinueInASecondPart) {
  constexpr int kArguments = 3;
  const Expression f = randomExpression(GetParam(), kArguments, 2, 25, true);
  const Expression slopes = f.jacobian(), rates = slopes.rate();
  std::vector<ProgramStep<double>> steps;
  const auto [early, late] = detail::appendProgramParts(detail::slopesAndSecondRate(f), kArguments,
                                                        slopes.results(), steps);
  std::mt19937 random(GetParam());
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<double> x(2 * kArguments);
  std::ranges::generate(x, [&] { return between(random); });
  std::vector<double> registers(static_cast<std::size_t>(late.registers()), std::nan(""));
  std::copy_n(x.begin(), kArguments, registers.begin());
  const double* results = runProgram(steps.data(), early, registers.data());
  const std::vector<double> foundSlopes(results, results + early.results);
  std::copy_n(x.begin() + kArguments, kArguments, registers.begin() + kArguments);
  results = runProgram(steps.data(), late, registers.data());
  const std::vector<double> expected = slopes(std::span(x).first(kArguments)), rate = rates(x);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(foundSlopes[i], expected[i], 1e-12 * (1 + std::abs(expected[i])))
        << "seed " << GetParam() << "\n"
        << f.text();
  }
  for (std::size_t r = 0; r < 2; ++r) {
    double second = 0.0, size = 1.0;
    for (std::size_t j = 0; j < kArguments; ++j) {
      second += rate[r * kArguments + j] * x[kArguments + j];
      size += std::abs(rate[r * kArguments + j] * x[kArguments + j]);
    }
    EXPECT_NEAR(results[r], second, 1e-11 * size) << "seed " << GetParam() << "\n" << f.text();
  }
}

#if defined(__x86_64__)
TEST_P(RandomPrograms, ComputeTheSameInPacks) {
  using Pack = xsimd::batch<double>;
  const Expression f = randomExpression(GetParam(), 3, 2, 25, true);
  const Program program(f);
  std::mt19937 random(GetParam());
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<std::vector<double>> states(Pack::size, std::vector<double>(3));
  std::vector<Pack> registers(static_cast<std::size_t>(program.entry.registers()));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t lane = 0; lane < Pack::size; ++lane) {
      states[lane][i] = between(random);
      detail::Lanes<Pack>::set(registers[i], static_cast<int>(lane), states[lane][i]);
    }
  }
  const Pack* results = runProgram(program.steps.data(), program.entry, registers.data());
  for (std::size_t lane = 0; lane < Pack::size; ++lane) {
    const std::vector<double> expected = f(states[lane]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(detail::Lanes<Pack>::get(results[i], static_cast<int>(lane)), expected[i],
                  1e-11 * (1 + std::abs(expected[i])))
          << "seed " << GetParam() << "\n"
          << f.text();
    }
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(0U, 100U));

TEST(Program, HasNoStepsForConstantsThatOperationsHold) {
  const std::vector<std::string> names{"a"};
  const Program program(Expression::parse("2 * sin(a + 1) - 3", names));
  EXPECT_EQ(program.entry.steps, 5);  // sum, sine, product, difference, and the result
}

TEST(Program, ComputesIndependentSinesTogether) {
  const std::vector<std::string> names{"a", "b", "c"};
  const Program program(
      Expression::parse("sin(a + b) * cos(b) + sin(c) * b + sin(sin(a) - cos(c))", names));
  int first = -1;
  for (int i = 0; i < program.entry.steps && first < 0; ++i) {
    first = program.steps[static_cast<std::size_t>(i)].operation == Operation::Sin ? i : -1;
  }
  ASSERT_GE(first, 0);
  EXPECT_EQ(program.steps[static_cast<std::size_t>(first)].together, 5);
}

TEST(Program, ComputesSineAndCosineOfAnAngleTogether) {
  const std::vector<std::string> names{"a", "b"};
  const Program program(Expression::parse("sin(a) * cos(a) + sin(b) * cos(b)", names));
  EXPECT_EQ(program.steps.front().together, 4);
  EXPECT_EQ(program.steps.front().angles, 2);
}

TEST(Program, JoinsProductsWithSums) {
  const std::vector<std::string> names{"a", "b", "c"};
  const std::vector<double> x{1.25, -2.5, 3.75};
  for (const char* formula : {"a * b + c", "c + a * b", "a * b - c", "c - a * b", "3 * a + b",
                              "b - 3 * a", "a / 4 - b", "-a + b * c", "-(a * b) - c * 2"}) {
    const Expression f = Expression::parse(formula, names);
    const Program program(f);
    EXPECT_LE(program.entry.steps, formula[0] == '-' ? 4 : 2) << formula;
    EXPECT_DOUBLE_EQ(run(program, x).at(0), f(x).at(0)) << formula;
  }
  // A product that is needed elsewhere is computed once.
  EXPECT_EQ(Program(Expression::parse("p = a * b; p + c, p", names)).entry.steps, 4);
}

TEST(Program, MultipliesForSmallPowers) {
  const std::vector<std::string> names{"a"};
  for (const int exponent : {-32, -3, -1, 2, 3, 7, 31, 32}) {
    const Program program(Expression::parse("a^" + std::to_string(exponent), names));
    EXPECT_NEAR(run(program, {1.1}).at(0), std::pow(1.1, exponent),
                1e-13 * std::pow(1.1, exponent));
    EXPECT_TRUE(std::ranges::none_of(
        program.steps, [](const auto& step) { return step.operation == Operation::Pow; }));
  }
  EXPECT_DOUBLE_EQ(run(Program(Expression::parse("a^2.5", names)), {1.1}).at(0),
                   std::pow(1.1, 2.5));
}

}  // namespace
}  // namespace kempe::test
