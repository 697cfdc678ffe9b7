/// Time of the dynamics algorithms by every method, per call, over random states.
/// Names are algorithm/robot/method; robots with the suffix `_tree` have their loops and rotors
/// removed. Methods `cluster_batch` and those of peers are registered by other files.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "dynamics_batch.hpp"
#include "kempe/kempe.hpp"
#include "peers.hpp"
#include "robots.hpp"

namespace {

using kempe::Data;
using kempe::Method;
using kempe::Model;
using kempe::bench::State;

struct NamedMethod {
  const char* name;
  Method method;
};
constexpr NamedMethod kMethods[] = {{"cluster", Method::Cluster},
                                    {"projection", Method::Projection},
                                    {"lagrange", Method::Lagrange},
                                    {"approximate", Method::Approximate},
                                    {"unconstrained", Method::Unconstrained}};

/// A robot, states of it and room for results.
struct Bench {
  explicit Bench(const Model& robot)
      : model(robot),
        data(robot),
        states(kempe::bench::randomStates(robot)),
        ends(kempe::bench::framesOf(robot, kempe::bench::endsOf(robot))),
        result(robot.nv()),
        H(robot.nv(), robot.nv()),
        byQ(H),
        byV(H),
        Omega(6 * ends.size(), 6 * ends.size()),
        joints(6, static_cast<Eigen::Index>(robot.jointNames().size())),
        J(6, robot.nv()),
        sixByQ(J),
        sixByV(J),
        six(6),
        loops(robot.nLoopForces()),
        held(kempe::bench::heldEnds(robot, kempe::bench::endsOf(robot))),
        multipliers(held.rows()) {}

  Model model;
  Data data;
  std::vector<State> states;
  std::vector<int> ends;
  Eigen::VectorXd result;
  Eigen::MatrixXd H, byQ, byV, Omega, joints, J, sixByQ, sixByV;
  Eigen::VectorXd six, loops;
  kempe::Constraints held;  ///< the ends, at their points
  Eigen::VectorXd multipliers;
};

template <typename Bench, typename Function>
void measure(const std::string& name, const std::shared_ptr<Bench>& bench, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), [bench, function](benchmark::State& run) {
    std::size_t i = 0;
    for (auto _ : run) {
      function(*bench, bench->states[i]);
      benchmark::ClobberMemory();
      i = (i + 1) % bench->states.size();
    }
  });
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

void registerOurs(const std::string& robot, const Model& model) {
  const auto bench = std::make_shared<Bench>(model);
  for (const NamedMethod& m : kMethods) {
    const Method method = m.method;
    if (!isDefined(model, method)) {
      continue;
    }
    const std::string which = "/" + robot + "/" + m.name;
    measure("forward_dynamics" + which, bench, [method](Bench& b, const State& s) {
      kempe::forwardDynamics(b.model, b.data, s.q, s.v, s.tau, b.result, {.method = method});
    });
    measure("inverse_dynamics" + which, bench, [method](Bench& b, const State& s) {
      kempe::inverseDynamics(b.model, b.data, s.q, s.v, s.tau, b.result, {.method = method});
    });
  }
  // Beside the accelerations, which come with them.
  measure("joint_forces/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    Eigen::VectorXd none;
    kempe::forwardDynamicsAndForces(b.model, b.data, s.q, s.v, s.tau, b.result, b.joints, none);
  });
  measure("joint_and_loop_forces/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    kempe::forwardDynamicsAndForces(b.model, b.data, s.q, s.v, s.tau, b.result, b.joints, b.loops);
  });
  if (bench->held.rows() <= model.nv()) {
    measure("constrained_dynamics/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
      kempe::constrainedForwardDynamics(b.model, b.data, b.held, 0.0, s.q, s.v, s.tau, b.result,
                                        b.multipliers);
    });
  }
  measure("forward_dynamics_derivatives/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) {
            kempe::forwardDynamicsDerivatives(b.model, b.data, s.q, s.v, s.tau, b.byQ, b.byV, b.H);
          });
  measure("inverse_dynamics_derivatives/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) {
            kempe::inverseDynamicsDerivatives(b.model, b.data, s.q, s.v, s.tau, b.byQ, b.byV, b.H);
          });
  measure("gravity_forces_derivatives/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    kempe::gravityForcesDerivatives(b.model, b.data, s.q, b.byQ);
  });
  measure("momentum_rate_derivatives/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    kempe::momentumRateDerivatives(b.model, b.data, s.q, s.v, s.tau, b.sixByQ, b.sixByV, b.J);
  });
  measure("mass_matrix/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) { kempe::massMatrix(b.model, b.data, s.q, b.H); });
  measure("coriolis_matrix/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) { kempe::coriolisMatrix(b.model, b.data, s.q, s.v, b.H); });
  measure("bias_forces/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) { kempe::biasForces(b.model, b.data, s.q, s.v, b.result); });
  measure("gravity_forces/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) { kempe::gravityForces(b.model, b.data, s.q, b.result); });
  // Of all ends: four feet, or feet and hands.
  measure("frame_velocities/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    for (const int end : b.ends) {
      kempe::frameVelocity(b.model, b.data, s.q, s.v, end, b.six);
    }
  });
  measure("frame_acceleration_derivatives/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) {
            for (const int end : b.ends) {
              kempe::frameAccelerationDerivatives(b.model, b.data, s.q, s.v, s.tau, end, b.sixByQ,
                                                  b.sixByV, b.J);
            }
          });
  measure("frame_jacobians/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    for (const int end : b.ends) {
      kempe::frameJacobian(b.model, b.data, s.q, end, b.J);
    }
  });
  measure("momentum/" + robot + "/cluster", bench,
          [](Bench& b, const State& s) { kempe::momentum(b.model, b.data, s.q, s.v, b.six); });
  measure("centroidal_momentum_matrix/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    kempe::centroidalMomentumMatrix(b.model, b.data, s.q, b.J);
  });
  measure("all_terms/" + robot + "/cluster", bench, [](Bench& b, const State& s) {
    (void)kempe::allTerms(b.model, b.data, s.q, s.v, b.ends);
  });
  for (const NamedMethod& m : {kMethods[0], kMethods[1]}) {
    measure("inverse_operational_inertia/" + robot + "/" + m.name, bench,
            [method = m.method](Bench& b, const State& s) {
              kempe::inverseOperationalInertia(b.model, b.data, s.q, b.ends, b.Omega,
                                               kempe::Reference::LocalWorldAligned, method);
            });
  }
}

