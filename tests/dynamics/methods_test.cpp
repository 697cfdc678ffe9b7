#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <functional>
#include <random>
#include <set>

#include "algorithms/baselines/baselines.hpp"
#include "kempe/kempe.hpp"
#include "mechanism/small_robots.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/long_loops.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

constexpr std::array kExactMethods{Method::Projection, Method::Lagrange};
constexpr std::array kInexactMethods{Method::Approximate, Method::Unconstrained};

struct MethodSubject {
  std::string name;
  std::function<Mechanism()> make;
  friend std::ostream& operator<<(std::ostream& out, const MethodSubject& s) {
    return out << s.name;
  }
};

/// Its first joint is held by a coupling: a cluster without a DoF carries the rest.
Mechanism brakedArm() {
  Mechanism robot = twoLinkArm();
  robot.addCoupling("brake").plus(1, "shoulder").equals(0.4);
  addBarOn(robot, "lower", "finger", {1, 0, 0});
  addBarOn(robot, "finger", "tip", {1, 0, 0});
  robot.addCoupling("tendon").plus(1, "to_finger").minus(2, "to_tip").equals(0);
  return robot;
}

std::vector<MethodSubject> everySubject() {
  std::vector<MethodSubject> subjects;
  for (const MechanismCase& choice : everyMechanism()) {
    subjects.push_back({nameOf(choice), [choice] { return randomMechanism(choice); }});
  }
  for (const std::string& name : robots::names()) {
    subjects.push_back({name, [name] { return robots::mechanism(name); }});
  }
  subjects.push_back({"braked_arm", brakedArm});
  subjects.push_back({"long_loops", longLoops});
  return subjects;
}

std::vector<MethodSubject> everyTree() {
  std::vector<MethodSubject> trees;
  for (const MechanismCase& choice : everyMechanism()) {
    if (choice.family == Family::Tree) {
      trees.push_back({nameOf(choice), [choice] { return randomMechanism(choice); }});
    }
  }
  return trees;
}

class Methods : public ::testing::TestWithParam<MethodSubject> {
 protected:
  Methods() : robot(GetParam().make()), model(robot), data(model), engine_(7) {
    q = model.randomConfiguration(5);
    v = randomVector();
    a = randomVector();
    tau = randomVector();
  }

  Eigen::VectorXd randomVector() {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine_); });
  }

  /// Forces on every second body; `keptOnly`: of those in the independent tree.
  std::vector<FrameForce> randomForces(bool keptOnly = false) {
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    std::vector<FrameForce> forces;
    for (std::size_t i = 0; i < robot.bodies.size(); i += 2) {
      FrameForce force;
      force.frame = model.frameIndex(robot.bodies[i].name);
      force.reference = static_cast<Reference>(i / 2 % 3);
      std::ranges::generate(force.wrench, [&] { return uniform(engine_); });
      const int body = model.impl().frames[static_cast<std::size_t>(force.frame)].body;
      if (!keptOnly || body == detail::kWorld ||
          model.impl().independentTree().treeBody[static_cast<std::size_t>(body)] >= 0) {
        forces.push_back(force);
      }
    }
    return forces;
  }

  Eigen::VectorXd inverse(Method method, const std::vector<FrameForce>& forces = {}) {
    Eigen::VectorXd result = poisoned(model.nv());
    inverseDynamics(model, data, q, v, a, result, {.external = forces, .method = method});
    return result;
  }
  Eigen::VectorXd forward(Method method, const Eigen::VectorXd& force,
                          const std::vector<FrameForce>& forces = {}) {
    Eigen::VectorXd result = poisoned(model.nv());
    forwardDynamics(model, data, q, v, force, result, {.external = forces, .method = method});
    return result;
  }

  double condition() {
    Eigen::MatrixXd H(model.nv(), model.nv());
    massMatrix(model, data, q, H);
    const Eigen::VectorXd values = eigenvalues(H);
    return values.maxCoeff() / values.minCoeff();
  }

  [[nodiscard]] const detail::IndependentTree& independentTree() const {
    return model.impl().independentTree();
  }

  Mechanism robot;
  Model model;
  Data data;
  Eigen::VectorXd q, v, a, tau;

 private:
  std::mt19937_64 engine_;
};

