#include <gtest/gtest.h>

#include "batch/batch_testing.hpp"
#include "model/model_impl.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"
#include "tables/kernel_set.hpp"

namespace kempe::detail {

/// The recursions as they are compiled where the processor is none that they have vectors for.
const KernelSets<double>& kernels_plain_double();  // NOLINT(readability-identifier-naming)
const KernelSets<float>& kernels_plain_float();    // NOLINT(readability-identifier-naming)

}  // namespace kempe::detail

namespace kempe::test {
namespace {

template <typename T>
const detail::KernelSets<T>& plainKernels() {
  if constexpr (std::is_same_v<T, double>) {
    return detail::kernels_plain_double();
  } else {
    return detail::kernels_plain_float();
  }
}

class PlainKernels : public ::testing::TestWithParam<MechanismCase> {
 protected:
  /// Forward and inverse dynamics and the mass matrix of one state, against the library's.
  template <typename T>
  void expectTheLibrarysNumbers(const detail::KernelSet<T>& set, double tolerance) {
    ASSERT_EQ(set.lanes, 1);
    const Model model(randomMechanism(GetParam()));
    BasicData<T> data(model), scratch(model);
    const detail::TablesView<T>& tables = detail::viewOf<T>(model.impl());
    detail::KernelMemory<T> memory(set);
    const detail::KernelContext<T> context{
        tables, memory.upTo(tables, detail::WorkStage::Articulated), model.mechanism().functions,
        scratch.impl().loops.forFunctions(), false};
    const int n = model.nv();
    const BatchStates<T> states = randomStates<T>(model, 5);
    for (Eigen::Index k = 0; k < states.count(); ++k) {
      const Numbers<T> q = states.q.row(k), v = states.v.row(k), a = states.x.row(k);
      Numbers<T> tau(n), expected(n);
      inverseDynamics(model, data, q, v, a, expected);
      ASSERT_FALSE(
          set.inverseDynamics(context, q.data(), v.data(), a.data(), {}, tau.data()).failed());
      EXPECT_TRUE(closeTo(tau, expected, tolerance)) << "inverse dynamics";

      Numbers<T> back(n);
      ASSERT_FALSE(
          set.forwardDynamics(context, q.data(), v.data(), tau.data(), {}, back.data()).failed());
      Data exact(model);
      EXPECT_TRUE(closeTo(
          back, a,
          tolerance * std::max(1.0, 1e-3 * conditionOf(model, exact, q.template cast<double>()))))
          << "forward dynamics";

      Columns<T> H(n, n), expectedH(n, n);
      massMatrix(model, data, q, expectedH);
      ASSERT_FALSE(set.massMatrix(context, q.data(), H.data(), n).failed());
      EXPECT_TRUE(closeTo(H, expectedH, tolerance)) << "mass matrix";

      expectTheLibrarysDerivatives(set, context, model, data, states, k, tolerance);
    }
  }

  /// The same of derivatives.
  template <typename T>
  void expectTheLibrarysDerivatives(const detail::KernelSet<T>& set,
                                    const detail::KernelContext<T>& context, const Model& model,
                                    BasicData<T>& data, const BatchStates<T>& states,
                                    Eigen::Index k, double tolerance) {
    const int n = model.nv();
    const Numbers<T> q = states.q.row(k), v = states.v.row(k), x = states.x.row(k);
    detail::AlignedMemory memory(set.derivatives.memorySize(context.tables));
    std::array<Columns<T>, 3> found, expected;
    found.fill(Columns<T>(n, n));
    expected.fill(Columns<T>(n, n));
    const auto at = [&](std::size_t i) { return detail::MatrixAt<T>{found[i].data(), 1, n}; };
    const detail::DerivativeRequest<T, T> request{at(0), at(1), at(2), memory.data()};
    const auto expectAll = [&](const char* what, double relative) {
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(closeTo(found[i], expected[i], relative)) << what << ' ' << i;
      }
    };
    inverseDynamicsDerivatives(model, data, q, v, x, expected[0], expected[1], expected[2]);
    ASSERT_FALSE(set.derivatives.inverseDynamics(context, q.data(), v.data(), x.data(), {}, request)
                     .failed());
    expectAll("derivatives of inverse dynamics", tolerance);
    forwardDynamicsDerivatives(model, data, q, v, x, expected[0], expected[1], expected[2]);
    ASSERT_FALSE(set.derivatives.forwardDynamics(context, q.data(), v.data(), x.data(), {}, request)
                     .failed());
    Data exact(model);
    expectAll(
        "derivatives of forward dynamics",
        tolerance * std::max(1.0, 1e-3 * conditionOf(model, exact, q.template cast<double>())));
  }
};

TEST_P(PlainKernels, GiveTheSameNumbers) {
  expectTheLibrarysNumbers<double>(plainKernels<double>().single, 1e-10);
  expectTheLibrarysNumbers<double>(plainKernels<double>().pack, 1e-10);
  expectTheLibrarysNumbers<float>(plainKernels<float>().single, 1e-3);
  expectTheLibrarysNumbers<float>(plainKernels<float>().pack, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Random, PlainKernels, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return kempe::test::nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
