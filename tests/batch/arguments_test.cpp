#include <gtest/gtest.h>

#include "batch/batch_testing.hpp"
#include "support/close_to.hpp"
#include "support/refusal.hpp"

/// What batches refuse. Errors of one state among many say which.
namespace kempe::test {
namespace {

template <typename T>
class BatchArgumentsOf : public ::testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;
  static constexpr int kCount = 41;

  static Rows<T>& inputOf(BatchStates<T>& states, const std::string& name) {
    return name == "q"   ? states.q
           : name == "v" ? states.v
           : name == "x" ? states.x
                         : states.wrenches;
  }
  static std::string nameOf(const BatchFunction<T>& function, const std::string& input) {
    return input == "x" ? function.x : (input == "wrenches" ? "external.wrenches" : input);
  }
  /// Some states, of which the last shares its registers with repetitions of itself.
  static std::vector<Eigen::Index> someStates(const BasicBatch<T>& batch) {
    return {0, batch.lanes() - 1, batch.lanes(), 17, kCount - 1};
  }
  /// The text that `function` refuses `states` with.
  static std::string refusalOf(const Model& of, BasicBatch<T>& batch,
                               const BatchFunction<T>& function, const BatchStates<T>& states) {
    return refusal([&] { (void)function(of, batch, states); });
  }

