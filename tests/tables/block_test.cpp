#include "tables/block.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kempe/kempe.hpp"
#include "model/model_impl.hpp"
#include "support/random_mechanism.hpp"
#include "tables/kernel_set.hpp"

namespace kempe::test {
namespace {

using detail::forEachMember;
using detail::ModelTables;
using detail::TableArrays;
using detail::TableBlock;
using detail::TableConstants;
using detail::TablesView;

/// Calls visit(number) for all numbers, indices and flags in a part of the tables.
template <typename Part, typename Visit>
void forEachLeaf(Part& part, const Visit& visit) {
  if constexpr (std::is_arithmetic_v<Part> || std::is_enum_v<Part>) {
    visit(part);
  } else if constexpr (std::is_array_v<Part>) {
    for (auto& element : part) {
      forEachLeaf(element, visit);
    }
  } else {
    forEachMember(part, [&](auto& member) { forEachLeaf(member, visit); });
  }
}

/// Tables in which every leaf has a value of its own, as far as its type can have one.
ModelTables<double> distinctTables() {
  ModelTables<double> tables;
  int count = 0;
  const auto fill = [&]<typename Leaf>(Leaf& leaf) {
    ++count;
    if constexpr (std::is_floating_point_v<Leaf>) {
      leaf = count + 0.1;  // not a float
    } else if constexpr (std::is_same_v<Leaf, bool>) {
      leaf = count % 2 == 0;
    } else if constexpr (std::is_enum_v<Leaf>) {
      leaf = static_cast<Leaf>(count % 3);
    } else {
      leaf = count;
    }
  };
  forEachMember(static_cast<TableArrays<double, detail::TableVector>&>(tables), [&](auto& array) {
    array.resize(3);
    for (auto& entry : array) {
      forEachLeaf(entry, fill);
    }
  });
  forEachLeaf(static_cast<TableConstants<double>&>(tables), fill);
  return tables;
}

/// All leaves of a version of the tables in R, as doubles.
template <typename Tables, template <typename> typename Array, typename R>
std::vector<double> leavesOf(const Tables& tables) {
  std::vector<double> leaves;
  const auto add = [&](const auto& leaf) { leaves.push_back(static_cast<double>(leaf)); };
  forEachMember(static_cast<const TableArrays<R, Array>&>(tables), [&](const auto& array) {
    leaves.push_back(static_cast<double>(array.size()));
    for (const auto& entry : array) {
      forEachLeaf(entry, add);
    }
  });
  forEachLeaf(static_cast<const TableConstants<R>&>(tables), add);
  return leaves;
}

TEST(TableBlock, HoldsEveryFieldInDouble) {
  const ModelTables<double> tables = distinctTables();
  const TableBlock<double> block(tables);
  const auto expected = leavesOf<ModelTables<double>, detail::TableVector, double>(tables);
  const auto found = leavesOf<TablesView<double>, detail::TableSpan, double>(block.view());
  EXPECT_GT(expected.size(), 300U);
  EXPECT_EQ(found, expected);
}

TEST(TableBlock, HoldsEveryFieldInFloat) {
  const ModelTables<double> tables = distinctTables();
  const TableBlock<float> block(tables);
  const auto expected = leavesOf<ModelTables<double>, detail::TableVector, double>(tables);
  const auto found = leavesOf<TablesView<float>, detail::TableSpan, float>(block.view());
  ASSERT_EQ(found.size(), expected.size());
  std::size_t rounded = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same = found[i] == expected[i];
    EXPECT_TRUE(same || found[i] == static_cast<double>(static_cast<float>(expected[i])))
        << "leaf " << i << " is " << found[i] << ", not " << expected[i];
    rounded += same ? 0 : 1;
  }
  EXPECT_GT(rounded, 200U) << "numbers are stored in float";
}

/// By name, without the visitor that builds the block.
TEST(TableBlock, KeepsFieldsApart) {
  const ModelTables<double> tables = distinctTables();
  const TableBlock<float> block(tables);
  const TablesView<float>& view = block.view();
  EXPECT_EQ(view.bodyCount, 3);
  EXPECT_EQ(view.bodies[2].firstS, tables.bodies[2].firstS);
  EXPECT_EQ(view.bodies[2].single.atZero, static_cast<float>(tables.bodies[2].single.atZero));
  EXPECT_EQ(view.clusters[1].firstSwap, tables.clusters[1].firstSwap);
  EXPECT_EQ(view.loops[0].programs.slopeRates.first, tables.loops[0].programs.slopeRates.first);
  EXPECT_EQ(view.loops[2].forceFrame.p.z, static_cast<float>(tables.loops[2].forceFrame.p.z));
  EXPECT_EQ(view.programSteps[1].operands[3], tables.programSteps[1].operands[3]);
  EXPECT_EQ(view.programSteps[1].constant, static_cast<float>(tables.programSteps[1].constant));
  EXPECT_EQ(view.rotors[2].across, static_cast<float>(tables.rotors[2].across));
  EXPECT_EQ(view.rowScales[1], tables.rowScales[1]);
  EXPECT_EQ(view.springReference[0], static_cast<float>(tables.springReference[0]));
  EXPECT_EQ(view.gravity.y, static_cast<float>(tables.gravity.y));
  EXPECT_EQ(view.frictionSlipSpeed, static_cast<float>(tables.frictionSlipSpeed));
  EXPECT_EQ(view.floatingBase, tables.floatingBase);
}

TEST(TableBlock, ItsCopiesReadTheirOwnMemory) {
  const TableBlock<double> block(distinctTables());
  const TableBlock<double> copy(block);
  TableBlock<double> assigned;
  assigned = block;
  for (const TableBlock<double>* other :
       {&copy, static_cast<const TableBlock<double>*>(&assigned)}) {
    const auto* first = reinterpret_cast<const std::byte*>(other->view().inertiaScale.data());
    EXPECT_GE(first, other->bytes().data());
    EXPECT_LT(first, other->bytes().data() + other->bytes().size());
    EXPECT_EQ(other->view().inertiaScale[2], block.view().inertiaScale[2]);
  }
  EXPECT_EQ(TableBlock<double>(TableBlock<double>()).view().bodyCount, 0);
}

class CopiedTables : public ::testing::TestWithParam<MechanismCase> {
 protected:
  template <typename T>
  using Numbers = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  /// Inverse dynamics, forward dynamics and the mass matrix.
  template <typename T>
  static Numbers<T> evaluate(const Model& model, const TablesView<T>& tables, const Numbers<T>& q,
                             const Numbers<T>& v, const Numbers<T>& a) {
    const detail::KernelSet<T>& set = detail::kernelSets<T>().single;
    detail::KernelMemory<T> memory(set);
    BasicData<T> scratch(model);
    const detail::KernelContext<T> context{
        tables, memory.upTo(tables, detail::WorkStage::Articulated), model.mechanism().functions,
        scratch.impl().loops.forFunctions(), false};
    const int n = model.nv();
    Numbers<T> results = Numbers<T>::Constant(n * (n + 2), std::numeric_limits<T>::quiet_NaN());
    EXPECT_FALSE(
        set.inverseDynamics(context, q.data(), v.data(), a.data(), {}, results.data()).failed());
    EXPECT_FALSE(set.forwardDynamics(context, q.data(), v.data(), a.data(), {}, results.data() + n)
                     .failed());
    EXPECT_FALSE(set.massMatrix(context, q.data(), results.data() + 2 * n, n).failed());
    return results;
  }

