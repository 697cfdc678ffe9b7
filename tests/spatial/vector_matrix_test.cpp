#include <gtest/gtest.h>

#include <type_traits>

#include "dense.hpp"
#include "support/decompositions.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

template <typename T>
class VectorMatrix : public ::testing::Test {};
TYPED_TEST_SUITE(VectorMatrix, Scalars);

// Device code copies these as bytes.
static_assert(std::is_trivially_copyable_v<Vec3<double>>);
static_assert(std::is_trivially_copyable_v<Mat3<float>>);
static_assert(std::is_trivially_copyable_v<SymMat3<double>>);
static_assert(std::is_trivially_copyable_v<Motion<double>>);
static_assert(std::is_trivially_copyable_v<Force<float>>);
static_assert(std::is_trivially_copyable_v<RigidInertia<double>>);
static_assert(std::is_trivially_copyable_v<ArticulatedInertia<double>>);
static_assert(std::is_trivially_copyable_v<Transform<double>>);
static_assert(std::is_trivially_copyable_v<Quaternion<float>>);
static_assert(sizeof(RigidInertia<double>) == 10 * sizeof(double));
static_assert(sizeof(ArticulatedInertia<double>) == 21 * sizeof(double));

// The algebra works at compile time where no root or sine is needed.
constexpr Vec3<double> ex{1, 0, 0}, ey{0, 1, 0}, ez{0, 0, 1};
static_assert(cross(ex, ey) == ez);
static_assert(dot(ex + 2.0 * ey, ey - ez) == 2.0);
static_assert(skew(ez) * ex == ey);
static_assert(Mat3<double>::identity() * ex == ex);
static_assert(SymMat3<double>::diagonal(1, 2, 3).trace() == 6.0);

constexpr Motion<double> turnAboutZ{ez, {}};
constexpr Transform<double> shiftedAlongX{Mat3<double>::identity(), ex};
static_assert((shiftedAlongX * turnAboutZ).linear == -ey);
static_assert((shiftedAlongX * shiftedAlongX.inverse()).p == Vec3<double>{});
static_assert((RigidInertia<double>::fromCenterOfMass(2, ex, {}) * turnAboutZ).force == 2.0 * ey);

TYPED_TEST(VectorMatrix, CrossProductIsNormalToBothAndKeepsLagrangesIdentity) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> a = random.vector(), b = random.vector();
    const Vec3<T> c = cross(a, b);
    EXPECT_NEAR(dot(a, c), 0.0, tolerance<T>);
    EXPECT_NEAR(dot(b, c), 0.0, tolerance<T>);
    // |a×b|² = |a|²|b|² − (a·b)²
    EXPECT_NEAR(dot(c, c), dot(a, a) * dot(b, b) - dot(a, b) * dot(a, b), tolerance<T>);
    EXPECT_TRUE(isNear(dense(c), dense(a).cross(dense(b)), tolerance<T>));
  });
}

TYPED_TEST(VectorMatrix, JacobiIdentity) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> a = random.vector(), b = random.vector(), c = random.vector();
    const Vec3<T> sum = cross(a, cross(b, c)) + cross(b, cross(c, a)) + cross(c, cross(a, b));
    EXPECT_LE(norm(sum), tolerance<T>);
  });
}

TYPED_TEST(VectorMatrix, VectorOperationsEqualEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> a = random.vector(), b = random.vector();
    const T s = random.number();
    EXPECT_TRUE(isNear(dense(a + b), dense(a) + dense(b), tolerance<T>));
    EXPECT_TRUE(isNear(dense(a - b), dense(a) - dense(b), tolerance<T>));
    EXPECT_EQ(-a, T(-1) * a);
    EXPECT_EQ(a * s, s * a);
    EXPECT_TRUE(isNear(dense(s * a), static_cast<double>(s) * dense(a), tolerance<T>));
    EXPECT_NEAR(dot(a, b), dense(a).dot(dense(b)), tolerance<T>);
    EXPECT_NEAR(norm(a), dense(a).norm(), tolerance<T>);
    const Vec3<T> unit = normalized(a);
    EXPECT_NEAR(norm(unit), 1.0, tolerance<T>);
    EXPECT_LE(norm(cross(unit, a)), tolerance<T>);
    EXPECT_GT(dot(unit, a), T(0));
    EXPECT_EQ((a.template cast<double>().template cast<T>()), a);
  });
}

