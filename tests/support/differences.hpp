#pragma once

#include <Eigen/Core>

namespace kempe::test {

/// The derivative of f at 0 by central differences, extrapolated from three lengths: the error is of
/// sixth order in h.
template <typename F>
Eigen::VectorXd differentiated(const F& f, double h = 1e-3) {
  const auto central = [&](double x) -> Eigen::VectorXd { return (f(x) - f(-x)) / (2.0 * x); };
  const Eigen::VectorXd coarse = central(h), fine = central(h / 2), finest = central(h / 4);
  const Eigen::VectorXd first = (4.0 * fine - coarse) / 3.0, second = (4.0 * finest - fine) / 3.0;
  return (16.0 * second - first) / 15.0;
}

}  // namespace kempe::test
