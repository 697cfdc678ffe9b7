#include <gtest/gtest.h>

#include "batch/batch_testing.hpp"
#include "support/close_to.hpp"

/// Where states lie in memory and how many there are does not matter, to the last bit.
namespace kempe::test {
namespace {

template <typename T>
class BatchLayouts : public ::testing::Test {
 protected:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

  /// Runs `law(model, batch, states, function)` on robots with clusters of all kinds.
  template <typename Law>
  void forEachFunction(int count, const Law& law) {
    for (const char* name : {"mini_cheetah", "tello", "six_bar", "four_bar", "belt_chain"}) {
      const Model model = robots::load(name);
      BasicBatch<T> batch(model, {.threads = 1});
      const BatchStates<T> states = randomStates<T>(model, count);
      for (const BatchFunction<T>& function : batchFunctions<T>()) {
        SCOPED_TRACE(function.name + " of " + name);
        law(model, batch, states, function);
      }
    }
  }

  /// Inputs and output as `Layout` keeps them.
  template <template <typename> typename Layout>
  void expectNoDifferenceIn() {
    forEachFunction(21, [](const Model& model, BasicBatch<T>& batch, const BatchStates<T>& states,
                           const BatchFunction<T>& function) {
      const Rows<T> expected = function(model, batch, states);
      Layout<T> q(states.q), v(states.v), x(states.x), wrenches(states.wrenches);
      Layout<T> out(function.room(model, states));
      function.run(model, batch,
                   {q.states(), v.states(), x.states(), states.frames, wrenches.states(),
                    states.reference, states.dt},
                   out.states());
      EXPECT_TRUE(out.rows() == expected);
      EXPECT_TRUE(out.surroundingsAreUntouched());
      EXPECT_TRUE(q.rows() == states.q && v.rows() == states.v && x.rows() == states.x);
    });
  }
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(BatchLayouts, Scalars);

/// A block of a larger matrix.
template <typename T, int Order>
struct Block {
  explicit Block(const Rows<T>& x)
      : whole(decltype(whole)::Constant(x.rows() + 5, x.cols() + 7, T(7))),
        count(x.rows()),
        entries(x.cols()) {
    block() = x;
  }
  auto block() { return whole.block(2, 3, count, entries); }
  States<T> states() { return block(); }
  Rows<T> rows() { return block(); }
  bool surroundingsAreUntouched() {
    auto copy = whole;
    copy.block(2, 3, count, entries).setConstant(T(7));
    return (copy.array() == T(7)).all();
  }

  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order> whole;
  Eigen::Index count, entries;
};
template <typename T>
using RowMajorBlock = Block<T, Eigen::RowMajor>;
template <typename T>
using ColumnMajorBlock = Block<T, Eigen::ColMajor>;

/// A structure of arrays, or a matrix with a column for each state, seen by its transpose.
template <typename T, bool Transposed>
struct Dense {
  explicit Dense(const Rows<T>& x) {
    if constexpr (Transposed) {
      matrix = x.transpose();
    } else {
      matrix = x;
    }
  }
  States<T> states() {
    if constexpr (Transposed) {
      return matrix.transpose();
    } else {
      return matrix;
    }
  }
  Rows<T> rows() {
    if constexpr (Transposed) {
      return matrix.transpose();
    } else {
      return matrix;
    }
  }
  static bool surroundingsAreUntouched() { return true; }

  Columns<T> matrix;
};
template <typename T>
using StructureOfArrays = Dense<T, false>;
template <typename T>
using ColumnForEachState = Dense<T, true>;

/// Plain memory: every third number, the last state first.
template <typename T>
struct Backwards {
  explicit Backwards(const Rows<T>& x) : count(x.rows()), entries(x.cols()) {
    memory.assign(static_cast<std::size_t>(count * perState()) + 2, T(7));
    for (Eigen::Index k = 0; k < count; ++k) {
      for (Eigen::Index i = 0; i < entries; ++i) {
        at(k, i) = x(k, i);
      }
    }
  }
  [[nodiscard]] Eigen::Index perState() const { return 3 * entries + 1; }
  T* first() { return memory.data() + (count - 1) * perState(); }
  T& at(Eigen::Index k, Eigen::Index i) { return first()[-k * perState() + 3 * i]; }
  States<T> states() { return {first(), count, entries, -perState(), 3}; }
  Rows<T> rows() {
    return Rows<T>::NullaryExpr(count, entries,
                                [&](Eigen::Index k, Eigen::Index i) { return at(k, i); });
  }
  bool surroundingsAreUntouched() {
    const auto others = static_cast<Eigen::Index>(memory.size()) - count * entries;
    return std::count(memory.begin(), memory.end(), T(7)) >= others;
  }