TYPED_TEST(VectorMatrix, IndicesNameTheComponents) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    Vec3<T> v = random.vector();
    EXPECT_EQ((Vec3<T>{v[0], v[1], v[2]}), v);
    v[1] = T(7);
    EXPECT_EQ(v.y, T(7));

    Mat3<T> M = random.matrix();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        EXPECT_EQ(M(i, j), M.row(i)[j]);
        EXPECT_EQ(M(i, j), M.column(j)[i]);
        EXPECT_EQ(M(i, j), M.transposed()(j, i));
      }
    }
    M(2, 0) = T(5);
    EXPECT_EQ(M.r2.x, T(5));
  });
}

TYPED_TEST(VectorMatrix, MatrixOperationsEqualEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Mat3<T> A = random.matrix(), B = random.matrix();
    const Vec3<T> v = random.vector(), w = random.vector();
    const T s = random.number();
    EXPECT_TRUE(isNear(dense(A * B), dense(A) * dense(B), tolerance<T>));
    EXPECT_TRUE(isNear(dense(A + B), dense(A) + dense(B), tolerance<T>));
    EXPECT_TRUE(isNear(dense(A - B), dense(A) - dense(B), tolerance<T>));
    EXPECT_TRUE(isNear(dense(s * A), static_cast<double>(s) * dense(A), tolerance<T>));
    EXPECT_TRUE(isNear(dense(A * v), dense(A) * dense(v), tolerance<T>));
    EXPECT_TRUE(isNear(dense(transposeTimes(A, v)), dense(A).transpose() * dense(v), tolerance<T>));
    EXPECT_TRUE(isNear(dense(outer(v, w)), dense(v) * dense(w).transpose(), tolerance<T>));
    EXPECT_EQ(skew(v) * w, cross(v, w));
    EXPECT_EQ((A.template cast<double>().template cast<T>()), A);
  });
}

TYPED_TEST(VectorMatrix, SymmetricOperationsEqualEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const SymMat3<T> A = random.symmetric(), B = random.symmetric();
    const Vec3<T> v = random.vector();
    const T s = random.number();
    EXPECT_TRUE(isNear(dense(A.full()), dense(A), 0.0));
    EXPECT_TRUE(isNear(dense(A + B), dense(A) + dense(B), tolerance<T>));
    EXPECT_TRUE(isNear(dense(A - B), dense(A) - dense(B), tolerance<T>));
    EXPECT_TRUE(isNear(dense(s * A), static_cast<double>(s) * dense(A), tolerance<T>));
    EXPECT_TRUE(isNear(dense(A * v), dense(A) * dense(v), tolerance<T>));
    EXPECT_NEAR(A.trace(), dense(A).trace(), tolerance<T>);
    EXPECT_EQ((A.template cast<double>().template cast<T>()), A);
    EXPECT_EQ(SymMat3<T>::symmetricPart(A.full()), A);

    const Mat3<T> M = random.matrix();
    EXPECT_TRUE(isNear(dense(SymMat3<T>::symmetricPart(M)), 0.5 * (dense(M) + dense(M).transpose()),
                       tolerance<T>));
  });
}

TYPED_TEST(VectorMatrix, CongruenceEqualsTheProductOfThreeMatrices) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const SymMat3<T> A = random.symmetric();
    const Mat3<T> M = random.matrix();  // congruence asks no orthogonality
    EXPECT_TRUE(
        isNear(dense(congruence(M, A)), dense(M) * dense(A) * dense(M).transpose(), tolerance<T>));
    // A rotation changes no eigenvalue.
    const Mat3<T> R = random.rotation();
    EXPECT_TRUE(isNear(eigenvalues(dense(congruence(R, A))), eigenvalues(dense(A)), tolerance<T>));
  });
}

TYPED_TEST(VectorMatrix, PointInertiaIsMinusTheSquareOfTheCrossMatrix) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Vec3<T> v = random.vector();
    const Eigen::Matrix3d V = crossMatrix(dense(v));
    EXPECT_TRUE(isNear(dense(pointInertia(v)), -V * V, tolerance<T>));
  });
}

}  // namespace
}  // namespace kempe::test
