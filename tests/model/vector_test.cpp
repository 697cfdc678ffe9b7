#include "kempe/vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kempe/types.hpp"

namespace kempe {
namespace {

double sum(VectorIn x) {
  return x.sum();
}
/// As a number: GCC 12 takes elements that it has seen at one address for the same after they are
/// freed.
std::uintptr_t address(VectorIn x) {
  return reinterpret_cast<std::uintptr_t>(x.data());
}

TEST(Vectors, AreEigenExpressions) {
  const Vector x = Eigen::Vector3d(1, 2, 3);
  const Eigen::VectorXd copy = x, direct(x);
  EXPECT_EQ(copy, Eigen::VectorXd(Eigen::Vector3d(1, 2, 3)));
  EXPECT_EQ(direct, copy);
  EXPECT_EQ((2 * x - copy).norm(), copy.norm());
  EXPECT_EQ(sum(2 * x), 12.0);
  EXPECT_EQ(address(x), reinterpret_cast<std::uintptr_t>(x.data())) << "passed without a copy";
}

TEST(Vectors, OwnTheirElements) {
  Vector x = Eigen::Vector3d(1, 2, 3);
  Vector copy = x;
  copy[0] = 7;
  EXPECT_EQ(x[0], 1.0);
  x = copy;
  EXPECT_EQ(x[0], 7.0);
  EXPECT_NE(address(x), address(copy));

  const std::uintptr_t elements = address(x);
  Vector moved = std::move(x);
  EXPECT_EQ(address(moved), elements) << "moved without a copy";
  EXPECT_EQ(x.size(), 0);  // NOLINT(bugprone-use-after-move): it is empty
  std::swap(moved, copy);
  EXPECT_EQ(address(copy), elements);
  EXPECT_EQ(moved.size(), 3);

  std::vector<Vector> many;
  for (int i = 0; i < 20; ++i) {
    many.emplace_back(i * copy);
  }
  EXPECT_EQ(many[19][2], 57.0) << "moved as the list grew";
}

TEST(Vectors, TakeTheSizeOfTheirValue) {
  Vector x;
  EXPECT_EQ(x.size(), 0);
  x = Eigen::VectorXd::LinSpaced(5, 1, 5);
  const std::uintptr_t elements = address(x);
  x = Eigen::VectorXd::LinSpaced(5, 2, 6);
  EXPECT_EQ(address(x), elements) << "allocated although the size is the same";
  x = x.tail(2);  // aliases
  EXPECT_EQ(Eigen::VectorXd(x), Eigen::VectorXd(Eigen::Vector2d(5, 6)));
  x.resize(3);
  EXPECT_EQ(Eigen::VectorXd(x), Eigen::VectorXd(Eigen::Vector3d(5, 6, 0)));
  x.setZero(4);
  EXPECT_EQ(Eigen::VectorXd(x), Eigen::VectorXd::Zero(4));
  EXPECT_EQ(Vector(2), Eigen::Vector2d::Zero());
}

}  // namespace
}  // namespace kempe