  template <typename T>
  static void expectEqualResults(const Model& model) {
    detail::AlignedMemory elsewhere(0);
    {
      const TableBlock<T> block(model.impl().tables);
      elsewhere = detail::AlignedMemory(block.bytes().size());
      std::ranges::copy(block.bytes(), elsewhere.data());
    }
    const auto& header =
        *std::launder(reinterpret_cast<const detail::TableHeader<T>*>(elsewhere.data()));
    const TablesView<T> copied = detail::viewAt(header, elsewhere.data());
    const Numbers<T> q = model.randomConfiguration(3).cast<T>();
    const Numbers<T> v = Numbers<T>::LinSpaced(model.nv(), T(-1), T(2));
    const Numbers<T> a = Numbers<T>::LinSpaced(model.nv(), T(3), T(-2));
    const Numbers<T> expected = evaluate<T>(model, detail::viewOf<T>(model.impl()), q, v, a);
    EXPECT_TRUE(expected.allFinite());
    EXPECT_EQ(evaluate<T>(model, copied, q, v, a), expected);
  }
};

TEST_P(CopiedTables, GiveEqualResults) {
  const Model model(randomMechanism(GetParam()));
  expectEqualResults<double>(model);
  expectEqualResults<float>(model);
}

INSTANTIATE_TEST_SUITE_P(Random, CopiedTables, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return kempe::test::nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
