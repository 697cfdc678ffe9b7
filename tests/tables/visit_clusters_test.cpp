#include "kernels/visit_clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "kempe/kempe.hpp"
#include "kernels/forward_dynamics.hpp"
#include "kernels/implicit_loops.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "model/model_impl.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace)

/// Tables of another type than TablesView, as the constants of one robot would be: plain arrays.
template <typename T>
struct PlainArray {
  T entries[4000];
  int used = 0;

  [[nodiscard]] int size() const { return used; }

  const T& operator[](int i) const { return entries[i]; }
  operator const T*() const { return entries; }  // NOLINT(google-explicit-constructor)
};
struct ArrayTables : TableArrays<double, PlainArray>, TableConstants<double> {
  using Scalar = double;
  int bodyCount, clusterCount, rotorCount;

  explicit ArrayTables(const TablesView<double>& tables)
      : TableArrays<double, PlainArray>{},
        TableConstants<double>(tables),
        bodyCount(tables.bodyCount),
        clusterCount(tables.clusterCount),
        rotorCount(tables.rotorCount) {
    const TableArrays<double, TableSpan>& spans = tables;
    TableArrays<double, PlainArray>& arrays = *this;
    forEachMember(spans, arrays, [](const auto& span, auto& array) {
      ASSERT_LE(span.size(), static_cast<int>(std::size(array.entries)));
      std::ranges::copy(span, array.entries);
      array.used = static_cast<int>(span.size());
    });
  }
};

class EveryOrder : public ::testing::TestWithParam<MechanismCase> {
 protected:
  EveryOrder()
      : model_(randomMechanism(GetParam())),
        data_(model_),
        view_(viewOf<double>(model_.impl())),
        loops_(view_, model_.mechanism().functions, data_.impl().loops.forFunctions()),
        q_(model_.randomConfiguration(5)),
        v_(Eigen::VectorXd::LinSpaced(model_.nv(), -1.0, 2.0)),
        x_(Eigen::VectorXd::LinSpaced(model_.nv(), 3.0, -2.0)) {
    for (const int body : {0, view_.bodyCount / 2, view_.bodyCount - 1}) {
      frames_.push_back({body, {}, Reference::Local});
      wrenches_.insert(wrenches_.end(), {1.0, -2.0, 3.0, -4.0, 5.0, -6.0});
    }
    work_.wholeRotors = true;  // forces act on them
  }

  ExternalForces<double, double> external() const {
    return {frames_.data(), wrenches_.data(), static_cast<int>(frames_.size())};
  }
  template <typename Order, typename Tables>
  Eigen::VectorXd forward(const Tables& tables) {
    Eigen::VectorXd a = poisoned(model_.nv());
    EXPECT_FALSE(forwardDynamicsKernel<Order>(tables, work_, loops_, q_.data(), v_.data(),
                                              x_.data(), external(), a.data())
                     .failed());
    return a;
  }
  template <typename Order, typename Tables>
  Eigen::VectorXd inverse(const Tables& tables) {
    Eigen::VectorXd tau = poisoned(model_.nv());
    EXPECT_EQ(inverseDynamicsKernel<Order>(tables, work_, loops_, q_.data(), v_.data(), x_.data(),
                                           external(), tau.data()),
              -1);
    return tau;
  }

  Model model_;
  Data data_;
  const TablesView<double>& view_;
  Workspace<double> workspace_;
  WorkView<double>& work_ = workspace_.upTo(view_, WorkStage::Articulated);
  ImplicitLoops<double> loops_;
  Eigen::VectorXd q_, v_, x_;
  std::vector<BodyFrame<double>> frames_;
  std::vector<double> wrenches_;
};

/// DepthFirst and the derivatives of forward dynamics rely on it.
TEST_P(EveryOrder, IsNumberedDepthFirst) {
  EXPECT_TRUE(isNumberedDepthFirst(view_));
}

/// Outward before those that a cluster carries, inward after them, each cluster once.
TEST_P(EveryOrder, VisitsCarriersFirstAndLast) {
  const auto check = [&](auto order) {
    using Order = decltype(order);
    std::vector<int> outward(static_cast<std::size_t>(view_.clusterCount), 0), inward = outward;
    std::vector<int> turned(static_cast<std::size_t>(view_.bodyCount), 0);
    const auto above = [&](int c) { return view_.ancestors[c].cluster; };
    EXPECT_EQ(Order::thereAndBack(
                  view_,
                  [&](int c) {
                    ++outward[static_cast<std::size_t>(c)];
                    EXPECT_TRUE(above(c) < 0 || outward[static_cast<std::size_t>(above(c))] == 1);
                  },
                  [&](int first, int last) {
                    for (int b = first; b < last; ++b) {
                      ++turned[static_cast<std::size_t>(b)];
                      EXPECT_EQ(outward[static_cast<std::size_t>(view_.bodies[b].cluster)], 1);
                    }
                  },
                  [&](int c) {
                    ++inward[static_cast<std::size_t>(c)];
                    EXPECT_TRUE(above(c) < 0 || inward[static_cast<std::size_t>(above(c))] == 0);
                  }),
              -1);
    EXPECT_TRUE(std::ranges::all_of(outward, [](int count) { return count == 1; }));
    EXPECT_TRUE(std::ranges::all_of(inward, [](int count) { return count == 1; }));
    EXPECT_TRUE(std::ranges::all_of(turned, [](int count) { return count == 1; }));
  };
  check(LevelByLevel{});
  check(DepthFirst{});
}

TEST_P(EveryOrder, StopsWhereAClusterIsRefused) {
  const int refused = view_.clusterCount - 1;
  const auto outward = [&](int c) { return c != refused; };
  const auto turn = [](int, int) {};
  const auto inward = [&](int c) { EXPECT_NE(c, refused); };
  EXPECT_EQ(LevelByLevel::thereAndBack(view_, outward, turn, inward), refused);
  EXPECT_EQ(DepthFirst::thereAndBack(view_, outward, turn, inward), refused);
}

TEST_P(EveryOrder, GivesTheSameDynamics) {
  constexpr double kRounding = 1e-9;  // sums over the limbs of a body are in another order
  EXPECT_TRUE(closeTo(inverse<DepthFirst>(view_), inverse<LevelByLevel>(view_), kRounding));
  EXPECT_TRUE(closeTo(forward<DepthFirst>(view_), forward<LevelByLevel>(view_), kRounding));
}

TEST_P(EveryOrder, ReadsTablesOfAnyType) {
  const auto arrays = std::make_unique<ArrayTables>(view_);
  EXPECT_EQ(inverse<LevelByLevel>(*arrays), inverse<LevelByLevel>(view_));
  EXPECT_EQ(forward<LevelByLevel>(*arrays), forward<LevelByLevel>(view_));
}

INSTANTIATE_TEST_SUITE_P(Random, EveryOrder, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return kempe::test::nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
