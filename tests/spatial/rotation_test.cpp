#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>

#include "dense.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

template <typename T>
class Rotations : public ::testing::Test {};
TYPED_TEST_SUITE(Rotations, Scalars);

template <typename T>
::testing::AssertionResult isRotation(const Mat3<T>& R) {
  const Eigen::Matrix3d D = dense(R);
  const auto orthogonal = isNear(D * D.transpose(), Eigen::Matrix3d::Identity(), tolerance<T>);
  if (!orthogonal) {
    return orthogonal;
  }
  return D.determinant() > 0.0 ? ::testing::AssertionSuccess()
                               : ::testing::AssertionFailure() << "a reflection\n"
                                                               << D;
}

template <typename T>
Eigen::Matrix3d angleAxis(const Vec3<T>& w) {
  const Eigen::Vector3d vector = dense(w);
  const double angle = vector.norm();
  if (angle == 0.0) {
    return Eigen::Matrix3d::Identity();
  }
  return Eigen::AngleAxisd(angle, vector / angle).toRotationMatrix();
}

/// Angles where the formulas change their form or lose digits, and ordinary ones.
constexpr std::array angles{0.0,    1e-20,  1e-12, 1e-8, 5e-5, 0.99999e-4, 1.00001e-4, 1.99999e-4,
                            2.1e-4, 1.0e-3, 0.01,  0.3,  1.0,  1.6,        2.5,        3.1};

TYPED_TEST(Rotations, AboutTheAxesEqualEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const T angle = random.number(-7.0, 7.0);
    const Vec3<T> x{angle, T(0), T(0)}, y{T(0), angle, T(0)}, z{T(0), T(0), angle};
    EXPECT_TRUE(isNear(dense(rotationX(angle)), angleAxis(x), tolerance<T>));
    EXPECT_TRUE(isNear(dense(rotationY(angle)), angleAxis(y), tolerance<T>));
    EXPECT_TRUE(isNear(dense(rotationZ(angle)), angleAxis(z), tolerance<T>));
  });
}

TYPED_TEST(Rotations, TimesRotationZIsTheProduct) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Mat3<T> R = random.rotation();
    const T angle = random.number(-7.0, 7.0);
    const Mat3<T> turned = timesRotationZ(R, std::sin(angle), std::cos(angle));
    EXPECT_TRUE(isNear(dense(turned), dense(R * rotationZ(angle)), tolerance<T>));
    EXPECT_EQ(turned.column(2), R.column(2));
  });
}

TYPED_TEST(Rotations, RollPitchYawEqualsEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> rpy = T(3.2) * random.vector();
    const Eigen::Vector3d angle = dense(rpy);
    const Eigen::Matrix3d expected = (Eigen::AngleAxisd(angle.z(), Eigen::Vector3d::UnitZ()) *
                                      Eigen::AngleAxisd(angle.y(), Eigen::Vector3d::UnitY()) *
                                      Eigen::AngleAxisd(angle.x(), Eigen::Vector3d::UnitX()))
                                         .toRotationMatrix();
    const Mat3<T> R = rotationFromRollPitchYaw(rpy);
    EXPECT_TRUE(isNear(dense(R), expected, tolerance<T>));
    EXPECT_TRUE(isRotation(R));
  });
}

TYPED_TEST(Rotations, FromVectorEqualsEigenAndTheQuaternion) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> axis = random.direction();
    for (const double angle : angles) {
      const Vec3<T> w = static_cast<T>(angle) * axis;
      const Mat3<T> R = rotationFromVector(w);
      EXPECT_TRUE(isRotation(R)) << angle;
      EXPECT_TRUE(isNear(dense(R), angleAxis(w), tolerance<T>)) << angle;
      const Quaternion<T> q = quaternionFromVector(w);
      EXPECT_NEAR(dense(q).norm(), 1.0, tolerance<T>) << angle;
      EXPECT_TRUE(isNear(dense(rotationFromQuaternion(q)), dense(R), tolerance<T>)) << angle;
      // A small rotation keeps all its digits: the antisymmetric part is (sin θ / θ) w.
      const Vec3<T> twice{R.r2.y - R.r1.z, R.r0.z - R.r2.x, R.r1.x - R.r0.y};
      const double length = dense(w).norm();
      const double ratio = length > 0.0 ? std::sin(length) / length : 1.0;
      EXPECT_LE((dense(twice) - 2.0 * ratio * dense(w)).norm(), tolerance<T> * length) << angle;
    }
  });
}

