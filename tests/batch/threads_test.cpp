#include <gtest/gtest.h>

#include <thread>

#include "batch/batch_testing.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

int moreThanCores() {
  return 2 * static_cast<int>(std::thread::hardware_concurrency()) + 3;
}

template <typename T>
class BatchThreads : public ::testing::Test {
 protected:
  static std::vector<Model> models() {
    return {robots::load("mini_cheetah"), robots::load("tello"), robots::load("four_bar"),
            Model(randomMechanism({Family::Mixed, 3, 12})),
            Model(randomMechanism({Family::Functions, 2, 8}))};
  }
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(BatchThreads, Scalars);

TYPED_TEST(BatchThreads, AnyNumberOfThemGivesTheSameToTheLastBit) {
  using T = TypeParam;
  for (const Model& model : this->models()) {
    const BatchStates<T> states = randomStates<T>(model, 203);
    BasicBatch<T> alone(model, {.threads = 1});
    for (const int threads : {0, 2, moreThanCores()}) {
      BasicBatch<T> batch(model, {.threads = threads});
      for (const BatchFunction<T>& function : batchFunctions<T>()) {
        EXPECT_TRUE(function(model, batch, states) == function(model, alone, states))
            << function.name << " of " << model.name() << " on " << threads;
      }
    }
  }
}

/// Algorithms without a function for batches.
TYPED_TEST(BatchThreads, ComputeWhateverIsAsked) {
  using T = TypeParam;
  for (const Model& model : this->models()) {
    const BatchStates<T> states = randomStates<T>(model, 203);
    const auto coriolis = [&](BasicData<T>& data, Eigen::Index k) {
      Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> C(model.nv(), model.nv());
      coriolisMatrix(model, data, states.q.row(k).transpose(), states.v.row(k).transpose(), C);
      return C;
    };
    for (const int threads : {1, 2, moreThanCores()}) {
      BasicBatch<T> batch(model, {.threads = threads});
      std::vector<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> found(203);
      forEachState(model, batch, 203, [&](BasicData<T>& data, Eigen::Index k) {
        found[static_cast<std::size_t>(k)] = coriolis(data, k);
      });
      BasicData<T> data(model);
      for (Eigen::Index k = 0; k < 203; ++k) {
        EXPECT_TRUE(found[static_cast<std::size_t>(k)] == coriolis(data, k)) << model.name();
      }
    }
  }
}

TYPED_TEST(BatchThreads, AreAsManyAsAskedFor) {
  const Model model = robots::load("four_bar");
  EXPECT_EQ(BasicBatch<TypeParam>(model, {.threads = 1}).threads(), 1);
  EXPECT_EQ(BasicBatch<TypeParam>(model, {.threads = 5}).threads(), 5);
  EXPECT_GE(BasicBatch<TypeParam>(model).threads(), 1);
  EXPECT_GE(BasicBatch<TypeParam>(model).lanes(), 1);
}

/// Batches of one model in several threads of the caller's, each with threads of its own.
TYPED_TEST(BatchThreads, EveryCallerHasABatchOfItsOwn) {
  using T = TypeParam;
  for (const Model& model : this->models()) {
    const auto functions = batchFunctions<T>();
    std::vector<int> differences(4, 0);
    {
      std::vector<std::jthread> callers;
      for (std::size_t i = 0; i < differences.size(); ++i) {
        callers.emplace_back([&, i] {
          BasicBatch<T> batch(model, {.threads = static_cast<int>(i)});
          const BatchStates<T> states = randomStates<T>(model, 61, i + 1);
          BasicBatch<T> alone(model, {.threads = 1});
          for (int repeat = 0; repeat < 5; ++repeat) {
            for (const BatchFunction<T>& function : functions) {
              differences[i] +=
                  function(model, batch, states) != function(model, alone, states) ? 1 : 0;
            }
          }
        });
      }
    }
    EXPECT_EQ(differences, std::vector<int>(differences.size(), 0)) << model.name();
  }
}

/// A batch goes on working after it was moved, and outlives the caller's copy of the model.
TYPED_TEST(BatchThreads, ABatchMovesAndSharesItsModel) {
  using T = TypeParam;
  auto first = std::make_unique<Model>(robots::load("tello"));
  const Model model = *first;
  BasicBatch<T> batch(*first, {.threads = 2});
  first.reset();
  const BatchStates<T> states = randomStates<T>(model, 37);
  const BatchFunction<T> forward = batchFunctions<T>()[1];
  const Rows<T> before = forward(model, batch, states);
  BasicBatch<T> other(robots::load("four_bar"));
  other = std::move(batch);
  EXPECT_TRUE(forward(model, other, states) == before);
}

}  // namespace
}  // namespace kempe::test
