#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>

#include "dense.hpp"
#include "kempe/jet.hpp"
#include "kempe/spatial/factorization.hpp"
#include "support/random_spatial.hpp"

/// The spatial algebra on jets: derivatives of motions come out as the cross products say.
namespace kempe::test {
namespace {

constexpr double tight = 1e-13;

/// One part (value, first or second derivative) of everything made of jets.
using Part = double Jet::*;

Vec3<double> part(const Vec3<Jet>& a, Part p) {
  return {a.x.*p, a.y.*p, a.z.*p};
}
Mat3<double> part(const Mat3<Jet>& a, Part p) {
  return {part(a.r0, p), part(a.r1, p), part(a.r2, p)};
}
Motion<double> part(const Motion<Jet>& a, Part p) {
  return {part(a.angular, p), part(a.linear, p)};
}
Force<double> part(const Force<Jet>& a, Part p) {
  return {part(a.moment, p), part(a.force, p)};
}

/// A screw joint behind a fixed placement, as a function of its angle, and the motion s in which a
/// unit rate results.
struct Screw {
  Transform<double> placement;
  double pitch;

  [[nodiscard]] Transform<Jet> at(const Jet& q) const {
    return placement.cast<Jet>() * Transform<Jet>{rotationZ(q), {Jet(0), Jet(0), pitch * q}};
  }
  [[nodiscard]] Motion<double> s() const {
    return placement * Motion<double>{{0, 0, 1}, {0, 0, pitch}};
  }
};

TEST(JetSpatial, DerivativeOfARotatedVectorIsTheCrossProduct) {
  forEachSeed<double>([](auto& random) {
    const Vec3<double> axis{0, 0, 1}, v = random.vector();
    const Vec3<Jet> turned = rotationZ(Jet(random.number(-3, 3), 1, 0)) * v.template cast<Jet>();
    const Vec3<double> value = part(turned, &Jet::value), first = cross(axis, value);
    EXPECT_TRUE(isNear(dense(part(turned, &Jet::first)), dense(first), tight));
    EXPECT_TRUE(isNear(dense(part(turned, &Jet::second)), dense(cross(axis, first)), tight));
  });
}

TEST(JetSpatial, DerivativeOfAPointIsTheVelocityField) {
  forEachSeed<double>([](auto& random) {
    const Screw screw{random.transform(), random.number()};
    const Vec3<double> x = random.vector();
    const Vec3<Jet> moved = screw.at({random.number(-3, 3), 1, 0}).point(x.template cast<Jet>());
    const Motion<double> s = screw.s();
    const Vec3<double> velocity = s.linear + cross(s.angular, part(moved, &Jet::value));
    EXPECT_TRUE(isNear(dense(part(moved, &Jet::first)), dense(velocity), tight));
    EXPECT_TRUE(isNear(dense(part(moved, &Jet::second)), dense(cross(s.angular, velocity)), tight));
  });
}

TEST(JetSpatial, DerivativeOfATransformedMotionOrForceIsTheCrossProduct) {
  forEachSeed<double>([](auto& random) {
    const Screw screw{random.transform(), random.number()};
    const double rate = random.number(), acceleration = random.number();
    const Transform<Jet> X = screw.at({random.number(-3, 3), rate, acceleration});
    const Motion<double> v = rate * screw.s(), a = acceleration * screw.s();

    // d/dt (X m) = v × X m; d²/dt² = a × X m + v × (v × X m), and with ×* for forces.
    const auto expectLaw = [&](const auto& transformed) {
      const auto value = part(transformed, &Jet::value), first = cross(v, value);
      EXPECT_TRUE(isNear(dense(part(transformed, &Jet::first)), dense(first), tight));
      EXPECT_TRUE(isNear(dense(part(transformed, &Jet::second)),
                         dense(cross(a, value) + cross(v, first)), tight));
    };
    expectLaw(X * random.motion().template cast<Jet>());
    expectLaw(X * random.force().template cast<Jet>());
  });
}

TEST(JetSpatial, DerivativeOfInertia) {
  forEachSeed<double>([](auto& random) {
    // d/dt I = v ×* I − I v×, seen on a constant motion m (Featherstone 2008, §2.13).
    const Screw screw{random.transform(), random.number()};
    const Transform<Jet> X = screw.at({random.number(-3, 3), 1, 0});
    const Motion<double> m = random.motion(), s = screw.s();
    const auto expectLaw = [&](const auto& inertia) {
      const auto momentum = [&inertia](const Motion<double>& u) {
        return part(inertia * u.template cast<Jet>(), &Jet::value);
      };
      const Force<double> expected = cross(s, momentum(m)) - momentum(cross(s, m));
      EXPECT_TRUE(isNear(dense(part(inertia * m.template cast<Jet>(), &Jet::first)),
                         dense(expected), tight));
    };
    const RigidInertia<Jet> rigid = random.rigidInertia().template cast<Jet>();
    expectLaw(X * rigid);
    expectLaw(X * ArticulatedInertia<Jet>::fromRigid(rigid));
  });
}

TEST(JetSpatial, RotationVectorsAreSmoothThroughZero) {
  forEachSeed<double>([](auto& random) {
    // R(θ n) turns about n at any θ, on both sides of the change of formula too.
    const Vec3<double> n = random.direction();
    for (const double angle : {0.0, 1e-9, 0.9999e-4, 1.0001e-4, 1e-3, 0.5, 3.0}) {
      const Vec3<Jet> w = Jet(angle, 1, 0) * n.template cast<Jet>();
      const Mat3<double> N = skew(n);
      for (const Mat3<Jet>& R :
           {rotationFromVector(w), rotationFromQuaternion(quaternionFromVector(w))}) {
        const Mat3<double> value = part(R, &Jet::value);
        EXPECT_TRUE(isNear(dense(part(R, &Jet::first)), dense(N * value), 1e-12)) << angle;
        EXPECT_TRUE(isNear(dense(part(R, &Jet::second)), dense(N * N * value), 1e-12)) << angle;
      }
    }
  });
}

/// A curve of rotation vectors that starts `size` from zero in some direction and goes any way.
Vec3<Jet> randomCurve(RandomSpatial<double>& random, double size) {
  const Vec3<double> start = size * random.direction();
  const Vec3<double> direction = random.vector(), curvature = random.vector();
  Vec3<Jet> w;
  for (int i = 0; i < 3; ++i) {
    w[i] = {start[i], direction[i], curvature[i]};
  }
  return w;
}

// Zero, both sides of where the formulas change (|w| or |w|/2 is 1e-4), and ordinary sizes.
constexpr std::array sizes{0.0, 1e-9, 0.9e-4, 1.1e-4, 1.9e-4, 2.1e-4, 1e-2, 1.0};
// A second derivative divides rounding by |w|, which is small above the change of formula.
constexpr double derivativeTolerance = 1e-11;

TEST(JetSpatial, MatrixAndQuaternionOfAVectorHaveTheSameDerivatives) {
  forEachSeed<double>([](auto& random) {
    for (const double size : sizes) {
      const Vec3<Jet> w = randomCurve(random, size);
      const Mat3<Jet> R = rotationFromVector(w);
      const Mat3<Jet> Q = rotationFromQuaternion(quaternionFromVector(w));
      for (const Part p : {&Jet::value, &Jet::first, &Jet::second}) {
        EXPECT_TRUE(isNear(dense(part(R, p)), dense(part(Q, p)), derivativeTolerance)) << size;
      }
    }
  });
}

TEST(JetSpatial, LogarithmUndoesTheExponential) {
  forEachSeed<double>([](auto& random) {
    for (const double size : sizes) {
      const Vec3<Jet> w = randomCurve(random, size);
      const Vec3<Jet> back = vectorFromQuaternion(quaternionFromVector(w));
      for (const Part p : {&Jet::value, &Jet::first, &Jet::second}) {
        EXPECT_TRUE(isNear(dense(part(back, p)), dense(part(w, p)), derivativeTolerance)) << size;
      }
    }
  });
}

TEST(JetSpatial, FactorizationsDifferentiateTheSolution) {
  forEachSeed<double>([](auto& random) {
    // A(t) x(t) = b with b constant: A x′ = −A′ x and A x″ = −2 A′ x′ − A″ x.
    constexpr int n = 3;
    std::array<Jet, n * n> lu{};
    std::array<Jet, n> x{};
    Eigen::Matrix3d A, A1, A2;
    for (int i = 0; i < n; ++i) {
      x.at(static_cast<unsigned>(i)) = random.number();
      for (int j = 0; j <= i; ++j) {
        // Diagonally dominant: definite and well conditioned.
        const Jet entry(random.number() + (i == j ? 4.0 : 0.0), random.number(), random.number());
        for (const auto& [r, c] : {std::pair{i, j}, std::pair{j, i}}) {
          lu.at(static_cast<unsigned>(r * n + c)) = entry;
          A(r, c) = entry.value;
          A1(r, c) = entry.first;
          A2(r, c) = entry.second;
        }
      }
    }
    const auto expectLaw = [&](const std::array<Jet, n>& solution) {
      const Vec3<Jet> v{solution[0], solution[1], solution[2]};
      const Eigen::Vector3d value = dense(part(v, &Jet::value));
      const Eigen::Vector3d first = dense(part(v, &Jet::first));
      const Eigen::Vector3d second = dense(part(v, &Jet::second));
      const Vec3<Jet> b{x[0], x[1], x[2]};
      EXPECT_TRUE(isNear(A * value, dense(part(b, &Jet::value)), tight));
      EXPECT_TRUE(isNear(A * first, -A1 * value, tight));
      EXPECT_TRUE(isNear(A * second, -2.0 * A1 * first - A2 * value, tight));
    };
    auto cholesky = lu;
    auto solution = x;
    ASSERT_TRUE(choleskyFactor(cholesky.data(), n));
    choleskySolve(cholesky.data(), n, solution.data());
    expectLaw(solution);

    std::array<int, n> pivots{};
    solution = x;
    ASSERT_GT(luFactor(lu.data(), n, pivots.data()), 0.0);
    luSolve(lu.data(), n, pivots.data(), solution.data(), 1);
    expectLaw(solution);
  });
}

}  // namespace
}  // namespace kempe::test
