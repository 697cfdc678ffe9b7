#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "kempe/spatial/transform.hpp"

namespace kempe::test {

/// Random members of the spatial algebra, of size about one; the same for the same seed.
template <typename T>
class RandomSpatial {
 public:
  explicit RandomSpatial(std::uint64_t seed) : seed_(seed), engine_(seed) {}

  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  T number(double lower = -1.0, double upper = 1.0) {
    return static_cast<T>(std::uniform_real_distribution<double>(lower, upper)(engine_));
  }
  Vec3<T> vector() { return {number(), number(), number()}; }
  /// Uniform on the sphere.
  Vec3<T> direction() {
    const double z = std::uniform_real_distribution<double>(-1.0, 1.0)(engine_);
    const double longitude = std::uniform_real_distribution<double>(-M_PI, M_PI)(engine_);
    const double radius = std::sqrt(1.0 - z * z);
    return {static_cast<T>(radius * std::cos(longitude)),
            static_cast<T>(radius * std::sin(longitude)), static_cast<T>(z)};
  }
  Quaternion<T> quaternion() {
    std::normal_distribution<double> normal;
    const double x = normal(engine_), y = normal(engine_), z = normal(engine_), w = normal(engine_);
    return normalized(
        Quaternion<T>{static_cast<T>(x), static_cast<T>(y), static_cast<T>(z), static_cast<T>(w)});
  }
  Mat3<T> rotation() { return rotationFromQuaternion(quaternion()); }
  Mat3<T> matrix() { return {vector(), vector(), vector()}; }
  SymMat3<T> symmetric() { return {number(), number(), number(), number(), number(), number()}; }
  Transform<T> transform() { return {rotation(), vector()}; }
  Motion<T> motion() { return {vector(), vector()}; }
  Force<T> force() { return {vector(), vector()}; }

  /// Rotational inertia about the centre of mass of something that can exist: its moments keep the
  /// triangle inequality.
  SymMat3<T> centralInertia() {
    const T a = number(0.1, 1.0), b = number(0.1, 1.0), c = number(0.1, 1.0);
    return congruence(rotation(), SymMat3<T>::diagonal(b + c, a + c, a + b));
  }
  RigidInertia<T> rigidInertia() {
    const SymMat3<T> central = centralInertia();
    const Vec3<T> center = vector();
    return RigidInertia<T>::fromCenterOfMass(number(0.1, 3.0), center, central);
  }
  /// Positive definite, with no structure but symmetry.
  ArticulatedInertia<T> articulatedInertia() {
    auto inertia = ArticulatedInertia<T>::fromRigid(rigidInertia());
    for (int i = 0; i < 6; ++i) {
      const Force<T> wrench = force();
      inertia.addOuter(number(0.1, 1.0), wrench);
    }
    return inertia;
  }

 private:
  std::uint64_t seed_;
  std::mt19937_64 engine_;
};

/// Runs `law(random)` for many seeds and names the seed where it fails. KEMPE_TEST_SEED in the
/// environment sets the first seed, so that a failure can be run alone.
template <typename T, typename Law>
void forEachSeed(Law law, int count = 200) {
  const char* given = std::getenv("KEMPE_TEST_SEED");
  const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    RandomSpatial<T> random(first + static_cast<std::uint64_t>(i));
    SCOPED_TRACE("KEMPE_TEST_SEED=" + std::to_string(random.seed()));
    law(random);
  }
}

}  // namespace kempe::test
