#include <memory>
#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_tree.hpp"
#include "pinocchio_ways.hpp"

/// Pinocchio on robots whose loops are more than couplings. Points of loop joints are held
/// together; about parallel axes that is all that a revolute loop joint does.
namespace kempe::bench {
namespace {

enum class Solver { ConstraintDynamics, LoopAwareRecursion };

struct Closed {
  explicit Closed(const PeerRobot& robot) : tree(robot), independent(robot.independent) {
    for (const LoopJoint& loop : robot.mechanism.loops) {
      const auto end = [&](const LoopJoint::End& e) {
        return std::pair{tree.joint.at(e.body), tree.placement.at(e.body) * placementOf(e.frame)};
      };
      const auto [joint1, frame1] = end(loop.predecessor);
      const auto [joint2, frame2] = end(loop.successor);
      loops.emplace_back(pinocchio::CONTACT_3D, tree.model, joint1, frame1, joint2, frame2,
                         pinocchio::LOCAL);
      loopData.emplace_back(loops.back());
    }
    for (const PeerState& state : robot.states) {
      Eigen::VectorXd forces = Eigen::VectorXd::Zero(robot.nvSpanning);
      forces(independent) = mapOf(state.tau);
      q.emplace_back(mapOf(state.positions)(tree.position));
      v.emplace_back(mapOf(state.velocities)(tree.velocity));
      tau.emplace_back(forces(tree.velocity));
      G.emplace_back(mapOf(state.G, robot.nvSpanning)(tree.velocity, Eigen::all));
      Gv.emplace_back(
          mapOf(state.velocityDerivatives, robot.nvSpanning)(tree.velocity, Eigen::all));
    }
  }

  void initialise(Solver solver) {
    if (solver == Solver::ConstraintDynamics) {
      pinocchio::initConstraintDynamics(tree.model, tree.data, loops, loopData);
    } else {
      pinocchio::computeJointMinimalOrdering(tree.model, tree.data, loops);
    }
  }
  void forwardDynamics(Solver solver, std::size_t i) {
    if (solver == Solver::ConstraintDynamics) {
      pinocchio::constraintDynamics(tree.model, tree.data, q[i], v[i], tau[i], loops, loopData,
                                    settings);
    } else {
      pinocchio::lcaba(tree.model, tree.data, q[i], v[i], tau[i], loops, loopData, settings);
    }
  }
  void derivatives(std::size_t i) {
    forwardDynamics(Solver::ConstraintDynamics, i);
    pinocchio::computeConstraintDynamicsDerivatives(tree.model, tree.data, loops, loopData,
                                                    settings);
    last = i;
  }
  [[nodiscard]] std::vector<double> acceleration() const {
    return plain(independentRows(tree.data.ddq));
  }
  /// In the model's coordinates: q̇ = G v, where G changes along q.
  [[nodiscard]] std::vector<double> accelerationDerivatives() const {
    const auto n = static_cast<Eigen::Index>(independent.size());
    const Eigen::MatrixXd byForces = independentRows(tree.data.ddq_dtau).transpose();
    Eigen::MatrixXd all(n, 3 * n);
    all.leftCols(n) = independentRows(tree.data.ddq_dq * G[last] + tree.data.ddq_dv * Gv[last]);
    all.middleCols(n, n) = independentRows(tree.data.ddq_dv * G[last]);
    all.rightCols(n) = independentRows(byForces).transpose();
    return plain(all);
  }
  [[nodiscard]] Eigen::MatrixXd independentRows(const Eigen::MatrixXd& x) const {
    Eigen::MatrixXd all(x.rows(), x.cols());
    all(tree.velocity, Eigen::all) = x;
    return all(independent, Eigen::all);
  }

