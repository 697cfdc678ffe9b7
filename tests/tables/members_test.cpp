#include "tables/members.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kempe::test {
namespace {

using detail::convertMembers;
using detail::forEachMember;
using detail::kMemberCount;

template <typename T>
struct Inner {
  int index = 0;
  T number{};
};

template <typename T>
struct Outer {
  bool flag = false;
  Inner<T> inner{};
  double always = 0.0;
  T number{};
  std::vector<int> list{};
};

template <typename T>
struct WithArray {
  int kind = 0;
  T numbers[3] = {};

  static constexpr int kMembers = 2;
};

struct Empty {};

static_assert(kMemberCount<Empty> == 0);
static_assert(kMemberCount<Inner<float>> == 2);
static_assert(kMemberCount<const Outer<double>> == 5);
static_assert(kMemberCount<WithArray<double>> == 2);

TEST(Members, AreVisitedInOrder) {
  Outer<double> outer{true, {3, 0.5}, 1.5, 2.5, {7, 8}};
  std::string order;
  forEachMember(outer, [&]<typename M>(M& member) {
    if constexpr (std::is_same_v<M, bool>) order += 'b';
    if constexpr (std::is_same_v<M, Inner<double>>) order += 'i';
    if constexpr (std::is_same_v<M, std::vector<int>>) order += 'v';
    if constexpr (std::is_same_v<M, double>) {
      order += 'd';
      member = -member;
    }
  });
  EXPECT_EQ(order, "biddv");
  EXPECT_EQ(outer.always, -1.5);
  EXPECT_EQ(outer.number, -2.5);
}

TEST(Members, AreConvertedInDepth) {
  const Outer<double> from{true, {3, 0.1}, 0.1, 0.2, {7, 8}};
  Outer<float> to;
  convertMembers(from, to);
  EXPECT_TRUE(to.flag);
  EXPECT_EQ(to.inner.index, 3);
  EXPECT_EQ(to.inner.number, 0.1F);
  EXPECT_EQ(to.always, 0.1) << "does not depend on the scalar type";
  EXPECT_EQ(to.number, 0.2F);
  EXPECT_EQ(to.list, (std::vector{7, 8}));
}

TEST(Members, MayBeArrays) {
  const WithArray<double> from{2, {0.1, 0.2, 0.3}};
  WithArray<float> to;
  convertMembers(from, to);
  EXPECT_EQ(to.kind, 2);
  EXPECT_EQ(to.numbers[0], 0.1F);
  EXPECT_EQ(to.numbers[2], 0.3F);
}

}  // namespace
}  // namespace kempe::test