TEST_P(Methods, ExactOnesAgreeOnForces) {
  const std::vector<FrameForce> forces = randomForces();
  const Eigen::VectorXd expected = inverse(Method::Cluster, forces);
  for (const Method method : kExactMethods) {
    EXPECT_TRUE(closeTo(inverse(method, forces), expected, 1e-9)) << static_cast<int>(method);
  }
}

TEST_P(Methods, ExactOnesAgreeOnAccelerations) {
  const std::vector<FrameForce> forces = randomForces();
  const Eigen::VectorXd expected = forward(Method::Cluster, tau, forces);
  const double tolerance = std::max(1e-9, 1e-14 * condition());
  for (const Method method : kExactMethods) {
    EXPECT_TRUE(closeTo(forward(method, tau, forces), expected, tolerance))
        << static_cast<int>(method);
  }
}

TEST_P(Methods, FloatAgreesToItsPrecision) {
  DataF floatData(model);
  Eigen::VectorXf force(model.nv()), acceleration(model.nv());
  const Eigen::VectorXd expected = inverse(Method::Cluster);
  for (const Method method : kExactMethods) {
    inverseDynamics(model, floatData, q.cast<float>(), v.cast<float>(), a.cast<float>(), force,
                    {.method = method});
    EXPECT_TRUE(closeTo(force.cast<double>(), expected, 1e-3)) << static_cast<int>(method);
    forwardDynamics(model, floatData, q.cast<float>(), v.cast<float>(), expected.cast<float>(),
                    acceleration, {.method = method});
    EXPECT_TRUE(closeTo(acceleration.cast<double>(), a, std::max(1e-3, 3e-6 * condition())))
        << static_cast<int>(method);
  }
  for (const Method method : kInexactMethods) {
    if (independentTree().problem.empty()) {
      inverseDynamics(model, floatData, q.cast<float>(), v.cast<float>(), a.cast<float>(), force,
                      {.method = method});
      EXPECT_TRUE(closeTo(force.cast<double>(), inverse(method), 1e-3));
    }
  }
}

TEST_P(Methods, OperationalInertiasAgree) {
  std::vector<int> frames;
  for (std::size_t i = 0; i < robot.bodies.size(); i += 3) {
    frames.push_back(model.frameIndex(robot.bodies[i].name));
  }
  const auto size = static_cast<int>(6 * frames.size());
  for (const Reference reference : {Reference::LocalWorldAligned, Reference::Local}) {
    Eigen::MatrixXd expected = poisoned(size, size);
    inverseOperationalInertia(model, data, q, frames, expected, reference);
    for (const Method method : kExactMethods) {
      Eigen::MatrixXd actual = poisoned(size, size);
      detail::Evaluation<double> e(model, data);
      detail::comparedOperationalInertia<double>(e, method, q, frames, reference, actual);
      EXPECT_TRUE(closeTo(actual, expected, std::max(1e-9, 1e-14 * condition())))
          << static_cast<int>(method);
    }
  }
}

/// The mechanism with the independent tree's bodies, and what is fixed to them, alone.
Mechanism stripped(const Model& model) {
  Mechanism robot = model.mechanism();
  std::set<std::string> kept;
  for (const int b : model.impl().independentTree().bodies) {
    kept.insert(model.bodyNames()[static_cast<std::size_t>(b)]);
  }
  const std::function<bool(const std::string&)> stays = [&](const std::string& body) {
    const Joint* above = model.mechanism().jointAbove(body);
    return above == nullptr || kept.contains(body) ||
           (above->type == JointType::Fixed && stays(above->parent));
  };
  std::erase_if(robot.bodies, [&](const Body& body) { return !stays(body.name); });
  std::erase_if(robot.joints, [&](const Joint& joint) { return !stays(joint.child); });
  robot.couplings.clear();
  robot.loops.clear();
  robot.rods.clear();
  robot.functions.clear();
  return robot;
}

