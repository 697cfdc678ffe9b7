#include <memory>
#include <optional>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_projection.hpp"
#include "pinocchio_ways.hpp"

/// Pinocchio with rotors as bodies and couplings, by projection of the spanning tree or by joints
/// that follow others.
namespace kempe::bench {
namespace {

/// The open tree that has the sparsity of the projected mass matrix, for Pinocchio's factor of it:
/// the spanning tree without the bodies that hang on dependent joints.
PeerRobot withoutDependents(const PeerRobot& robot) {
  PeerRobot tree = robot;
  Mechanism& m = tree.mechanism;
  const auto isDependent = [&](const Joint& joint) {
    return velocitySize(joint.type) > 0 &&
           std::ranges::find(robot.independent, robot.velocity.at(joint.name)) ==
               robot.independent.end();
  };
  for (const Joint& joint : robot.mechanism.joints) {
    if (!isDependent(joint)) {
      continue;
    }
    std::erase_if(m.bodies, [&](const Body& body) { return body.name == joint.child; });
    std::erase_if(m.joints, [&](const Joint& j) {
      if (j.parent == joint.child) {
        throw std::invalid_argument("body \"" + joint.child + "\" is dependent and carries others");
      }
      return j.name == joint.name;
    });
  }
  return tree;
}

struct Reduced {
  explicit Reduced(const PeerRobot& robot) : tree(withoutDependents(robot)) {
    for (const int place : tree.velocity) {
      order.push_back(static_cast<int>(std::ranges::find(robot.independent, place) -
                                       robot.independent.begin()));
    }
    const auto n = static_cast<Eigen::Index>(order.size());
    x.setZero(n);
    llt = Eigen::LLT<Eigen::MatrixXd, Eigen::Upper>(n);
    for (const PeerState& state : robot.states) {
      q.emplace_back(mapOf(state.q));
      v.emplace_back(mapOf(state.v)(order));
      tau.emplace_back(mapOf(state.tau)(order));
    }
  }

  [[nodiscard]] std::vector<double> back(const Eigen::VectorXd& y) const {
    Eigen::VectorXd result(y.size());
    result(order) = y;
    return plain(result);
  }
  [[nodiscard]] std::vector<double> back(Eigen::MatrixXd upper) const {
    upper.triangularView<Eigen::StrictlyLower>() = upper.transpose();
    Eigen::MatrixXd H(upper.rows(), upper.cols());
    H(order, order) = upper;
    return plain(H);
  }

  /// x ← H⁻¹ x, by a dense factor or along the tree.
  void solve(const Eigen::MatrixXd& H, bool alongTree) {
    if (alongTree) {
      tree.data.M.triangularView<Eigen::Upper>() = H;
      pinocchio::cholesky::decompose(tree.model, tree.data);
      pinocchio::cholesky::solve(tree.model, tree.data, x);
    } else {
      llt.compute(H);
      llt.solveInPlace(x);
    }
  }

  PinocchioTree<> tree;
  std::vector<int> order;  ///< independent velocity of each number
  std::vector<Eigen::VectorXd> q, v, tau;
  Eigen::VectorXd x;
  Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> llt;
};

/// H and bias of the spanning tree, projected.
struct Projected {
  explicit Projected(const PeerRobot& robot)
      : reduced(robot), spanning(robot), sparse(robot, spanning, reduced.order) {
    const Eigen::Index n = spanning.model.nv;
    q.setZero(spanning.model.nq);
    v.setZero(n);
    a.setZero(n);
    zero.setZero(n);
    G = mapOf(robot.states.front().G, robot.nvSpanning)(spanning.velocity, reduced.order);
    HG.setZero(n, G.cols());
    H.setZero(G.cols(), G.cols());
  }