  Eigen::Index count, entries;
  std::vector<T> memory;
};

/// Plain memory, one state after the other.
template <typename T>
struct Pointers {
  explicit Pointers(const Rows<T>& x)
      : count(x.rows()), entries(x.cols()), memory(x.data(), x.data() + x.size()) {}
  States<T> states() { return {memory.data(), count, entries}; }
  Rows<T> rows() { return Eigen::Map<Rows<T>>(memory.data(), count, entries); }
  static bool surroundingsAreUntouched() { return true; }

  Eigen::Index count, entries;
  std::vector<T> memory;
};

TYPED_TEST(BatchLayouts, StructureOfArrays) {
  this->template expectNoDifferenceIn<StructureOfArrays>();
}
TYPED_TEST(BatchLayouts, AColumnForEachState) {
  this->template expectNoDifferenceIn<ColumnForEachState>();
}
TYPED_TEST(BatchLayouts, BlocksOfLargerMatrices) {
  this->template expectNoDifferenceIn<RowMajorBlock>();
  this->template expectNoDifferenceIn<ColumnMajorBlock>();
}
TYPED_TEST(BatchLayouts, PlainPointers) {
  this->template expectNoDifferenceIn<Pointers>();
}
TYPED_TEST(BatchLayouts, AnyStrides) {
  this->template expectNoDifferenceIn<Backwards>();
}

TYPED_TEST(BatchLayouts, AStrideOfZeroRepeatsAState) {
  using T = TypeParam;
  this->forEachFunction(11, [](const Model& model, BasicBatch<T>& batch, BatchStates<T> states,
                               const BatchFunction<T>& function) {
    states.q = states.q.row(3).replicate(states.count(), 1).eval();
    BatchArguments<T> arguments = states.arguments();
    arguments.q.stateStride = 0;
    Rows<T> out = function.room(model, states);
    function.run(model, batch, arguments, out);
    EXPECT_TRUE(out == function(model, batch, states));
  });
}

TYPED_TEST(BatchLayouts, AnyNumberOfStates) {
  using T = TypeParam;
  constexpr int kMost = 200;
  this->forEachFunction(kMost, [](const Model& model, BasicBatch<T>& batch,
                                  const BatchStates<T>& states, const BatchFunction<T>& function) {
    const Rows<T> all = function(model, batch, states);
    ASSERT_TRUE(all.allFinite());
    const int lanes = batch.lanes();
    for (const int count : {0, 1, lanes - 1, lanes, lanes + 1, 37}) {
      BatchStates<T> part = states;
      part.q = states.q.topRows(count);
      part.v = states.v.topRows(count);
      part.x = states.x.topRows(count);
      part.wrenches = states.wrenches.topRows(count);
      // One state more than asked for, which stays as it is.
      Rows<T> out = Rows<T>::Constant(count + 1, all.cols(), T(7));
      function.run(model, batch, part.arguments(), out.topRows(count));
      EXPECT_TRUE(out.topRows(count) == all.topRows(count)) << count;
      EXPECT_TRUE((out.row(count).array() == T(7)).all()) << count;
    }
  });
}

TYPED_TEST(BatchLayouts, NoStatesNeedNoMemory) {
  using T = TypeParam;
  const Model model = robots::load("tello");
  BasicBatch<T> batch(model);
  const StatesIn<T> q(nullptr, 0, model.nq()), v(nullptr, 0, model.nv());
  const StatesOut<T> out(nullptr, 0, model.nv()), H(nullptr, 0, model.nv() * model.nv());
  EXPECT_NO_THROW(forwardDynamics(model, batch, q, v, v, out));
  EXPECT_NO_THROW(massMatrix(model, batch, q, H));
  EXPECT_NO_THROW(integrate(model, batch, q, v, T(1), StatesOut<T>(nullptr, 0, model.nq())));
}

TYPED_TEST(BatchLayouts, NoFramesGiveNothing) {
  using T = TypeParam;
  const Model model = robots::load("planar_leg");
  BasicBatch<T> batch(model);
  BatchStates<T> states = randomStates<T>(model, 9);
  states.frames.clear();
  states.wrenches.resize(9, 0);
  for (const BatchFunction<T>& function : batchFunctions<T>()) {
    EXPECT_TRUE(function(model, batch, states).allFinite()) << function.name;
  }
}

TYPED_TEST(BatchLayouts, OutputsMayBeInputsOfTheSameSize) {
  using T = TypeParam;
  this->forEachFunction(21, [](const Model& model, BasicBatch<T>& batch,
                               const BatchStates<T>& states, const BatchFunction<T>& function) {
    const Rows<T> expected = function(model, batch, states);
    for (const std::string input : {"q", "v", "x"}) {
      BatchStates<T> own = states;
      Rows<T>& both = input == "q" ? own.q : (input == "v" ? own.v : own.x);
      if (function.takes(input) && both.cols() == expected.cols()) {
        function.run(model, batch, own.arguments(), both);
        EXPECT_TRUE(both == expected) << input;
      }
    }
  });
}

/// Angles far from zero keep their sine: a pendulum's weight is m g l sin q.
TYPED_TEST(BatchLayouts, LargeAnglesAreNoLessExact) {
  using T = TypeParam;
  Mechanism robot("pendulum");
  robot.addBody("ground");
  robot.addBody("bob").withMass(2).centeredAt({0, 0, -1});
  robot.addRevolute("hinge").from("ground").to("bob").about({0, 1, 0});
  const Model model(robot);
  BasicBatch<T> batch(model);
  BasicData<T> data(model);
  const int count = 2000;
  Rows<T> q(count, 1), zero = Rows<T>::Zero(count, 1),
                       tau = Rows<T>::Constant(count, 1, TestFixture::kNan);
  for (int k = 0; k < count; ++k) {
    const double size = std::pow(10.0, 10.0 * k / count - 3.0);
    q(k, 0) = static_cast<T>(k % 2 == 0 ? size : -size);
  }
  inverseDynamics(model, batch, q, zero, zero, tau);
  const double weight = 2 * 9.81;
  for (int k = 0; k < count; ++k) {
    const double expected = weight * std::sin(static_cast<double>(q(k, 0)));
    const double allowed = 8 * weight * static_cast<double>(std::numeric_limits<T>::epsilon());
    EXPECT_NEAR(static_cast<double>(tau(k, 0)), expected, allowed) << q(k, 0);
    Numbers<T> one(1);
    inverseDynamics(model, data, q.row(k).transpose(), zero.row(k).transpose(),
                    zero.row(k).transpose(), one);
    EXPECT_NEAR(static_cast<double>(one[0]), expected, allowed) << q(k, 0) << ", one state";
  }
}

/// Turns of all sizes, none at all among them.
TYPED_TEST(BatchLayouts, StepsOfAnySize) {
  using T = TypeParam;
  Mechanism robot("tail");
  robot.addBody("trunk").withMass(1).withInertia(1, 1, 1);
  robot.addBody("tail").withMass(1).withInertia(1, 1, 1);
  robot.addJoint("ball", JointType::Spherical).from("trunk").to("tail");
  robot.addFloatingBase();
  const Model model(robot);
  BasicBatch<T> batch(model);
  BasicData<T> data(model);
  const BatchFunction<T> step = batchFunctions<T>().back();
  for (const double dt : {0.0, 1e-30, 1e-9, 1e-5, 1e-3, 0.1, 1.0, 3.0, 6.0, -2.0, 40.0}) {
    BatchStates<T> states = randomStates<T>(model, 23);
    states.dt = static_cast<T>(dt);
    states.v.row(5).setZero();
    states.v.row(6) *= T(1e-7);
    const Rows<T> next = step(model, batch, states);
    for (Eigen::Index k = 0; k < states.count(); ++k) {
      EXPECT_TRUE(closeTo(next.row(k).transpose(), step.one(model, data, states, k),
                          64 * static_cast<double>(std::numeric_limits<T>::epsilon())))
          << dt << ", state " << k;
    }
  }
}

}  // namespace
}  // namespace kempe::test
