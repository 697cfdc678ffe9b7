/// Time of the dynamics algorithms by every method, per call, over random states.
/// Names are algorithm/robot/method; robots with the suffix `_tree` have their loops and rotors
/// removed.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kempe/kempe.hpp"

namespace {

using kempe::Data;
using kempe::Method;
using kempe::Model;

constexpr int kStates = 64;

struct NamedMethod {
  const char* name;
  Method method;
};
constexpr NamedMethod kMethods[] = {{"cluster", Method::Cluster},
                                    {"projection", Method::Projection},
                                    {"lagrange", Method::Lagrange},
                                    {"approximate", Method::Approximate},
                                    {"unconstrained", Method::Unconstrained}};

/// A robot and states of it, the same in every run.
struct Bench {
  explicit Bench(const Model& robot) : model(robot), data(robot), H(robot.nv(), robot.nv()) {
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const auto draw = [&] {
      return Eigen::VectorXd(
          Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); }));
    };
    for (int i = 0; i < kStates; ++i) {
      q.push_back(model.randomConfiguration(static_cast<std::uint64_t>(i)));
      v.push_back(draw());
      tau.push_back(draw());
    }
    result.resize(model.nv());
  }

  Model model;
  Data data;
  std::vector<Eigen::VectorXd> q, v, tau;
  Eigen::VectorXd result;
  Eigen::MatrixXd H;
};

/// The robot without its loops and without the bodies that are rotors or have no inertia.
kempe::Mechanism openTree(const kempe::Mechanism& robot) {
  const Model model(robot);
  std::vector<std::string> dropped = model.foldedRotors();
  for (const kempe::Body& body : robot.bodies) {
    const kempe::Joint* above = robot.jointAbove(body.name);
    const bool leaf = std::ranges::none_of(
        robot.joints, [&](const kempe::Joint& j) { return j.parent == body.name; });
    const auto& I = body.inertia;
    if (above != nullptr && leaf && body.mass == 0.0 && I.xx + I.yy + I.zz == 0.0) {
      dropped.push_back(body.name);
    }
  }
  const auto isDropped = [&](const std::string& body) {
    return std::ranges::find(dropped, body) != dropped.end();
  };
  kempe::Mechanism tree = robot;
  tree.name += "_tree";
  tree.couplings.clear();
  tree.loops.clear();
  tree.rods.clear();
  tree.functions.clear();
  std::erase_if(tree.bodies, [&](const kempe::Body& body) { return isDropped(body.name); });
  std::erase_if(tree.joints, [&](const kempe::Joint& joint) { return isDropped(joint.child); });
  return tree;
}

template <typename Function>
void measure(const std::string& name, const Model& model, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), [model, function](benchmark::State& run) {
    Bench bench(model);
    std::size_t i = 0;
    for (auto _ : run) {
      function(bench, i);
      benchmark::ClobberMemory();
      i = (i + 1) % kStates;
    }
  });
}

/// The last bodies of the tree's branches: feet and hands.
std::vector<int> endsOf(const Model& model) {
  std::vector<int> ends;
  const kempe::Mechanism& robot = model.mechanism();
  for (const std::string& body : model.bodyNames()) {
    const bool leaf =
        std::ranges::none_of(robot.joints, [&](const kempe::Joint& j) { return j.parent == body; });
    if (leaf && std::ranges::find(model.foldedRotors(), body) == model.foldedRotors().end() &&
        robot.findBody(body)->mass > 0.0) {
      ends.push_back(model.frameIndex(body));
    }
  }
  return ends;
}

/// Whether a method is defined for a model.
bool isDefined(const Model& model, Method method) {
  Data data(model);
  Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv()), result(model.nv());
  try {
    kempe::inverseDynamics(model, data, model.neutral(), zero, zero, result, {.method = method});
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

void registerRobot(const std::string& robot, const Model& model) {
  for (const NamedMethod& m : kMethods) {
    const Method method = m.method;
    if (!isDefined(model, method)) {
      continue;
    }
    const std::string which = "/" + robot + "/" + m.name;
    measure("forward_dynamics" + which, model, [method](Bench& b, std::size_t i) {
      kempe::forwardDynamics(b.model, b.data, b.q[i], b.v[i], b.tau[i], b.result,
                             {.method = method});
    });
    measure("inverse_dynamics" + which, model, [method](Bench& b, std::size_t i) {
      kempe::inverseDynamics(b.model, b.data, b.q[i], b.v[i], b.tau[i], b.result,
                             {.method = method});
    });
  }
  measure("mass_matrix/" + robot + "/cluster", model,
          [](Bench& b, std::size_t i) { kempe::massMatrix(b.model, b.data, b.q[i], b.H); });
  const std::vector<int> ends = endsOf(model);
  const auto size = static_cast<Eigen::Index>(6 * ends.size());
  for (const NamedMethod& m : {kMethods[0], kMethods[1]}) {
    measure("inverse_operational_inertia/" + robot + "/" + m.name, model,
            [ends, size, method = m.method](Bench& b, std::size_t i) {
              b.H.resize(size, size);
              kempe::inverseOperationalInertia(b.model, b.data, b.q[i], ends, b.H,
                                               kempe::Reference::LocalWorldAligned, method);
            });
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string robot : {"mini_cheetah", "mit_humanoid", "tello", "jvrc1", "geared_chain",
                                  "belt_chain", "four_bar"}) {
    const kempe::Mechanism mechanism = kempe::robots::mechanism(robot);
    registerRobot(robot, Model(mechanism));
    registerRobot(robot + "_tree", Model(openTree(mechanism)));
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