/// An arm, whose links may bend, and its states.
struct ArmBench {
  explicit ArmBench(const Model& arm)
      : model(arm), data(arm), states(kempe::bench::randomStates(arm)), result(arm.nv()) {}

  Model model;
  Data data;
  std::vector<State> states;
  Eigen::VectorXd result;
};

/// An arm of six links with four modes each, rigid with four more joints in each link, and rigid.
void registerArms() {
  const auto add = [](const std::string& name, const kempe::Mechanism& arm) {
    const auto bench = std::make_shared<ArmBench>(Model(arm));
    measure("forward_dynamics/" + name + "/cluster", bench, [](ArmBench& b, const State& s) {
      kempe::forwardDynamics(b.model, b.data, s.q, s.v, s.tau, b.result);
    });
    measure("inverse_dynamics/" + name + "/cluster", bench, [](ArmBench& b, const State& s) {
      kempe::inverseDynamics(b.model, b.data, s.q, s.v, s.tau, b.result);
    });
  };
  add("flexible_arm_6x4", kempe::bench::flexibleArm(6, 4));
  add("jointed_arm_6x4", kempe::bench::rigidArm(6, 4));
  add("rigid_arm_6", kempe::bench::rigidArm(6, 0));
}

/// Peers compute with the open tree's states for the robot, too.
void registerPeers([[maybe_unused]] const std::string& robot,
                   [[maybe_unused]] const kempe::Mechanism& mechanism) {
#if defined(KEMPE_BENCH_PINOCCHIO) || defined(KEMPE_BENCH_MUJOCO)
  using namespace kempe::bench;
  const auto peerRobot = [](const kempe::Mechanism& m) {
    const Model model(m);
    return forPeers(model, randomStates(model));
  };
  const PeerRobot closed = peerRobot(mechanism), tree = peerRobot(openTree(mechanism));
#endif
#ifdef KEMPE_BENCH_PINOCCHIO
  const std::vector<PeerWay> treeWays = pinocchioOpenTree(tree);
  registerPeer(robot + "_tree", "pinocchio", tree, treeWays);
  registerPeer(robot, "pinocchio", tree, treeWays, Ways::Fastest);
  registerPeer(robot, "pinocchio_exact", closed, pinocchioExact(closed));
#endif
#ifdef KEMPE_BENCH_MUJOCO
  const PeerRobot withArmature = peerRobot(openTreeWithArmature(mechanism));
  registerPeer(robot + "_tree", "mujoco", tree, mujocoOpenTree(tree), Ways::Fastest);
  registerPeer(robot, "mujoco", withArmature, mujocoOpenTree(withArmature), Ways::Fastest);
  registerPeer(robot, "mujoco_exact", closed, mujocoExact(closed));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string& robot : kempe::bench::robotNames()) {
    const kempe::Mechanism mechanism = kempe::bench::publishedRobot(robot);
    const Model model(mechanism), tree(kempe::bench::openTree(mechanism));
    registerOurs(robot, model);
    registerOurs(robot + "_tree", tree);
    kempe::bench::registerBatch(robot, model);
    kempe::bench::registerBatch(robot + "_tree", tree);
    registerPeers(robot, mechanism);
  }
  registerArms();
  benchmark::AddCustomContext("instruction_set", kempe::instructionSet());
#ifdef KEMPE_BENCH_PINOCCHIO
  benchmark::AddCustomContext("pinocchio", kempe::bench::pinocchioVersion());
#endif
#ifdef KEMPE_BENCH_MUJOCO
  benchmark::AddCustomContext("mujoco", kempe::bench::mujocoVersion());
#endif
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
