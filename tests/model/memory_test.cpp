#include <gtest/gtest.h>
#include <malloc.h>

#include "kempe/kempe.hpp"

// Memory that evaluations hold beyond the model.

namespace kempe::test {
namespace {

/// Bytes of the heap that are in use; 0 where a sanitizer replaces it.
std::size_t heapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Only methods that Cluster is compared with hold matrices of the spanning tree.
TEST(Memory, OfDataGrowsWithTheMethodsThatAreUsed) {
  const Model model(robots::gearedChain(1000));
  const Eigen::VectorXd q = model.neutral(), v = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd a(model.nv());
  const std::size_t before = heapInUse();
  if (before == 0) {
    GTEST_SKIP() << "the heap is not that of the C library";
  }
  Data data(model);
  forwardDynamics(model, data, q, v, v, a);
  const std::size_t after = heapInUse();
  EXPECT_LE(after - before, 8'000'000u);
  forwardDynamics(model, data, q, v, v, a, {.method = Method::Projection});
  EXPECT_GE(heapInUse() - after, sizeof(double) * 2000 * 2000);  // the mass matrix of all joints
}

TEST(Memory, OfABatchOnTwoThreads) {
  const Model model(robots::gearedChain(1000));
  constexpr int kStates = 64;
  const Eigen::VectorXd neutral = model.neutral();
  const Eigen::MatrixXd q = neutral.transpose().replicate(kStates, 1);
  const Eigen::MatrixXd v = Eigen::MatrixXd::Zero(kStates, model.nv());
  Eigen::MatrixXd a = v;
  const std::size_t before = heapInUse();
  if (before == 0) {
    GTEST_SKIP() << "the heap is not that of the C library";
  }
  Batch batch(model, {.threads = 2});
  forwardDynamics(model, batch, q, v, v, a);
  EXPECT_LE(heapInUse() - before, 30'000'000u);
}

}  // namespace
}  // namespace kempe::test
