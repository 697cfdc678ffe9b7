#include <gtest/gtest.h>

#include "batch/batch_testing.hpp"
#include "dynamics/named_mechanism.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/long_loops.hpp"

namespace kempe::test {
namespace {

/// A random mechanism, or a robot by its name.
struct Subject {
  std::string name;
  MechanismCase choice{};
  bool bundled = false;
  std::function<Mechanism()> make = {};

  [[nodiscard]] Model model() const {
    if (make) {
      return Model(make());
    }
    return bundled ? robots::load(name) : Model(randomMechanism(choice));
  }
  friend std::ostream& operator<<(std::ostream& out, const Subject& s) { return out << s.name; }
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const MechanismCase& choice : everyMechanism()) {
    all.push_back({nameOf(choice), choice});
  }
  for (const std::string& name : robots::names()) {
    all.push_back({name, {}, true});
  }
  all.push_back({"long_loops", {}, false, longLoops});
  for (const NamedMechanism& choice : bendingMechanisms()) {
    all.push_back({choice.name, {}, false, choice.make});
  }
  return all;
}

class EveryMechanism : public ::testing::TestWithParam<Subject> {
 protected:
  /// `tolerance(function, state)` says how far a batch may be from single evaluations.
  template <typename T, typename Tolerance>
  void expectBatchEqualsSingle(const Tolerance& tolerance) {
    BasicBatch<T> batch(model, {.threads = 1});
    BasicData<T> single(model);
    for (const Reference reference :
         {Reference::LocalWorldAligned, Reference::Local, Reference::World}) {
      BatchStates<T> states = randomStates<T>(model, 37);
      states.reference = reference;
      for (const BatchFunction<T>& function : batchFunctions<T>()) {
        const Rows<T> all = function(model, batch, states);
        for (Eigen::Index k = 0; k < states.count(); ++k) {
          ASSERT_TRUE(closeTo(all.row(k).transpose(), function.one(model, single, states, k),
                              tolerance(function, states.q.row(k).template cast<double>())))
              << function.name << ", state " << k << ", reference " << static_cast<int>(reference);
        }
      }
    }
  }

  Model model = GetParam().model();
};

TEST_P(EveryMechanism, BatchEqualsSingle) {
  expectBatchEqualsSingle<double>(
      [](const BatchFunction<double>&, const Eigen::VectorXd&) { return 1e-10; });
}

TEST_P(EveryMechanism, BatchEqualsSingleInFloat) {
  Data data(model);
  expectBatchEqualsSingle<float>(
      [&](const BatchFunction<float>& function, const Eigen::VectorXd& q) {
        const bool inverts = function.name == "forwardDynamics" ||
                             function.name == "forwardDynamicsDerivatives" ||
                             function.name == "inverseOperationalInertia" ||
                             function.name == "jointForces" || function.name == "loopForces";
        const bool moves = function.name == "forwardKinematics" || function.name == "integrate";
        return inverts ? std::max(1e-3, 1e-6 * conditionOf(model, data, q)) : (moves ? 1e-5 : 1e-3);
      });
}

TEST_P(EveryMechanism, AllocatesNothing) {
  Batch batch(model, {.threads = 1});
  BatchF batchF(model, {.threads = 1});
  const BatchStates<double> states = randomStates<double>(model, 21);
  const BatchStates<float> statesF = randomStates<float>(model, 21);
  const auto expectNone = [&]<typename T>(BasicBatch<T>& own, const BatchStates<T>& given) {
    const BatchArguments<T> arguments = given.arguments();
    for (const BatchFunction<T>& function : batchFunctions<T>()) {
      Rows<T> out = function(model, own, given);
      EXPECT_EQ(allocationsOf([&] { function.run(model, own, arguments, out); }), 0)
          << function.name;
    }
  };
  expectNone(batch, states);
  expectNone(batchF, statesF);
}

INSTANTIATE_TEST_SUITE_P(All, EveryMechanism, ::testing::ValuesIn(subjects()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace kempe::test