  const std::vector<BatchFunction<T>> functions = batchFunctions<T>();
  const std::vector<std::string> inputs{"q", "v", "x", "wrenches"};
  const Model model = robots::load("tello");
  const BatchStates<T> good = randomStates<T>(model, kCount);
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(BatchArgumentsOf, Scalars);

TYPED_TEST(BatchArgumentsOf, EveryArgumentHasAsManyStates) {
  using T = TypeParam;
  BasicBatch<T> batch(this->model);
  for (const auto& function : this->functions) {
    for (const int change : {-1, 1}) {
      const std::string expected = " has " + std::to_string(this->kCount + change) +
                                   " states, but q has " + std::to_string(this->kCount);
      for (const std::string input : {"v", "x", "wrenches"}) {
        if (function.takes(input)) {
          BatchStates<T> states = this->good;
          Rows<T>& own = this->inputOf(states, input);
          own = Rows<T>::Ones(own.rows() + change, own.cols());
          EXPECT_EQ(this->refusalOf(this->model, batch, function, states),
                    this->nameOf(function, input) + expected)
              << function.name;
        }
      }
      Rows<T> out = function.room(this->model, this->good);
      out.resize(out.rows() + change, out.cols());
      EXPECT_EQ(refusal([&] { function.run(this->model, batch, this->good.arguments(), out); }),
                function.output + expected)
          << function.name;
    }
  }
}

TYPED_TEST(BatchArgumentsOf, EveryStateHasItsNumbers) {
  using T = TypeParam;
  BasicBatch<T> batch(this->model);
  const auto expect = [](const std::string& text, const std::string& name, Eigen::Index has,
                         Eigen::Index must) {
    EXPECT_TRUE(text.starts_with(name + " has " + std::to_string(has) +
                                 " entries per state, but must have " + std::to_string(must)))
        << text;
  };
  for (const auto& function : this->functions) {
    for (const int change : {-1, 1}) {
      for (const std::string& input : this->inputs) {
        if (function.takes(input)) {
          BatchStates<T> states = this->good;
          Rows<T>& own = this->inputOf(states, input);
          const Eigen::Index must = own.cols();
          own = Rows<T>::Ones(own.rows(), must + change);
          expect(this->refusalOf(this->model, batch, function, states),
                 this->nameOf(function, input), must + change, must);
        }
      }
      Rows<T> out = function.room(this->model, this->good);
      const Eigen::Index must = out.cols() / function.parts;
      out.resize(out.rows(), out.cols() + change);
      expect(refusal([&] { function.run(this->model, batch, this->good.arguments(), out); }),
             function.output, must + change, must);
    }
  }
}

TYPED_TEST(BatchArgumentsOf, WhatIsNotFiniteIsNamedWithItsState) {
  using T = TypeParam;
  for (const int threads : {1, 3}) {
    BasicBatch<T> batch(this->model, {.threads = threads});
    for (const auto& function : this->functions) {
      for (const std::string& input : this->inputs) {
        for (const Eigen::Index k : this->someStates(batch)) {
          for (const T bad : {TestFixture::Limits::quiet_NaN(), TestFixture::Limits::infinity(),
                              -TestFixture::Limits::infinity()}) {
            if (!function.takes(input)) {
              continue;
            }
            BatchStates<T> states = this->good;
            Rows<T>& own = this->inputOf(states, input);
            own(k, own.cols() - 1) = bad;
            const std::string place = "state " + std::to_string(k) + ": ";
            const std::string expected =
                input == "wrenches"
                    ? place + "external force on frame \"" +
                          this->model.frameNames()[static_cast<std::size_t>(states.frames.back())] +
                          "\" is not finite"
                    : place + this->nameOf(function, input) + " is not finite at entry " +
                          std::to_string(own.cols() - 1);
            EXPECT_EQ(this->refusalOf(this->model, batch, function, states), expected)
                << function.name;
          }
        }
      }
      EXPECT_TRUE(function(this->model, batch, this->good).allFinite())
          << function.name << " after errors";
    }
  }
}

TYPED_TEST(BatchArgumentsOf, AQuaternionNeedsADirection) {
  using T = TypeParam;
  for (const char* name : {"tello", "mini_cheetah"}) {
    const Model robot = robots::load(name);
    BasicBatch<T> batch(robot, {.threads = 1});
    const BatchStates<T> upright = randomStates<T>(robot, this->kCount);
    for (const auto& function : this->functions) {
      for (const Eigen::Index k : this->someStates(batch)) {
        BatchStates<T> states = upright;
        states.q.row(k).template segment<4>(3).setZero();
        const std::string text = this->refusalOf(robot, batch, function, states);
        EXPECT_TRUE(text.starts_with("state " + std::to_string(k) + ": q: the quaternion of joint"))
            << function.name << ": " << text;
      }
    }
  }
}

/// A quaternion counts by its direction.
TYPED_TEST(BatchArgumentsOf, AQuaternionMayHaveAnyLength) {
  using T = TypeParam;
  BasicBatch<T> batch(this->model, {.threads = 1});
  for (const auto& function : this->functions) {
    BatchStates<T> states = this->good;
    for (Eigen::Index k = 0; k < states.count(); ++k) {
      states.q.row(k).template segment<4>(3) *= static_cast<T>(std::pow(2.0, k % 9 - 4));
    }
    const Rows<T> expected = function(this->model, batch, this->good);
    EXPECT_TRUE(closeTo(function(this->model, batch, states), expected,
                        1e3 * static_cast<double>(TestFixture::Limits::epsilon())))
        << function.name;
  }
}

TYPED_TEST(BatchArgumentsOf, ADeadPointNamesItsStateAndItsLoop) {
  using T = TypeParam;
  const Model fourBar = robots::load("four_bar");
  const BatchStates<T> closed = randomStates<T>(fourBar, this->kCount);
  for (const int threads : {1, 3}) {
    BasicBatch<T> batch(fourBar, {.threads = threads});
    BasicData<T> single(fourBar);
    for (const auto& function : this->functions) {
      for (const Eigen::Index k : this->someStates(batch)) {
        BatchStates<T> states = closed;
        states.q.row(k).setZero();
        std::string text = "nothing";
        double condition = 0.0;
        try {
          (void)function.one(fourBar, single, states, k);
        } catch (const SingularityError& error) {
          text = error.what();
          condition = error.condition();
        }
        try {
          (void)function(fourBar, batch, states);
          ADD_FAILURE() << function.name << " gave numbers at a dead point";
        } catch (const SingularityError& error) {
          EXPECT_EQ(error.what(), "state " + std::to_string(k) + ": " + text) << function.name;
          EXPECT_EQ(error.loop(), "loop1");
          EXPECT_EQ(error.condition(), condition);
        }
      }
      EXPECT_TRUE(function(fourBar, batch, closed).allFinite()) << function.name << " after errors";
    }
  }
}

/// A point mass that slides along an arm without mass: on the arm's axis, turning moves nothing.
TYPED_TEST(BatchArgumentsOf, AFreedomThatMovesNoInertiaNamesItsState) {
  using T = TypeParam;
  Mechanism robot("bead");
  robot.addBody("ground");
  robot.addBody("arm");
  robot.addBody("bead").withMass(1);
  robot.addRevolute("hinge").from("ground").to("arm").about({0, 0, 1});
  robot.addPrismatic("slide").from("arm").to("bead").at({0.5, 0, 0}).along({1, 0, 0});
  const Model bead(robot);
  BasicBatch<T> batch(bead, {.threads = 1});
  BatchStates<T> states = randomStates<T>(bead, this->kCount);
  states.q.col(1).setConstant(T(0.1));
  for (const Eigen::Index k : this->someStates(batch)) {
    BatchStates<T> bad = states;
    bad.q(k, 1) = T(-0.5);
    for (const auto& function : this->functions) {
      EXPECT_TRUE(function(bead, batch, states).allFinite()) << function.name;
      const bool needsInertia =
          function.name == "forwardDynamics" || function.name == "forwardDynamicsDerivatives" ||
          function.name == "inverseOperationalInertia" || function.name == "jointForces";
      if (!needsInertia) {
        EXPECT_TRUE(function(bead, batch, bad).allFinite()) << function.name;
        continue;
      }
      try {
        (void)function(bead, batch, bad);
        ADD_FAILURE() << function.name << " gave numbers";
      } catch (const SingularityError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("state " + std::to_string(k) + ": "))
            << error.what();
      }
    }
  }
}

/// Two links that a short rod holds together can only part so far.
TYPED_TEST(BatchArgumentsOf, AStepThatTheLoopsForbidNamesItsState) {
  using T = TypeParam;
  Mechanism robot("pair");
  robot.addBody("ground");
  for (const char* name : {"a", "b"}) {
    robot.addBody(name).withMass(1).centeredAt({0, 0, 1}).withInertia(1, 1, 1);
  }
  robot.addPrismatic("lift").from("ground").to("a").along({0, 0, 1}).independent();
  robot.addRevolute("turn").from("ground").to("b").at({1, 0, 0}).about({0, 1, 0});
  robot.addRod("rod").from("a", {0, 0, 0}).to("b", {0, 0, 1}).ofLength(1);
  const Model pair(robot);
  BasicBatch<T> batch(pair, {.threads = 1});
  BatchStates<T> states = randomStates<T>(pair, this->kCount);
  states.v.setZero();
  states.dt = T(1);
  const BatchFunction<T>& step = this->functions.back();
  EXPECT_TRUE(step(pair, batch, states).allFinite());
  for (const Eigen::Index k : this->someStates(batch)) {
    BatchStates<T> bad = states;
    bad.v(k, 0) = T(30);
    try {
      (void)step(pair, batch, bad);
      ADD_FAILURE() << "the rod has been stretched";
    } catch (const AssemblyError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("state " + std::to_string(k) + ": loop"))
          << error.what();
      EXPECT_EQ(error.loop(), "rod");
      EXPECT_GT(error.gap(), 0.0);
    }
  }
}