TYPED_TEST(Rotations, VectorToQuaternionAndBack) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> axis = random.direction();
    for (const double angle : angles) {
      const Vec3<T> w = static_cast<T>(angle) * axis;
      const Quaternion<T> q = quaternionFromVector(w);
      const Quaternion<T> minus{-q.x, -q.y, -q.z, -q.w};  // the same rotation
      EXPECT_LE((dense(vectorFromQuaternion(q)) - dense(w)).norm(), tolerance<T> * angle) << angle;
      EXPECT_LE((dense(vectorFromQuaternion(minus)) - dense(w)).norm(), tolerance<T> * angle)
          << angle;
      // Through the matrix small angles lose digits, but no more than rounding of a matrix of ones.
      const Vec3<T> back = vectorFromQuaternion(quaternionFromRotation(rotationFromVector(w)));
      EXPECT_TRUE(isNear(dense(back), dense(w), tolerance<T>)) << angle;
    }
  });
}

TYPED_TEST(Rotations, HalfTurnsHaveAVectorOfLengthPi) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // At π both signs of the axis are right, so the rotations are compared.
    const Vec3<T> axis = random.direction();
    for (const double nearly : {M_PI - 1e-4, M_PI - 1e-7, M_PI - 1e-12, M_PI, M_PI + 1e-7}) {
      const Mat3<T> R = rotationFromVector(static_cast<T>(nearly) * axis);
      const Quaternion<T> q = quaternionFromRotation(R);
      EXPECT_GE(q.w, T(0));
      const Vec3<T> w = vectorFromQuaternion(q);
      EXPECT_NEAR(norm(w), M_PI - std::abs(M_PI - nearly), tolerance<T>) << nearly;
      EXPECT_TRUE(isNear(dense(rotationFromVector(w)), dense(R), tolerance<T>)) << nearly;
    }
  });
}

TYPED_TEST(Rotations, LongVectorsGiveTheShortestOne) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const T angle = random.number(3.3, 12.0);
    const Vec3<T> w = angle * random.direction();
    const Vec3<T> shortest = vectorFromQuaternion(quaternionFromVector(w));
    EXPECT_LE(norm(shortest), M_PI + tolerance<T>);
    EXPECT_TRUE(isNear(dense(rotationFromVector(shortest)), angleAxis(w), tolerance<T>));
  });
}

TYPED_TEST(Rotations, QuaternionEqualsEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Quaternion<T> a = random.quaternion(), b = random.quaternion();
    const auto eigen = [](const Quaternion<T>& q) {
      return Eigen::Quaterniond(static_cast<double>(q.w), static_cast<double>(q.x),
                                static_cast<double>(q.y), static_cast<double>(q.z));
    };
    EXPECT_TRUE(isRotation(rotationFromQuaternion(a)));
    EXPECT_TRUE(isNear(dense(rotationFromQuaternion(a)), eigen(a).normalized().toRotationMatrix(),
                       tolerance<T>));
    EXPECT_TRUE(isNear(dense(a * b), (eigen(a) * eigen(b)).coeffs(), tolerance<T>));
    EXPECT_TRUE(isNear(dense(a * a.conjugate()), Eigen::Vector4d::UnitW(), tolerance<T>));
    EXPECT_TRUE(isNear(dense(rotationFromQuaternion(a * b)),
                       dense(rotationFromQuaternion(a) * rotationFromQuaternion(b)), tolerance<T>));
    // Length does not matter to the rotation.
    const Quaternion<T> longer{T(3) * a.x, T(3) * a.y, T(3) * a.z, T(3) * a.w};
    EXPECT_TRUE(isNear(dense(rotationFromQuaternion(longer)), dense(rotationFromQuaternion(a)),
                       tolerance<T>));
    EXPECT_TRUE(isNear(dense(normalized(longer)), dense(a), tolerance<T>));
  });
}