/// Rows of the spanning velocity that the independent tree has, in its order, and the others.
struct Split {
  std::vector<int> kept, dropped, positions;
};
Split splitOf(const Model& model, const Model& tree) {
  Split split;
  for (const std::string& joint : tree.jointNames()) {
    const Joint& source = *model.mechanism().findJoint(joint);
    for (int i = 0; i < velocitySize(source.type); ++i) {
      split.kept.push_back(model.jointVelocityIndex(joint) + i);
    }
    for (int i = 0; i < positionSize(source.type); ++i) {
      split.positions.push_back(model.jointPositionIndex(joint) + i);
    }
  }
  for (int i = 0; i < model.nvSpanning(); ++i) {
    if (std::ranges::find(split.kept, i) == split.kept.end()) {
      split.dropped.push_back(i);
    }
  }
  return split;
}

/// Inertia about its axis of a body that is symmetric about it, and the joint's armature.
double axialInertia(const Model& model, const std::string& velocity) {
  const Joint* joint = model.mechanism().findJoint(velocity);
  if (joint == nullptr) {
    // A DoF of a joint with several: "joint.x".
    joint = model.mechanism().findJoint(velocity.substr(0, velocity.rfind('.')));
  }
  if (joint == nullptr) {
    throw std::logic_error("no joint of velocity " + velocity);
  }
  double J = joint->armature;
  if (std::ranges::find(model.foldedRotors(), joint->child) != model.foldedRotors().end()) {
    const Vector3 axis = normalized(joint->axis);
    J += dot(axis, model.mechanism().findBody(joint->child)->inertia * axis);
  }
  return J;
}

TEST_P(Methods, InexactOnesAreTheIndependentTreeWhereThereIsOne) {
  if (!independentTree().problem.empty()) {
    for (const Method method : kInexactMethods) {
      EXPECT_THROW(inverse(method), std::invalid_argument);
      EXPECT_THROW(forward(method, tau), std::invalid_argument);
    }
    return;
  }
  const Model tree(stripped(model));
  ASSERT_EQ(tree.nv(), model.nv());
  const Split split = splitOf(model, tree);
  const std::vector<FrameForce> forces = randomForces(true);

  // z = G_r y, ż = G_r ẏ + g_r, τ = G_rᵀ τ_z.
  Eigen::VectorXd positions(model.nqSpanning()), rates(model.nvSpanning()), g(model.nvSpanning());
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  spanning(model, data, q, v, positions, rates);
  constraintJacobian(model, data, q, G);
  constraintBias(model, data, q, v, g);
  const Eigen::MatrixXd Gr = G(split.kept, Eigen::all);
  const Eigen::VectorXd gr = g(split.kept);
  const Eigen::VectorXd zdd = Gr * a + gr;
  std::vector<FrameForce> forcesOnTree = forces;
  for (FrameForce& force : forcesOnTree) {
    force.frame = tree.frameIndex(model.frameNames()[static_cast<std::size_t>(force.frame)]);
  }
  Data treeData(tree);
  Eigen::VectorXd onTree = poisoned(tree.nv());
  inverseDynamics(tree, treeData, positions(split.positions), rates(split.kept), zdd, onTree,
                  {.external = forcesOnTree});
  const Eigen::VectorXd plain = Gr.transpose() * onTree;
  EXPECT_TRUE(closeTo(inverse(Method::Unconstrained, forces), plain, 1e-9));

  // Reflected: Σ J r² of the dropped joints, r at the neutral position.
  constraintJacobian(model, data, model.neutral(), G);
  const Eigen::MatrixXd neutralGr = G(split.kept, Eigen::all);
  const Eigen::MatrixXd neutralGd = G(split.dropped, Eigen::all);
  const Eigen::MatrixXd r = solveRegular(neutralGr.transpose(), neutralGd.transpose()).transpose();
  Eigen::VectorXd J(static_cast<Eigen::Index>(split.dropped.size()));
  for (Eigen::Index i = 0; i < J.size(); ++i) {
    const int velocity = split.dropped[static_cast<std::size_t>(i)];
    J[i] = axialInertia(model, model.spanningVelocityNames()[static_cast<std::size_t>(velocity)]);
  }
  const Eigen::VectorXd reflected = r.cwiseAbs2().transpose() * J;
  const Eigen::VectorXd loaded = plain + Gr.transpose() * reflected.cwiseProduct(zdd);
  EXPECT_TRUE(closeTo(inverse(Method::Approximate, forces), loaded, 1e-9));

  std::vector<int> frames, framesOnTree;
  for (std::size_t i = 0; i < forces.size(); i += 2) {
    frames.push_back(forces[i].frame);
    framesOnTree.push_back(forcesOnTree[i].frame);
  }
  const auto size = static_cast<int>(6 * frames.size());
  Eigen::MatrixXd Omega = poisoned(size, size), expected = poisoned(size, size);
  detail::Evaluation<double> e(model, data);
  detail::comparedOperationalInertia<double>(e, Method::Unconstrained, q, frames,
                                             Reference::LocalWorldAligned, Omega);
  inverseOperationalInertia(tree, treeData, positions(split.positions), framesOnTree, expected);
  EXPECT_TRUE(closeTo(Omega, expected, 1e-9));

  const double tolerance = std::max(1e-8, 1e-13 * condition());
  EXPECT_TRUE(closeTo(forward(Method::Unconstrained, plain, forces), a, tolerance));
  EXPECT_TRUE(closeTo(forward(Method::Approximate, loaded, forces), a, tolerance));
}