  void forwardDynamics(std::size_t i, bool dense, bool alongTree) {
    sparse.expandPositions(reduced.q[i], q);
    sparse.expand(reduced.v[i], v);
    pinocchio::nonLinearEffects(spanning.model, spanning.data, q, v);
    sparse.project(spanning.data.nle, reduced.x);
    reduced.x = reduced.tau[i] - reduced.x;
    pinocchio::crba(spanning.model, spanning.data, q, pinocchio::Convention::LOCAL);
    if (dense) {
      HG.noalias() = spanning.data.M.selfadjointView<Eigen::Upper>() * G;
      H.noalias() = G.transpose() * HG;
      reduced.solve(H, alongTree);
    } else {
      reduced.solve(sparse.project(spanning.data.M), alongTree);
    }
  }
  void inverseDynamics(std::size_t i) {
    sparse.expandPositions(reduced.q[i], q);
    sparse.expand(reduced.v[i], v);
    sparse.expand(reduced.tau[i], a);
    pinocchio::rnea(spanning.model, spanning.data, q, v, a);
    sparse.project(spanning.data.tau, reduced.x);
  }
  void massMatrix(std::size_t i) {
    sparse.expandPositions(reduced.q[i], q);
    pinocchio::crba(spanning.model, spanning.data, q, pinocchio::Convention::LOCAL);
    H = sparse.project(spanning.data.M);
  }

  Reduced reduced;
  PinocchioTree<> spanning;
  SparseProjection sparse;
  Eigen::VectorXd q, v, a, zero;
  Eigen::MatrixXd G, HG, H;
};

// --- joints that follow others -----------------------------------------------------------------

template <typename S, int Options>
struct JointsAndMimics {
  using Scalar = S;
  using JointModelVariant = boost::variant<
      pinocchio::JointModelRevoluteTpl<S, Options, 0>,
      pinocchio::JointModelRevoluteTpl<S, Options, 1>,
      pinocchio::JointModelRevoluteTpl<S, Options, 2>,
      pinocchio::JointModelFreeFlyerTpl<S, Options>,
      boost::recursive_wrapper<pinocchio::JointModelMimicTpl<S, Options, JointsAndMimics>>>;
  using JointDataVariant = boost::variant<
      pinocchio::JointDataRevoluteTpl<S, Options, 0>,
      pinocchio::JointDataRevoluteTpl<S, Options, 1>,
      pinocchio::JointDataRevoluteTpl<S, Options, 2>, pinocchio::JointDataFreeFlyerTpl<S, Options>,
      boost::recursive_wrapper<pinocchio::JointDataMimicTpl<S, Options, JointsAndMimics>>>;
};
using MimicTree = PinocchioTree<JointsAndMimics>;

/// Dependent joints that each follow one independent joint; nothing where one follows several.
std::optional<std::map<std::string, Follower>> followersOf(const PeerRobot& robot) {
  std::map<std::string, Follower> followers;
  const auto G = mapOf(robot.states.front().G, robot.nvSpanning);
  for (const auto& [joint, place] : robot.velocity) {
    if (std::ranges::find(robot.independent, place) != robot.independent.end() ||
        velocitySize(robot.mechanism.findJoint(joint)->type) != 1) {
      continue;
    }
    Follower& follower = followers[joint];
    for (const auto& [driver, driverPlace] : robot.velocity) {
      const auto i = std::ranges::find(robot.independent, driverPlace);
      if (i == robot.independent.end() || G(place, i - robot.independent.begin()) == 0.0) {
        continue;
      }
      if (!follower.driver.empty()) {
        return {};
      }
      follower = {driver, G(place, i - robot.independent.begin())};
    }
  }
  return followers;
}

pinocchio::JointIndex addMimic(MimicTree::Model& model, pinocchio::JointIndex parent,
                               const Joint& joint, const pinocchio::SE3& frame,
                               const Follower& follower) {
  const pinocchio::JointIndex driver = model.getJointId(follower.driver);
  return model.addJoint(parent,
                        pinocchio::JointModelMimicTpl<double, 0, JointsAndMimics>(
                            MimicTree::jointOf(joint), model.joints[driver], follower.ratio, 0.0),
                        frame, joint.name);
}

struct Mimicking {
  Mimicking(const PeerRobot& robot, const std::map<std::string, Follower>& followers)
      : reduced(robot), tree(robot, followers, addMimic) {
    for (const PeerState& state : robot.states) {
      q.emplace_back(mapOf(state.positions)(tree.position));
    }
  }

