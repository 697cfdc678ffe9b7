#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>

namespace kempe::test {

/// Whether two arrays differ nowhere by more than `relative` of the second's largest entry (at
/// least 1).
template <typename A, typename B>
::testing::AssertionResult closeTo(const Eigen::MatrixBase<A>& actual,
                                   const Eigen::MatrixBase<B>& expected, double relative) {
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) {
    return ::testing::AssertionFailure()
           << "shape " << actual.rows() << "×" << actual.cols() << " instead of " << expected.rows()
           << "×" << expected.cols();
  }
  if (actual.size() == 0) {
    return ::testing::AssertionSuccess();
  }
  const auto difference = static_cast<double>((actual - expected).cwiseAbs().maxCoeff());
  const auto largest = static_cast<double>(expected.cwiseAbs().maxCoeff());
  const double allowed = relative * std::max(1.0, largest);
  if (difference <= allowed && actual.allFinite()) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "difference " << difference << ", allowed " << allowed << "\nactual\n"
         << actual << "\nexpected\n"
         << expected;
}

/// An output in which entries that were not written can be recognised.
inline Eigen::VectorXd poisoned(int size) {
  return Eigen::VectorXd::Constant(size, std::numeric_limits<double>::quiet_NaN());
}
inline Eigen::MatrixXd poisoned(int rows, int columns) {
  return Eigen::MatrixXd::Constant(rows, columns, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace kempe::test