  PinocchioTree<> tree;
  std::vector<int> independent;
  std::vector<pinocchio::RigidConstraintModel> loops;
  std::vector<pinocchio::RigidConstraintData> loopData;
  std::vector<Eigen::VectorXd> q, v, tau;
  std::vector<Eigen::MatrixXd> G, Gv;  ///< q̇ = G v, and ∂(G v)/∂q
  std::size_t last = 0;                ///< state of the last derivatives
  pinocchio::ProximalSettings settings;
};

/// Looks for the fewest proximal iterations that give the answer; false where none does.
bool settle(Closed& closed, Solver solver, const PeerRobot& robot, double tolerance) {
  const auto agrees = [&] {
    for (std::size_t i = 0; i < robot.states.size(); ++i) {
      closed.forwardDynamics(solver, i);
      const auto wanted = mapOf(robot.states[i].acceleration);
      const std::vector<double> found = closed.acceleration();
      const double error = (mapOf(found) - wanted).lpNorm<Eigen::Infinity>();
      if (!(error <= tolerance * wanted.lpNorm<Eigen::Infinity>())) {
        return false;
      }
    }
    return true;
  };
  for (int iterations = 1; iterations <= 20; ++iterations) {
    for (const double mu : {1e-12, 1e-10, 1e-8, 1e-6, 1e-4}) {
      closed.settings = pinocchio::ProximalSettings(1e-14, mu, iterations);
      if (agrees()) {
        return true;
      }
    }
  }
  return false;
}

/// (GᵀHG) a = τ − Gᵀ(c + Hg), with G and g of each state given.
struct GivenProjection {
  explicit GivenProjection(const PeerRobot& robot)
      : tree(robot), llt(robot.nv), HG(robot.nvSpanning, robot.nv), H(robot.nv, robot.nv) {
    for (const PeerState& state : robot.states) {
      q.emplace_back(mapOf(state.positions)(tree.position));
      v.emplace_back(mapOf(state.velocities)(tree.velocity));
      tau.emplace_back(mapOf(state.tau));
      G.emplace_back(mapOf(state.G, robot.nvSpanning)(tree.velocity, Eigen::all));
      g.emplace_back(mapOf(state.g)(tree.velocity));
    }
  }

  void forwardDynamics(std::size_t i) {
    pinocchio::rnea(tree.model, tree.data, q[i], v[i], g[i]);
    x = tau[i];
    x.noalias() -= G[i].transpose() * tree.data.tau;
    pinocchio::crba(tree.model, tree.data, q[i], pinocchio::Convention::LOCAL);
    HG.noalias() = tree.data.M.selfadjointView<Eigen::Upper>() * G[i];
    H.noalias() = G[i].transpose() * HG;
    llt.compute(H);
    llt.solveInPlace(x);
  }

  PinocchioTree<> tree;
  Eigen::LLT<Eigen::MatrixXd> llt;
  std::vector<Eigen::VectorXd> q, v, tau, g;
  std::vector<Eigen::MatrixXd> G;
  Eigen::MatrixXd HG, H;
  Eigen::VectorXd x;
};

}  // namespace

std::vector<PeerWay> pinocchioLoops(const PeerRobot& robot) {
  std::vector<PeerWay> ways;
  const Mechanism& m = robot.mechanism;
  const bool loopJointsOnly = m.couplings.empty() && m.rods.empty() && m.functions.empty();
  for (const auto& [name, solver] : {std::pair{"constraint_dynamics", Solver::ConstraintDynamics},
                                     std::pair{"lcaba", Solver::LoopAwareRecursion}}) {
    if (!loopJointsOnly) {
      break;  // Pinocchio has no constraint for these
    }
    PeerWay way{.algorithm = "forward_dynamics", .name = name};
    const auto closed = std::make_shared<Closed>(robot);
    closed->initialise(solver);
    if (settle(*closed, solver, robot, way.tolerance)) {
      way.name += "_" + std::to_string(closed->settings.max_iter);
    }
    way.compute = [closed, chosen = solver](std::size_t i) { closed->forwardDynamics(chosen, i); };
    way.result = [closed] { return closed->acceleration(); };
    ways.push_back(way);
    if (solver == Solver::ConstraintDynamics) {
      way.algorithm = "forward_dynamics_derivatives";
      way.compute = [closed](std::size_t i) { closed->derivatives(i); };
      way.result = [closed] { return closed->accelerationDerivatives(); };
      ways.push_back(std::move(way));
    }
  }
  const auto given = std::make_shared<GivenProjection>(robot);
  ways.push_back({.algorithm = "forward_dynamics",
                  .name = "projection_given",
                  .compute = [given](std::size_t i) { given->forwardDynamics(i); },
                  .result = [given] { return plain(given->x); },
                  .complete = false});
  return ways;
}

}  // namespace kempe::bench
