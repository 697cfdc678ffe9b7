#include "kempe/spatial/factorization.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "dense.hpp"
#include "spatial/dual.hpp"
#include "support/decompositions.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

template <typename T>
class Factorization : public ::testing::Test {};
TYPED_TEST_SUITE(Factorization, Scalars);

constexpr int largest = 8;

/// The row-major layout that the factorizations work on.
template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
RowMajor<T> randomMatrix(RandomSpatial<T>& random, int rows, int columns) {
  return RowMajor<T>::NullaryExpr(rows, columns, [&random] { return random.number(); });
}

template <typename T>
RowMajor<T> randomDefinite(RandomSpatial<T>& random, int n) {
  const RowMajor<T> M = randomMatrix(random, n, n);
  return M * M.transpose() + T(0.5) * RowMajor<T>::Identity(n, n);
}

template <typename T>
RowMajor<T> randomOrthogonal(RandomSpatial<T>& random, int n) {
  return orthogonalized(randomMatrix(random, n, n).template cast<double>()).template cast<T>();
}

/// Rounding grows with the condition number.
template <typename T>
double allowed(const Eigen::MatrixXd& A) {
  const Eigen::VectorXd values = singularValues(A);
  return tolerance<T> * values(0) / values(values.size() - 1);
}

TYPED_TEST(Factorization, CholeskyFactorIsEigens) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int n = 1; n <= largest; ++n) {
      const RowMajor<T> A = randomDefinite(random, n);
      RowMajor<T> L = A;
      // What stands above the diagonal is neither read nor written.
      L.template triangularView<Eigen::StrictlyUpper>().setConstant(
          std::numeric_limits<T>::quiet_NaN());
      ASSERT_TRUE(choleskyFactor(L.data(), n));
      for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
          EXPECT_TRUE(std::isnan(L(i, j)));
          L(i, j) = T(0);
        }
      }
      const Eigen::MatrixXd expected = choleskyFactorOf(A.template cast<double>());
      EXPECT_TRUE(
          isNear(L.template cast<double>(), expected, allowed<T>(A.template cast<double>())))
          << "n = " << n;
    }
  });
}

TYPED_TEST(Factorization, CholeskySolvesTheSystem) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int n = 1; n <= largest; ++n) {
      const RowMajor<T> A = randomDefinite(random, n);
      const RowMajor<T> b = randomMatrix(random, n, 1);
      RowMajor<T> L = A, x = b;
      ASSERT_TRUE(choleskyFactor(L.data(), n));
      choleskySolve(L.data(), n, x.data());
      const Eigen::MatrixXd dense = A.template cast<double>();
      const Eigen::MatrixXd expected = solveDefinite(dense, b.template cast<double>());
      EXPECT_TRUE(isNear(x.template cast<double>(), expected, allowed<T>(dense))) << "n = " << n;
    }
  });
}

TYPED_TEST(Factorization, CholeskyRefusesWhatIsNotPositiveDefinite) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int n = 1; n <= largest; ++n) {
      // Congruence of a diagonal with one negative entry, wherever it stands.
      for (int negative = 0; negative < n; ++negative) {
        const RowMajor<T> Q = randomOrthogonal(random, n);
        RowMajor<T> D = RowMajor<T>::Identity(n, n);
        D(negative, negative) = T(-0.5);
        RowMajor<T> A = Q * D * Q.transpose();
        EXPECT_FALSE(choleskyFactor(A.data(), n)) << "n = " << n;
      }
    }
  });
}

TYPED_TEST(Factorization, CholeskyRefusesZeroAndNan) {
  using T = TypeParam;
  for (int n = 1; n <= largest; ++n) {
    RowMajor<T> zero = RowMajor<T>::Zero(n, n);
    EXPECT_FALSE(choleskyFactor(zero.data(), n));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) {
        RowMajor<T> broken = RowMajor<T>::Identity(n, n);
        broken(i, j) = std::numeric_limits<T>::quiet_NaN();
        EXPECT_FALSE(choleskyFactor(broken.data(), n)) << n << ": " << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(Factorization, LuSolvesForSeveralRightHandSides) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int n = 1; n <= largest; ++n) {
      for (const int columns : {1, 3, 6}) {
        const RowMajor<T> A = randomMatrix(random, n, n);
        const RowMajor<T> B = randomMatrix(random, n, columns);
        RowMajor<T> lu = A, X = B;
        std::vector<int> pivots(static_cast<std::size_t>(n));
        const T ratio = luFactor(lu.data(), n, pivots.data());
        ASSERT_GT(ratio, T(0));
        EXPECT_LE(ratio, T(1));
        luSolve(lu.data(), n, pivots.data(), X.data(), columns);
        const Eigen::MatrixXd dense = A.template cast<double>();
        const Eigen::MatrixXd expected = solveRegular(dense, B.template cast<double>());
        EXPECT_TRUE(isNear(X.template cast<double>(), expected, allowed<T>(dense)))
            << "n = " << n << ", columns = " << columns;
        RowMajor<T> x = B.col(0);
        luSolveTransposed(lu.data(), n, pivots.data(), x.data());
        const Eigen::MatrixXd solution =
            solveRegular(dense.transpose(), B.col(0).template cast<double>());
        EXPECT_TRUE(isNear(x.template cast<double>(), solution, allowed<T>(dense)))
            << "transposed, n = " << n;
      }
    }
  });
}

