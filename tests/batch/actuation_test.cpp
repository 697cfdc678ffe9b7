#include <gtest/gtest.h>

#include "batch/batch_testing.hpp"
#include "support/close_to.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

template <typename T>
void expectForcesAtRotorsEqualSingle(const Model& model, double tolerance) {
  BasicBatch<T> batch(model, {.threads = 1});
  BasicData<T> data(model);
  const BatchStates<T> states = randomStates<T>(model, 19);
  const auto bodies = static_cast<Eigen::Index>(model.jointNames().size());
  Rows<T> a(states.count(), model.nv());
  Rows<T> joints = Rows<T>::Constant(states.count(), 6 * bodies, T(NAN));
  Rows<T> loops = Rows<T>::Constant(states.count(), model.nLoopForces(), T(NAN));
  forwardDynamicsAndForces(model, batch, states.q, states.v, states.x, a, joints, loops,
                           {.actuation = Actuation::Rotors});
  for (Eigen::Index k = 0; k < states.count(); ++k) {
    Numbers<T> one(model.nv()), oneLoops(model.nLoopForces());
    Columns<T> oneJoints(6, bodies);
    const Numbers<T> q = states.q.row(k), v = states.v.row(k), x = states.x.row(k);
    forwardDynamicsAndForces(model, data, q, v, x, one, oneJoints, oneLoops,
                             {.actuation = Actuation::Rotors});
    ASSERT_TRUE(closeTo(joints.row(k).transpose(), Numbers<T>(oneJoints.reshaped()), tolerance))
        << "state " << k;
    ASSERT_TRUE(closeTo(loops.row(k).transpose(), oneLoops, tolerance)) << "state " << k;
  }
}

/// Differentials and functions have clusters of several rotors, whose pivots differ by state.
TEST(ForcesAtRotors, BatchEqualsSingle) {
  for (const char* name : {"mini_cheetah", "tello", "mit_humanoid"}) {
    SCOPED_TRACE(name);
    const Model model = robots::load(name);
    expectForcesAtRotorsEqualSingle<double>(model, 1e-9);
    expectForcesAtRotorsEqualSingle<float>(model, 2e-3);
  }
}

}  // namespace
}  // namespace kempe::test
