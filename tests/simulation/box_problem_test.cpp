#include "simulation/box_problem.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

// Forces of friction and stops: the conditions of a minimum hold, and the accelerations are those of
// solvers that share no code with the simulator.

namespace kempe::test {
namespace {

using detail::BoxProblem;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
  Eigen::MatrixXd A;
  Eigen::VectorXd b, lower, upper;

  [[nodiscard]] int size() const { return static_cast<int>(b.size()); }
  /// The largest sum of |terms| of a g.
  [[nodiscard]] double magnitude(const Eigen::VectorXd& x) const {
    return (b.cwiseAbs() + A.cwiseAbs() * x.cwiseAbs()).maxCoeff();
  }
};

/// A random problem of n rows, of which `rank` are independent. Where rows are redundant, they do not
/// contradict each other. Coarse numbers make ties.
Problem randomProblem(std::mt19937& random, int n, int rank, bool coarse) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto number = [&] {
    const double x = uniform(random);
    return coarse ? std::round(2.0 * x) : x;
  };
  Problem problem;
  const Eigen::MatrixXd B = Eigen::MatrixXd::NullaryExpr(n, rank, number);
  problem.A = B * B.transpose();
  problem.b = B * Eigen::VectorXd::NullaryExpr(rank, number);
  problem.lower.resize(n);
  problem.upper.resize(n);
  for (int i = 0; i < n; ++i) {
    const double bound = std::abs(number());
    switch (std::uniform_int_distribution(0, 4)(random)) {
      case 0:  // a loop
        problem.lower[i] = -kInfinity;
        problem.upper[i] = kInfinity;
        break;
      case 1:  // an upper stop
        problem.lower[i] = -kInfinity;
        problem.upper[i] = 0.0;
        break;
      case 2:  // a lower stop
        problem.lower[i] = 0.0;
        problem.upper[i] = kInfinity;
        break;
      default:  // friction
        problem.lower[i] = -bound;
        problem.upper[i] = bound;
    }
  }
  return problem;
}

void solve(BoxProblem& box, const Problem& problem) {
  const int n = problem.size();
  box.resize(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      box.matrix(i, j) = problem.A(i, j);
    }
    box.b[i] = problem.b[i];
    box.lower[i] = problem.lower[i];
    box.upper[i] = problem.upper[i];
  }
  box.solve();
}

/// The largest part of a g that x could lower within its bounds, relative to the terms of all.
double violationOf(const Problem& problem, const Eigen::VectorXd& x) {
  const Eigen::VectorXd g = problem.A * x + problem.b;
  double worst = 0.0;
  for (int i = 0; i < problem.size(); ++i) {
    if (!(x[i] >= problem.lower[i] && x[i] <= problem.upper[i])) {
      return kInfinity;
    }
    const bool lowers = g[i] > 0.0 ? x[i] > problem.lower[i] : x[i] < problem.upper[i];
    if (lowers && g[i] != 0.0) {
      worst = std::max(worst, std::abs(g[i]) / problem.magnitude(x));
    }
  }
  return worst;
}

/// Every variable at its lower bound, at its upper one, or free: the first choice that fulfils the
/// conditions.
std::optional<Eigen::VectorXd> byEnumeration(const Problem& problem) {
  const int n = problem.size();
  const int choices = static_cast<int>(std::pow(3, n) + 0.5);
  for (int choice = 0; choice < choices; ++choice) {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
    std::vector<int> free;
    for (int i = 0, rest = choice; i < n; ++i, rest /= 3) {
      if (rest % 3 == 0) {
        free.push_back(i);
      } else {
        x[i] = rest % 3 == 1 ? problem.lower[i] : problem.upper[i];
      }
    }
    if (!x.allFinite()) {
      continue;
    }
    if (!free.empty()) {
      const Eigen::MatrixXd own = problem.A(free, free);
      const Eigen::VectorXd right = -(problem.A * x + problem.b)(free);
      const Eigen::VectorXd found = own.completeOrthogonalDecomposition().solve(right);
      x(free) = found;
      // Where the solution of least norm is outside and another is not, another choice has it.
      x = x.cwiseMax(problem.lower).cwiseMin(problem.upper);
    }
    if (violationOf(problem, x) < 1e-10) {
      return x;
    }
  }
  return std::nullopt;
}

