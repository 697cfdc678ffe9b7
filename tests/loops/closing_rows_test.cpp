#include "loops/closing_rows.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kempe::test {
namespace {

using namespace detail;

constexpr LoopType kTypes[] = {LoopType::Fixed,       LoopType::Revolute,  LoopType::Prismatic,
                               LoopType::Cylindrical, LoopType::Universal, LoopType::Spherical,
                               LoopType::Planar};

class Source {
 public:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Vector3 vector(double size) {
    return {uniform(-size, size), uniform(-size, size), uniform(-size, size)};
  }
  Pose pose(double angle) { return {rotationFromVector(vector(angle)), vector(1.0)}; }

 private:
  std::mt19937_64 engine_{7};
};

/// X after moving with the velocity (angular, linear) at the origin of the common frame.
Pose moved(const Pose& X, const Motion<double>& v, double time) {
  const Rotation R = rotationFromVector(time * v.angular);
  return {R * X.R, R * X.p + time * v.linear};
}

TEST(ClosingRows, SlopesAreThoseOfTheValues) {
  Source source;
  for (const LoopType type : kTypes) {
    for (int i = 0; i < 200; ++i) {
      const Pose A = source.pose(2.0), B = A * source.pose(i % 2 == 0 ? 1.5 : 1e-3);
      const double cosine = 0.3;
      const Motion<double> vA{source.vector(1), source.vector(1)},
          vB{source.vector(1), source.vector(1)};
      const ClosingRows rows = closingRows(type, cosine, A, B);
      const double h = 1e-5;
      const ClosingRows after = closingRows(type, cosine, moved(A, vA, h), moved(B, vB, h));
      const ClosingRows before = closingRows(type, cosine, moved(A, vA, -h), moved(B, vB, -h));
      for (int r = 0; r < rows.count; ++r) {
        EXPECT_NEAR(dot(rows.wrench[r], vB - vA), (after.value[r] - before.value[r]) / (2 * h),
                    1e-6)
            << toString(type) << " row " << r;
      }
    }
  }
}

TEST(ClosingRows, AreThoseOfTheLoopWhereItIsClosed) {
  Source source;
  for (const LoopType type : kTypes) {
    const Pose A = source.pose(2.0), B = A;
    const double cosine = 1.0;
    const ClosingRows rows = closingRows(type, cosine, A, B);
    const RowRules rules = rowRules(type);
    ASSERT_EQ(rows.count, rules.count);
    for (int r = 0; r < rows.count; ++r) {
      EXPECT_NEAR(rows.value[r], 0.0, 1e-15);
      const Force<double> wrench = rowWrench(rules.first[r], A, B);
      for (int i = 0; i < 6; ++i) {
        EXPECT_NEAR(rows.wrench[r][i], wrench[i], 1e-15) << toString(type) << " row " << r;
      }
    }
  }
}

TEST(ClosingRows, VanishForTheRightRotationOnly) {
  // Dot products of axes vanish for these relative rotations too.
  Source source;
  const Pose A = source.pose(2.0);
  const auto open = [&](LoopType type, const Rotation& R) {
    const ClosingRows rows = closingRows(type, 0.0, A, A * Pose{R, {}});
    double largest = 0.0;
    for (int r = 0; r < rows.count; ++r) {
      largest = std::max(largest, std::abs(rows.value[r]));
    }
    return largest;
  };
  for (const LoopType type : {LoopType::Fixed, LoopType::Prismatic}) {
    EXPECT_GT(open(type, rotationX(M_PI)), 3.0);
    EXPECT_GT(open(type, rotationY(M_PI)), 3.0);
    EXPECT_GT(open(type, rotationZ(M_PI)), 3.0);
    EXPECT_GT(open(type, rotationX(M_PI / 2) * rotationZ(M_PI / 2)), 1.0);
  }
  for (const LoopType type : {LoopType::Revolute, LoopType::Cylindrical, LoopType::Planar}) {
    EXPECT_GT(open(type, rotationX(M_PI)), 3.0);
    EXPECT_LT(open(type, rotationZ(2.0)), 1e-12);
  }
}

}  // namespace
}  // namespace kempe::test