/// States that are part of more are called by their numbers there.
TYPED_TEST(BatchArgumentsOf, PartsOfABatchNameTheStatesOfTheWhole) {
  using T = TypeParam;
  BasicBatch<T> batch(this->model, {.threads = 1});
  BatchStates<T> bad = this->good;
  bad.q(2, 0) = std::numeric_limits<T>::quiet_NaN();
  States<const T> part(bad.q);
  part.firstNumber = 4096;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> H(bad.q.rows(),
                                                     this->model.nv() * this->model.nv());
  EXPECT_EQ(refusal([&] { massMatrix(this->model, batch, part, H); }),
            "state 4098: q is not finite at entry 0");
  const auto refuseTheSecond = [](BasicData<T>&, Eigen::Index state) {
    if (state == 1) {
      throw std::invalid_argument("wrong");
    }
  };
  EXPECT_EQ(refusal([&] { forEachState<T>(this->model, batch, 3, refuseTheSecond, 4096); }),
            "state 4097: wrong");
}

TYPED_TEST(BatchArgumentsOf, ABatchBelongsToItsModel) {
  const Model other = robots::load("mit_humanoid");
  BasicBatch<TypeParam> foreign(other);
  EXPECT_EQ(refusal([&] {
              forEachState<TypeParam>(this->model, foreign, 1,
                                      [](BasicData<TypeParam>&, Eigen::Index) {});
            }),
            "batch was made for another model");
  for (const auto& function : this->functions) {
    EXPECT_EQ(this->refusalOf(this->model, foreign, function, this->good),
              "batch was made for another model")
        << function.name;
  }
}

TYPED_TEST(BatchArgumentsOf, FramesExist) {
  using T = TypeParam;
  BasicBatch<T> batch(this->model);
  const int frames = static_cast<int>(this->model.frameNames().size());
  for (const auto& function : this->functions) {
    for (const int frame : {-1, frames}) {
      if (function.takesFrames || function.takesForces) {
        BatchStates<T> states = this->good;
        states.frames[1] = frame;
        const std::string text = this->refusalOf(this->model, batch, function, states);
        EXPECT_TRUE(text.starts_with("frame " + std::to_string(frame) + ": the model has frames"))
            << function.name << ": " << text;
      }
    }
  }
}

TYPED_TEST(BatchArgumentsOf, ATimeStepIsFinite) {
  using T = TypeParam;
  BasicBatch<T> batch(this->model);
  for (const T bad : {TestFixture::Limits::quiet_NaN(), TestFixture::Limits::infinity()}) {
    BatchStates<T> states = this->good;
    states.dt = bad;
    EXPECT_EQ(this->refusalOf(this->model, batch, this->functions.back(), states),
              "dt is not finite");
  }
}

TYPED_TEST(BatchArgumentsOf, ThreadsAreNotNegative) {
  EXPECT_EQ(refusal([&] { BasicBatch<TypeParam>(this->model, {.threads = -1}); }),
            "threads is -1, but must be 0 (all) or a number of threads");
}

}  // namespace
}  // namespace kempe::test