TYPED_TEST(Factorization, LuNeedsItsPivots) {
  using T = TypeParam;
  // Cyclic permutations have a zero on every diagonal entry.
  for (int n = 2; n <= largest; ++n) {
    RowMajor<T> A = RowMajor<T>::Zero(n, n), x(n, 1);
    for (int i = 0; i < n; ++i) {
      A(i, (i + 1) % n) = T(1);
      x(i, 0) = T(i);
    }
    std::vector<int> pivots(static_cast<std::size_t>(n));
    EXPECT_EQ(luFactor(A.data(), n, pivots.data()), T(1));
    luSolve(A.data(), n, pivots.data(), x.data(), 1);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(x((i + 1) % n, 0), T(i));  // x_{i+1} = b_i
    }
  }
}

TYPED_TEST(Factorization, LuTellsSingularMatrices) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int n = 2; n <= largest; ++n) {
      // Q (1 − u uᵀ): orthogonal but for the null vector u, which leans on every column alike.
      const RowMajor<T> Q = randomOrthogonal(random, n);
      const RowMajor<T> u = RowMajor<T>::Constant(n, 1, T(1) / std::sqrt(T(n)));
      const RowMajor<T> A = Q - Q * u * u.transpose();
      std::vector<int> pivots(static_cast<std::size_t>(n));
      RowMajor<T> lu = A;
      EXPECT_LE(luFactor(lu.data(), n, pivots.data()), tolerance<T>) << "n = " << n;
      lu = A;
      lu.col(random.seed() % static_cast<unsigned>(n)).setZero();
      EXPECT_EQ(luFactor(lu.data(), n, pivots.data()), T(0)) << "n = " << n;
    }
  });
}

TYPED_TEST(Factorization, EliminationSolvesTheSystem) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int n = 1; n <= largest; ++n) {
      const RowMajor<T> A = randomMatrix(random, n, n), b = randomMatrix(random, n, 1);
      RowMajor<T> overwritten = A, x = b;
      EXPECT_GT(eliminate(overwritten.data(), n, x.data()), T(0));
      const Eigen::MatrixXd dense = A.template cast<double>();
      const Eigen::MatrixXd expected = solveRegular(dense, b.template cast<double>());
      EXPECT_TRUE(isNear(x.template cast<double>(), expected, allowed<T>(dense))) << "n = " << n;
    }
  });
}

TYPED_TEST(Factorization, EliminationNeedsItsPivots) {
  using T = TypeParam;
  for (int n = 2; n <= largest; ++n) {
    RowMajor<T> A = RowMajor<T>::Zero(n, n), x(n, 1);
    for (int i = 0; i < n; ++i) {
      A(i, (i + 1) % n) = T(1);
      x(i, 0) = T(i);
    }
    EXPECT_EQ(eliminate(A.data(), n, x.data()), T(1));
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(x((i + 1) % n, 0), T(i));
    }
  }
}

TYPED_TEST(Factorization, EliminationTellsZeroColumnsAndNan) {
  using T = TypeParam;
  for (int n = 1; n <= largest; ++n) {
    for (int i = 0; i < n; ++i) {
      RowMajor<T> x = RowMajor<T>::Ones(n, 1), singular = RowMajor<T>::Identity(n, n);
      singular.col(i).setZero();
      EXPECT_FALSE(eliminate(singular.data(), n, x.data()) > T(0)) << n << ": " << i;
      for (int j = 0; j < n; ++j) {
        RowMajor<T> broken = RowMajor<T>::Identity(n, n);
        broken(i, j) = std::numeric_limits<T>::quiet_NaN();
        EXPECT_FALSE(eliminate(broken.data(), n, x.data()) > T(0)) << n << ": " << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(Factorization, LuPivotRatioFollowsTheScale) {
  using T = TypeParam;
  for (const double small : {1e-1, 1e-3, 1e-6}) {
    RowMajor<T> A = RowMajor<T>::Identity(4, 4);
    A(2, 2) = static_cast<T>(small);
    std::vector<int> pivots(4);
    EXPECT_EQ(luFactor(A.data(), 4, pivots.data()), static_cast<T>(small));
  }
}

/// d(A⁻¹ b) = −A⁻¹ dA A⁻¹ b, also where an entry that changes is zero and the matrix is large, so
/// that zeros are skipped.
TEST(FactorizationOfDuals, KeepsDerivativesOfZeros) {
  constexpr int n = 20;
  Eigen::MatrixXd A = 2.0 * Eigen::MatrixXd::Identity(n, n), dA = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd b(n);
  std::vector<detail::Dual<double>> matrix, x;
  for (int i = 0; i < n; ++i) {
    A(i, (3 * i + 1) % n) += 0.5;
    b[i] = std::sin(1.0 + i);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      dA(i, j) = std::cos(1.0 + 3.0 * i + 7.0 * j);
      matrix.emplace_back(A(i, j), dA(i, j));
    }
    x.emplace_back(b[i]);
  }
  int pivots[n];
  ASSERT_GT(luFactor(matrix.data(), n, pivots).value, 0.0);
  luSolve(matrix.data(), n, pivots, x.data(), 1);
  const Eigen::VectorXd expected = A.inverse() * b, change = -A.inverse() * dA * expected;
  for (int i = 0; i < n; ++i) {
    EXPECT_NEAR(x[static_cast<std::size_t>(i)].value, expected[i], 1e-13);
    EXPECT_NEAR(x[static_cast<std::size_t>(i)].slope, change[i], 1e-12);
  }
}

}  // namespace
}  // namespace kempe::test