TYPED_TEST(Rotations, QuaternionFromRotationWhicheverComponentIsLargest) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    for (int largest = 0; largest < 4; ++largest) {
      for (const T sign : {T(1), T(-1)}) {
        // The other components stay so small that the trace is negative unless w is the largest.
        std::array<T, 4> c{};
        for (T& component : c) {
          component = random.number(-0.3, 0.3);
        }
        c[static_cast<std::size_t>(largest)] = sign;
        const Quaternion<T> q = normalized(Quaternion<T>{c[0], c[1], c[2], c[3]});
        const Mat3<T> R = rotationFromQuaternion(q);
        const T trace = R.r0.x + R.r1.y + R.r2.z;
        ASSERT_EQ(trace > T(0), largest == 3);
        const Quaternion<T> back = quaternionFromRotation(R);
        EXPECT_GE(back.w, T(0));
        EXPECT_NEAR(dense(back).norm(), 1.0, tolerance<T>);
        EXPECT_NEAR(std::abs(dense(back).dot(dense(q))), 1.0, tolerance<T>);
        EXPECT_TRUE(isNear(dense(rotationFromQuaternion(back)), dense(R), tolerance<T>));
      }
    }
  });
}

TYPED_TEST(Rotations, QuaternionOfExactHalfTurns) {
  using T = TypeParam;
  const auto diagonal = [](T x, T y, T z) { return SymMat3<T>::diagonal(x, y, z).full(); };
  using V = Eigen::Vector4d;
  const T one(1);
  EXPECT_TRUE(isNear(dense(quaternionFromRotation(diagonal(one, -one, -one))), V(1, 0, 0, 0), 0));
  EXPECT_TRUE(isNear(dense(quaternionFromRotation(diagonal(-one, one, -one))), V(0, 1, 0, 0), 0));
  EXPECT_TRUE(isNear(dense(quaternionFromRotation(diagonal(-one, -one, one))), V(0, 0, 1, 0), 0));
  EXPECT_TRUE(isNear(dense(quaternionFromRotation(diagonal(one, one, one))), V(0, 0, 0, 1), 0));
}

template <typename T>
void expectTakesZTo(const Vec3<T>& axis) {
  const Mat3<T> R = rotationTakingZTo(axis);
  EXPECT_EQ(R.column(2), axis);
  EXPECT_TRUE(isRotation(R)) << "axis " << dense(axis).transpose();
}

TYPED_TEST(Rotations, TakingZToAnyAxis) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) { expectTakesZTo(random.direction()); });
}

TYPED_TEST(Rotations, TakingZToTheAxesOfTheFrame) {
  using T = TypeParam;
  for (const T side : {T(1), T(-1)}) {
    expectTakesZTo<T>({side, T(0), T(0)});
    expectTakesZTo<T>({T(0), side, T(0)});
    expectTakesZTo<T>({T(0), T(0), side});
  }
  EXPECT_EQ(rotationTakingZTo(Vec3<T>{T(0), T(0), T(1)}), Mat3<T>::identity());
}

TYPED_TEST(Rotations, TakingZToAxesNearThePolesAndTheSeam) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> sideways = random.direction();
    for (const double pole : {1.0, -1.0}) {
      for (const double distance : {1e-12, 1e-7, 1e-4, 1e-2}) {
        const Vec3<T> axis{static_cast<T>(distance) * sideways.x,
                           static_cast<T>(distance) * sideways.y, static_cast<T>(pole)};
        expectTakesZTo(normalized(axis));
      }
    }
    for (const double z : {-0.5 - 1e-6, -0.5, -0.5 + 1e-6}) {
      const T radius = static_cast<T>(std::sqrt(1.0 - z * z));
      const T longitude = random.number(-3.0, 3.0);
      expectTakesZTo<T>(
          {radius * std::cos(longitude), radius * std::sin(longitude), static_cast<T>(z)});
    }
  });
}

}  // namespace
}  // namespace kempe::test
