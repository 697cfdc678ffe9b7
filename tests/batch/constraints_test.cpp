#include "kempe/constraints.hpp"

#include <gtest/gtest.h>

#include "batch/batch_testing.hpp"
#include "constraints/active.hpp"
#include "model/model_impl.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"
#include "support/refusal.hpp"
#include "tables/kernel_set.hpp"

/// Dynamics of many states under constraints and with loops that are left cut, against those of one
/// state.
namespace kempe::test {
namespace {

std::string scalarJoint(const Model& model, std::size_t skip) {
  std::string found;
  for (const std::string& name : model.jointNames()) {
    if (velocitySize(model.mechanism().findJoint(name)->type) == 1) {
      found = name;
      if (skip-- == 0) {
        break;
      }
    }
  }
  return found;
}

/// A function that cannot be traced, since it depends on the sign of a coordinate.
const auto kBranching = [](const auto& x, const auto& t, auto& phi) {
  if (x[0] > 0.0) {
    phi[0] = x[0] * x[0] + x[1] - t;
  } else {
    phi[0] = x[1] - x[0] * x[0] - t;
  }
};

/// Sets of constraints, each of which has rows of other kinds.
std::vector<Constraints> someConstraints(const Model& model) {
  const std::vector<std::string>& bodies = model.bodyNames();
  const std::string& last = bodies.back();
  const std::string first = bodies.size() > 1 ? bodies.front() : "";
  const Pose here{Rotation::identity(), {0.1, -0.2, 0.3}},
      there{Rotation::identity(), {1, 0.5, -0.4}};
  std::vector<Constraints> all;

  Constraints bodyRows(model);
  bodyRows.add(
      LoopJoint{.name = "ball", .type = LoopType::Spherical}.from("", there).to(last, here));
  bodyRows.add(KnifeEdge{.name = "edge", .body = bodies[bodies.size() / 2], .frame = here});
  bodyRows.stabilize(5.0);
  all.push_back(bodyRows);

  Constraints rolling(model);
  rolling.add(Rolling{
      .name = "wheel", .body = last, .axle = {0.2, 0.9, -0.3}, .radius = 0.2, .plane = there});
  rolling.add(Rod{.name = "rod"}.from(first, {2, 0, 1}).to(last, {0, 0.1, 0}).ofLength(1.1));
  all.push_back(rolling);

  Constraints coordinates(model);
  coordinates.prescribe("moved", scalarJoint(model, 1), [](double t) {
    return PrescribedMotion{t, 1.0, 0.5};
  });
  coordinates.addFunction("curve", {scalarJoint(model, 0), scalarJoint(model, 2)}, 1,
                          [](const auto& x, const auto& t, auto& phi) {
                            using std::sin;
                            phi[0] = sin(x[0]) * x[1] + x[0] - 0.3 * t * t;
                          });
  coordinates.stabilize(2.0);
  all.push_back(coordinates);

  Constraints called(model);
  called.addFunction("called", {scalarJoint(model, 0), scalarJoint(model, 3)}, 1, kBranching);
  called.lock("locked", model.jointNames().front(), model.neutral());
  called.stabilize(1.0);
  all.push_back(called);

  Constraints off(model);
  off.add(Coupling{.name = "off"}.plus(1.0, scalarJoint(model, 0)));
  off.add(
      Coupling{.name = "gear"}.plus(2.0, scalarJoint(model, 0)).minus(0.7, scalarJoint(model, 3)));
  off.enable(0, false);
  all.push_back(off);

  Constraints redundant(model);
  LoopJoint weld{.name = "weld", .type = LoopType::Spherical};
  redundant.add(weld.from("", there).to(last, here));
  weld.name = "again";
  redundant.add(weld);
  all.push_back(redundant);
  return all;
}

class ConstrainedStates : public ::testing::TestWithParam<MechanismCase> {
 protected:
  template <typename T>
  void expectBatchEqualsSingle(const Model& model, double tolerance) {
    BasicBatch<T> batch(model, {.threads = 1});
    BasicData<T> data(model);
    const BatchStates<T> states = randomStates<T>(model, 19);
    const double time = 0.3;
    for (const Constraints& constraints : someConstraints(model)) {
      SCOPED_TRACE(constraints.name(constraints.count() - 1));
      Rows<T> a = Rows<T>::Constant(states.count(), model.nv(), T(NAN));
      Rows<T> lambda = Rows<T>::Constant(states.count(), constraints.rows(), T(NAN));
      std::vector<ConstraintReport> reports(static_cast<std::size_t>(states.count()));
      const BatchForces<T> external{states.frames, states.wrenches, states.reference};
      constrainedForwardDynamics(model, batch, constraints, time, states.q, states.v, states.x, a,
                                 lambda, external, reports);
      for (Eigen::Index k = 0; k < states.count(); ++k) {
        Numbers<T> one(model.nv()), own(constraints.rows());
        ConstraintReport report;
        constrainedForwardDynamics(model, data, constraints, time, states.q.row(k).transpose(),
                                   states.v.row(k).transpose(), states.x.row(k).transpose(), one,
                                   own, {.external = states.forces(k)}, &report);
        ASSERT_TRUE(closeTo(a.row(k).transpose(), one, tolerance)) << "state " << k;
        ASSERT_TRUE(closeTo(lambda.row(k).transpose(), own, tolerance)) << "state " << k;
        const ConstraintReport& many = reports[static_cast<std::size_t>(k)];
        EXPECT_EQ(many.rows, report.rows);
        EXPECT_EQ(many.rank, report.rank);
        EXPECT_NEAR(many.inconsistency, report.inconsistency, tolerance * (1.0 + one.norm()));
      }
    }
  }
};

TEST_P(ConstrainedStates, BatchEqualsSingle) {
  expectBatchEqualsSingle<double>(Model(randomMechanism(GetParam())), 1e-8);
}

/// Loops that are left cut share the kernel.
TEST_P(ConstrainedStates, CutLoopsInABatchEqualSingleStates) {
  Mechanism robot = randomMechanism(GetParam());
  const auto cut = [](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = true;
    }
  };
  cut(robot.couplings);
  cut(robot.loops);
  cut(robot.rods);
  cut(robot.functions);
  const Model model(robot);
  Batch batch(model, {.threads = 1});
  Data data(model);
  const BatchStates<double> states = randomStates<double>(model, 11);
  Rows<double> a = Rows<double>::Constant(states.count(), model.nv(), NAN);
  forwardDynamics(model, batch, states.q, states.v, states.x, a,
                  {states.frames, states.wrenches, states.reference});
  for (Eigen::Index k = 0; k < states.count(); ++k) {
    Numbers<double> one(model.nv());
    forwardDynamics(model, data, states.q.row(k).transpose(), states.v.row(k).transpose(),
                    states.x.row(k).transpose(), one, {.external = states.forces(k)});
    ASSERT_TRUE(closeTo(a.row(k).transpose(), one, 1e-7)) << "state " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConstrainedStates, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

/// The four feet of a quadruped, held where they are.
Constraints heldFeet(const Model& model) {
  Constraints constraints(model);
  for (const std::string& body : model.bodyNames()) {
    bool foot = true;
    for (const Joint& joint : model.mechanism().joints) {
      foot = foot && (joint.parent != body || joint.type == JointType::Fixed);
    }
    if (foot && body.find("rotor") == std::string::npos) {
      constraints.add(LoopJoint{.name = body, .type = LoopType::Spherical}.from("").to(body));
    }
  }
  return constraints;
}

template <typename T>
void expectKernelSettles(const detail::KernelSet<T>& set) {
  const Model model = robots::load("mini_cheetah");
  const Constraints constraints = heldFeet(model);
  ASSERT_EQ(constraints.rows(), 12);
  detail::ActiveConstraints active;
  active.add(constraints.table());
  BasicData<T> data(model);
  const detail::TablesView<T>& tables = detail::viewOf<T>(model.impl());
  detail::KernelMemory<T> memory(set);
  const detail::KernelContext<T> context{
      tables, memory.upTo(tables, detail::WorkStage::Articulated), model.mechanism().functions,
      data.impl().loops.forFunctions()};
  std::vector<int> ranks(static_cast<std::size_t>(set.lanes));
  std::vector<double> inconsistencies(ranks.size());
  detail::ConstraintRequest<T> request = detail::requestOf<T>(active, {});
  detail::GrowingMemory own, lanes;
  request.memory = own.of(set.constraints.memorySize(tables, request));
  const auto room = static_cast<std::size_t>(set.lanes) *
                    static_cast<std::size_t>(model.nq() + 3 * model.nv() + constraints.rows());
  T* q = reinterpret_cast<T*>(lanes.of(room * sizeof(T)));
  T* v = q + model.nq() * set.lanes;
  T* a = v + model.nv() * set.lanes;
  request.lambda = a + model.nv() * set.lanes;
  request.ranks = ranks.data();
  request.inconsistencies = inconsistencies.data();
  const Numbers<T> one = model.randomConfiguration(3).cast<T>();
  ASSERT_TRUE(set.gather(one.data(), 0, 1, set.lanes, model.nq(), q));
  EXPECT_TRUE(set.constraints.forwardDynamics(context, q, v, v, {}, request, a));
  EXPECT_EQ(ranks, std::vector<int>(ranks.size(), 12));
}

/// Not only by the way that states in doubt take.
TEST(ConstrainedStates, TheKernelSettlesRowsThatAreIndependent) {
  expectKernelSettles(detail::kernelSets<double>().single);
  expectKernelSettles(detail::kernelSets<double>().pack);
  expectKernelSettles(detail::kernelSets<float>().pack);
}

TEST(ConstrainedStates, NothingIsAllocated) {
  const Model model = robots::load("mini_cheetah");
  const Constraints constraints = heldFeet(model);
  Batch batch(model, {.threads = 1});
  const BatchStates<double> states = randomStates<double>(model, 19);
  Rows<double> a(19, model.nv()), lambda(19, 12);
  const auto run = [&] {
    constrainedForwardDynamics(model, batch, constraints, 0.0, states.q, states.v, states.x, a,
                               lambda);
  };
  run();
  EXPECT_EQ(allocationsOf(run), 0);
}

TEST(ConstrainedStates, FloatIsCloseToDouble) {
  const Model model = robots::load("mini_cheetah");
  const Constraints constraints = heldFeet(model);
  Batch batch(model, {.threads = 1});
  BatchF batchF(model, {.threads = 1});
  const BatchStates<double> states = randomStates<double>(model, 19);
  Rows<double> a(19, model.nv()), lambda(19, 12);
  Rows<float> aF(19, model.nv()), lambdaF(19, 12);
  constrainedForwardDynamics(model, batch, constraints, 0.0, states.q, states.v, states.x, a,
                             lambda);
  const Rows<float> q = states.q.cast<float>(), v = states.v.cast<float>(),
                    x = states.x.cast<float>();
  constrainedForwardDynamics(model, batchF, constraints, 0.0, q, v, x, aF, lambdaF);
  EXPECT_TRUE(closeTo(aF.cast<double>(), a, 1e-2));
}

TEST(ConstrainedStates, ErrorsNameTheState) {
  const Model model = robots::load("mini_cheetah");
  Constraints constraints(model);
  constraints.addFunction("root", {scalarJoint(model, 0)}, 1,
                          [](const auto& x, const auto&, auto& phi) {
                            using std::sqrt;
                            phi[0] = sqrt(x[0]);
                          });
  for (const int threads : {1, 3}) {
    Batch batch(model, {.threads = threads});
    BatchStates<double> states = randomStates<double>(model, 21);
    Rows<double> a(21, model.nv()), lambda(21, 1);
    const Eigen::Index column = 7;
    states.q.col(column).setConstant(0.5);
    const auto run = [&] {
      constrainedForwardDynamics(model, batch, constraints, 0.0, states.q, states.v, states.x, a,
                                 lambda);
    };
    run();
    EXPECT_TRUE(a.allFinite() && lambda.allFinite());
    states.q(17, column) = -0.5;
    try {
      run();
      ADD_FAILURE() << "the root of a negative number";
    } catch (const SingularityError& error) {
      EXPECT_TRUE(std::string(error.what())
                      .starts_with("state 17: constraint \"root\" is not defined here"))
          << error.what();
      EXPECT_EQ(error.loop(), "root");
    }
  }
  Batch batch(model);
  const BatchStates<double> states = randomStates<double>(model, 3);
  Rows<double> a(3, model.nv()), lambda(3, 2);
  EXPECT_EQ(refusal([&] {
              constrainedForwardDynamics(model, batch, constraints, 0.0, states.q, states.v,
                                         states.x, a, lambda);
            }),
            "multipliers has 2 entries per state, but must have 1 (constraints.rows)");
  lambda.resize(3, 1);
  std::vector<ConstraintReport> reports(2);
  EXPECT_EQ(refusal([&] {
              constrainedForwardDynamics(model, batch, constraints, 0.0, states.q, states.v,
                                         states.x, a, lambda, {}, reports);
            }),
            "reports has 2 entries, but q has 3 states");
  EXPECT_EQ(refusal([&] {
              constrainedForwardDynamics(model, batch, constraints, NAN, states.q, states.v,
                                         states.x, a, lambda);
            }),
            "time is not finite");
}

}  // namespace
}  // namespace kempe::test
