#include <gtest/gtest.h>

#include <array>

#include "dense.hpp"
#include "support/decompositions.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

template <typename T>
class Inertias : public ::testing::Test {};
TYPED_TEST_SUITE(Inertias, Scalars);

TYPED_TEST(Inertias, MomentumIsTheMatrixTimesTheMotion) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Motion<T> m = random.motion();
    const RigidInertia<T> rigid = random.rigidInertia();
    const ArticulatedInertia<T> articulated = random.articulatedInertia();
    EXPECT_TRUE(isNear(dense(rigid * m), dense(rigid) * dense(m), tolerance<T>));
    EXPECT_TRUE(isNear(dense(articulated * m), dense(articulated) * dense(m), tolerance<T>));
  });
}

TYPED_TEST(Inertias, MomentumIsThatOfTheBodysPoints) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // Newton: each point of mass μ at r moves with v + ω × r; momentum is Σ μ ṙ, moment Σ r × μ ṙ.
    const Motion<T> m = random.motion();
    RigidInertia<T> body;
    Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = Eigen::Vector3d::Zero();
    double energy = 0.0;
    for (int i = 0; i < 5; ++i) {
      const T mass = random.number(0.1, 1.0);
      const Vec3<T> r = random.vector();
      body += RigidInertia<T>::fromCenterOfMass(mass, r, {});
      const Eigen::Vector3d velocity = dense(m.linear) + dense(m.angular).cross(dense(r));
      linear += static_cast<double>(mass) * velocity;
      angular += static_cast<double>(mass) * dense(r).cross(velocity);
      energy += 0.5 * static_cast<double>(mass) * velocity.squaredNorm();
    }
    const Force<T> momentum = body * m;
    EXPECT_TRUE(isNear(dense(momentum.force), linear, tolerance<T>));
    EXPECT_TRUE(isNear(dense(momentum.moment), angular, tolerance<T>));
    EXPECT_NEAR(T(0.5) * dot(momentum, m), energy, tolerance<T> * (1.0 + energy));
  });
}

TYPED_TEST(Inertias, ParallelAxisTheorem) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const T mass = random.number(0.1, 3.0);
    const Vec3<T> c = random.vector();
    const SymMat3<T> central = random.centralInertia();
    const auto body = RigidInertia<T>::fromCenterOfMass(mass, c, central);
    const Eigen::Vector3d C = dense(c);
    const Eigen::Matrix3d expected =
        dense(central) + static_cast<double>(mass) *
                             (C.squaredNorm() * Eigen::Matrix3d::Identity() - C * C.transpose());
    EXPECT_EQ(body.mass, mass);
    EXPECT_TRUE(isNear(dense(body.moment), static_cast<double>(mass) * C, tolerance<T>));
    EXPECT_TRUE(isNear(dense(body.rotation), expected, tolerance<T>));

    // The same by moving the body's frame from its centre of mass.
    const auto atCenter = RigidInertia<T>::fromCenterOfMass(mass, {}, central);
    const Transform<T> X{Mat3<T>::identity(), c};
    EXPECT_TRUE(isNear(dense(X * atCenter), dense(body), tolerance<T>));
  });
}

TYPED_TEST(Inertias, SumsEqualEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const RigidInertia<T> a = random.rigidInertia(), b = random.rigidInertia();
    const ArticulatedInertia<T> c = random.articulatedInertia(), d = random.articulatedInertia();
    EXPECT_TRUE(isNear(dense(a + b), dense(a) + dense(b), tolerance<T>));
    EXPECT_TRUE(isNear(dense(c + d), dense(c) + dense(d), tolerance<T>));
    ArticulatedInertia<T> sum = c;
    sum += a;
    EXPECT_TRUE(isNear(dense(sum), dense(c) + dense(a), tolerance<T>));
    EXPECT_TRUE(isNear(dense(a.template cast<float>()), dense(a), tolerance<float>));
  });
}

TYPED_TEST(Inertias, TransformIsTheCongruence) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const RigidInertia<T> rigid = random.rigidInertia();
    const ArticulatedInertia<T> articulated = random.articulatedInertia();
    const Matrix6 F = forceMatrix(X);
    EXPECT_TRUE(isNear(dense(X * rigid), F * dense(rigid) * F.transpose(), tolerance<T>));
    EXPECT_TRUE(
        isNear(dense(X * articulated), F * dense(articulated) * F.transpose(), tolerance<T>));
  });
}

