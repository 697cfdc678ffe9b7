#include <gtest/gtest.h>

#include "dense.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

template <typename T>
class Transforms : public ::testing::Test {};
TYPED_TEST_SUITE(Transforms, Scalars);

TYPED_TEST(Transforms, DefaultIsTheIdentity) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> m = random.motion();
    const Force<T> f = random.force();
    EXPECT_TRUE(isNear(dense(Transform<T>{} * m), dense(m), 0.0));
    EXPECT_TRUE(isNear(dense(Transform<T>{} * f), dense(f), 0.0));
  });
}

TYPED_TEST(Transforms, EqualTheirMatrices) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const Motion<T> m = random.motion();
    const Force<T> f = random.force();
    EXPECT_TRUE(isNear(dense(X * m), motionMatrix(X) * dense(m), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X * f), forceMatrix(X) * dense(f), tolerance<T>));
  });
}

TYPED_TEST(Transforms, PowerIsTheSameInEveryFrame) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const Motion<T> m = random.motion();
    const Force<T> f = random.force();
    EXPECT_NEAR(dot(X * f, X * m), dot(f, m), tolerance<T>);
  });
}

TYPED_TEST(Transforms, ComposeInOrder) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X1 = random.transform(), X2 = random.transform(), X3 = random.transform();
    const Motion<T> m = random.motion();
    const Force<T> f = random.force();
    const Vec3<T> x = random.vector();
    EXPECT_TRUE(isNear(dense((X1 * X2) * m), dense(X1 * (X2 * m)), tolerance<T>));
    EXPECT_TRUE(isNear(dense((X1 * X2) * f), dense(X1 * (X2 * f)), tolerance<T>));
    EXPECT_TRUE(isNear(dense((X1 * X2).point(x)), dense(X1.point(X2.point(x))), tolerance<T>));
    EXPECT_TRUE(isNear(dense((X1 * X2) * X3), dense(X1 * (X2 * X3)), tolerance<T>));
  });
}

TYPED_TEST(Transforms, InverseUndoes) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const Motion<T> m = random.motion();
    const Force<T> f = random.force();
    const Vec3<T> x = random.vector();
    EXPECT_TRUE(isNear(dense(X.inverse() * (X * m)), dense(m), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X.inverse() * (X * f)), dense(f), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X.inverse().point(X.point(x))), dense(x), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X * X.inverse()), dense(Transform<T>{}), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X.inverse() * X), dense(Transform<T>{}), tolerance<T>));
  });
}

TYPED_TEST(Transforms, VelocityOfAPointIsTheSameInEveryFrame) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // The field v + ω × x, turned to A, is that of the transformed motion at the transformed point.
    const Transform<T> X = random.transform();
    const Motion<T> m = random.motion();
    const Vec3<T> x = random.vector();
    const Vec3<T> inB = m.linear + cross(m.angular, x);
    const Motion<T> m_A = X * m;
    const Vec3<T> inA = m_A.linear + cross(m_A.angular, X.point(x));
    EXPECT_TRUE(isNear(dense(inA), dense(X.R * inB), tolerance<T>));
  });
}

TYPED_TEST(Transforms, MomentOfAForceInSpaceIsItsLeverArm) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // A pure force at B's origin has in A the moment p × f.
    const Transform<T> X = random.transform();
    const Vec3<T> f = random.vector();
    const Force<T> inA = X * Force<T>{{}, f};
    EXPECT_TRUE(isNear(dense(inA.force), dense(X.R) * dense(f), tolerance<T>));
    EXPECT_TRUE(isNear(dense(inA.moment), dense(X.p).cross(dense(X.R) * dense(f)), tolerance<T>));
  });
}

TYPED_TEST(Transforms, CastChangesOnlyThePrecision) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    EXPECT_TRUE(isNear(dense(X.template cast<float>()), dense(X), tolerance<float>));
    EXPECT_TRUE(isNear(dense(X.template cast<double>()), dense(X), 0.0));
  });
}

}  // namespace
}  // namespace kempe::test