/// Projected Gauss-Seidel, with more digits.
Eigen::VectorXd bySweeps(const Problem& problem) {
  const int n = problem.size();
  std::vector<long double> x(static_cast<std::size_t>(n), 0.0L);
  for (int sweep = 0; sweep < 20000; ++sweep) {
    long double change = 0.0L;
    for (int i = 0; i < n; ++i) {
      if (problem.A(i, i) == 0.0) {
        continue;
      }
      long double slope = problem.b[i];
      for (int j = 0; j < n; ++j) {
        slope += static_cast<long double>(problem.A(i, j)) * x[j];
      }
      const long double to = std::clamp<long double>(x[i] - slope / problem.A(i, i),
                                                     problem.lower[i], problem.upper[i]);
      change = std::max(change, std::abs(to - x[i]));
      x[i] = to;
    }
    if (change < 1e-17L) {
      break;
    }
  }
  Eigen::VectorXd rounded(n);
  for (int i = 0; i < n; ++i) {
    rounded[i] = static_cast<double>(x[i]);
  }
  return rounded;
}

Eigen::VectorXd asVector(const std::vector<double>& list) {
  return Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Eigen::Index>(list.size()));
}

TEST(BoxProblem, FulfilsTheConditionsOfAMinimum) {
  std::mt19937 random(15);
  BoxProblem box;
  for (int trial = 0; trial < 100000; ++trial) {
    const int n = std::uniform_int_distribution(1, 12)(random);
    const int rank = std::uniform_int_distribution(1, n)(random);
    const Problem problem = randomProblem(random, n, rank, trial % 2 == 0);
    solve(box, problem);
    ASSERT_LT(violationOf(problem, asVector(box.x)), 1e-9)
        << "trial " << trial << ", n = " << n << ", rank " << rank;
    for (int i = 0; i < n; ++i) {
      ASSERT_LE(box.violation(i), 1e-9 * problem.magnitude(asVector(box.x))) << "trial " << trial;
    }
  }
}

TEST(BoxProblem, AgreesWithTheEnumerationOfActiveSets) {
  std::mt19937 random(16);
  BoxProblem box;
  int compared = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const int n = std::uniform_int_distribution(1, 5)(random);
    const Problem problem =
        randomProblem(random, n, std::uniform_int_distribution(1, n)(random), trial % 2 == 0);
    const std::optional<Eigen::VectorXd> x = byEnumeration(problem);
    if (!x) {
      continue;  // every solution has redundant variables between bounds
    }
    solve(box, problem);
    const Eigen::VectorXd g = problem.A * *x + problem.b;
    ASSERT_LT((asVector(box.g) - g).cwiseAbs().maxCoeff(), 1e-8) << "trial " << trial;
    ++compared;
  }
  EXPECT_GT(compared, 1200);
}

TEST(BoxProblem, AgreesWithProjectedGaussSeidel) {
  std::mt19937 random(17);
  BoxProblem box;
  int compared = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = std::uniform_int_distribution(6, 12)(random);
    const Problem problem =
        randomProblem(random, n, std::uniform_int_distribution(1, n)(random), trial % 2 == 0);
    const Eigen::VectorXd x = bySweeps(problem);
    if (violationOf(problem, x) > 1e-12) {
      continue;  // it converges too slowly
    }
    solve(box, problem);
    const Eigen::VectorXd g = problem.A * x + problem.b;
    ASSERT_LT((asVector(box.g) - g).cwiseAbs().maxCoeff(), 1e-8) << "trial " << trial;
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST(BoxProblem, PushesRowsThatContradictEachOtherToTheirBounds) {
  // min ½ (x₁ + x₂)² + x₂: as much of x₁ and as little of x₂ as there may be.
  Problem problem{.A = Eigen::MatrixXd::Ones(2, 2),
                  .b = Eigen::Vector2d(0.0, 1.0),
                  .lower = Eigen::Vector2d(-3.0, -2.0),
                  .upper = Eigen::Vector2d(3.0, 2.0)};
  BoxProblem box;
  solve(box, problem);
  EXPECT_NEAR(box.x[0], 2.0, 1e-12);
  EXPECT_EQ(box.x[1], -2.0);
  EXPECT_EQ(box.violation(0) + box.violation(1), 0.0);
}

TEST(BoxProblem, TellsWhereThereIsNoMinimum) {
  // A motor that drives a joint into its stop: no force of the stop prevents it.
  Problem problem{.A = Eigen::MatrixXd::Ones(2, 2),
                  .b = Eigen::Vector2d(0.0, 1.0),
                  .lower = Eigen::Vector2d(-kInfinity, -kInfinity),
                  .upper = Eigen::Vector2d(kInfinity, 0.0)};
  BoxProblem box;
  solve(box, problem);
  EXPECT_GT(std::max(box.violation(0), box.violation(1)), 0.3);
}

}  // namespace
}  // namespace kempe::test