  void forwardDynamics(std::size_t i, bool alongTree) {
    pinocchio::nonLinearEffects(tree.model, tree.data, q[i], reduced.v[i]);
    reduced.x = reduced.tau[i] - tree.data.nle;
    tree.data.M.setZero();
    pinocchio::crba(tree.model, tree.data, q[i], pinocchio::Convention::WORLD);
    reduced.solve(tree.data.M, alongTree);
  }

  Reduced reduced;
  MimicTree tree;
  std::vector<Eigen::VectorXd> q;
};

void addProjections(const PeerRobot& robot, std::vector<PeerWay>& ways) {
  const auto shared = std::make_shared<Projected>(robot);
  const auto accelerations = [shared] { return shared->reduced.back(shared->reduced.x); };
  for (const bool dense : {false, true}) {
    for (const bool alongTree : {false, true}) {
      ways.push_back(
          {.algorithm = "forward_dynamics",
           .name = std::string("projection") + (dense ? "_dense" : "_sparse") +
                   (alongTree ? "_tree" : "_llt"),
           .compute = [shared, dense,
                       alongTree](std::size_t i) { shared->forwardDynamics(i, dense, alongTree); },
           .result = accelerations});
    }
  }
  ways.push_back({.algorithm = "inverse_dynamics",
                  .name = "projection",
                  .compute = [shared](std::size_t i) { shared->inverseDynamics(i); },
                  .result = accelerations});
  ways.push_back({.algorithm = "mass_matrix",
                  .name = "projection",
                  .compute = [shared](std::size_t i) { shared->massMatrix(i); },
                  .result = [shared] { return shared->reduced.back(shared->H); }});
}

void addMimics(const PeerRobot& robot, const std::map<std::string, Follower>& followers,
               std::vector<PeerWay>& ways) {
  const auto shared = std::make_shared<Mimicking>(robot, followers);
  for (const bool alongTree : {false, true}) {
    ways.push_back(
        {.algorithm = "forward_dynamics",
         .name = std::string("mimic") + (alongTree ? "_tree" : "_llt"),
         .compute = [shared, alongTree](std::size_t i) { shared->forwardDynamics(i, alongTree); },
         .result = [shared] { return shared->reduced.back(shared->reduced.x); }});
  }
  ways.push_back({.algorithm = "inverse_dynamics",
                  .name = "mimic",
                  .compute =
                      [shared](std::size_t i) {
                        Mimicking& m = *shared;
                        pinocchio::rnea(m.tree.model, m.tree.data, m.q[i], m.reduced.v[i],
                                        m.reduced.tau[i]);
                      },
                  .result = [shared] { return shared->reduced.back(shared->tree.data.tau); }});
  ways.push_back({.algorithm = "mass_matrix",
                  .name = "mimic",
                  .compute =
                      [shared](std::size_t i) {
                        Mimicking& m = *shared;
                        m.tree.data.M.setZero();
                        pinocchio::crba(m.tree.model, m.tree.data, m.q[i],
                                        pinocchio::Convention::WORLD);
                      },
                  .result = [shared] { return shared->reduced.back(shared->tree.data.M); }});
}

}  // namespace

std::vector<PeerWay> pinocchioExact(const PeerRobot& robot) {
  if (!robot.couplingsOnly) {
    return pinocchioLoops(robot);
  }
  std::vector<PeerWay> ways;
  addProjections(robot, ways);
  if (const auto followers = followersOf(robot)) {
    addMimics(robot, *followers, ways);
  }
  return ways;
}

}  // namespace kempe::bench
