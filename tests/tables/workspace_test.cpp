#include "tables/workspace.hpp"

#include <gtest/gtest.h>

#include "kempe/kempe.hpp"
#include "model/model_impl.hpp"
#include "support/allocations.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

using detail::WorkStage;

TEST(Workspace, GrowsByStagesAndStaysWhereItIs) {
  const Model model(randomMechanism({Family::Mixed, 1, 12}));
  const detail::TablesView<double>& tables = detail::viewOf<double>(model.impl());
  detail::Workspace<double> workspace;
  const detail::WorkView<double>& work = workspace.upTo(tables, WorkStage::Motion);
  ASSERT_NE(work.X, nullptr);
  EXPECT_EQ(work.IA, nullptr);
  EXPECT_EQ(work.loops.multipliers, nullptr);
  const Transform<double>* const X = work.X;
  work.X[tables.bodyCount - 1].p = {1.0, 2.0, 3.0};
  EXPECT_EQ(&workspace.upTo(tables, WorkStage::LoopForces), &work);
  EXPECT_EQ(work.X, X);
  EXPECT_EQ(work.X[tables.bodyCount - 1].p.z, 3.0);
  EXPECT_NE(work.IA, nullptr);
  EXPECT_NE(work.loops.multipliers, nullptr);
  EXPECT_EQ(allocationsOf([&] { workspace.upTo(tables, WorkStage::Articulated); }), 0);
}

/// What only other algorithms need is not there.
TEST(Workspace, IsAllocatedByTheFirstAlgorithmThatNeedsIt) {
  const Model model(randomMechanism({Family::FourBar, 2, 8}));
  Data data(model);
  const Eigen::VectorXd q = model.randomConfiguration(1);
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(model.nv());
  Eigen::VectorXd x(model.nv());
  const auto inverse = [&] { inverseDynamics(model, data, q, v, v, x); };
  const auto forward = [&] { forwardDynamics(model, data, q, v, v, x); };
  EXPECT_GT(allocationsOf(inverse), 0);
  EXPECT_EQ(allocationsOf(inverse), 0);
  EXPECT_GT(allocationsOf(forward), 0);
  EXPECT_EQ(allocationsOf(forward), 0);
  EXPECT_EQ(allocationsOf(inverse), 0);

  Data whole(model);
  whole.impl().allocateAll(model.impl());
  EXPECT_EQ(allocationsOf([&] { forwardDynamics(model, whole, q, v, v, x); }), 0);
}

}  // namespace
}  // namespace kempe::test