TYPED_TEST(Inertias, TransformsCompose) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X1 = random.transform(), X2 = random.transform();
    const RigidInertia<T> rigid = random.rigidInertia();
    const ArticulatedInertia<T> articulated = random.articulatedInertia();
    EXPECT_TRUE(isNear(dense((X1 * X2) * rigid), dense(X1 * (X2 * rigid)), tolerance<T>));
    EXPECT_TRUE(
        isNear(dense((X1 * X2) * articulated), dense(X1 * (X2 * articulated)), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X1.inverse() * (X1 * rigid)), dense(rigid), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X1.inverse() * (X1 * articulated)), dense(articulated), tolerance<T>));
  });
}

TYPED_TEST(Inertias, KineticEnergyIsTheSameInEveryFrame) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const Motion<T> m = random.motion();
    const RigidInertia<T> rigid = random.rigidInertia();
    const ArticulatedInertia<T> articulated = random.articulatedInertia();
    const auto energy = [&m](const auto& inertia) { return dot(inertia * m, m); };
    const auto energyInA = [&](const auto& inertia) { return dot((X * inertia) * (X * m), X * m); };
    EXPECT_NEAR(energyInA(rigid), energy(rigid), tolerance<T> * (1.0 + energy(rigid)));
    EXPECT_NEAR(energyInA(articulated), energy(articulated),
                tolerance<T> * (1.0 + energy(articulated)));
  });
}

TYPED_TEST(Inertias, CongruenceKeepsDefiniteness) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const RigidInertia<T> rigid = random.rigidInertia();
    const ArticulatedInertia<T> articulated = random.articulatedInertia();
    EXPECT_GT(eigenvalues(dense(rigid)).minCoeff(), 0.0);
    EXPECT_GT(eigenvalues(dense(X * rigid)).minCoeff(), 0.0);
    EXPECT_GT(eigenvalues(dense(articulated)).minCoeff(), 0.0);
    EXPECT_GT(eigenvalues(dense(X * articulated)).minCoeff(), 0.0);
  });
}

TYPED_TEST(Inertias, CongruenceKeepsTheNumberOfNegativeEigenvalues) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // Sylvester: Σ ±f fᵀ over six independent f has as many negative eigenvalues as minus signs.
    ArticulatedInertia<T> a;
    const auto negative = static_cast<int>(random.seed() % 7);
    for (int i = 0; i < 6; ++i) {
      Force<T> f = T(0.1) * random.force();
      f[i] += T(1);
      a.addOuter(i < negative ? T(-1) : T(1), f);
    }
    const auto count = [](const Matrix6& m) { return (eigenvalues(m).array() < 0.0).count(); };
    EXPECT_EQ(count(dense(a)), negative);
    EXPECT_EQ(count(dense(random.transform() * a)), negative);
  });
}

TYPED_TEST(Inertias, RigidIsASpecialCaseOfArticulated) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const Transform<T> X = random.transform();
    const Motion<T> m = random.motion();
    const RigidInertia<T> rigid = random.rigidInertia();
    const auto articulated = ArticulatedInertia<T>::fromRigid(rigid);
    EXPECT_TRUE(isNear(dense(articulated), dense(rigid), 0.0));
    EXPECT_TRUE(isNear(dense(articulated * m), dense(rigid * m), tolerance<T>));
    EXPECT_TRUE(isNear(dense(X * articulated), dense(X * rigid), tolerance<T>));
  });
}

TYPED_TEST(Inertias, AddOuterEqualsEigen) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    const ArticulatedInertia<T> before = random.articulatedInertia();
    const Force<T> f = random.force();
    const T scale = random.number();
    ArticulatedInertia<T> after = before;
    after.addOuter(scale, f);
    const Matrix6 expected =
        dense(before) + static_cast<double>(scale) * dense(f) * dense(f).transpose();
    EXPECT_TRUE(isNear(dense(after), expected, tolerance<T>));
  });
}

TYPED_TEST(Inertias, AFreedomRemovesTheInertiaAlongIt) {
  using T = TypeParam;
  forEachSeed<T>([](auto& random) {
    // I − U D⁻¹ Uᵀ with U = I s, D = sᵀ U: a free joint along s transmits nothing of s.
    const ArticulatedInertia<T> I = random.articulatedInertia();
    const Motion<T> s = random.motion();
    const Force<T> U = I * s;
    ArticulatedInertia<T> rest = I;
    rest.addOuter(T(-1) / dot(U, s), U);
    EXPECT_LE(dense(rest * s).norm(), tolerance<T> * (1.0 + dense(I).norm()));
    EXPECT_GT(eigenvalues(dense(rest)).minCoeff(), -tolerance<T> * dense(I).norm());
  });
}

}  // namespace
}  // namespace kempe::test