TEST_P(Methods, OutputsMayBeInputs) {
  for (const Method method : kExactMethods) {
    Eigen::VectorXd x = tau;
    forwardDynamics(model, data, q, v, x, x, {.method = method});
    EXPECT_EQ(x, forward(method, tau));
    x = a;
    inverseDynamics(model, data, q, v, x, x, {.method = method});
    EXPECT_EQ(x, inverse(method));
  }
}

TEST_P(Methods, AllocateNothing) {
  Eigen::VectorXd x(model.nv());
  const std::vector<FrameForce> forces = randomForces(), keptForces = randomForces(true);
  const auto evaluate = [&] {
    for (const Method method : kExactMethods) {
      inverseDynamics(model, data, q, v, a, x, {.external = forces, .method = method});
      forwardDynamics(model, data, q, v, tau, x, {.external = forces, .method = method});
    }
    for (const Method method : kInexactMethods) {
      if (independentTree().problem.empty()) {
        inverseDynamics(model, data, q, v, a, x, {.external = keptForces, .method = method});
        forwardDynamics(model, data, q, v, tau, x, {.external = keptForces, .method = method});
      }
    }
  };
  evaluate();  // which makes their scratch
  EXPECT_EQ(allocationsOf(evaluate), 0);
}

INSTANTIATE_TEST_SUITE_P(Every, Methods, ::testing::ValuesIn(everySubject()),
                         [](const auto& given) { return given.param.name; });

using MethodsOnTrees = Methods;

TEST_P(MethodsOnTrees, AllAreExact) {
  ASSERT_EQ(model.nLoopRows(), 0);
  const std::vector<FrameForce> forces = randomForces();
  for (const Method method : kInexactMethods) {
    EXPECT_TRUE(closeTo(inverse(method, forces), inverse(Method::Cluster, forces), 1e-12));
    EXPECT_TRUE(closeTo(forward(method, tau, forces), forward(Method::Cluster, tau, forces), 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, MethodsOnTrees, ::testing::ValuesIn(everyTree()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace kempe::test
