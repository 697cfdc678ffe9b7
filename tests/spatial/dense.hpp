#pragma once

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <limits>

#include "kempe/spatial/transform.hpp"
#include "support/decompositions.hpp"

/// The spatial algebra written out as dense matrices of double, from the book and not from the
/// library's operations: what tests compare with.
namespace kempe::test {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

/// Scalar types that typed tests run on.
using Scalars = ::testing::Types<double, float>;

/// Relative error that a few dozen operations of type T may leave.
template <typename T>
constexpr double tolerance = 256.0 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <typename T>
Eigen::Vector3d dense(const Vec3<T>& a) {
  return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
}

template <typename T>
Eigen::Matrix3d dense(const Mat3<T>& a) {
  Eigen::Matrix3d result;
  result << dense(a.r0).transpose(), dense(a.r1).transpose(), dense(a.r2).transpose();
  return result;
}

template <typename T>
Eigen::Matrix3d dense(const SymMat3<T>& a) {
  Eigen::Matrix3d result;
  result << static_cast<double>(a.xx), static_cast<double>(a.xy), static_cast<double>(a.xz),
      static_cast<double>(a.xy), static_cast<double>(a.yy), static_cast<double>(a.yz),
      static_cast<double>(a.xz), static_cast<double>(a.yz), static_cast<double>(a.zz);
  return result;
}

template <typename T>
Vector6 dense(const Motion<T>& a) {
  return (Vector6() << dense(a.angular), dense(a.linear)).finished();
}

template <typename T>
Vector6 dense(const Force<T>& a) {
  return (Vector6() << dense(a.moment), dense(a.force)).finished();
}

template <typename T>
Eigen::Vector4d dense(const Quaternion<T>& a) {
  return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z),
          static_cast<double>(a.w)};
}

inline Eigen::Matrix3d crossMatrix(const Eigen::Vector3d& a) {
  Eigen::Matrix3d result;
  result << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return result;
}

template <typename T>
Matrix6 dense(const RigidInertia<T>& a) {
  const Eigen::Matrix3d h = crossMatrix(dense(a.moment));
  Matrix6 result;
  result << dense(a.rotation), h, h.transpose(),
      static_cast<double>(a.mass) * Eigen::Matrix3d::Identity();
  return result;
}

template <typename T>
Matrix6 dense(const ArticulatedInertia<T>& a) {
  Matrix6 result;
  result << dense(a.A), dense(a.B), dense(a.B).transpose(), dense(a.C);
  return result;
}

/// The matrix that takes motions written in B to A: [R 0; p×R R].
template <typename T>
Matrix6 motionMatrix(const Transform<T>& X) {
  Matrix6 result;
  result << dense(X.R), Eigen::Matrix3d::Zero(), crossMatrix(dense(X.p)) * dense(X.R), dense(X.R);
  return result;
}

/// The matrix that takes forces written in B to A.
template <typename T>
Matrix6 forceMatrix(const Transform<T>& X) {
  return solveRegular(motionMatrix(X), Matrix6::Identity()).transpose();
}

template <typename T>
Eigen::Matrix<double, 3, 4> dense(const Transform<T>& X) {
  return (Eigen::Matrix<double, 3, 4>() << dense(X.R), dense(X.p)).finished();
}

/// Whether two matrices differ by no more than `relative` of the second's size (at least 1).
template <typename A, typename B>
::testing::AssertionResult isNear(const Eigen::MatrixBase<A>& actual,
                                  const Eigen::MatrixBase<B>& expected, double relative) {
  const double difference = (actual - expected).norm();
  const double allowed = relative * (1.0 + expected.norm());
  if (difference <= allowed) {  // false for NaN
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "difference " << difference << ", allowed " << allowed << "\nactual\n"
         << actual << "\nexpected\n"
         << expected;
}

}  // namespace kempe::test
