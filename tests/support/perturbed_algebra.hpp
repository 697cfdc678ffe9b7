#pragma once

#include <Eigen/Core>
#include <array>
#include <utility>
#include <vector>

#include "support/loop_rows.hpp"
#include "support/perturbed.hpp"

/// Vectors and matrices of numbers that carry derivatives.
namespace kempe::test {

inline double valueOf(double x) {
  return x;
}
template <typename S>
double valueOf(const Perturbed<S>& x) {
  return valueOf(x.value);
}

template <typename S>
Triple<S> operator+(const Triple<S>& a, const Triple<S>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <typename S>
Triple<S> operator-(const Triple<S>& a, const Triple<S>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <typename S>
Triple<S> operator*(const S& x, const Triple<S>& a) {
  return {x * a[0], x * a[1], x * a[2]};
}
template <typename S>
Triple<S> crossOf(const Triple<S>& a, const Triple<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

template <typename S>
using Square = std::array<Triple<S>, 3>;  // rows

/// A Bᵀ
template <typename S>
Square<S> timesTransposed(const Square<S>& A, const Square<S>& B) {
  Square<S> C;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      C[i][j] = dotOf(A[i], B[j]);
    }
  }
  return C;
}
/// x of the skew part x× of a matrix.
template <typename S>
Triple<S> axialOf(const Square<S>& m) {
  const S half(0.5);
  return {half * (m[2][1] - m[1][2]), half * (m[0][2] - m[2][0]), half * (m[1][0] - m[0][1])};
}
/// One coefficient of all entries: `part` is a member of T.
template <typename T, typename S>
Triple<S> partOf(const Triple<T>& x, S T::*part) {
  return {x[0].*part, x[1].*part, x[2].*part};
}
template <typename T, typename S>
Square<S> partOf(const Square<T>& m, S T::*part) {
  return {partOf(m[0], part), partOf(m[1], part), partOf(m[2], part)};
}

/// A matrix by the matrices of its coefficients.
template <typename S>
struct Dense;
template <>
struct Dense<double> {
  Dense(Eigen::Index rows, Eigen::Index columns) : m(Eigen::MatrixXd::Zero(rows, columns)) {}
  explicit Dense(Eigen::MatrixXd matrix) : m(std::move(matrix)) {}
  [[nodiscard]] double at(Eigen::Index i, Eigen::Index j) const { return m(i, j); }
  void set(Eigen::Index i, Eigen::Index j, double x) { m(i, j) = x; }
  [[nodiscard]] Dense columns(const std::vector<int>& some) const {
    return Dense(Eigen::MatrixXd(m(Eigen::all, some)));
  }
  Eigen::MatrixXd m;
};
template <typename S>
struct Dense<Perturbed<S>> {
  Dense(Eigen::Index rows, Eigen::Index columns) : value(rows, columns), slope(rows, columns) {}
  Dense(Dense<S> x, Dense<S> along) : value(std::move(x)), slope(std::move(along)) {}
  [[nodiscard]] Perturbed<S> at(Eigen::Index i, Eigen::Index j) const {
    return {value.at(i, j), slope.at(i, j)};
  }
  void set(Eigen::Index i, Eigen::Index j, const Perturbed<S>& x) {
    value.set(i, j, x.value);
    slope.set(i, j, x.slope);
  }
  [[nodiscard]] Dense columns(const std::vector<int>& some) const {
    return {value.columns(some), slope.columns(some)};
  }
  Dense<S> value, slope;
};

inline Dense<double> product(const Dense<double>& A, const Dense<double>& B) {
  return Dense<double>(Eigen::MatrixXd(A.m * B.m));
}
inline Dense<double> sum(const Dense<double>& A, const Dense<double>& B, double sign = 1.0) {
  return Dense<double>(Eigen::MatrixXd(A.m + sign * B.m));
}
template <typename S>
Dense<Perturbed<S>> sum(const Dense<Perturbed<S>>& A, const Dense<Perturbed<S>>& B,
                        double sign = 1.0) {
  return {sum(A.value, B.value, sign), sum(A.slope, B.slope, sign)};
}
template <typename S>
Dense<Perturbed<S>> product(const Dense<Perturbed<S>>& A, const Dense<Perturbed<S>>& B) {
  return {product(A.value, B.value), sum(product(A.slope, B.value), product(A.value, B.slope))};
}

/// X of A X = B, which has one solution, with P = A⁺ of the numbers without derivatives: A X = B and
/// A X′ = B′ − A′ X.
inline Dense<double> solved(const Eigen::MatrixXd& P, const Dense<double>& A,
                            const Dense<double>& B) {
  Eigen::MatrixXd X = P * B.m;
  X += P * (B.m - A.m * X);  // the pseudo-inverse is as inaccurate as A is ill-conditioned
  return Dense<double>(std::move(X));
}
template <typename S>
Dense<Perturbed<S>> solved(const Eigen::MatrixXd& P, const Dense<Perturbed<S>>& A,
                           const Dense<Perturbed<S>>& B) {
  Dense<S> X = solved(P, A.value, B.value);
  Dense<S> along = solved(P, A.value, sum(B.slope, product(A.slope, X), -1.0));
  return {std::move(X), std::move(along)};
}

}  // namespace kempe::test
