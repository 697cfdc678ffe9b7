#include <gtest/gtest.h>

#include "dense.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

template <typename T>
class MotionForce : public ::testing::Test {};
TYPED_TEST_SUITE(MotionForce, Scalars);

/// v× on motions (Featherstone 2008, eq. 2.31).
template <typename T>
Matrix6 crossMotionMatrix(const Motion<T>& v) {
  Matrix6 result;
  result << crossMatrix(dense(v.angular)), Eigen::Matrix3d::Zero(), crossMatrix(dense(v.linear)),
      crossMatrix(dense(v.angular));
  return result;
}

TYPED_TEST(MotionForce, VectorSpaceOperationsEqualEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> a = random.motion(), b = random.motion();
    const Force<T> f = random.force(), g = random.force();
    const T s = random.number();
    const auto S = static_cast<double>(s);
    EXPECT_TRUE(isNear(dense(a + b), dense(a) + dense(b), tolerance<T>));
    EXPECT_TRUE(isNear(dense(a - b), dense(a) - dense(b), tolerance<T>));
    EXPECT_TRUE(isNear(dense(-a), -dense(a), 0.0));
    EXPECT_TRUE(isNear(dense(s * a), S * dense(a), tolerance<T>));
    EXPECT_TRUE(isNear(dense(f + g), dense(f) + dense(g), tolerance<T>));
    EXPECT_TRUE(isNear(dense(f - g), dense(f) - dense(g), tolerance<T>));
    EXPECT_TRUE(isNear(dense(-f), -dense(f), 0.0));
    EXPECT_TRUE(isNear(dense(s * f), S * dense(f), tolerance<T>));
    EXPECT_NEAR(dot(f, a), dense(f).dot(dense(a)), tolerance<T>);
  });
}

TYPED_TEST(MotionForce, AngularPartComesFirst) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    Motion<T> m = random.motion();
    Force<T> f = random.force();
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(m[i], static_cast<T>(dense(m)[i]));
      EXPECT_EQ(f[i], static_cast<T>(dense(f)[i]));
    }
    m[4] = T(9);
    EXPECT_EQ(m.linear.y, T(9));
    f[2] = T(9);
    EXPECT_EQ(f.moment.z, T(9));
    EXPECT_TRUE(isNear(dense(m.template cast<float>()), dense(m), tolerance<float>));
    EXPECT_TRUE(isNear(dense(f.template cast<float>()), dense(f), tolerance<float>));
  });
}

TYPED_TEST(MotionForce, CrossProductsEqualTheirMatrices) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> v = random.motion(), m = random.motion();
    const Force<T> f = random.force();
    const Matrix6 V = crossMotionMatrix(v);
    EXPECT_TRUE(isNear(dense(cross(v, m)), V * dense(m), tolerance<T>));
    EXPECT_TRUE(isNear(dense(cross(v, f)), -V.transpose() * dense(f), tolerance<T>));
  });
}

TYPED_TEST(MotionForce, MotionCrossProductIsAntisymmetric) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> u = random.motion(), v = random.motion();
    EXPECT_LE(dense(cross(v, v)).norm(), tolerance<T>);
    EXPECT_LE(dense(cross(u, v) + cross(v, u)).norm(), tolerance<T>);
  });
}

TYPED_TEST(MotionForce, JacobiIdentityOfMotions) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> u = random.motion(), v = random.motion(), w = random.motion();
    const Motion<T> sum = cross(u, cross(v, w)) + cross(v, cross(w, u)) + cross(w, cross(u, v));
    EXPECT_LE(dense(sum).norm(), tolerance<T>);
  });
}

TYPED_TEST(MotionForce, JacobiIdentityOfForces) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // (u × v) ×* f = u ×* (v ×* f) − v ×* (u ×* f)
    const Motion<T> u = random.motion(), v = random.motion();
    const Force<T> f = random.force();
    const Force<T> expected = cross(u, cross(v, f)) - cross(v, cross(u, f));
    EXPECT_TRUE(isNear(dense(cross(cross(u, v), f)), dense(expected), tolerance<T>));
  });
}

TYPED_TEST(MotionForce, CrossProductsAreDual) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> v = random.motion(), m = random.motion();
    const Force<T> f = random.force();
    EXPECT_NEAR(dot(f, cross(v, m)), -dot(cross(v, f), m), tolerance<T>);
  });
}

TYPED_TEST(MotionForce, CrossProductsAreTheSameInEveryFrame) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const Motion<T> v = random.motion(), m = random.motion();
    const Force<T> f = random.force();
    EXPECT_TRUE(isNear(dense(X * cross(v, m)), dense(cross(X * v, X * m)), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X * cross(v, f)), dense(cross(X * v, X * f)), tolerance<T>));
  });
}

}  // namespace
}  // namespace kempe::test
